package character

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"familiar/card"
	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/web/clean"
)

// recent returns the last messages without the turn's own, newest first. It returns none if the character does not need them.
func (p *Provider) recent(ctx context.Context, req turn.Request) (recent []turn.Message, err error) {
	if !p.Character.looksBack || p.Store == nil {
		return nil, nil
	}
	n := max(10, p.Character.Lore.Depth())
	stored, err := p.Store.Messages.Latest(ctx, req, n+len(req.Burst)+4)
	if err != nil {
		return nil, fmt.Errorf("read the last messages: %w", err)
	}
	for _, m := range slices.Backward(stored) {
		answer := !m.ByPerson() && m.ReplyTo != "" && m.ReplyTo == req.Message.ID // this turn replaces it
		later := !req.Message.At.IsZero() && m.At.After(req.Message.At) && m.ByPerson()
		if m.ID != req.Message.ID && !slices.Contains(req.Burst, m.ID) && !answer && !later {
			recent = append(recent, m)
		}
	}
	return recent, nil
}

// env returns the values of the macros in a turn. Texts of the conversation become one short inert line, because a card may put them
// next to the rules.
func (p *Provider) env(req turn.Request, user string, recent []turn.Message) card.Macros {
	inert := func(text string) string { return clean.Inert(oneLine(text, 500), "") }
	now := req.Message.At
	if now.IsZero() {
		now = time.Now()
	}
	env := card.Macros{User: user, Now: now, Chat: req.ChannelID, Turn: req.ID, Model: p.Model, Tokens: req.Budget.Total, Vars: &card.Variables{}}
	env.Response = p.Character.Model.MaxTokens
	env.Context = env.Tokens + env.Response
	if p.Character.looksBack {
		env.Message = inert(req.Message.Text)
		env.LastUserMessage = env.Message
	}
	for _, m := range recent {
		if env.LastMessage == "" {
			env.LastMessage = inert(m.Text)
		}
		if m.Own && env.LastCharMessage == "" {
			env.LastCharMessage = inert(m.Text)
		}
		if m.ByPerson() && env.Idle == 0 {
			env.Idle = now.Sub(m.At)
		}
	}
	p.Character.fill(&env)
	return env
}

// scanLorebooks scans the lorebooks for a turn and saves the entries that fired, if later turns depend on that.
func (p *Provider) scanLorebooks(ctx context.Context, req turn.Request, recent []turn.Message, env card.Macros) (card.Result, error) {
	c := p.Character
	if c.Lore.Empty() {
		return card.Result{}, nil
	}
	req = counted(req)
	chat := card.Chat{
		Clock:    clock(req, forBooks),
		Messages: spokenLines(req, c, recent), Fields: map[string]string{}, Greeting: -1, Budget: req.Budget.Layers[turn.Lorebook],
		Tokens: func(text string) int { return p.count(text) + entryOverhead },
		Chance: func(what string) float64 { return chance(req.ID, what) },
		Expand: func(text string) (shown, searched string) {
			hidden := env
			hidden.Hidden, hidden.Vars = true, env.Vars.Clone() // variables must be set only once
			searched = hidden.Expand(text)
			return p.Character.Rewrites.Apply(card.OnLore, env.Expand(text), 0, env.Expand, clock(req, forEarlier)), searched
		},
	}
	if req.EarlierID != "" {
		chat.Trigger = "swipe" // a button asks for another reply
	}
	for _, name := range card.Fields() {
		chat.Fields[name] = c.Field(name)
	}
	err := p.loadState(ctx, req, &chat)
	found := c.Lore.Scan(ctx, chat)
	var fired []string
	for _, f := range found.Fired {
		if f.Lasting && f.New {
			fired = append(fired, f.ID)
		}
	}
	if len(fired) > 0 && p.Store != nil && err == nil {
		err = p.Store.Characters.SetLore(ctx, chatOf(req), req.ID, fired...)
	}
	return found, err
}

// entryOverhead is the cost of an entry besides its text, in tokens.
const entryOverhead = 4

// loadState reads the state of the chat that the lorebooks need. It ignores what this turn saved, and the turn that it replaces.
func (p *Provider) loadState(ctx context.Context, req turn.Request, chat *card.Chat) error {
	set := p.Character.Lore
	if p.Store == nil {
		return nil
	}
	if set.NeedsLength() {
		var err error
		if chat.Length, chat.Own, err = p.Store.Characters.ChatLength(ctx, chatOf(req)); err != nil {
			return err
		}
	}
	if set.NeedsGreeting() {
		var err error
		if chat.Greeting, err = p.Store.Characters.Greeting(ctx, req.ChannelID, req.Character); err != nil {
			return err
		}
	}
	if !set.NeedsFirings() {
		return nil
	}
	kept, err := p.Store.Characters.Lore(ctx, chatOf(req))
	if err != nil {
		return err
	}
	same := func(id string) bool { return id == req.ID || id != "" && id == req.EarlierID }
	chat.Fired = map[string]card.Firing{}
	for entry, f := range kept {
		if !same(f.TurnID) {
			chat.Fired[entry] = card.Firing{Ago: f.Since, Before: !same(f.FirstTurn)}
		}
	}
	return nil
}

