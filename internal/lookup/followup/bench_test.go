package followup

import (
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
				Standalone(pair[1], nil, []turn.Message{{ID: "B", Text: pair[0]}})
			}
		})
	}
}
