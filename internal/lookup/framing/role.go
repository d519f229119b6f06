package framing

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// roleOf tells whose word a line is.
func (p *Page) roleOf(l *line) turn.Role {
	switch {
	case l.kind == quotation:
		return turn.RoleQuotation
	case p.role == turn.RoleComment || below(l, commentWords, comments):
		return turn.RoleComment
	case below(l, plotWords, plots), below(l, contentsWords, contentsWords) && p.isWork():
		return turn.RoleFiction
	case p.role == turn.RoleSatire:
		return turn.RoleSatire
	case below(l, sponsorWords, sponsors):
		return turn.RoleSponsored
	}
	return p.role
}

// below reports whether a heading above a line, or the label before it, has no words but these, and one of some of them.
func below(l *line, words, one map[string]bool) bool {
	if l.label != nil && consists(l.label.text, words, one) {
		return true
	}
	for h := l.heading; h != nil; h = h.above {
		if consists(h.text, words, one) {
			return true
		}
	}
	return false
}

// mostWords is how many words a heading has at most that is the name of a part.
const mostWords = 4

// consists reports whether a text has no words but these, numbers aside, and one of some of them.
func consists(s string, words, one map[string]bool) bool {
	if len(s) > maxLabel {
		return false
	}
	all := text.Words(s)
	some := one == nil
	n := 0
	for _, w := range all {
		if text.Numeric(w.Key) {
			continue
		}
		if n++; !words[w.Key] {
			return false
		}
		some = some || one[w.Key]
	}
	return n > 0 && n <= mostWords && some
}

// opening is how much of a page says what it is about, in lines.
const opening = 12

// isWork reports whether a page begins like one about a work of fiction.
func (p *Page) isWork() bool {
	said := p.title
	for _, l := range p.lines[:min(opening, len(p.lines))] {
		said += "\n" + text.Truncate(l.text, 300)
	}
	return text.ContainsAny(text.Words(said), works)
}

// pageRole tells what a page is as a whole.
func (p *Page) pageRole(s Source) turn.Role {
	switch {
	case s.Forum:
		return turn.RoleComment
	case p.isSatire():
		return turn.RoleSatire
	case s.Published.Month() == time.April && s.Published.Day() == 1:
		return turn.RoleApril
	}
	return ""
}

// isSatire reports whether a page calls itself satire: in a label, or in a sentence of a line of its own.
func (p *Page) isSatire() bool {
	if consists(p.title, satireWords, nil) {
		return true
	}
	for i := range p.lines {
		l := &p.lines[i]
		if l.kind == blank || len(l.text) > maxSelf || !namesSatire(l.text) {
			continue
		}
		if isLabel(l.text) && consists(l.text, satireWords, nil) && l.kind != listItem {
			return true
		}
		for _, sentence := range l.split() {
			if selfSatire(sentence) {
				return true
			}
		}
	}
	return false
}

const (
	maxSelf       = 300 // bytes of a line in which a page says what it is
	shortSentence = 7   // words of "This is a work of satire", at most
)

// namesSatire reports whether a line has one of the words, maybe within another. Hardly any line does.
func namesSatire(s string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(satireNames, func(w string) bool { return strings.Contains(s, w) })
}

// selfSatire reports whether a sentence says that the page it stands on is satire.
func selfSatire(sentence string) bool {
	words := text.Words(sentence)
	if len(words) < 3 || !demonstratives[words[0].Key] {
		return false
	}
	if pageNouns[words[1].Key] {
		return satireWords[word(words, skip(words, 2))]
	}
	return fillers[words[1].Key] && len(words) <= shortSentence && satireWords[words[len(words)-1].Key]
}

// skip returns the number of the first word from one on that says something.
func skip(words []text.Word, from int) int {
	for from < len(words) && fillers[words[from].Key] {
		from++
	}
	return from
}

func word(words []text.Word, i int) string {
	if i >= len(words) {
		return ""
	}
	return words[i].Key
}
