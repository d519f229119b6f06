package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/discordtest"
	"familiar/internal/trace"
)

const clock = "15:04:05.000"

// The promises.
const (
	everyone = "every mention is answered or told"
	once     = "no mention is answered twice"
	whole    = "no half reply is unmarked"
	onRecord = "every reply has its complete record"
	ended    = "no record stays open"
)

// finding is one broken promise.
type finding struct {
	promise string
	mention mention // zero: it is about no mention
	what    string
}

// outcome is what became of a mention.
type outcome struct {
	mention
	answers []discordtest.Message // those that begin with its tag
	told    string                // the notice that told the author; empty: none did
	toldAt  time.Time             // when that was posted
}

func (o outcome) whole() bool {
	return slices.ContainsFunc(o.answers, complete)
}

// settled reports whether nothing more can come for the mention.
func (o outcome) settled() bool {
	return o.withdrawn || o.told != "" || len(o.answers) > 0 && !slices.ContainsFunc(o.answers, half)
}

// complete reports whether an answer has its last words.
func complete(m discordtest.Message) bool {
	return strings.Contains(m.Text, closing(opening.FindString(m.Text)))
}

func half(m discordtest.Message) bool { return !complete(m) && !marked.MatchString(m.Text) }

// outcomes returns what has become of each mention so far.
func (s *stage) outcomes() []outcome {
	own := map[string][]discordtest.Message{} // by channel, oldest first
	for _, room := range s.rooms {
		for _, m := range s.discord.Messages(room) {
			if m.Own {
				own[room] = append(own[room], m)
			}
		}
	}
	return weigh(s.ledger.all(), own)
}

// weigh finds the answers and the notice of each mention in the bot's messages, by channel.
func weigh(mentions []mention, own map[string][]discordtest.Message) []outcome {
	byID, answers, notices := map[string]mention{}, map[string][]discordtest.Message{}, map[string][]discordtest.Message{}
	for _, m := range mentions {
		byID[m.id] = m
	}
	for channel, messages := range own {
		for _, a := range messages {
			tags := opening.FindString(a.Text)
			for _, tag := range tagged.FindAllString(tags, -1) {
				answers[tag] = append(answers[tag], a)
			}
			if tags == "" || !complete(a) && marked.MatchString(a.Text) {
				notices[channel] = append(notices[channel], a)
			}
		}
	}
	refused := refusals(own, byID)
	all := make([]outcome, len(mentions))
	for i, m := range mentions {
		all[i] = outcome{mention: m, answers: answers[m.tag]}
		all[i].told, all[i].toldAt = told(m, notices[m.channel], byID)
		for _, at := range refused[m.author] {
			if all[i].told == "" && at.Sub(m.at).Abs() < time.Minute {
				all[i].told, all[i].toldAt = "refused, in this channel or another", at
			}
		}
	}
	return all
}

// refusals holds, by author, the notices that a person has used up the turns of a minute. The bot posts one a minute.
func refusals(own map[string][]discordtest.Message, byID map[string]mention) map[string][]time.Time {
	found := map[string][]time.Time{}
	for _, messages := range own {
		for _, n := range messages {
			if !strings.Contains(n.Text, "as I give one person in a minute") {
				continue
			}
			for _, name := range append(named.FindAllString(n.Text, -1), byID[n.ReplyTo].author) {
				found[name] = append(found[name], n.At)
			}
		}
	}
	return found
}

// named returns the names of the authors.
var named = regexp.MustCompile(`person\d{3}`)

const (
	noticeSpan = 3 * time.Minute // how long after a mention a notice may name its author
	burst      = time.Second     // messages of one author within it may be one question
)

// told returns the notice that tells the author of a mention why there is no answer. It also returns when it was posted. It replies to the
// mention, or to another message of the same burst, or it names the author. An answer that is marked as incomplete counts too. The notices
// are in order of time.
func told(m mention, notices []discordtest.Message, byID map[string]mention) (string, time.Time) {
	first := sort.Search(len(notices), func(i int) bool { return !notices[i].At.Before(m.at) })
	for _, n := range notices[first:] {
		if n.At.Sub(m.at) > noticeSpan {
			break
		}
		tags, to := opening.FindString(n.Text), byID[n.ReplyTo]
		switch {
		case tags != "":
			if slices.Contains(strings.Fields(tags), m.tag) {
				return n.Text, written(n)
			}
		case n.ReplyTo == m.id,
			to.author == m.author && to.at.After(m.at) && to.at.Sub(m.at) < burst,
			n.ReplyTo == "" && strings.Contains(n.Text, m.author):
			return n.Text, n.At
		}
	}
	return "", time.Time{}
}

