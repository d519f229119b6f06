package conflict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// figures are the numbers and dates of a claim with what each is said of.
type figures struct {
	measures   []measure
	happenings []happening
	marks      []string // digits of which a sentence has some that gives one of them
}

func figuresOf(text string) figures {
	f := figures{measures: measures(text), happenings: happenings(text)}
	for _, m := range f.measures {
		f.marks = append(f.marks, m.written[:1])
	}
	for _, h := range f.happenings {
		f.marks = append(f.marks, strconv.Itoa(cmp.Or(h.when.Year, h.when.Day)))
	}
	return f
}

// Find compares the claims of different sources. Both sides of a conflict stay: the reader decides. A page that gives
// both values knows of the other and says why: it contradicts nobody. pages are the texts of the sources, by number.
func Find(claims []turn.Claim, pages map[int]string) []turn.Conflict {
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
			c, differ := all[i].disagree(all[j])
			if !differ || gives(pages, a, all[j]) || gives(pages, b, all[i]) {
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

// disagree returns the first two values of the same thing that differ, unless the two have one in common.
func (f figures) disagree(g figures) (c turn.Conflict, differ bool) {
	for _, a := range f.happenings {
		for _, b := range g.happenings {
			switch {
			case a.event == b.event && !a.when.Clashes(b.when):
				return c, false
			case !differ && a.contradicts(b):
				c, differ = turn.Conflict{Of: "date", Values: [2]turn.Given{{Value: a.written}, {Value: b.written}}}, true
			}
		}
	}
	if differ {
		return c, true
	}
	for _, a := range f.measures {
		for _, b := range g.measures {
			switch {
			case a.Unit == b.Unit && a.Agrees(b.Quantity):
				return c, false
			case !differ && a.contradicts(b):
				c, differ = turn.Conflict{Of: "number", Values: [2]turn.Given{{Value: a.written}, {Value: b.written}}}, true
			}
		}
	}
	return c, differ
}

// gives says whether a page behind the claim says what these figures say.
func gives(pages map[int]string, of turn.Claim, f figures) bool {
	for _, n := range of.Sources() {
		for _, sentence := range text.Sentences(pages[n]) {
			if !slices.ContainsFunc(f.marks, func(mark string) bool { return strings.Contains(sentence, mark) }) {
				continue
			}
			there := figuresOf(sentence)
			for _, a := range f.measures {
				for _, b := range there.measures {
					if a.alike(b) && a.Agrees(b.Quantity) {
						return true
					}
				}
			}
			for _, a := range f.happenings {
				for _, b := range there.happenings {
					if a.event == b.event && !a.when.Clashes(b.when) {
						return true
					}
				}
			}
		}
	}
	return false
}

// Lines tell the model which sources contradict each other. They hold no word from outside.
func Lines(all []turn.Conflict) []string {
	var out []string
	for _, c := range all {
		line := fmt.Sprintf("Sources %s and %s give different %ss for what looks like the same: name both.", c.Values[0].Cited(), c.Values[1].Cited(), c.Of)
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}
