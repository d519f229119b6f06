// Package telling says which messages of a conversation tell most, without a model. It is pure.
package telling

import (
	"regexp"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Weigh returns how much each of some messages of a channel tells to somebody called name: those that were replied to, that mention
// the reader, that ask or answer, that say what others do not. The name may be empty.
func Weigh(all []turn.Message, name string) []float64 {
	replies, in := map[string]int{}, map[string]int{}
	terms := make([][]string, len(all))
	for i, m := range all {
		replies[m.ReplyTo]++
		terms[i] = text.Unique(text.Terms(m.Text, ""))
		for _, t := range terms[i] {
			in[t]++
		}
	}
	mention := "@" + strings.ToLower(name)
	scores := make([]float64, len(all))
	for i, m := range all {
		score := 0.0
		for _, t := range terms[i] {
			score += text.IDF(in[t], len(all))
		}
		score = min(score, 40) / 10
		score += 1.5 * float64(min(replies[m.ID], 4))
		if strings.ContainsAny(m.Text, "?？؟") && replies[m.ID] > 0 {
			score++
		}
		if m.ReplyTo != "" {
			score += 0.5
		}
		if name != "" && strings.Contains(strings.ToLower(m.Text), mention) {
			score += 4
		}
		if len(Addresses(m)) > 0 {
			score += 0.5
		}
		if m.Own {
			score /= 3
		}
		scores[i] = score
	}
	return scores
}

var address = regexp.MustCompile(`https?://[^\s<>"]+[^\s<>"'.,:;!?)\]}*_~|]`)

// Addresses returns the links that a person posted in a message, at most five.
func Addresses(m turn.Message) []string {
	if !m.ByPerson() {
		return nil
	}
	return address.FindAllString(m.Text, 5)
}
