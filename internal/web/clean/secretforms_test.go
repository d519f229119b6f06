package clean

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Searching for forms together finds the same as searching for each.
func TestFormsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.StringMatching(`[ab]{4,12}`), 1, 4).Draw(t, "forms")
		text := rapid.StringMatching(`[abc]{0,60}`).Draw(t, "text")
		want := slices.ContainsFunc(all, func(f string) bool { return strings.Contains(text, f) })
		f := formsOf(slices.Clone(all))
		if got := holds(text, &f); got != want {
			t.Fatalf("%q in %q: %t", all, text, got)
		}
		if got := holds([]byte(text), &f); got != want {
			t.Fatalf("%q in bytes of %q: %t", all, text, got)
		}
	})
}
