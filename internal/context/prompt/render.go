package prompt

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// headOrder has the layers of the system prompt, least variable first. tailOrder has the layers of the message near the end. Model servers
// need not process again what a prompt has in common with the previous one.
var (
	headOrder = [...]turn.Layer{turn.Core, turn.Character, turn.AuthorNote, turn.HistorySummary}
	tailOrder = [...]turn.Layer{turn.Content, turn.RecentHistory}
)

// render writes the messages. They are the system prompt, the conversation with its injections, and what else is known. The web block,
// attachments and the turn's message follow.
func (b *Builder) render(f *fitted) []turn.Rendered {
	messages := make([]turn.Rendered, 0, len(f.pieces)+2)
	head := turn.Rendered{Role: "system", Text: f.preamble.text, Tokens: f.preamble.tokens}
	messages = append(messages, b.sections(f, head, headOrder[:]))
	for _, p := range conversation(f.pieces) {
		messages = append(messages, p.rendered())
	}
	messages = append(messages, f.message.rendered())
	messages = injectAll(messages, f.pieces)
	last := messages[len(messages)-1]
	messages = messages[:len(messages)-1]
	if tail := b.sections(f, turn.Rendered{Role: "system"}, tailOrder[:]); tail.Text != "" {
		messages = append(messages, tail)
	}
	if b.BlockRole != "system" {
		for _, p := range f.pieces {
			if p.kept && p.place == block {
				messages = append(messages, turn.Rendered{Role: "user", Text: p.text, Tokens: p.tokens, Web: true})
			}
		}
	}
	before, images := attachments(f.pieces)
	last.Images = images
	for _, i := range images {
		last.Tokens += i.Tokens
	}
	return append(append(messages, before...), last)
}

func (p *piece) rendered() turn.Rendered {
	return turn.Rendered{Role: p.role, Name: p.name, Text: p.text, Tokens: p.tokens}
}

// sections adds the sections of some layers to a message, joined by blank lines.
func (b *Builder) sections(f *fitted, m turn.Rendered, layers []turn.Layer) turn.Rendered {
	var text strings.Builder
	text.WriteString(m.Text)
	for _, layer := range layers {
		for _, p := range b.keptSections(f, layer) {
			if text.Len() > 0 {
				text.WriteString(separator)
			}
			text.WriteString(p.text)
			m.Tokens += p.tokens
			m.Web = m.Web || p.place == block
		}
	}
	m.Text = text.String()
	return m
}

// keptSections returns the kept sections of a layer in order.
func (b *Builder) keptSections(f *fitted, layer turn.Layer) (all []*piece) {
	for i := range f.pieces {
		p := &f.pieces[i]
		inside := p.place == section || p.place == block && b.BlockRole == "system"
		if p.kept && inside && p.spot.Layer == layer {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(x, y *piece) int { return cmp.Compare(y.spot.Rank, x.spot.Rank) })
	return all
}

// conversation returns the kept messages, oldest first. Ids order messages of the same moment: Discord's grow with time, and a longer id is
// greater.
func conversation(pieces []piece) []*piece {
	said := make([]*piece, 0, len(pieces))
	for i := range pieces {
		if pieces[i].kept && pieces[i].place == chat {
			said = append(said, &pieces[i])
		}
	}
	slices.SortStableFunc(said, func(x, y *piece) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(len(x.id), len(y.id)), strings.Compare(x.id, y.id))
	})
	return said
}

// injectAll puts every kept injection before the message that is depth messages from the end. It never puts one before the system prompt or
// after the turn's message. Of several in one place, the highest priority comes first.
func injectAll(messages []turn.Rendered, pieces []piece) []turn.Rendered {
	end := len(messages) // a depth does not count other injections
	at := func(p piece) int { return max(1, end-max(1, p.depth)) }
	var injected []piece
	for _, p := range pieces {
		if p.kept && p.place == inject {
			injected = append(injected, p)
		}
	}
	sort.SliceStable(injected, func(i, j int) bool {
		x, y := injected[i], injected[j]
		return cmp.Compare(at(x), at(y)) < 0
	})
	for i, p := range injected {
		messages = slices.Insert(messages, at(p)+i, turn.Rendered{Role: p.role, Text: p.text, Tokens: p.tokens})
	}
	return messages
}

