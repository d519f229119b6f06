package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/store"
	"familiar/internal/test/discordtest"
)

// The promises under load.
const (
	soon      = "many mentions at once are answered in 10 s at the median, 20 s at the 99th percentile"
	noLimit   = "many mentions at once cause no 429"
	asIfAlone = "a model that hangs in 50 channels delays no other"
)

const (
	loadModel  = 3 * time.Second // how long an answer takes
	loadMedian = 10 * time.Second
	loadWorst  = 20 * time.Second
)

// playLoad has many people write at once, four in each channel. Then the model hangs in all channels except one.
func playLoad(ctx context.Context, s *stage) error {
	s.discord.Limit(5, 5*time.Second)
	s.discord.Pace(50)
	s.ledger.last(loadModel)
	if err := s.come(ctx); err != nil {
		return err
	}
	for i := range s.opt.rounds {
		s.ask(s.rooms[i%len(s.rooms)], i%s.opt.people)
	}
	if err := s.settle(ctx, patience); err != nil {
		return err
	}
	s.loaded()
	if err := s.beside(ctx); err != nil {
		return err
	}
	return s.finish(ctx, patience)
}

// loaded notes how long people waited for a complete reply.
func (s *stage) loaded() {
	var took, first []time.Duration
	for _, o := range s.outcomes() {
		if o.whole() {
			took = append(took, written(o.answers[0]).Sub(o.at))
			first = append(first, o.answers[0].At.Sub(o.at))
		}
	}
	median, worst := percentile(took, 50), percentile(took, 99)
	s.note("from a mention to the first post, p50, p99", "%v, %v", percentile(first, 50), percentile(first, 99))
	s.note("from a mention to the complete reply, p50, p99", "%v, %v", median, worst)
	if len(took) < s.opt.rounds || median > loadMedian || worst > loadWorst {
		s.complain(soon, "%d of %d were answered, in %v at the median and %v at the 99th percentile", len(took), s.opt.rounds, median, worst)
	}
	limits := 0
	for what, n := range s.discord.Refusals() {
		if strings.Contains(what, ": 429 ") {
			limits += n
			s.complain(noLimit, "%d times %s", n, what)
		}
	}
	s.note("answers 429", "%d", limits)
}

