package prompt

import (
	"cmp"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

const (
	separator  = "\n\n" // between the sections of the system prompt
	perMessage = 4      // tokens of a message besides its text: role, name and delimiters (OpenAI Cookbook, "How to count tokens")
)

// claims is the order in which layers take from the total. The rules and the character come before what they can do without. The turn's
// message takes its share right after the core rules.
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
	attached              // an attachment: text as a message of its own, a picture on the turn's message
)

// piece is a contribution, or the turn's message, with the text that will be rendered.
type piece struct {
	layer    turn.Layer // whose budget it uses
	spot     turn.Spot  // section: its place in the prompt
	place    place
	priority int
	source   string
	text     string
	tokens   int // of the text and its surroundings
	kept     bool

	role, name string    // chat; inject has a role too
	id         string    // chat: of the message
	at         time.Time // chat
	depth      int       // inject
	label      int       // the turn's message: bytes before the author's own words

	from *turn.Contribution // attached
}

// fitted is the result of fit.
type fitted struct {
	pieces   []piece // by layer in reading order, highest priority first; only kept ones are rendered
	preamble piece
	message  piece // the turn's
	layers   []turn.LayerTokens
	dropped  []turn.Dropped
	left     int // tokens of the total that are not used
}

// mostAnswer is the most that is left of a model's window for its answer, in tokens.
const mostAnswer = 2048

// scaled returns a budget that leaves a quarter of the model's window for the answer, at most mostAnswer. All layers shrink alike, except
// for the rules, which stay whole. The character, what is known and the conversation may each have a quarter of the total.
func scaled(b turn.Budget, window int) turn.Budget {
	total := window - min(window/4, mostAnswer)
	if window <= 0 || b.Total > 0 && b.Total <= total {
		return b
	}
	small := turn.Budget{Total: total, Layers: make(map[turn.Layer]int, len(b.Layers))}
	for layer, most := range b.Layers {
		share := most
		if b.Total > 0 {
			share = most * total / b.Total
		}
		switch layer {
		case turn.Core:
			share = most
		case turn.Character, turn.Content, turn.RecentHistory:
			share = max(share, min(most, total/4))
		}
		small.Layers[layer] = share
	}
	return small
}

// fit decides what is kept. A layer gets at most its budget and at most the rest of the total. A total of 0 or less is unlimited. The turn's
// message is always kept.
func (b *Builder) fit(req turn.Request, outcomes []turn.Outcome) *fitted {
	f := &fitted{
		preamble: b.preamble(req),
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
			// A long message must not push out the core rules, nor all else.
			b.limit(f, left/2)
			left -= f.message.tokens
		}
	}
	f.left = left
	f.layers = make([]turn.LayerTokens, 0, len(used))
	for _, layer := range turn.Layers() {
		f.layers = append(f.layers, turn.LayerTokens{Layer: layer, Used: used[layer], Budget: req.Budget.Layers[layer]})
	}
	return f
}

