package outgoing

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func forms() []string {
	return []string{topSecret, reversed(topSecret), base64.RawStdEncoding.EncodeToString([]byte(topSecret)), hex.EncodeToString([]byte(topSecret))}
}

// posted sends a reply through the guard and the splitter, and its first cut bytes as what has grown so far.
func posted(text string, cut int) error {
	rules, marker := sample(), &Marker{Lookup: readPages()}
	cut = max(0, min(cut, len(text)))
	for _, growing := range []bool{true, false} {
		part := text
		if growing {
			part = rules.Visible(text[:cut])
		}
		guarded, _ := rules.Guard(part)
		guarded, _, _ = marker.Mark(guarded, growing)
		posts := Split(guarded, 2000)
		for _, post := range posts {
			if rule, what := violation(post); rule != "" {
				return fmt.Errorf("%s: %q in %q", rule, what, post)
			}
		}
		if err := judge(guarded, posts); err != nil {
			return fmt.Errorf("%w\nposts %q", err, posts)
		}
	}
	return nil
}

// fillers push a text to where it is cut.
var fillers = []string{"x", "word ", "語", "a line of it\n", "It is so. ", "```\ncode\n", "- item\n", "> said\n"}

// filled puts n characters before a text.
func filled(filler string, n int, text string) string {
	return CutUnits(strings.Repeat(filler, n/len([]rune(filler))+1), n) + text
}

// TestHostileRepliesSplit cuts the replies of a hijacked model at every place.
func TestHostileRepliesSplit(t *testing.T) {
	replies := 30_000
	if underRace {
		replies = 200
	}
	const workers = 2
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(20261122, uint64(w))) // always the same replies
			a := attack{r}
			for n := range replies / workers {
				text := a.some(1 + r.IntN(3))
				if n%3 > 0 { // the rest is judged as it is
					text = filled(fillers[r.IntN(len(fillers))], 2000-r.IntN(min(len(text), 1990)+8), text)
				}
				if err := posted(text, r.IntN(len(text)+1)); err != nil {
					t.Errorf("reply %d of %d: %v\n  in %q", n, w, err, text)
					return
				}
			}
		})
	}
	all.Wait()
}

// FuzzReply looks for replies that break a rule once they are guarded, marked and split, whole or while they grow.
func FuzzReply(f *testing.F) {
	for i, s := range fragments {
		f.Add(s+" "+fragments[(i*7)%len(fragments)], uint8(i), 1990, 20)
	}
	for _, s := range []string{
		"> ```\n@everyone\n```", "- ```\n<@1>\n```\n", "```` x ``` @here ````", "a ``` b\n```\n@everyone\n```", "`a\n\nb` @everyone `", "```\n[1](https://example.org/a)\n``` `@here", "\\``@everyone`", "# ```\n@here\n```",
	} {
		f.Add(s, uint8(0), 0, 30)
		f.Add(s, uint8(1), 1990, 3000)
	}
	f.Fuzz(func(t *testing.T, text string, filler uint8, n, cut int) {
		text = filled(fillers[int(filler)%len(fillers)], max(0, min(n, 2100)), text[:min(len(text), 3000)])
		if err := posted(text, cut); err != nil {
			t.Fatalf("%v\n  in %q", err, text)
		}
	})
}
