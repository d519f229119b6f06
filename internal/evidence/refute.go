package evidence

import (
	"slices"
	"strings"

	"familiar/internal/text"
)

// maxNear is how many sentences or lines around a sentence may refer to it.
const maxNear = 3

// answer finds "True or false?" before a sentence and the answer after it, and returns the answer if it is "False".
// answered is false if there is no question or no answer.
func (at position) answer() (said string, answered bool) {
	if !at.asked() {
		return "", false
	}
	for _, sentence := range at.behind() {
		switch {
		case isAnswer(sentence, falseAnswers()):
			return sentence, true
		case isAnswer(sentence, trueAnswers()):
			return "", true
		}
	}
	return "", false
}

// isAnswer reports whether a sentence is one of the answers, or begins with one followed by punctuation.
func isAnswer(sentence string, answers map[string]bool) bool {
	words := text.Words(sentence)
	return len(words) > 0 && answers[words[0].Key] && (len(words) == 1 || !strings.HasPrefix(sentence[words[0].End:], " "))
}

// asked reports whether the heading or a sentence before asks what is true.
func (at position) asked() bool {
	l := at.current()
	return l.heading != nil && asksIfTrue(l.heading.text) || slices.ContainsFunc(at.before(), asksIfTrue) ||
		at.sentence >= 0 && asksIfTrue(l.split()[at.sentence])
}

// asksIfTrue reports whether a text asks "True or false?".
func asksIfTrue(s string) bool { return len(trueOrFalse().FindAll(s, text.Words(s))) > 0 }

// verdictLine returns the verdict that a line of its own gives after a sentence: "Rating: False".
func (at position) verdictLine() string {
	for n, i := range at.linesBehind() {
		said := at.p.lines[i].text
		if n == 0 && isLabel(said) && isFalse(said) && !isAnswer(said, noWords()) {
			return said
		}
		name, verdict, ok := strings.Cut(said, ":")
		if ok && consistsOf(strings.TrimSpace(name), verdictColumns(), nil) {
			if isFalse(strings.TrimRight(verdict, ".! ")) {
				return strings.TrimSpace(verdict)
			}
			return ""
		}
	}
	return ""
}

// refutingNeighbour returns a sentence next to this one that calls it false, or "".
func (at position) refutingNeighbour() string {
	if l := at.current(); at.sentence >= 0 && callsAnythingFalse(l.split()[at.sentence]) {
		return "" // this sentence does so itself
	}
	for i, sentence := range at.behind() {
		if wide, ok := refutes(sentence); ok && (i == 0 || wide) {
			return sentence
		} else if ok {
			return ""
		}
	}
	for _, sentence := range at.before() {
		if announces(sentence) {
			return sentence
		}
	}
	return ""
}

// behind returns the sentences after this one that may refer to it. They are those of its line and, near the end of the line, those of the
// next line.
func (at position) behind() []string {
	l := at.current()
	if at.sentence < 0 {
		return nil
	}
	out := l.split()[at.sentence+1:]
	if l.kind == tableRow {
		return nil
	}
	if len(out) < maxNear {
		for _, i := range at.linesBehind()[:min(1, len(at.linesBehind()))] {
			if next := &at.p.lines[i]; next.kind == l.kind && l.kind != listItem {
				out = append(append([]string(nil), out...), next.split()...)
			}
		}
	}
	return out[:min(len(out), maxNear)]
}

// before returns the sentences before this one that may refer to it, nearest first.
func (at position) before() (out []string) {
	l := at.current()
	if at.sentence < 0 || l.kind == tableRow {
		return nil
	}
	for i := at.sentence - 1; i >= 0 && len(out) < maxNear; i-- {
		out = append(out, l.split()[i])
	}
	if at.sentence > 0 {
		return out
	}
	for i := at.line - 1; i >= 0 && i >= at.line-2; i-- {
		if o := &at.p.lines[i]; o.kind != blank {
			if s := o.split(); o.kind != tableRow && o.kind != headingLine && len(s) > 0 {
				out = append(out, s[len(s)-1])
			}
			break
		}
	}
	return out
}

