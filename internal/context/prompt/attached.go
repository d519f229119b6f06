package prompt

import (
	"strings"

	"familiar/internal/context/turn"
)

// attached is the piece of something that hangs on the turn's message: a picture, or text between an opening and a closing that
// nothing cuts. One with neither is a footnote.
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

// cutLines reports whether the piece fits into room, for which a text is cut at the end of a line. What is left of it is what is
// on record.
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

// onMessage are the pieces that hang on the turn's message, as messages before it and pictures on it.
func onMessage(pieces []piece) (before []turn.Rendered, images []turn.Image) {
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