func chatOf(req turn.Request) store.LoreChat {
	return store.LoreChat{ChannelID: req.ChannelID, GuildID: req.GuildID, Character: req.Character, MessageID: req.Message.ID, At: req.Message.At}
}

// spokenLines returns the messages that are scanned, newest first.
func spokenLines(req turn.Request, c *Character, recent []turn.Message) []string {
	lines := []string{req.Message.Author.Name + ": " + req.Message.Text}
	for _, m := range recent {
		name := m.Author.Name
		if m.Own {
			name = cmp.Or(name, c.Name)
		}
		lines = append(lines, name+": "+m.Text)
	}
	return lines
}

// chance returns a number in [0, 1) that depends only on the turn and the text.
func chance(turnID, what string) float64 {
	h := fnv.New64a()
	io.WriteString(h, turnID+"\n"+what)
	sum := h.Sum64()
	sum ^= sum >> 33 // FNV hashes of texts with different ends are similar
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return float64(sum>>11) / (1 << 53)
}

// ranks has the places of entries among the sections of the prompt.
var ranks = map[card.Position]turn.Spot{
	card.BeforeChar: {Layer: turn.Character, Rank: rankPersona + 1}, card.InPersonality: {Layer: turn.Character, Rank: rankPersonality - 1},
	card.InScenario: {Layer: turn.Character, Rank: rankScenario - 1}, card.AfterChar: {Layer: turn.Character, Rank: rankBackdrop - 1},
	card.BeforeExamples: {Layer: turn.Character, Rank: rankExamples + 1}, card.AfterExamples: {Layer: turn.Character, Rank: rankExamples - 1},
	card.NoteTop: {Layer: turn.AuthorNote, Rank: 90}, card.NoteBottom: {Layer: turn.AuthorNote, Rank: 60},
	card.AtDepth: {Layer: turn.DepthInject},
}

// lorebookEntries returns what the entries add to the prompt, with their record.
func lorebookEntries(found card.Result) (cs []turn.Contribution) {
	if len(found.Fired)+len(found.Lost) == 0 && !found.Cut {
		return nil
	}
	record := &turn.Lore{Steps: found.Steps, Cut: found.Cut}
	for _, f := range found.Fired {
		place := string(f.Position)
		if f.Position == card.InOutlet { // a macro inserts it
			record.Fired = append(record.Fired, turn.LoreEntry{Book: f.Book, Entry: f.Entry, Comment: oneLine(f.Comment, 60), Why: f.Why, Place: place + " " + oneLine(f.Outlet, 60), Tokens: f.Tokens})
			continue
		}
		c := turn.Contribution{Layer: turn.Lorebook, Priority: 50, Text: fenced(f.Text), Source: "lorebook:" + f.ID}
		at := ranks[f.Position]
		c.Spot = &at
		if f.Position == card.AtDepth {
			c.Depth, c.Role = max(1, f.Depth), string(f.Role)
			place = fmt.Sprintf("depth %d, %s", f.Depth, f.Role)
		}
		cs = append(cs, c)
		record.Fired = append(record.Fired, turn.LoreEntry{Book: f.Book, Entry: f.Entry, Comment: oneLine(f.Comment, 60), Why: f.Why, Place: place, Tokens: f.Tokens})
	}
	for _, l := range found.Lost {
		record.Lost = append(record.Lost, turn.LoreEntry{Book: l.Book, Entry: l.Entry, Comment: oneLine(l.Comment, 60), Why: l.Why, Tokens: l.Tokens})
	}
	return append(cs, turn.Contribution{Layer: turn.Lorebook, Source: "lorebook", Lore: record})
}

// outlets returns the texts of the entries that {{outlet::name}} inserts, by that name.
func outlets(found card.Result) map[string]string {
	all := map[string]string{}
	for _, f := range found.Fired {
		if f.Position != card.InOutlet {
			continue
		}
		if before := all[f.Outlet]; before != "" {
			f.Text = before + "\n" + f.Text
		}
		all[f.Outlet] = f.Text
	}
	return all
}

// silenced reports whether an entry that fired replaces a text of the card.
func silenced(found card.Result, text string) bool {
	return slices.ContainsFunc(found.Fired, func(f card.Fired) bool { return slices.Contains(f.Silences, text) })
}

// oneLine returns a text on one line, shortened to a number of characters.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