// linesBehind returns the indexes of the next lines with text, up to a heading.
func (at position) linesBehind() (out []int) {
	for i := at.line + 1; i < len(at.p.lines) && i <= at.line+2*maxNear && len(out) < maxNear; i++ {
		switch l := &at.p.lines[i]; {
		case l.kind == headingLine:
			return out
		case l.kind != blank:
			out = append(out, i)
		}
	}
	return out
}

// maxCallingWords is the length of a sentence that calls the previous one false in passing, in words. A longer one
// speaks of itself.
const maxCallingWords = 12

// refutes reports whether a sentence calls the previous one false: "That story is a hoax." wide is true if it refers to
// everything before: "None of this is true."
func refutes(sentence string) (wide, ok bool) {
	words := text.Words(sentence)
	from := skipOpeners(words)
	if n, _ := nothing().Prefix(words[from:]); n > 0 {
		i := skipFillers(words, from+n)
		return true, i < len(words) && affirms()[words[i].Key]
	}
	if len(dismissals().FindAll(sentence, words)) > 0 || exclaims(sentence, words) {
		return false, true
	}
	switch first := keyAt(words, from); {
	case pronouns()[first]:
		at, n := saysFalse(words, from+1)
		return false, n > 0 && !complements()[keyAt(words, at+n)]
	case (demonstratives()[first] || articles()[first] || every()[first]) && sayings()[keyAt(words, from+1)]:
		_, n := saysFalse(words, from+2)
		return true, n > 0
	}
	for i, w := range words { // "This is a hoax", "Experts call this a hoax"
		if demonstratives()[w.Key] && (i == from || len(words) <= maxCallingWords) {
			if i++; sayings()[keyAt(words, i)] {
				i++
			}
			if at, n := saysFalse(words, i); n > 1 || n > 0 && at > i { // "that joke" says nothing about truth
				return false, true
			}
		}
	}
	return false, false
}

// exclaims reports whether a sentence is only a refutal: "Pure nonsense!" The mark at the end tells it from a tag.
func exclaims(sentence string, words []text.Word) bool {
	if len(words) > 3 || !strings.ContainsAny(sentence[max(0, len(sentence)-1):], ".!") {
		return false
	}
	at, n := saysFalse(words, 0)
	return n > 0 && at+n == len(words)
}

// saysFalse returns where words after a subject say "is a hoax", and the number of words, or 0.
func saysFalse(words []text.Word, from int) (at, n int) {
	if at = skipFillers(words, from); at < len(words) {
		n, _ = refuted().Prefix(words[at:])
	}
	return at, n
}

func skipOpeners(words []text.Word) int {
	i := 0
	for i < len(words) && frameOpeners()[words[i].Key] {
		i++
	}
	return i
}

// announces reports whether a sentence calls what follows false: "The following is a hoax."
func announces(sentence string) bool {
	words := text.Words(sentence)
	for i, w := range words {
		if !following()[w.Key] {
			continue
		}
		if text.ContainsAny(words, affirms()) && len(nothing().FindAll(sentence, words)) > 0 {
			return true
		}
		for j := i; j < len(words); j++ {
			if text.Negations()[words[j].Key] {
				break
			}
			if n, _ := refuted().Prefix(words[j:]); n > 0 {
				return true
			}
		}
	}
	return false
}

// callsAnythingFalse reports whether a sentence calls something false: itself or another sentence.
func callsAnythingFalse(sentence string) bool {
	words := text.Words(sentence)
	if _, ok := refutes(sentence); ok || announces(sentence) {
		return true
	}
	for i := range words {
		if n, _ := refuted().Prefix(words[i:]); n > 0 && i > 0 && fillers()[words[i-1].Key] {
			return true
		}
	}
	return false
}