// speak writes a message of the conversation. People's messages begin with their label; the bot's own have none.
func (b *Builder) speak(p *piece, req turn.Request, m turn.Message) {
	p.id, p.at = m.ID, m.At
	text := strings.TrimSpace(m.Text)
	if m.Own {
		p.role, p.text = "assistant", text
		return
	}
	p.role, p.name = "user", wireName(m.Author)
	if text = noted(clean.Spoken(text, b.speakers(req)), m); text != "" {
		p.text = b.stamp(req, m) + b.label(m.Author) + ": " + text
	}
}

// noted returns the text of a message with the names of its attachments.
func noted(text string, m turn.Message) string {
	if text == "" || m.Note == "" {
		return text + m.Note
	}
	return text + "\n" + m.Note
}

// current returns the turn's own message. A reply names the author and the beginning of its parent.
func (b *Builder) current(req turn.Request) piece {
	m := req.Message
	p := piece{
		place: chat, source: "message", kept: true,
		role: "user", name: wireName(m.Author), id: m.ID, at: m.At,
	}
	before := b.stamp(req, m) + b.label(m.Author) + b.answering(req) + ": "
	p.label = len(before)
	p.text = before + cmp.Or(noted(clean.Spoken(strings.TrimSpace(m.Text), b.speakers(req)), m), "(no words)")
	p.tokens = b.count(p.text) + perMessage
	return p
}

// answering returns the mark of a reply, such as ` (replying to Ada, "How do…")`, or "".
func (b *Builder) answering(req turn.Request) string {
	m := req.Parent
	if m == nil {
		return ""
	}
	who := b.label(m.Author)
	if m.Own {
		who = "you"
	}
	quote := strings.Join(strings.Fields(strings.Map(withoutBidi, noted(clean.Spoken(m.Text, nil), *m))), " ")
	if quote == "" {
		return " (replying to " + who + ")"
	}
	if short := firstRunes(quote, 80); short != quote {
		quote = strings.TrimRightFunc(short, unicode.IsSpace) + "…"
	}
	return " (replying to " + who + `, "` + quote + `")`
}

func (b *Builder) stamp(req turn.Request, m turn.Message) string {
	if b.Clock == nil || req.Mode != turn.Text || m.At.IsZero() {
		return ""
	}
	return m.At.In(b.Clock).Format("[15:04] ")
}

// speakers returns the names of the bot and of the people in the turn. Only the first line of a message may begin with such a name.
func (b *Builder) speakers(req turn.Request) []string {
	names := slices.Concat(b.Names, []string{b.label(req.Message.Author)})
	if req.Parent != nil {
		names = append(names, b.label(req.Parent.Author))
	}
	for _, m := range req.Chain {
		names = append(names, b.label(m.Author))
	}
	return names
}

func withoutBidi(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}

// label returns an author's name on one line and without a colon. So no name can imitate another label or add a line. It marks people who
// use the bot's name.
func (b *Builder) label(a turn.Author) string {
	name := cmp.Or(clean.Name(a.Name, 64), a.ID, "Someone")
	if slices.ContainsFunc(b.Names, func(own string) bool { return clean.Alike(own, name) }) {
		return name + " (not you)"
	}
	return name
}

// wireName returns an author's name in the form that a chat message's "name" allows: ^[A-Za-z0-9_-]{1,64}$ (OpenAI API, Chat). It is empty
// if neither the name nor the id has an allowed character.
func wireName(a turn.Author) string {
	allowed := func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		case r == ' ':
			return '_'
		}
		return -1
	}
	name := strings.Trim(strings.Map(allowed, strings.TrimSpace(a.Name)), "_")
	name = cmp.Or(name, strings.Map(allowed, a.ID))
	return name[:min(len(name), 64)]
}
