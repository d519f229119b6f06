package main

import (
	"context"
	"time"
)

// playStorm has everybody write at once, in all channels: nobody twice in one, where there are people enough for that, since two
// messages of one person that follow each other are one question.
func playStorm(ctx context.Context, s *stage) error {
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
