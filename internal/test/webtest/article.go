package webtest

import (
	"math/rand/v2"
	"strings"
)

// Article returns a text of 50 KB with a vocabulary as large as an article's. Some sentences are about bridges. The same seed gives the same
// text.
func Article(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var words []string
	for range 3000 {
		var w strings.Builder
		for range 2 + r.IntN(9) {
			w.WriteByte("etaoinshrdlcumwfgypbvk"[r.IntN(22)])
		}
		words = append(words, w.String())
	}
	topic := strings.Fields("bridge opened 1932 Lorem Quill harbour 812 length Sample")
	var b strings.Builder
	for b.Len() < 50<<10 {
		b.WriteString("The")
		for range 8 + r.IntN(20) {
			w := words[int(float64(len(words))*r.Float64()*r.Float64()*r.Float64())] // few words make most of a text
			if r.IntN(30) == 0 {
				w = topic[r.IntN(len(topic))]
			}
			b.WriteString(" " + w)
		}
		b.WriteString([]string{". ", ". ", ". ", ".\n"}[r.IntN(4)])
	}
	return b.String()
}
