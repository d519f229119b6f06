package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// ask has somebody write to the bot, and returns the tag.
func (s *stage) ask(room string, person int) (tag string) {
	name := personName(person)
	tag = s.ledger.open(room, name)
	s.ledger.written(tag, s.discord.Say(room, name, "@familiar "+question(tag)))
	return tag
}

func personName(n int) string { return fmt.Sprintf("person%03d", n) }

// load has people write, the rate's so many a second, until ctx is done. They take turns, and so do the channels, from a person and a
// channel that are chosen by the seed. Where the numbers of both have no common factor it takes long until somebody writes in the same
// channel again: what the person is told then is about one mention. Some go on
// at once with a second message, which belongs to the same question.
func (s *stage) load(ctx context.Context) {
	every := time.NewTicker(time.Duration(float64(time.Second) / s.opt.rate))
	defer every.Stop()
	random := rand.New(rand.NewPCG(s.opt.seed, 1)) // not the stage's, which belongs to another goroutine
	room, person := random.IntN(len(s.rooms)), random.IntN(s.opt.people)
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			s.ask(s.rooms[room%len(s.rooms)], person%s.opt.people)
			if s.opt.bursts && random.IntN(6) == 0 {
				s.ask(s.rooms[room%len(s.rooms)], person%s.opt.people)
			}
			room, person = room+1, person+1
		}
	}
}
