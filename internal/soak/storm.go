package main

import (
	"context"
	"fmt"
	"time"
)

// playStorm has everybody write at once, in all channels.
func playStorm(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	began := time.Now()
	for i := range s.opt.rounds {
		s.ask(s.rooms[i%len(s.rooms)], i%s.opt.people)
	}
	wrote := time.Since(began)
	if err := s.settle(ctx, 4*time.Minute); err != nil {
		return err
	}
	s.note("writing took", "%v", wrote.Round(time.Millisecond))
	if each := s.opt.rounds / s.opt.people; each > 20 {
		fmt.Fprintf(s.out, "each person writes %d times, more than the 20 that are answered in a minute\n", each)
	}
	return s.finish(ctx, 0)
}
