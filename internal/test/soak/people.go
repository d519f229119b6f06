package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"familiar/internal/test/discordtest"
)

// people are persons who use every feature in a channel, one action after the other.
type people struct {
	stage  *stage
	random *rand.Rand
	nth    int
	asks   []mention // the latest mentions, which may be edited, deleted or replied to; oldest first
	talks  []string  // ids of the latest messages that are not for the bot
	orders []order
	done   map[string]int // by action
}

// order is a command that was given, or a button that was pressed.
type order struct {
	what string
	at   time.Time
	of   *discordtest.Interaction
}

const (
	remembered = 60 // messages that people may still act on
	editable   = 45 * time.Second
)

// run performs a number of actions per second until ctx is done.
func (p *people) run(ctx context.Context) {
	every := time.NewTicker(time.Duration(float64(time.Second) / p.stage.opt.rate))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			p.act()
		}
	}
}

// act performs one action. A person asks a question if there is nothing to act on.
func (p *people) act() {
	s := p.stage
	p.nth++
	room, who := s.rooms[p.nth%len(s.rooms)], p.nth%s.opt.people
	did := ""
	switch n := p.random.IntN(100); {
	case n < 36:
		did = p.talk(room, who)
	case n < 46:
		did = p.reply()
	case n < 51:
		did = p.edit()
	case n < 54:
		did = p.delete()
	case n < 57:
		did = p.change()
	case n < 63:
		did = p.command(room, who)
	case n < 69:
		did = p.press()
	}
	if did == "" {
		did = p.ask(room, who)
	}
	p.done[did]++
}

func (p *people) ask(room string, who int) string {
	s := p.stage
	tags := []string{s.ask(room, who)}
	if p.random.IntN(8) == 0 {
		tags = append(tags, s.ask(room, who))
		s.ledger.note(tags, func(m *mention) { m.joint = true })
		return "a mention in two messages"
	}
	p.remember(tags[0])
	return "a mention"
}

func (p *people) remember(tag string) {
	p.stage.ledger.note([]string{tag}, func(m *mention) { p.asks = append(p.asks, *m) })
	p.asks = p.asks[max(0, len(p.asks)-remembered):]
}

func (p *people) talk(room string, who int) string {
	id := p.stage.discord.Say(room, personName(who), "and then we walked all the way back, because the bus was late again")
	p.stage.talk[id] = true
	p.talks = append(p.talks, id)
	p.talks = p.talks[max(0, len(p.talks)-remembered):]
	return "plain talk"
}

// change edits or deletes a message that is not for the bot.
func (p *people) change() string {
	if len(p.talks) == 0 {
		return ""
	}
	i := p.random.IntN(len(p.talks))
	id := p.talks[i]
	if p.random.IntN(2) == 0 {
		p.stage.discord.Edit(id, "and then we ran all the way back, because the bus was late again")
		return "an edit of plain talk"
	}
	p.talks = slices.Delete(p.talks, i, i+1)
	p.stage.discord.Delete(id)
	return "a deletion of plain talk"
}

// answered chooses a mention whose complete answer people see, and returns the mention and the answer.
func (p *people) answered() (m mention, answer discordtest.Message, ok bool) {
	for range 10 {
		if len(p.asks) == 0 {
			return m, answer, false
		}
		m = p.asks[p.random.IntN(len(p.asks))]
		for _, a := range p.stage.discord.Messages(m.channel) {
			if a.Own && a.Text != "" && opening.FindString(a.Text) == m.tag && complete(a) {
				return m, a, true
			}
		}
	}
	return m, answer, false
}

// reply replies to an answer, which is a mention too.
func (p *people) reply() string {
	m, answer, ok := p.answered()
	if !ok {
		return ""
	}
	s := p.stage
	tag := s.ledger.open(m.channel, m.author)
	s.ledger.written(tag, s.discord.Reply(m.channel, m.author, answer.ID, "thanks, and "+question(tag), true))
	p.remember(tag)
	return "a reply to an answer"
}

// edit changes the words of a mention of the last minute, answered or not.
func (p *people) edit() string {
	for _, m := range slices.Backward(p.asks) {
		if time.Since(m.at) < editable && p.random.IntN(3) == 0 {
			p.stage.discord.Edit(m.id, "@familiar well, "+question(m.tag))
			return "an edit of a mention"
		}
	}
	return ""
}

func (p *people) delete() string {
	if len(p.asks) == 0 {
		return ""
	}
	i := p.random.IntN(len(p.asks))
	m := p.asks[i]
	p.asks = slices.Delete(p.asks, i, i+1)
	p.stage.ledger.note([]string{m.tag}, func(m *mention) { m.withdrawn = true })
	p.stage.discord.Delete(m.id)
	return "a deletion of a mention"
}

func (p *people) command(room string, who int) string {
	name := []string{"help", "usage", "mode", "privacy", "context"}[p.random.IntN(5)]
	i := p.stage.discord.Interact(room, personName(who), name, nil, true)
	p.orders = append(p.orders, order{"/" + name, time.Now(), i})
	return "a command"
}

// press presses a button under an answer, as the person who asked.
func (p *people) press() string {
	m, answer, ok := p.answered()
	if !ok || len(answer.Buttons) == 0 {
		return ""
	}
	b := answer.Buttons[p.random.IntN(len(answer.Buttons))]
	switch b.Label {
	case "Regenerate":
		p.stage.ledger.note([]string{m.tag}, func(m *mention) { m.again++ })
	case "Delete":
		p.stage.ledger.note([]string{m.tag}, func(m *mention) { m.withdrawn = true })
		p.asks = slices.DeleteFunc(p.asks, func(o mention) bool { return o.tag == m.tag })
	}
	i := p.stage.discord.Press(m.author, answer, b.ID, discordtest.Member)
	p.orders = append(p.orders, order{b.Label, time.Now(), i})
	return "a button"
}

// ask has a person write to the bot, and returns the tag.
func (s *stage) ask(room string, person int) (tag string) {
	name := personName(person)
	tag = s.ledger.open(room, name)
	s.ledger.written(tag, s.discord.Say(room, name, "@familiar "+question(tag)))
	return tag
}

func personName(n int) string { return fmt.Sprintf("person%03d", n) }

// load has people write at the given rate until ctx is done. People and channels take turns, each from a start that the seed chooses. If
// their numbers have no common factor, a person returns to the same channel only after a long time. So a notice to that person is about one
// mention. Some people write a second message at once, which belongs to the same question.
func (s *stage) load(ctx context.Context) {
	every := time.NewTicker(time.Duration(float64(time.Second) / s.opt.rate))
	defer every.Stop()
	random := rand.New(rand.NewPCG(s.opt.seed, 1)) // not the stage's, which another goroutine uses
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
