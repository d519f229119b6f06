package main

import (
	"context"
	"time"
)

const hangSlack = 500 * time.Millisecond // by which the others' 99th percentile may grow

// playHang compares the first words in half of the channels before and while the model hangs in the other half. The program
// is stopped while it still does.
func playHang(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	n := len(s.rooms) / 2
	quiet := background(ctx, s.load)
	defer quiet()
	began := time.Now()
	if err := wait(ctx, s.opt.span); err != nil {
		return err
	}
	s.ledger.hang(s.rooms[:n]...)
	hung := time.Now()
	if err := wait(ctx, s.opt.span); err != nil {
		return err
	}
	quiet()
	s.down(0)
	s.note("from SIGTERM to the end, while the model hangs", "%v", s.stop().Round(time.Millisecond))
	free, beside := s.firstWords(began, hung, s.rooms[n:]), s.firstWords(hung, time.Now(), s.rooms[n:])
	s.note("first word before, p50 and p99", "%v, %v", percentile(free, 50), percentile(free, 99))
	s.note("first word beside channels that hang", "%v, %v", percentile(beside, 50), percentile(beside, 99))
	if percentile(beside, 99) > percentile(free, 99)+hangSlack {
		s.complain("a model that hangs delays nobody else", "the 99th percentile of the first word was %v before and is %v", percentile(free, 99), percentile(beside, 99))
	}
	return s.audit(ctx)
}

// firstWords are the times to the first visible word of what was asked between two moments, in some channels or, with none, in all.
func (s *stage) firstWords(from, to time.Time, rooms []string) (took []time.Duration) {
	in := map[string]bool{}
	for _, r := range rooms {
		in[r] = true
	}
	for _, o := range s.outcomes() {
		if len(o.answers) > 0 && !o.at.Before(from) && o.at.Before(to) && (rooms == nil || in[o.channel]) {
			took = append(took, o.answers[0].At.Sub(o.at))
		}
	}
	return took
}
