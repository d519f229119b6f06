package factcheck

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// figures are the numbers and dates of a text, with what they belong to.
type figures struct {
	measures []measure
	events   []event
}

func figuresOf(s string) figures { return figures{measuresOf(s), eventsOf(s)} }

// FindConflicts compares the claims of different sources, for dates of what happens once and for numbers of the same thing. A false alarm
// is worse than a miss. Another place or time, a range, a "planned" or an "about" ends the comparison. It keeps both sides, since the
// reader decides. A page that gives both values contradicts nobody. pages are the texts of the sources, by number.
func FindConflicts(claims []turn.Claim, pages map[int]string) []turn.Conflict {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c turn.Claim) bool { return !c.Framing.Plain() }) // framed claims are nobody's
	all := make([]figures, len(claims))
	for i, c := range claims {
		all[i] = figuresOf(c.Text)
	}
	var out []turn.Conflict
	for i, a := range claims {
		for j := i + 1; j < len(claims); j++ {
			b := claims[j]
			if slices.ContainsFunc(a.Sources(), func(n int) bool { return slices.Contains(b.Sources(), n) }) {
				continue
			}
			c, differ := all[i].conflict(all[j])
			if !differ || all[j].onPagesOf(a, pages) || all[i].onPagesOf(b, pages) {
				continue
			}
			c.Values[0].Sources, c.Values[1].Sources = a.Sources(), b.Sources()
			if a.Source > b.Source {
				c.Values[0], c.Values[1] = c.Values[1], c.Values[0]
			}
			if !slices.ContainsFunc(out, func(d turn.Conflict) bool { return sameConflict(c, d) }) {
				out = append(out, c)
			}
		}
	}
	return out
}

func sameConflict(a, b turn.Conflict) bool {
	return a.Of == b.Of && slices.Equal(a.Values[0].Sources, b.Values[0].Sources) && slices.Equal(a.Values[1].Sources, b.Values[1].Sources)
}

// conflict returns the first two different values of the same thing, of events before measures. Texts that share a value
// of the kind do not conflict.
func (f figures) conflict(g figures) (c turn.Conflict, differ bool) {
	values := func(of, a, b string) turn.Conflict {
		return turn.Conflict{Of: of, Values: [2]turn.Given{{Value: a}, {Value: b}}}
	}
	for a, b := range pairs(f.events, g.events) {
		if a.agrees(b) {
			return c, false
		}
		if !differ && a.contradicts(b) {
			c, differ = values("date", a.written, b.written), true
		}
	}
	if differ {
		return c, true
	}
	for a, b := range pairs(f.measures, g.measures) {
		if a.Unit == b.Unit && a.Agrees(b.Quantity) {
			return c, false
		}
		if !differ && a.contradicts(b) {
			c, differ = values("number", a.written, b.written), true
		}
	}
	return c, differ
}

// pairs yields each element of one list with each of another.
func pairs[T any](as, bs []T) iter.Seq2[T, T] {
	return func(yield func(a, b T) bool) {
		for _, a := range as {
			for _, b := range bs {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// onPagesOf reports whether a page behind a claim has one of these figures, too.
func (f figures) onPagesOf(c turn.Claim, pages map[int]string) bool {
	digits := f.digits()
	for _, n := range c.Sources() {
		for _, sentence := range text.Sentences(pages[n]) {
			if slices.ContainsFunc(digits, func(d string) bool { return strings.Contains(sentence, d) }) && f.shares(figuresOf(sentence)) {
				return true
			}
		}
	}
	return false
}

// shares reports whether two texts give the same value of the same thing.
func (f figures) shares(g figures) bool {
	for a, b := range pairs(f.measures, g.measures) {
		if a.alike(b) && a.Agrees(b.Quantity) {
			return true
		}
	}
	for a, b := range pairs(f.events, g.events) {
		if a.agrees(b) {
			return true
		}
	}
	return false
}

// digits returns digits of the figures. A sentence with one of the figures has at least one of them; most sentences have
// none.
func (f figures) digits() (out []string) {
	for _, m := range f.measures {
		out = append(out, m.written[:1])
	}
	for _, e := range f.events {
		out = append(out, strconv.Itoa(cmp.Or(e.date.Year, e.date.Day)))
	}
	return out
}

// ConflictLines tells the model which sources contradict each other, without their words.
func ConflictLines(all []turn.Conflict) []string {
	var out []string
	for _, c := range all {
		out = text.AddOnce(out, fmt.Sprintf("Sources %s and %s give different %ss for what looks like the same: name both.", c.Values[0].Cited(), c.Values[1].Cited(), c.Of))
	}
	return out
}
