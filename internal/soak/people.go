package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"familiar/internal/discordtest"
)

// people are those who do everything that people do in a channel, one thing after the other.
type people struct {
	stage  *stage
	random *rand.Rand
	nth    int
	asks   []mention // the latest, which may be edited, deleted or replied to; the oldest first
	talks  []string  // ids of the latest plain messages
	orders []order
	done   map[string]int // by what they did
}

// order is a command that was given, or a button that was pressed.
type order struct {
	what string
	at   time.Time
	of   *discordtest.Interaction
}

const (
	remembered = 60 // messages that people come back to
	editable   = 45 * time.Second
)

// run has people do so many things a second until ctx is done.
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

// act is one thing that somebody does. Where there is nothing to do it to, somebody asks.
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

// change edits or deletes a plain message.
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

// answered chooses a mention whose complete answer people see, and the answer.
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

// edit gives a mention of the last minute, answered or not, other words.
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
