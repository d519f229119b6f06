package websearch

import (
	"strings"
	"testing"
	"time"
)

// A message of full length takes milliseconds, whatever it is made of. The limit tells an explosion from a busy machine
// under the race detector.
func TestDecideIsQuick(t *testing.T) {
	for _, piece := range []string{"please ", "!", "! ", "<1>", "a. ", "who is he? ", "' s", "*a* ", "```", "_a_ ", "Dr. ", "1 ", "123-", "@", "a@", "\u0301", "天", "and ", "😀", "https://a.b ", "A", "sk-", "what is ", "<@1"} {
		req := ask(strings.Repeat(piece, 4000/len(piece)))
		req.Chain = append(req.Chain, req.Message)
		req.Chain[0].ID = "B"
		began := time.Now()
		p := decide(req, []string{"sage"}, Policy{DeniedTopics: []string{"who is"}})
		p.compose([]string{"sage"}, today)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q over and over: %v", piece, took)
		}
	}
}
