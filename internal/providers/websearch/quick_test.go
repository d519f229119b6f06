package websearch

import (
	"strings"
	"testing"
	"time"
)

// A message of full length takes milliseconds, whatever it is made of. The limit tells an explosion from a busy machine
// under the race detector.
func TestDecideIsQuick(t *testing.T) {
	for _, piece := range []string{"please ", "!", "! ", "<1>", "a. ", "who is he? ", "' s", "*a* ", "```", "_a_ ", "Dr. ", "1 ", "12 ", "2020 ", "123-", "in 2 days ", "明日は？", "@", "a@", "\u0301", "天", "and ", "😀", "https://a.b ", "A", "sk-", "what is ", "<@1"} {
		req := ask(strings.Repeat(piece, 4000/len(piece)))
		for i := range 4 {
			req.Chain = append(req.Chain, req.Message)
			req.Chain[i].ID = string(rune('B' + i))
		}
		began := time.Now()
		p := decide(req, []string{"sage"}, Policy{DeniedTopics: []string{"who is"}})
		p.compose([]string{"sage"}, today)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q over and over: %v", piece, took)
		}
	}
}
