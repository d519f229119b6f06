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

	"familiar/internal/character/lorebook"
	"familiar/internal/character/macro"
	"familiar/internal/character/rewrite"
	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/web/clean"
)

// recall is what a turn is told of the conversation before it.
type recall struct {
	messages []store.Message // newest first, without the turn's own
}

// recall reads the last messages, if anything of the character needs them.
func (p *Provider) recall(ctx context.Context, req turn.Request) (r recall, err error) {
	if !p.Character.looksBack || p.Store == nil {
		return r, nil
	}
	n := max(10, p.Character.Lore.Depth())
	stored, err := p.Store.Recent(ctx, req.ChannelID, n+len(req.Burst)+4)
	if err != nil {
		return r, fmt.Errorf("read the last messages: %w", err)
	}
	for _, m := range slices.Backward(stored) {
		answer := m.Own && m.ReplyTo != "" && m.ReplyTo == req.Message.ID // which is about to be given anew
		later := !req.Message.At.IsZero() && m.At.After(req.Message.At) && !m.Own
		if m.ID != req.Message.ID && !slices.Contains(req.Burst, m.ID) && !answer && !later {
			r.messages = append(r.messages, m)
		}
	}
	return r, nil
}

// env is what the macros stand for in a turn. Words that were said in the conversation are one short line and inert: the card puts them
// where the rules stand, and they are none.
func (p *Provider) env(req turn.Request, user string, r recall) macro.Env {
	inert := func(text string) string {
		text = clean.Inert(oneLine(text, 500), "")
		return text
	}
	line := func(m store.Message) string { return inert(m.Text) }
	now := req.Message.At
	if now.IsZero() {
		now = time.Now()
	}
	env := macro.Env{User: user, Now: now, Chat: req.ChannelID, Turn: req.ID, Tokens: req.Budget.Total, Vars: &macro.Vars{}}
	if p.Character.looksBack {
		env.Message = inert(req.Message.Text)
		env.LastUserMessage = env.Message
	}
	for _, m := range r.messages {
		if env.LastMessage == "" {
			env.LastMessage = line(m)
		}
		if m.Own && !m.OfAnother(req.Character) && env.LastCharMessage == "" {
			env.LastCharMessage = line(m)
		}
		if !m.Own && env.Idle == 0 {
			env.Idle = now.Sub(m.At)
		}
	}
	p.Character.fill(&env)
	return env
}

// world looks the lorebooks up. What fired is kept where that matters later.
func (p *Provider) world(ctx context.Context, req turn.Request, r recall, env macro.Env) (lorebook.Result, error) {
	c := p.Character
	if c.Lore.Empty() {
		return lorebook.Result{}, nil
	}
	chat := lorebook.Chat{
		Messages: spokenLines(req, c, r), Fields: map[string]string{}, Greeting: -1, Budget: req.Budget.Layers[turn.Lorebook],
		Tokens: func(text string) int { return p.count(text) + aroundEntry },
		Chance: func(what string) float64 { return chance(req.ID, what) },
		Expand: func(text string) (shown, searched string) {
			hidden := env
			hidden.Hidden, hidden.Vars = true, env.Vars.Clone() // what it sets is set once
			searched = macro.Expand(text, &hidden)
			return p.Character.Rewrites.Apply(rewrite.OnLore, macro.Expand(text, &env), 0, nil), searched
		},
	}
	for _, name := range lorebook.Fields() {
		chat.Fields[name] = c.Field(name)
	}
	err := p.remember(ctx, req, &chat)
	found := c.Lore.Scan(ctx, chat)
	var anew []string
	for _, f := range found.Fired {
		if f.Lasting && f.Anew {
			anew = append(anew, f.ID)
		}
	}
	if len(anew) > 0 && p.Store != nil && err == nil {
		err = p.Store.SetLore(ctx, chatOf(req), req.ID, anew...)
	}
	return found, err
}

// aroundEntry is what an entry costs beside its text, in tokens: it is a section, or a message.
const aroundEntry = 4

