package main

import (
	"context"
	"slices"
	"time"

	"familiar/internal/discordtest"
)

const (
	longestPause = 3 * time.Second        // between two mentions; some are so long that the program gives memory back
	firstSlack   = 350 * time.Millisecond // from the model's first word to the first post
)

// playFirst writes to a program that does nothing else, one mention at a time.
func playFirst(ctx context.Context, s *stage) error {
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

// own notes the program's own time before and after that of the model, where one mention was answered by itself.
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

// written is when a message got its last words.
func written(m discordtest.Message) time.Time {
	if m.EditedAt.IsZero() {
		return m.At
	}
	return m.EditedAt
}
