package clean

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWithoutTokens compares what is done at each bracket with what one search through the text would find.
func TestWithoutTokens(t *testing.T) {
	anywhere := regexp.MustCompile(strings.Replace(rawToken.String(), "^", "", 1))
	pieces := []string{"<", "<<", "[", "＜", "‹", ">", "]", "＞", "|", "/", "sys", "inst", "INST", "s", "think", "function", "=a", " name=b", "im_start", "é", " ", "\n", "x"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "text"), "")
		want := anywhere.ReplaceAllStringFunc(text, func(token string) string {
			return strings.NewReplacer("[", "(", "]", ")").Replace(strings.Map(bracket, token))
		})
		if got := withoutTokens(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}