// remember reads what is kept of the chat, as far as the lorebooks need it. What this turn kept, or the one that it takes the place
// of, does not count.
func (p *Provider) remember(ctx context.Context, req turn.Request, chat *lorebook.Chat) error {
	set := p.Character.Lore
	if p.Store == nil {
		return nil
	}
	if set.Counts() {
		var err error
		if chat.Length, chat.Own, err = p.Store.ChatLength(ctx, chatOf(req)); err != nil {
			return err
		}
	}
	if set.Greets() {
		var err error
		if chat.Greeting, err = p.Store.Greeting(ctx, req.ChannelID, req.Character); err != nil {
			return err
		}
	}
	if !set.Remembers() {
		return nil
	}
	kept, err := p.Store.Lore(ctx, chatOf(req))
	if err != nil {
		return err
	}
	same := func(id string) bool { return id == req.ID || id != "" && id == req.EarlierID }
	chat.Fired = map[string]lorebook.Firing{}
	for entry, f := range kept {
		if !same(f.TurnID) {
			chat.Fired[entry] = lorebook.Firing{Ago: f.Since, Before: !same(f.FirstTurn)}
		}
	}
	return nil
}

func chatOf(req turn.Request) store.LoreChat {
	return store.LoreChat{ChannelID: req.ChannelID, GuildID: req.GuildID, Character: req.Character, MessageID: req.Message.ID, At: req.Message.At}
}

// spokenLines are the messages that are searched, newest first.
func spokenLines(req turn.Request, c *Character, r recall) []string {
	lines := []string{req.Message.Author.Name + ": " + req.Message.Text}
	for _, m := range r.messages {
		name := m.AuthorName
		if m.Own {
			name = cmp.Or(name, c.Name)
		}
		lines = append(lines, name+": "+m.Text)
	}
	return lines
}

// chance is a number from 0 up to 1 that is the same for a turn.
func chance(turnID, what string) float64 {
	h := fnv.New64a()
	io.WriteString(h, turnID+"\n"+what)
	sum := h.Sum64()
	sum ^= sum >> 33 // FNV's texts that differ in their ends differ little
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return float64(sum>>11) / (1 << 53)
}

// ranks are where entries stand among the sections of the system prompt.
var ranks = map[lorebook.Position]turn.Spot{
	lorebook.BeforeChar: {Layer: turn.Character, Rank: rankPersona + 1}, lorebook.InPersonality: {Layer: turn.Character, Rank: rankPersonality - 1},
	lorebook.InScenario: {Layer: turn.Character, Rank: rankScenario - 1}, lorebook.AfterChar: {Layer: turn.Character, Rank: rankBackdrop - 1},
	lorebook.BeforeExamples: {Layer: turn.Character, Rank: rankExamples + 1}, lorebook.AfterExamples: {Layer: turn.Character, Rank: rankExamples - 1},
	lorebook.NoteTop: {Layer: turn.AuthorNote, Rank: 90}, lorebook.NoteBottom: {Layer: turn.AuthorNote, Rank: 60},
	lorebook.AtDepth: {Layer: turn.DepthInject},
}

// fromBooks is what the entries add to the prompt, and what is on record of them.
func fromBooks(found lorebook.Result) (cs []turn.Contribution) {
	if len(found.Fired)+len(found.Lost) == 0 && !found.Cut {
		return nil
	}
	record := &turn.Lore{Steps: found.Steps, Cut: found.Cut}
	for _, f := range found.Fired {
		place := string(f.Position)
		if f.Position == lorebook.InOutlet { // it stands where a macro calls for it
			record.Fired = append(record.Fired, turn.LoreEntry{Book: f.Book, Entry: f.Entry, Comment: oneLine(f.Comment, 60), Why: f.Why, Place: place + " " + oneLine(f.Outlet, 60), Tokens: f.Tokens})
			continue
		}
		c := turn.Contribution{Layer: turn.Lorebook, Priority: 50, Text: fenced(f.Text), Source: "lorebook:" + f.ID}
		at := ranks[f.Position]
		c.Spot = &at
		if f.Position == lorebook.AtDepth {
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

// outlets are the texts of the entries that stand where {{outlet::name}} calls for them, by that name.
func outlets(found lorebook.Result) map[string]string {
	all := map[string]string{}
	for _, f := range found.Fired {
		if f.Position != lorebook.InOutlet {
			continue
		}
		if before := all[f.Outlet]; before != "" {
			f.Text = before + "\n" + f.Text
		}
		all[f.Outlet] = f.Text
	}
	return all
}

// silenced reports whether an entry that fired takes the place of a text of the card.
func silenced(found lorebook.Result, text string) bool {
	return slices.ContainsFunc(found.Fired, func(f lorebook.Fired) bool { return slices.Contains(f.Silences, text) })
}

// oneLine is a text on one line, shortened.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
