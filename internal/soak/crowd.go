package main

import (
	"context"
	"strings"
	"time"
)

// The promises to a crowd.
const (
	soon      = "a crowd is answered in 10 s at the median, 20 s at the 99th percentile"
	noLimit   = "a crowd meets no 429"
	asIfAlone = "a model that hangs in 50 channels delays no other"
)

const (
	crowdModel  = 3 * time.Second // that an answer takes
	crowdMedian = 10 * time.Second
	crowdWorst  = 20 * time.Second
)

// playCrowd has many write at once, four in a channel, and then the model hang in all channels but one.
func playCrowd(ctx context.Context, s *stage) error {
	s.discord.Limit(5, 5*time.Second)
	s.discord.Pace(50)
	s.ledger.gap = crowdModel / time.Duration(len(strings.Fields(answerTo([]string{"q0"}, 0))))
	if err := s.come(ctx); err != nil {
		return err
	}
	for i := range s.opt.rounds {
		s.ask(s.rooms[i%len(s.rooms)], i%s.opt.people)
	}
	if err := s.settle(ctx, patience); err != nil {
		return err
	}
	s.crowded()
	if err := s.beside(ctx); err != nil {
		return err
	}
	return s.finish(ctx, patience)
}

// crowded looks at how long everybody waited for a complete reply.
func (s *stage) crowded() {
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
	if len(took) < s.opt.rounds || median > crowdMedian || worst > crowdWorst {
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

// beside compares the first words in a channel of its own before and while the model hangs in all others: at once, and when it has
// hung for a while.
func (s *stage) beside(ctx context.Context) error {
	crowd := s.rooms
	other := s.discord.AddChannel("hall", "beside")
	s.rooms = append(s.rooms, other)
	var took [3]time.Duration
	for i, pause := range []time.Duration{0, 0, 8 * time.Second} {
		if i == 1 {
			s.ledger.hang(crowd...)
			for n, room := range crowd {
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
