package main

import (
	"context"
	"fmt"
	"time"
)

const backLimit = 2 * time.Second // from the network's return to the session's

// playOutage takes the network to Discord away for a while, three times.
func playOutage(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	for _, away := range []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second} {
		if err := wait(ctx, 4*time.Second); err != nil {
			return err
		}
		if err := s.outage(ctx, away); err != nil {
			return err
		}
	}
	if err := wait(ctx, 5*time.Second); err != nil {
		return err
	}
	quiet()
	return s.finish(ctx, patience)
}

func (s *stage) outage(ctx context.Context, away time.Duration) error {
	greeted := s.greeted()
	s.discord.CutOff()
	err := wait(ctx, away)
	if err := s.discord.Reopen(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	back := time.Now()
	if err := s.await(ctx, patience, "the program does not come back to Discord", func() bool { return s.greeted() > greeted }); err != nil {
		return err
	}
	took, how := time.Since(back), "begun anew"
	all := s.discord.Greetings()
	if all[len(all)-1].Resume {
		how = "resumed"
	}
	s.note(fmt.Sprintf("after %v without a network", away), "%s in %v", how, took.Round(time.Millisecond))
	if took > backLimit {
		s.complain("the program is back 2 s after the network", "it took %v after %v", took.Round(time.Millisecond), away)
	}
	return nil
}