// beside measures the first words in a channel of its own. It does so before the model hangs in all others, and at the moment when it
// begins to. The third time it has hung for a while.
func (s *stage) beside(ctx context.Context) error {
	hanging := s.rooms
	other := s.discord.AddChannel("hall", "beside")
	s.rooms = append(s.rooms, other)
	var took [3]time.Duration
	for i, pause := range []time.Duration{0, 0, 8 * time.Second} {
		if i == 1 {
			s.ledger.hang(hanging...)
			for n, room := range hanging {
				s.ask(room, n)
			}
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
		tag := s.ask(other, s.opt.people+i)
		if err := s.await(ctx, patience, "there is no answer beside a model that hangs", func() bool { return s.has(other, tag) }); err != nil {
			return err
		}
		took[i] = s.firstWords(time.Time{}, time.Now(), []string{other})[i]
	}
	s.note("first word alone; as the model begins to hang in all other channels; 8 s later", "%v; %v; %v",
		took[0].Round(time.Millisecond), took[1].Round(time.Millisecond), took[2].Round(time.Millisecond))
	for _, t := range took[1:] {
		if t > took[0]+hangSlack {
			s.complain(asIfAlone, "the first word came after %v, alone after %v", t, took[0])
		}
	}
	return nil
}

// playBurst has everybody write at once, in all channels, while Discord takes 50 requests a second. If there are enough people, nobody writes twice in one channel, since consecutive
// messages of one person are one question.
func playBurst(ctx context.Context, s *stage) error {
	s.discord.Pace(50)
	if err := s.come(ctx); err != nil {
		return err
	}
	each := (s.opt.rounds + len(s.rooms) - 1) / len(s.rooms) // in a channel
	began := time.Now()
	for i := range s.opt.rounds {
		room, nth := i%len(s.rooms), i/len(s.rooms)
		s.ask(s.rooms[room], (room*each+nth)%s.opt.people)
	}
	s.note("writing took", "%v", time.Since(began).Round(time.Millisecond))
	return s.finish(ctx, 4*time.Minute)
}

const (
	longestPause = 3 * time.Second        // between two mentions; some pauses are long enough for the program to return memory
	firstSlack   = 350 * time.Millisecond // from the model's first word to the first post
)

// playSingle writes one mention at a time to a program that is otherwise idle.
func playSingle(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	for i := range s.opt.rounds {
		if err := wait(ctx, time.Duration(s.random.Int64N(int64(longestPause)))); err != nil {
			return err
		}
		room := s.rooms[i%len(s.rooms)]
		tag := s.ask(room, i%s.opt.people)
		err := s.await(ctx, patience, "there is no answer", func() bool { return s.has(room, tag) })
		if err != nil {
			return err
		}
	}
	s.own()
	var over []time.Duration
	for _, o := range s.outcomes() {
		over = append(over, o.answers[0].At.Sub(o.asked))
	}
	s.note("first post after the model's first word, p50 and p99", "%v, %v", percentile(over, 50), percentile(over, 99))
	if percentile(over, 99) > firstSlack {
		s.complain("the first words are seen 350 ms after the model's", "the 99th percentile is %v", percentile(over, 99))
	}
	return s.finish(ctx, patience)
}

// has reports whether a channel has the complete answer to a mention.
func (s *stage) has(room, tag string) bool {
	return slices.ContainsFunc(s.discord.Messages(room), func(m discordtest.Message) bool {
		return m.Own && opening.FindString(m.Text) == tag && complete(m)
	})
}

// own notes the program's own time before and after that of the model. It does so for mentions that were answered one by one.
func (s *stage) own() {
	var before, after []time.Duration
	for _, o := range s.outcomes() {
		if o.asked.IsZero() || o.ended.IsZero() || len(o.answers) != 1 || !complete(o.answers[0]) {
			continue
		}
		before = append(before, o.asked.Sub(o.at))
		after = append(after, written(o.answers[0]).Sub(o.ended))
	}
	s.note("from a mention to the model's request, p50, p99 and most", "%v, %v, %v", percentile(before, 50), percentile(before, 99), percentile(before, 100))
	s.note("from the model's end to the complete post, p50, p99 and most", "%v, %v, %v", percentile(after, 50), percentile(after, 99), percentile(after, 100))
}

// written returns when a message got its last words.
func written(m discordtest.Message) time.Time {
	if m.EditedAt.IsZero() {
		return m.At
	}
	return m.EditedAt
}

const (
	eraseSpan  = 20 * time.Second       // of load before somebody is forgotten, and at least meanwhile
	eraseSlack = 150 * time.Millisecond // at the 99th percentile; hangSlack for the longest
)

// playErase has a person forgotten of whom there are many messages, while others write. Nobody may wait for that.
func playErase(ctx context.Context, s *stage) error {
	const who = "somebody"
	if err := s.remember(ctx, s.discord.UserID(who), who); err != nil {
		return err
	}
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	began := time.Now()
	if err := wait(ctx, eraseSpan); err != nil {
		return err
	}
	erasing := time.Now()
	if err := s.command(ctx, "erase", "--yes", s.discord.UserID(who)); err != nil {
		return err
	}
	s.note("forgetting took", "%v", time.Since(erasing).Round(time.Millisecond))
	if err := wait(ctx, eraseSpan); err != nil {
		return err
	}
	quiet()
	if err := s.settle(ctx, patience); err != nil {
		return err
	}
	before, meanwhile := s.firstWords(began, erasing, nil), s.firstWords(erasing, time.Now(), nil)
	s.note("first word before, p50, p99 and most", "%v, %v, %v", percentile(before, 50), percentile(before, 99), percentile(before, 100))
	s.note("first word while a person is forgotten", "%v, %v, %v", percentile(meanwhile, 50), percentile(meanwhile, 99), percentile(meanwhile, 100))
	for p, slack := range map[int]time.Duration{99: eraseSlack, 100: hangSlack} {
		if percentile(meanwhile, p) > percentile(before, p)+slack {
			s.complain("to forget a person delays nobody", "the first word came after %v before and after %v, at the percentile %d", percentile(before, p), percentile(meanwhile, p), p)
		}
	}
	return s.finish(ctx, patience)
}

// remember fills the store with messages of a person, before the program begins.
func (s *stage) remember(ctx context.Context, author, name string) error {
	db, err := store.Open(ctx, s.data())
	if err != nil {
		return err
	}
	defer db.Close()
	at := time.Now().Add(-time.Hour)
	for i := 0; i < s.opt.rounds; {
		var batch []store.Message
		for ; len(batch) < 500 && i < s.opt.rounds; i++ {
			batch = append(batch, store.Message{
				ID: fmt.Sprintf("%019d", i+1), ChannelID: s.rooms[i%len(s.rooms)], GuildID: s.discord.GuildOf("general"), AuthorID: author, AuthorName: name,
				Text: fmt.Sprintf("and then, in chapter %d, we walked all the way back, because the bus was late again", i), At: at.Add(time.Duration(i) * time.Millisecond),
			})
		}
		if err := db.Messages.Save(ctx, batch...); err != nil {
			return err
		}
	}
	return nil
}
