package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	mostLife = 3 * time.Second  // longest life of a process in these scenarios
	patience = 90 * time.Second // time for what is unanswered at the end
	progress = 20               // rounds between two lines of progress
)

// playKill kills the program again and again. Half of the times Discord forgets the session meanwhile.
func playKill(ctx context.Context, s *stage) error {
	return s.deaths(ctx, func() {
		s.down(unread)
		s.proc.kill()
		if s.random.IntN(2) == 0 {
			s.discord.Forget()
		}
	})
}

// playTerm sends SIGTERM to the program again and again.
func playTerm(ctx context.Context, s *stage) error {
	var took []time.Duration
	err := s.deaths(ctx, func() {
		s.down(0)
		took = append(took, s.stop())
	})
	if len(took) > 0 {
		s.note("from SIGTERM to the end, p50 and most", "%v, %v", percentile(took, 50), slices.Max(took).Round(time.Millisecond))
	}
	return err
}

// deaths ends the program at random moments under load and starts it again. One time in eight it ends before it may have connected to
// Discord.
func (s *stage) deaths(ctx context.Context, end func()) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	for i := range s.opt.rounds {
		life := time.Duration(s.random.Int64N(int64(mostLife)))
		if err := wait(ctx, life); err != nil {
			return err
		}
		end()
		if s.random.IntN(8) == 0 {
			if err := s.start(); err != nil {
				return err
			}
			if err := wait(ctx, time.Duration(s.random.Int64N(int64(60*time.Millisecond)))); err != nil {
				return err
			}
			end()
		}
		if err := s.come(ctx); err != nil {
			return err
		}
		s.up()
		if (i+1)%progress == 0 {
			fmt.Fprintf(s.out, "%s %d of %d\n", time.Now().Format(clock), i+1, s.opt.rounds)
		}
	}
	quiet()
	s.note("ends of the process", "%d", len(s.gaps))
	return s.finish(ctx, patience)
}

// finish waits for outstanding answers, stops the program and runs the audit.
func (s *stage) finish(ctx context.Context, limit time.Duration) error {
	if err := s.settle(ctx, limit); err != nil {
		return err
	}
	s.note("from the last SIGTERM to the end", "%v", s.stop().Round(time.Millisecond))
	return s.audit(ctx)
}
