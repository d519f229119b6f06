package question

import (
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
)

// What the bot said never becomes part of a question (P7).
func TestOwnWordsAreNotUsed(t *testing.T) {
	req := ask("how old is he?")
	req.Parent = &turn.Message{ID: "R", Text: "It was written by Ernest Secretman.", Own: true}
	req.Chain = []turn.Message{*req.Parent, {ID: "Q", Text: "who was the first man on the Moon?"}}
	p := Decide(req, []string{"sage"}, nil)
	p.Compose(nil, today)
	for _, s := range append(p.Queries, p.Question) {
		if containsFold(s, "Secretman") {
			t.Errorf("the bot's own words left: %q", s)
		}
	}
	if len(p.Queries) == 0 || !containsFold(p.Queries[0], "Moon") {
		t.Errorf("queries %q", p.Queries)
	}
}

func BenchmarkDecide(b *testing.B) {
	alone := ask("hey sage, could you please tell me what the current exchange rate between the euro and the yen is? we are flying to Osaka next week")
	alone.Chain = []turn.Message{{ID: "1", Text: "who is the president of France?"}}
	for name, req := range map[string]turn.Request{"alone": alone, "chain": chained("what is the weather in Oslo today?", "and in Bergen?", "and tomorrow?", "and the day after?")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := Decide(req, []string{"sage"}, nil)
				p.Compose([]string{"sage"}, today)
			}
		})
	}
}

// Where a story is played, a name or a price in it asks for nothing; a question still does.
func TestNeedInPlay(t *testing.T) {
	for _, tt := range []struct {
		Earlier        string
		looked, inPlay bool
	}{
		{"latest rust version", true, false},
		{"who is the president of France?", true, true},
		{"look up the height of K2", true, true},
	} {
		for mode, want := range map[turn.Mode]bool{turn.Text: tt.looked, turn.FullRP: tt.inPlay} {
			req := ask(tt.Earlier)
			req.Mode = mode
			p := Decide(req, []string{"sage"}, nil)
			if got := p.Score >= need.Threshold; got != want {
				t.Errorf("%q in %s: %.2f %q", tt.Earlier, mode, p.Score, p.Cues)
			}
		}
	}
}
