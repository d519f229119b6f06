package framing

import (
	"strings"

	"familiar/internal/text"
)

// mostNear is how many sentences, or lines, before and behind a sentence may speak of it.
const mostNear = 3

// answer looks for "True or false?" before a sentence and the answer behind it. It returns the answer if that is "False";
// answered is false where nothing is asked, or nothing answered.
func (at place) answer() (said string, answered bool) {
	if !at.asked() {
		return "", false
	}
	for _, sentence := range at.behind() {
		switch {
		case isAnswer(sentence, falseAnswers):
			return sentence, true
		case isAnswer(sentence, trueAnswers):
			return "", true
		}
	}
	return "", false
}

// isAnswer reports whether a sentence is one of these words, or begins with one as with a sentence of its own.
func isAnswer(sentence string, answers map[string]bool) bool {
	words := text.Words(sentence)
	return len(words) > 0 && answers[words[0].Key] && (len(words) == 1 || !strings.HasPrefix(sentence[words[0].End:], " "))
}

// asked reports whether it is asked, above or right before a sentence, what is true.
func (at place) asked() bool {
	l := at.own()
	if l.heading != nil && trueOrFalse.found(l.heading.text) {
		return true
	}
	for _, sentence := range at.before() {
		if trueOrFalse.found(sentence) {
			return true
		}
	}
	return at.sentence >= 0 && trueOrFalse.found(l.split()[at.sentence])
}

// verdictLine returns the verdict that a line of its own gives behind a sentence: "Rating: False".
func (at place) verdictLine() string {
	for n, i := range at.linesBehind() {
		said := at.p.lines[i].text
		if n == 0 && isLabel(said) && isFalse(said) && !isAnswer(said, noWords) {
			return said
		}
		name, verdict, ok := strings.Cut(said, ":")
		if ok && consists(strings.TrimSpace(name), verdictColumns, nil) {
			if isFalse(strings.TrimRight(verdict, ".! ")) {
				return strings.TrimSpace(verdict)
			}
			return ""
		}
	}
	return ""
}

// beside returns the sentence beside a sentence that calls it false.
func (at place) beside() string {
	if l := at.own(); at.sentence >= 0 && calls(l.split()[at.sentence]) {
		return "" // it is the one that does
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

// behind returns the sentences behind a sentence that may speak of it: those of its line and, if it is near the end of that,
// the first of the next line.
func (at place) behind() []string {
	l := at.own()
	if at.sentence < 0 {
		return nil
	}
	out := l.split()[at.sentence+1:]
	if l.kind == tableRow {
		return nil
	}
	if len(out) < mostNear {
		for _, i := range at.linesBehind()[:min(1, len(at.linesBehind()))] {
			if next := &at.p.lines[i]; next.kind == l.kind && l.kind != listItem {
				out = append(append([]string(nil), out...), next.split()...)
			}
		}
	}
	return out[:min(len(out), mostNear)]
}

// before returns the sentences before a sentence that may speak of it, the nearest first.
func (at place) before() (out []string) {
	l := at.own()
	if at.sentence < 0 || l.kind == tableRow {
		return nil
	}
	for i := at.sentence - 1; i >= 0 && len(out) < mostNear; i-- {
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

// linesBehind returns the numbers of the next lines that have text, up to a heading.
func (at place) linesBehind() (out []int) {
	for i := at.line + 1; i < len(at.p.lines) && i <= at.line+2*mostNear && len(out) < mostNear; i++ {
		switch l := &at.p.lines[i]; {
		case l.kind == headingLine:
			return out
		case l.kind != blank:
			out = append(out, i)
		}
	}
	return out
}

// mostCalling is how many words a sentence has at most that calls what was said before it false by the way. A longer one speaks
// of itself.
const mostCalling = 12

// refutes reports whether a sentence calls what was said before it false: "That story is a hoax." Wide is true for one that
// speaks of all of it: "None of this is true."
func refutes(sentence string) (wide, ok bool) {
	words := text.Words(sentence)
	from := skipOpeners(words)
	if n, _ := nothing.Prefix(words[from:]); n > 0 {
		i := skip(words, from+n)
		return true, i < len(words) && affirms[words[i].Key]
	}
	if len(dismissals.FindAll(sentence, words)) > 0 || exclaims(sentence, words) {
		return false, true
	}
	switch first := word(words, from); {
	case pronouns[first]:
		at, n := saysFalse(words, from+1)
		return false, n > 0 && !complements[word(words, at+n)]
	case (demonstratives[first] || articles[first] || every[first]) && sayings[word(words, from+1)]:
		_, n := saysFalse(words, from+2)
		return true, n > 0
	}
	for i, w := range words { // "This is a hoax", "Experts call this a hoax"
		if demonstratives[w.Key] && (i == from || len(words) <= mostCalling) {
			if i++; sayings[word(words, i)] {
				i++
			}
			if at, n := saysFalse(words, i); n > 1 || n > 0 && at > i { // "that joke" says nothing
				return false, true
			}
		}
	}
	return false, false
}

// exclaims reports whether a sentence is nothing but a refutal: "Pure nonsense!" A tag of that word has no mark at its end.
func exclaims(sentence string, words []text.Word) bool {
	if len(words) > 3 || !strings.ContainsAny(sentence[max(0, len(sentence)-1):], ".!") {
		return false
	}
	at, n := saysFalse(words, 0)
	return n > 0 && at+n == len(words)
}

// saysFalse returns where words say "is a hoax" behind a subject, and in how many words, or 0.
func saysFalse(words []text.Word, from int) (at, n int) {
	if at = skip(words, from); at < len(words) {
		n, _ = refuted.Prefix(words[at:])
	}
	return at, n
}

func skipOpeners(words []text.Word) int {
	i := 0
	for i < len(words) && openers[words[i].Key] {
		i++
	}
	return i
}

// announces reports whether a sentence calls what follows it false: "The following is a hoax."
func announces(sentence string) bool {
	words := text.Words(sentence)
	for i, w := range words {
		if !following[w.Key] {
			continue
		}
		if text.ContainsAny(words, affirms) && len(nothing.FindAll(sentence, words)) > 0 {
			return true
		}
		for j := i; j < len(words); j++ {
			if text.Negations[words[j].Key] {
				break
			}
			if n, _ := refuted.Prefix(words[j:]); n > 0 {
				return true
			}
		}
	}
	return false
}

// calls reports whether a sentence calls something false, be it itself or another.
func calls(sentence string) bool {
	words := text.Words(sentence)
	if _, ok := refutes(sentence); ok || announces(sentence) {
		return true
	}
	for i := range words {
		if n, _ := refuted.Prefix(words[i:]); n > 0 && i > 0 && fillers[words[i-1].Key] {
			return true
		}
	}
	return false
}
