package websearch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/context/turn"
	"familiar/internal/question"
)

// TestFragmentsAreForReadersAlone checks that only special readers use the fragment of a URL.
func TestFragmentsAreForReadersAlone(t *testing.T) {
	urls := question.Decide(ask("see https://example.org/a#part-2, http://example.org/b# and https://example.org/a#part-2"), nil, nil).URLs
	targets := typedTargets(urls, Policy{}.withDefaults())
	found, _ := choose(hits("https://example.net/c#d"), turn.IntentGeneral, Policy{}.withDefaults())
	var got []string
	for _, t := range append(targets, found...) {
		got = append(got, t.url+" "+t.anchor)
	}
	if diff := cmp.Diff([]string{"https://example.org/a #part-2", "http://example.org/b ", "https://example.net/c #d"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