// settle waits until every mention is answered or its author told, or the limit is over.
func (s *stage) settle(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		open := 0
		for _, o := range s.outcomes() {
			if !o.settled() && s.counted(o.mention) {
				open++
			}
		}
		if open == 0 {
			break
		}
		if err := wait(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	return wait(ctx, 2*time.Second) // answers to mentions that were already told about end, and records reach the disk
}

// counted reports whether the promises apply to a mention.
func (s *stage) counted(m mention) bool { return s.opt.gap || !s.inGap(m.at) }

// audit counts the outcomes and notes broken promises. The program must have ended.
func (s *stage) audit(ctx context.Context) error {
	s.up()
	all := s.outcomes()
	var whole, told, gap, gapOpen, both int
	for _, o := range all {
		inGap, open := s.inGap(o.at), !o.settled()
		switch {
		case o.whole():
			whole++
		case o.told != "":
			told++
		}
		if o.whole() && o.told != "" {
			both++
		}
		if inGap {
			gap++
		}
		if inGap && open {
			gapOpen++
		}
		s.judge(o)
	}
	s.note("mentions", "%d", len(all))
	s.note("answered", "%d", whole)
	s.note("told", "%d", told)
	s.note("answered, and their author told something as well", "%d", both)
	if len(s.gaps) > 0 {
		s.note("written while no program was connected", "%d, without an answer or a word: %d", gap, gapOpen)
	}
	s.latency(all)
	s.served(all)
	if err := s.inspect(ctx); err != nil {
		return err
	}
	return s.records(ctx, all)
}

// judge checks the outcome of one mention against the promises.
func (s *stage) judge(o outcome) {
	add := func(promise, format string, args ...any) {
		s.findings = append(s.findings, finding{promise, o.mention, fmt.Sprintf(format, args...)})
	}
	switch {
	case o.withdrawn: // by a person
		return
	case len(o.answers) == 0 && o.told == "" && s.counted(o.mention):
		add(everyone, "nothing was posted for it%s", s.near(o.at))
	case len(o.answers) > 1+o.again:
		add(once, "%d posts answer it: %s", len(o.answers), ids(o.answers))
	}
	for _, a := range o.answers {
		if half(a) {
			add(whole, "post %s of %s%s: %q", a.ID, a.At.Format(clock), s.near(a.At), a.Text)
		}
	}
}

// near describes a moment relative to the ends of the process.
func (s *stage) near(at time.Time) string {
	for _, g := range s.gaps {
		switch {
		case s.inGap(at):
			return ", while no program was connected"
		case at.Before(g.from):
			return fmt.Sprintf(", %v before an end of the program", g.from.Sub(at).Round(time.Millisecond))
		}
	}
	return ""
}

func ids(messages []discordtest.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.ID+" at "+m.At.Format(clock))
	}
	return strings.Join(all, ", ")
}

// latency notes the time from a mention to the first visible word of its answer.
func (s *stage) latency(all []outcome) {
	var took []time.Duration
	for _, o := range all {
		if len(o.answers) > 0 && !s.inGap(o.at) {
			took = append(took, o.answers[0].At.Sub(o.at))
		}
	}
	s.note("first word, p50 and p99", "%v, %v", percentile(took, 50), percentile(took, 99))
}

func percentile(took []time.Duration, p int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	took = slices.Sorted(slices.Values(took))
	return took[(len(took)-1)*p/100].Round(100 * time.Microsecond)
}

// records checks the database's record of every answer.
func (s *stage) records(ctx context.Context, all []outcome) error {
	db, err := store.Look(ctx, cmp.Or(s.opt.database, s.data()))
	if err != nil {
		return fmt.Errorf("check records: %w", err)
	}
	defer db.Close()
	traces := &trace.Store{DB: db}
	seen := map[string]bool{}
	var own []time.Duration
	for _, o := range all {
		for _, a := range o.answers {
			t, why := incomplete(ctx, traces, a)
			if t != nil && !seen[a.ID] && o.asked.After(o.at) {
				own = append(own, o.asked.Sub(o.at)-slowest(t.Outcomes))
			}
			if why != "" && !seen[a.ID] && (s.good(o.at) || !s.opt.loses) {
				s.findings = append(s.findings, finding{onRecord, o.mention, fmt.Sprintf("post %s of %s: %s", a.ID, a.At.Format(clock), why)})
			}
			seen[a.ID] = true
		}
	}
	list, err := traces.Recent(ctx, "", 1<<20)
	if err != nil {
		return fmt.Errorf("list records: %w", err)
	}
	s.note("posts that answer", "%d", len(seen))
	s.note("records", "%d", len(list))
	s.note("from a mention to the model's request, less the slowest provider, p50 and p99", "%v, %v", percentile(own, 50), percentile(own, 99))
	for _, t := range list {
		if t.Phase == turn.Begun || t.Phase == turn.Answering {
			s.complain(ended, "record %s of %s in channel %s is %s: %s", t.ID, t.Began.Local().Format(clock), t.ChannelID, t.Phase, t.Question)
		}
	}
	return nil
}

func slowest(outcomes []turn.Outcome) (most time.Duration) {
	for _, o := range outcomes {
		most = max(most, o.Took)
	}
	return most
}

// incomplete returns the record of a post, and what is wrong with it, or "".
func incomplete(ctx context.Context, traces *trace.Store, m discordtest.Message) (t *turn.Trace, why string) {
	t, err := traces.ByMessage(ctx, m.ID)
	switch {
	case err != nil:
		return nil, err.Error()
	case t.Phase == turn.Begun || t.Phase == turn.Answering:
		return t, fmt.Sprintf("record %s is %s", t.Request.ID, t.Phase)
	case t.Phase == turn.Answered && strings.TrimSpace(t.Reply) != strings.TrimSpace(m.Text):
		return t, fmt.Sprintf("record %s has another text: %q, posted was %q", t.Request.ID, t.Reply, m.Text)
	}
	return t, ""
}
