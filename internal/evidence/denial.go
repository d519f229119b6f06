package evidence

import (
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// position is a sentence of a page.
type position struct {
	p              *Layout
	line, sentence int // sentence is -1 if the text was not found in the line
}

func (at position) current() *line { return &at.p.lines[at.line] }

// denial returns how a page denies a sentence, and in which words. If it returns words without a denial, they are of a heading. The
// sentence below it may be either the claim or the truth.
func (at position) denial() (turn.Denial, string) {
	l := at.current()
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
	if said := at.refutingNeighbour(); said != "" {
		return turn.DeniedBySentence, clip(said)
	}
	if l.intro != "" && callsFalse(l.intro) {
		return turn.DeniedByList, clip(l.intro)
	}
	h, sure := falseHeading(l.heading, at.p.title)
	if _, claim, _ := strings.Cut(h, ":"); h != "" && (strings.TrimSpace(claim) != "" || !at.claims(sure)) { // a heading such as "Myth 3: Bats are blind" holds the claim itself
		return "", clip(h)
	}
	if h != "" {
		return turn.DeniedByHeading, clip(h)
	}
	return "", ""
}

// maxClaimSentences is the length of a paragraph that is a claim; a longer one is about the claim.
const maxClaimSentences = 2

// claims reports whether a sentence below "False claims" or, less certainly, "Myths", is such a claim. It may correct one
// instead: "In fact, bats are not blind."
func (at position) claims(sure bool) bool {
	l := at.current()
	all := l.split()
	if at.sentence < 0 || corrects(all[at.sentence], sure) {
		return false
	}
	if l.kind == listItem {
		return at.sentence == 0 || !corrects(all[at.sentence-1], sure)
	}
	return (sure || l.heading != nil && l.heading.lines == 1) && len(all) <= maxClaimSentences && (at.sentence == 0 || !corrects(all[0], sure))
}

// corrects reports whether a sentence corrects something. A negation is enough unless the heading is surely about
// claims.
func corrects(sentence string, sure bool) bool {
	words := text.Words(sentence)
	return text.ContainsAny(words, corrections()) || !sure && text.ContainsAny(words, text.Negations()) || callsAnythingFalse(sentence)
}

// headline is [position.denial] for a heading with a statement: the line below it may be "False."
func (at position) headline() (turn.Denial, string) {
	if strings.HasSuffix(at.current().text, "?") {
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
			if _, refuted := refutes(said); refuted || isAnswer(said, falseAnswers()) {
				return turn.DeniedBySentence, clip(said)
			}
		}
	}
	return "", ""
}

// label returns the label before a sentence, such as "Myth:", and whether it denies what follows. found is false if
// there is no such label.
func (at position) label() (label string, denies, found bool) {
	l := at.current()
	name, _, ok := strings.Cut(l.text[:min(len(l.text), maxLabel)], ":")
	if !ok {
		return "", false, false
	}
	words := text.Words(name)
	n, _ := received().Prefix(words)
	switch {
	case n > 0 && len(words) <= n+2, consistsOf(name, falseLabels(), falseLabels()):
		return name, true, true
	case consistsOf(name, trueLabels(), trueLabels()):
		return name, false, true
	}
	return "", false, false
}

// verdict returns the verdict on a row and whether it denies the row, or "".
func (l *line) verdict() (verdict string, denies bool) {
	if !l.judged {
		l.judged = true
		l.verdictText, l.denied = l.table.verdict(l.text)
	}
	return l.verdictText, l.denied
}

// verdict returns the table's verdict on a row and whether it denies the row, or "".
func (t *table) verdict(row string) (verdict string, denies bool) {
	for i, cell := range cells(row) {
		named := i < len(t.names)
		switch {
		case named && consistsOf(t.names[i], verdictColumns(), nil) && cell != "":
			return cell, isFalse(cell)
		case t.header < 0 && isFalse(cell) && !isAnswer(cell, noWords()) && len(text.Words(row)) > maxLabelWords:
			return cell, true
		}
	}
	return "", false
}

// isFalse reports whether a verdict is that something is false.
func isFalse(verdict string) bool {
	words := text.Words(verdict)
	if len(words) == 0 || len(words) > maxLabelWords {
		return false
	}
	words = words[skipFillers(words, 0):]
	n, _ := falseVerdicts().Prefix(words)
	return n > 0 && n == len(words)
}

// falseHeading returns the nearest heading above, or the title, that calls what follows false, and whether that is sure,
// or "".
func falseHeading(h *heading, title string) (s string, sure bool) {
	for ; h != nil; h = h.above {
		if is, sure := headsFalse(h.text); is {
			return h.text, sure
		}
		if text.ContainsAny(text.Words(h.text), truths()) {
			return "", false
		}
	}
	if is, sure := headsFalse(title); is {
		return title, sure
	}
	return "", false
}

// maxModifiers is how many words may precede "myths" in a heading about myths.
const maxModifiers = 3

// headsFalse reports whether a heading says that what follows is false. "False claims" and "What is not true" certainly do. "Myths about bats"
// is less sure, since they may be corrected.
func headsFalse(s string) (is, sure bool) {
	if s == "" || len(s) > maxHeading {
		return false, false
	}
	if callsFalse(s) || consistsOf(s, untrue(), nil) {
		return true, true
	}
	words := text.Words(s)
	if text.ContainsAny(words, truths()) {
		return false, false
	}
	if n, _ := received().Prefix(words[skipFillers(words, 0):]); n > 0 {
		return true, false
	}
	for i, w := range words {
		switch {
		case !isModifier(words[:i]):
			return false, false
		case i > maxModifiers:
			return false, false
		case untrue()[w.Key] && claims()[beyond(words, i, untrue())], claims()[w.Key] && untrue()[beyond(words, i, nil)]:
			return true, true
		case falsehoods()[w.Key], falsehood()[w.Key] && i == 0 && (len(words) == 1 || text.Numeric(keyAt(words, 1))):
			return true, false
		}
	}
	return false, false
}

// beyond returns the word after word i, or after the word that is joined to it. Examples are "false or misleading claims" and "claims that
// have been debunked".
func beyond(words []text.Word, i int, joined map[string]bool) string {
	i++
	if conjunctions()[keyAt(words, i)] {
		if i++; joined != nil {
			i++
		}
	}
	return keyAt(words, skipFillers(words, i))
}

// isModifier reports whether words may modify the noun after them. Question words, other phrases and verbs of handling
// may not: "How to spot".
func isModifier(words []text.Word) bool {
	for _, w := range words {
		if text.StopWords()[w.Key] && !fillers()[w.Key] && !conjunctions()[w.Key] || handling()[w.Key] {
			return false
		}
	}
	return true
}

// callsFalse reports whether a heading, or the line before a list, calls what follows false.
func callsFalse(s string) bool {
	words := text.Words(s)
	return !strings.HasSuffix(s, "?") && len(notSo().FindAll(s, words)) > 0
}
