package framing

import (
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// place is a sentence of a page.
type place struct {
	p              *Page
	line, sentence int // sentence is -1 where the line has no such one
}

func (at place) own() *line { return &at.p.lines[at.line] }

// denial returns how a page says that a sentence is not so, and in which words; or nothing. Words without a denial are those of
// a heading under which the sentence may be the claim or the truth.
func (at place) denial() (turn.Denial, string) {
	l := at.own()
	switch l.kind {
	case blank:
		return "", ""
	case headingLine:
		return at.headline()
	}
	if label, denies, found := at.label(); found {
		if denies {
			return turn.DeniedByLabel, clip(label)
		}
		return "", ""
	}
	if l.kind == tableRow {
		if verdict, denies := l.verdict(); verdict != "" {
			if denies {
				return turn.DeniedByVerdict, clip(verdict)
			}
			return "", ""
		}
	}
	if said, answered := at.answer(); answered {
		if said == "" {
			return "", ""
		}
		return turn.DeniedByAnswer, clip(said)
	}
	if said := at.verdictLine(); said != "" {
		return turn.DeniedByVerdict, clip(said)
	}
	if said := at.beside(); said != "" {
		return turn.DeniedBySentence, clip(said)
	}
	if l.intro != "" && callsFalse(l.intro) {
		return turn.DeniedByList, clip(l.intro)
	}
	h, sure := falseHeading(l.heading, at.p.title)
	if _, claim, _ := strings.Cut(h, ":"); h != "" && (strings.TrimSpace(claim) != "" || !at.claims(sure)) { // "Myth 3: Bats are blind" says it all itself
		return "", clip(h)
	}
	if h != "" {
		return turn.DeniedByHeading, clip(h)
	}
	return "", ""
}

// mostClaimed is how many sentences a paragraph has at most that is taken for a claim and not for what is written about one.
const mostClaimed = 2

// claims reports whether a sentence below "False claims" or, less sure, below "Myths", is a claim of that kind. It may put one
// right instead: "In fact, bats are not blind."
func (at place) claims(sure bool) bool {
	l := at.own()
	all := l.split()
	if at.sentence < 0 || corrects(all[at.sentence], sure) {
		return false
	}
	if l.kind == listItem {
		return at.sentence == 0 || !corrects(all[at.sentence-1], sure)
	}
	return (sure || l.heading != nil && l.heading.lines == 1) && len(all) <= mostClaimed && (at.sentence == 0 || !corrects(all[0], sure))
}

// corrects reports whether a sentence has words that put something right. A denial does, unless it is sure to be of claims.
func corrects(sentence string, sure bool) bool {
	words := text.Words(sentence)
	return text.ContainsAny(words, corrections) || !sure && text.ContainsAny(words, text.Negations) || calls(sentence)
}

// headline is [place.denial] for a heading that says something: what stands right below may be "False."
func (at place) headline() (turn.Denial, string) {
	if strings.HasSuffix(at.own().text, "?") {
		return "", ""
	}
	if label, denies, found := at.label(); found && denies {
		return turn.DeniedByLabel, clip(label)
	}
	if said := at.verdictLine(); said != "" {
		return turn.DeniedByVerdict, clip(said)
	}
	if behind := at.linesBehind(); len(behind) > 0 {
		if l := &at.p.lines[behind[0]]; l.kind == prose && len(l.split()) > 0 {
			said := l.split()[0]
			if _, refuted := refutes(said); refuted || isAnswer(said, falseAnswers) {
				return turn.DeniedBySentence, clip(said)
			}
		}
	}
	return "", ""
}

// label returns the label before a sentence, "Myth:", and whether it denies what follows; found is false where there is none
// that says either.
func (at place) label() (label string, denies, found bool) {
	l := at.own()
	name, _, ok := strings.Cut(l.text[:min(len(l.text), maxLabel)], ":")
	if !ok {
		return "", false, false
	}
	words := text.Words(name)
	n, _ := received.Prefix(words)
	switch {
	case n > 0 && len(words) <= n+2, consists(name, falseLabels, falseLabels):
		return name, true, true
	case consists(name, trueLabels, trueLabels):
		return name, false, true
	}
	return "", false, false
}

// verdict returns the verdict on a row and whether it denies it, or "" if there is none.
func (l *line) verdict() (verdict string, denies bool) {
	if !l.judged {
		l.judged = true
		l.verdictText, l.denied = l.table.verdict(l.text)
	}
	return l.verdictText, l.denied
}

// verdict returns the verdict on a row and whether it denies it, or "" if the table gives none.
func (t *table) verdict(row string) (verdict string, denies bool) {
	for i, cell := range cells(row) {
		named := i < len(t.names)
		switch {
		case named && consists(t.names[i], verdictColumns, nil) && cell != "":
			return cell, isFalse(cell)
		case t.header < 0 && isFalse(cell) && !isAnswer(cell, noWords) && len(text.Words(row)) > mostWords:
			return cell, true
		}
	}
	return "", false
}

// isFalse reports whether a verdict is that something is false.
func isFalse(verdict string) bool {
	words := text.Words(verdict)
	if len(words) == 0 || len(words) > mostWords {
		return false
	}
	words = words[skip(words, 0):]
	n, _ := falseVerdicts.Prefix(words)
	return n > 0 && n == len(words)
}

// falseHeading returns the nearest heading above, or the title, that calls false what stands under it, and whether that is
// sure; or "".
func falseHeading(h *heading, title string) (s string, sure bool) {
	for ; h != nil; h = h.above {
		if is, sure := headsFalse(h.text); is {
			return h.text, sure
		}
		if text.ContainsAny(text.Words(h.text), truths) {
			return "", false
		}
	}
	if is, sure := headsFalse(title); is {
		return title, sure
	}
	return "", false
}

// mostBefore is how many words stand before "myths" in a heading that is about myths.
const mostBefore = 3

// headsFalse reports whether a heading says that what stands under it is not so: "False claims", "What is not true" or, less
// sure, "Myths about bats", where they may be put right.
func headsFalse(s string) (is, sure bool) {
	if s == "" || len(s) > maxHeading {
		return false, false
	}
	if callsFalse(s) || consists(s, untrue, nil) {
		return true, true
	}
	words := text.Words(s)
	if text.ContainsAny(words, truths) {
		return false, false
	}
	if n, _ := received.Prefix(words[skip(words, 0):]); n > 0 {
		return true, false
	}
	for i, w := range words {
		switch {
		case !leads(words[:i]):
			return false, false
		case i > mostBefore:
			return false, false
		case untrue[w.Key] && claims[beyond(words, i, untrue)], claims[w.Key] && untrue[beyond(words, i, nil)]:
			return true, true
		case falsehoods[w.Key], falsehood[w.Key] && i == 0 && (len(words) == 1 || text.Numeric(word(words, 1))):
			return true, false
		}
	}
	return false, false
}

// beyond returns the word behind another, or behind what is joined to it: in "false or misleading claims", and in "claims
// that have been debunked".
func beyond(words []text.Word, i int, joined map[string]bool) string {
	i++
	if joins[word(words, i)] {
		if i++; joined != nil {
			i++
		}
	}
	return word(words, skip(words, i))
}

// leads reports whether words may stand before a noun as what belongs to it: they are no question, have no other noun with its
// preposition, and do nothing about it: "How to spot".
func leads(words []text.Word) bool {
	for _, w := range words {
		if text.StopWords[w.Key] && !fillers[w.Key] && !joins[w.Key] || handling[w.Key] {
			return false
		}
	}
	return true
}

// callsFalse reports whether a heading, or the line before a list, calls what follows false.
func callsFalse(s string) bool {
	words := text.Words(s)
	return !strings.HasSuffix(s, "?") && len(notSo.FindAll(s, words)) > 0
}
