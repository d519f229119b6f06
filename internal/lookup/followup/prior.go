package followup

import (
	"strings"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// prior is the question before a follow-up.
type prior struct {
	utterance.Utterance        // without the marks at its end
	raw                 string // with them
	timeFrom            int    // Words[timeFrom:timeTo] is its first time
	timeTo              int
}

func parsePrior(s string) prior {
	u := utterance.Parse(strings.TrimRight(strings.TrimSpace(s), "?？!. "), nil)
	p := prior{Utterance: u, raw: s}
	p.timeFrom, p.timeTo = timeIn(u.Words)
	return p
}

// inTime reports whether a word is one of the time's.
func (p prior) inTime(i int) bool { return p.timeFrom <= i && i < p.timeTo }

// span returns the text of words.
func (p prior) span(from, to int) string { return p.Text[p.Words[from].Start:p.Words[to-1].End] }

// replace returns the question with other text in the place of Words[from:to].
func (p prior) replace(from, to int, with string) string {
	return p.Text[:p.Words[from].Start] + with + p.Text[p.Words[to-1].End:]
}

// slotEnd returns where the words that begin at from stop being one slot: at a preposition or a time.
func (p prior) slotEnd(from int) int {
	for i := from + 1; i < len(p.Words); i++ {
		if text.Prepositions[p.Words[i].Key] || i == p.timeFrom {
			return i
		}
	}
	return len(p.Words)
}
