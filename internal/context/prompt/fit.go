package prompt

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

const (
	separator  = "\n\n" // between the sections of the system prompt
	perMessage = 4      // tokens that a chat message costs beside its text: role, name and delimiters (OpenAI Cookbook, "How to count tokens")
)

// claims is the order in which layers take from the total: what makes the character, and keeps it safe,
// comes before what it could do without. The turn's message takes its share right after the core rules.
var claims = [...]turn.Layer{
	turn.Core, turn.Character, turn.AuthorNote, turn.Lorebook, turn.Content, turn.Attachments, turn.RecentHistory, turn.DepthInject, turn.HistorySummary,
}

// place is where in the prompt a piece is rendered.
type place int

const (
	section  place = iota // of the system prompt
	chat                  // a message of the conversation
	inject                // a system message between those
	block                 // web text, as a message of its own
	attached              // what hangs on the turn's message: text as a message of its own, a picture on the turn's
)

// piece is one contribution, or the turn's message, with the text that will be rendered.
type piece struct {
	layer    turn.Layer // pays for it
	spot     turn.Spot  // section: where it stands
	place    place
	priority int
	source   string
	text     string
	tokens   int // text and what surrounds it
	kept     bool

	role, name string    // chat; inject has a role, too
	id         string    // chat: the message's
	at         time.Time // chat
	depth      int       // inject
	label      int       // the turn's message: bytes of text before what was said

	from *turn.Contribution // attached
}

// fitted is what the budget left.
type fitted struct {
	pieces   []piece // by layer in reading order, highest priority first; only those with kept set are rendered
	preamble piece
	message  piece // the turn's
	layers   []turn.LayerTokens
	dropped  []turn.Dropped
}

// fit decides what is kept. Each layer gets at most its budget and at most what is left of the total, which
// does not limit if it is 0 or less. The turn's message is always kept.
func (b *Builder) fit(req turn.Request, outcomes []turn.Outcome) *fitted {
	f := &fitted{
		preamble: b.preamble(),
		message:  b.current(req),
		pieces:   b.pieces(req, outcomes),
	}
	left := req.Budget.Total
	if left <= 0 {
		left = int(^uint(0) >> 1)
	}
	left -= f.preamble.tokens
	var used [turn.Lorebook + 1]int
	for _, layer := range claims {
		used[layer] = b.fill(f, layer, min(left, req.Budget.Layers[layer]))
		left -= used[layer]
		if layer == turn.Core {
			// After the core rules, lest a long enough message push them out.
			b.limit(f, left)
			left -= f.message.tokens
		}
	}
	f.layers = make([]turn.LayerTokens, 0, len(used))
	for _, layer := range turn.Layers() {
		f.layers = append(f.layers, turn.LayerTokens{Layer: layer, Used: used[layer], Budget: req.Budget.Layers[layer]})
	}
	return f
}

// pieces returns every contribution that has something to render, by layer and falling priority, otherwise
// in the order of the providers. What it counted is noted in the outcomes too.
func (b *Builder) pieces(req turn.Request, outcomes []turn.Outcome) []piece {
	n := 0
	for i := range outcomes {
		n += len(outcomes[i].Contributions)
	}
	ps := make([]piece, 0, n)
	for i := range outcomes {
		for j := range outcomes[i].Contributions {
			if p, ok := b.piece(req, &outcomes[i].Contributions[j]); ok {
				ps = append(ps, p)
			}
		}
	}
	slices.SortStableFunc(ps, func(x, y piece) int {
		return cmp.Or(cmp.Compare(x.layer, y.layer), cmp.Compare(y.priority, x.priority))
	})
	return ps
}

func (b *Builder) piece(req turn.Request, c *turn.Contribution) (piece, bool) {
	p := piece{layer: c.Layer, priority: c.Priority, source: c.Source, text: strings.TrimSpace(c.Text)}
	if p.layer < turn.Core || p.layer > turn.Lorebook {
		return p, false
	}
	if p.spot = (turn.Spot{Layer: c.Layer, Rank: c.Priority}); c.Spot != nil {
		p.spot = *c.Spot
	}
	switch {
	case c.Attached != nil:
		return b.attached(p, c)
	case c.Web:
		p.place, p.text = block, c.Text // to the byte: the record shows it as it is
	case c.Message != nil:
		p.place = chat
		b.speak(&p, req, *c.Message)
	case p.spot.Layer == turn.DepthInject:
		p.place, p.depth, p.role = inject, c.Depth, cmp.Or(c.Role, "system")
	}
	if p.text == "" {
		return p, false
	}
	if c.Tokens <= 0 {
		c.Tokens = b.count(p.text)
	}
	p.tokens = c.Tokens + b.around(p.place)
	return p, true
}

// around is what a piece costs beside its own text. Web text is charged for itself alone: whoever wrote it
// has made it fit its layer to the token, and it cannot be cut.
func (b *Builder) around(at place) int {
	switch at {
	case block, attached:
		return 0
	case section:
		return b.count(separator)
	}
	return perMessage
}

// fill keeps the layer's pieces while they fit into budget, and returns what they use. Sections are cut to
// fit; messages and web text are kept or dropped whole. Once one message of the conversation is dropped,
// those of lower priority follow, for a conversation with a hole reads as another one.
func (b *Builder) fill(f *fitted, layer turn.Layer, budget int) (used int) {
	hole := false
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.layer != layer {
			continue
		}
		fits := p.tokens <= budget-used && !(hole && p.place == chat)
		lost := p.tokens
		if !fits && (p.place == section || p.place == inject) {
			around := b.around(p.place)
			if text, n := cut(p.text, budget-used-around, p.tokens-around, b.count); text != "" {
				p.text, p.tokens, fits = text, n+around, true
			}
		}
		if p.place == attached {
			fits = b.cutLines(p, budget-used)
		}
		if !fits {
			hole = hole || p.place == chat
			f.dropped = append(f.dropped, turn.Dropped{Layer: layer, Source: p.source, Reason: "dropped", Tokens: lost})
			continue
		}
		if p.tokens < lost {
			f.dropped = append(f.dropped, turn.Dropped{Layer: layer, Source: p.source, Reason: "truncated", Tokens: lost - p.tokens})
		}
		p.kept = true
		used += p.tokens
	}
	return used
}

// limit cuts the turn's message if it alone passes what is left of the total. Its label stays.
func (b *Builder) limit(f *fitted, left int) {
	m := &f.message
	if m.tokens <= left {
		return
	}
	body := m.text[m.label:]
	around := b.count(m.text[:m.label]) + perMessage
	text, n := cut(body, left-around, m.tokens-around, b.count)
	if text == "" { // no budget is a reason to say nothing at all
		text = firstRunes(body, 200)
		n = b.count(text)
	}
	if lost := m.tokens - n - around; lost > 0 {
		f.dropped = append(f.dropped, turn.Dropped{Layer: turn.RecentHistory, Source: m.source, Reason: "truncated", Tokens: lost})
		m.text, m.tokens = m.text[:m.label]+text, n+around
	}
}

func (b *Builder) preamble() piece {
	text := b.Preamble
	if text == "" {
		text = Speakers
	}
	return piece{text: text, tokens: b.count(text) + perMessage, kept: true}
}
