package prompt

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// readingOrder is the order of the layers that make up the system prompt. Recent history stands here only
// for text that is offered for it: its messages are messages.
var readingOrder = [...]turn.Layer{
	turn.Core, turn.Character, turn.Content, turn.HistorySummary, turn.RecentHistory, turn.AuthorNote,
}

// render writes the messages: the system prompt, the conversation with what is injected into it, the web
// block, the turn's message.
func (b *Builder) render(f *fitted) []turn.Rendered {
	messages := make([]turn.Rendered, 0, len(f.pieces)+2)
	messages = append(messages, b.system(f))
	for _, p := range conversation(f.pieces) {
		messages = append(messages, p.rendered())
	}
	messages = append(messages, f.message.rendered())
	messages = injectAll(messages, f.pieces)
	if b.BlockRole != "system" {
		last := messages[len(messages)-1]
		messages = messages[:len(messages)-1]
		for _, p := range f.pieces {
			if p.kept && p.place == block {
				messages = append(messages, turn.Rendered{Role: "user", Text: p.text, Tokens: p.tokens, Web: true})
			}
		}
		messages = append(messages, last)
	}
	before, images := onMessage(f.pieces)
	last := &messages[len(messages)-1]
	last.Images = images
	for _, i := range images {
		last.Tokens += i.Tokens
	}
	return slices.Insert(messages, len(messages)-1, before...)
}

func (p *piece) rendered() turn.Rendered {
	return turn.Rendered{Role: p.role, Name: p.name, Text: p.text, Tokens: p.tokens}
}

// system joins the sections by blank lines.
func (b *Builder) system(f *fitted) turn.Rendered {
	size := len(f.preamble.text)
	for i := range f.pieces {
		size += len(f.pieces[i].text) + len(separator)
	}
	m := turn.Rendered{Role: "system", Tokens: f.preamble.tokens}
	var text strings.Builder
	text.Grow(size)
	text.WriteString(f.preamble.text)
	for _, layer := range readingOrder {
		for i := range f.pieces {
			p := &f.pieces[i]
			inside := p.place == section || p.place == block && b.BlockRole == "system"
			if !p.kept || !inside || p.layer != layer {
				continue
			}
			text.WriteString(separator)
			text.WriteString(p.text)
			m.Tokens += p.tokens
			m.Web = m.Web || p.place == block
		}
	}
	m.Text = text.String()
	return m
}

// conversation returns the kept messages, oldest first. Ids settle what came in the same moment: Discord's
// grow with time, and a longer one is a greater one.
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

// injectAll puts every kept injection before the message that is depth messages from the end, never before
// the system prompt and never after the turn's message. Of several in one place, the highest priority
// stands first.
func injectAll(messages []turn.Rendered, pieces []piece) []turn.Rendered {
	end := len(messages) // depths are those of the conversation alone
	at := func(p piece) int { return max(1, end-max(1, p.depth)) }
	var injected []piece
	for _, p := range pieces {
		if p.kept && p.place == inject {
			injected = append(injected, p)
		}
	}
	slices.SortStableFunc(injected, func(x, y piece) int { return cmp.Compare(at(x), at(y)) })
	for i, p := range injected {
		messages = slices.Insert(messages, at(p)+i, turn.Rendered{Role: "system", Text: p.text, Tokens: p.tokens})
	}
	return messages
}

// speak writes a chat message as the model reads it: people's begin with their label, the bot's own are bare.
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

// noted is the text of a message with the names of what hangs on it.
func noted(text string, m turn.Message) string {
	if text == "" || m.Note == "" {
		return text + m.Note
	}
	return text + "\n" + m.Note
}

// current is the turn's own message. A reply says whom and what it replies to.
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

// answering is the mark of a reply: ` (replying to Ada, "How do…")`, or nothing.
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

// speakers are the names that no line of a person's message but its first may begin with: the bot's, and those of the people
// who take part in the turn.
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

// label is an author's name on one line and without a colon, so that nobody can take on another's label or
// write a line of their own by choosing a name.
// A person who goes by the bot's name is told apart from it.
func (b *Builder) label(a turn.Author) string {
	name := cmp.Or(clean.Name(a.Name, 64), a.ID, "Someone")
	if slices.ContainsFunc(b.Names, func(own string) bool { return clean.Alike(own, name) }) {
		return name + " (not you)"
	}
	return name
}

// wireName is an author as a chat message's "name" may be: ^[A-Za-z0-9_-]{1,64}$ (OpenAI API, Chat). It is
// empty if nothing of the name or the id is allowed.
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
