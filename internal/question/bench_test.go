package question

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

func BenchmarkStandalone(b *testing.B) {
	for name, pair := range map[string][2]string{
		"spaced":   {"was kostet der eintritt in den europapark am samstag für zwei erwachsene", "und was kostet das für kinder unter zwölf jahren?"},
		"unspaced": {"東京から大阪まで新幹線でどれくらいかかりますか？", "名古屋からだとどうですか？"},
		"alone":    {"wie hoch ist die zugspitze", "wer hat eigentlich den dreißigjährigen krieg gewonnen"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				standalone(pair[1], nil, []turn.Message{{ID: "B", Text: pair[0]}})
			}
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	alone := ask("hey sage, could you please tell me what the current exchange rate between the euro and the yen is? we are flying to Osaka next week")
	alone.Chain = []turn.Message{{ID: "1", Text: "who is the president of France?"}}
	for name, req := range map[string]turn.Request{"alone": alone, "chain": chain("what is the weather in Oslo today?", "and in Bergen?", "and tomorrow?", "and the day after?")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := Decide(req, []string{"sage"}, nil)
				p.Compose([]string{"sage"}, today)
			}
		})
	}
}

// BenchmarkDecideHostile uses messages of full length after four more. Each must take milliseconds, whatever its
// content.
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