// pieces returns every contribution with something to render, by layer and falling priority, then in the order of the providers. It also
// sets the missing token counts of the outcomes.
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
	sort.SliceStable(ps, func(i, j int) bool {
		x, y := ps[i], ps[j]
		return cmp.Or(cmp.Compare(x.layer, y.layer), cmp.Compare(y.priority, x.priority)) < 0
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
		p.place, p.text = block, c.Text // unchanged, because the record shows exactly this
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

// around returns the tokens of a piece besides its text. Web text has none, because its provider fitted it to the layer exactly and it
// cannot be cut.
func (b *Builder) around(at place) int {
	switch at {
	case block, attached:
		return 0
	case section:
		return b.count(separator)
	}
	return perMessage
}

// fill keeps the layer's pieces while they fit into budget, and returns the tokens that they use. Sections are cut to fit. Messages and web
// text are kept or dropped whole. After a dropped message, all messages of lower priority are dropped too. A gap would change the meaning
// of a conversation.
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

// limit cuts the turn's message if it does not fit into what is left of the total. Its label stays.
func (b *Builder) limit(f *fitted, left int) {
	m := &f.message
	if m.tokens <= left {
		return
	}
	body := m.text[m.label:]
	around := b.count(m.text[:m.label]) + perMessage
	text, n := cut(body, left-around, m.tokens-around, b.count)
	if text == "" { // even without a budget the model must see something
		text = firstRunes(body, 200)
		n = b.count(text)
	}
	if lost := m.tokens - n - around; lost > 0 {
		f.dropped = append(f.dropped, turn.Dropped{Layer: turn.RecentHistory, Source: m.source, Reason: "truncated", Tokens: lost})
		m.text, m.tokens = m.text[:m.label]+text, n+around
	}
}

func (b *Builder) preamble(req turn.Request) piece {
	text := cmp.Or(b.Preamble, Speakers)
	if b.Preamble == "" && req.GuildID == "" {
		text = Private
	}
	return piece{text: text, tokens: b.count(text) + perMessage, kept: true}
}

// attached completes the piece of an attachment: a picture, or a text whose opening and closing are never cut. An attachment with neither is
// only recorded.
func (b *Builder) attached(p piece, c *turn.Contribution) (piece, bool) {
	p.place, p.from = attached, c
	switch a := c.Attached; {
	case a.Image != nil:
		p.text, p.tokens = a.Image.Label, a.Image.Tokens+b.count(a.Image.Label)
	case c.Text != "":
		p.text = fenced(a, c.Text)
		p.tokens = b.count(p.text) + perMessage
	default:
		return p, false
	}
	c.Tokens = p.tokens
	return p, true
}

func fenced(a *turn.Attached, text string) string { return a.Open + text + a.Close }

// cutLines reports whether an attachment fits into room. It cuts a text at the end of a line. It also cuts its contribution, so that the
// record shows what is left.
func (b *Builder) cutLines(p *piece, room int) bool {
	a := p.from.Attached
	if a.Most > 0 {
		room = min(room, a.Most)
	}
	if p.tokens <= room {
		return true
	}
	if a.Image != nil || a.CutNote == "" {
		return false
	}
	around := b.count(fenced(a, a.CutNote)) + perMessage
	for limit := room - around; limit > 0; limit = limit * 9 / 10 {
		end := longest(p.from.Text, limit, p.tokens-around, b.count)
		end = strings.LastIndexByte(p.from.Text[:end], '\n') + 1
		if end == 0 {
			return false
		}
		text := fenced(a, p.from.Text[:end]+a.CutNote)
		if n := b.count(text) + perMessage; n <= room {
			p.text, p.tokens = text, n
			p.from.Text, p.from.Tokens = p.from.Text[:end]+a.CutNote, n
			return true
		}
	}
	return false
}

// attachments returns the kept attachments, as messages before the turn's message and as pictures on it.
func attachments(pieces []piece) (before []turn.Rendered, images []turn.Image) {
	for i := range pieces {
		switch p := &pieces[i]; {
		case !p.kept || p.place != attached:
		case p.from.Attached.Image != nil:
			images = append(images, *p.from.Attached.Image)
		default:
			before = append(before, turn.Rendered{Role: "user", Text: p.text, Tokens: p.tokens, Web: p.from.Web})
		}
	}
	return before, images
}

// cut shortens s, which has size tokens, to at most limit tokens. It cuts at the end of a sentence, else at a space, else between two
// characters. It returns "" if nothing fits.
func cut(s string, limit, size int, count func(string) int) (string, int) {
	if limit <= 0 || s == "" {
		return "", 0
	}
	if size <= limit {
		return s, size
	}
	head := tidy(s, longest(s, limit, size, count))
	// A tokenizer may split the end of a shorter text differently, so count the result again.
	for head != "" {
		n := count(head)
		if n <= limit {
			return head, n
		}
		head = tidy(head, len(firstRunes(head, utf8.RuneCountInString(head)*9/10)))
	}
	return "", 0
}

// longest returns the number of bytes of s, in whole characters, that fit into limit tokens. The result may be somewhat too low: counting is
// slow, so it interpolates and counts only a few prefixes.
func longest(s string, limit, size int, count func(string) int) int {
	low, lowTokens := 0, 0
	high, highTokens := len(s), size
	for range 8 {
		if limit-lowTokens <= limit/50 || highTokens <= lowTokens {
			break
		}
		mid := low + int(int64(high-low)*int64(limit-lowTokens)/int64(highTokens-lowTokens))
		for mid > low && !utf8.RuneStart(s[mid]) {
			mid--
		}
		if mid <= low || mid >= high {
			break
		}
		if n := count(s[:mid]); n <= limit {
			low, lowTokens = mid, n
		} else {
			high, highTokens = mid, n
		}
	}
	return low
}

// tidy returns at most the first n bytes of s, ended at a sentence or a word if possible.
func tidy(s string, n int) string {
	if end := sentenceEnd(s, n); end > 0 {
		return s[:end]
	}
	if i := strings.LastIndexFunc(s[:n], unicode.IsSpace); i > 0 {
		if head := strings.TrimRightFunc(s[:i], unicode.IsSpace); head != "" {
			return head
		}
	}
	return s[:n]
}

// sentenceEnd returns the end of the last sentence within the first n bytes of s, or 0. A line without a final mark is not a sentence, so that
// more is kept than a heading.
func sentenceEnd(s string, n int) int {
	last := 0
	for cut := range text.SentenceEnds(s) {
		end := len(strings.TrimRightFunc(s[:cut], unicode.IsSpace))
		if end > n {
			break
		}
		if mark, _ := utf8.DecodeLastRuneInString(s[:end]); unicode.IsPunct(mark) {
			last = end
		}
	}
	return last
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
