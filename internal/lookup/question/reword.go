package question

import (
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/privacy"
	"familiar/internal/text"
)

// MayAsk reports whether a question holds nothing but the words of the messages, as they are without what is private,
// and words that carry no meaning.
func (p *Plan) MayAsk(question string, from []turn.Message) bool {
	if question == "" || utf8.RuneCountInString(question) > MaxQuestion || text.Unspaced(question) {
		return false // without spaces there are no words to tell whose they are
	}
	theirs := map[string]bool{}
	for _, m := range from {
		s, _ := privacy.Scrub(WithoutURLs(m.Text), p.Names)
		for _, w := range text.Words(s) {
			theirs[w.Key] = true
		}
	}
	content := 0
	for _, w := range text.Words(question) {
		switch {
		case theirs[w.Key]:
			content++
		case !text.StopWords[w.Key]:
			return false
		}
	}
	return content > 0
}
