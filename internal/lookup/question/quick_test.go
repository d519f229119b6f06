package question

import (
	"strings"
	"testing"
)

// BenchmarkDecideHostile is of messages of full length behind four more: milliseconds, whatever they are made of.
func BenchmarkDecideHostile(b *testing.B) {
	for _, piece := range []string{"please ", "!", "! ", "<1>", "a. ", "who is he? ", "' s", "*a* ", "```", "_a_ ", "Dr. ", "1 ", "12 ", "2020 ", "123-", "in 2 days ", "明日は？", "@", "a@", "\u0301", "天", "and ", "😀", "https://a.b ", "A", "sk-", "what is ", "<@1"} {
		b.Run(piece, func(b *testing.B) {
			req := ask(strings.Repeat(piece, 4000/len(piece)))
			for i := range 4 {
				req.Chain = append(req.Chain, req.Message)
				req.Chain[i].ID = string(rune('B' + i))
			}
			for b.Loop() {
				p := Decide(req, []string{"sage"}, []string{"who is"})
				p.Compose([]string{"sage"}, today)
			}
		})
	}
}
