package outgoing

import (
	"strings"
	"testing"
)

// A secret is found under whatever Discord does not show, and where two messages share it.
func TestSecretUnderMarks(t *testing.T) {
	spaced := strings.Join(strings.Split(topSecret, ""), " ")
	for _, in := range []string{
		`hunter2\-token\-0123456789`, "**hunter2**-token-0123456789", "||hunter2||-token-`0123456789`", spaced, strings.ToUpper(topSecret), "hunter2%2Dtoken%2d0123456789",
		"68 75 6e 74 65 72 32 2d 74 6f 6b 65 6e 2d 30 31 32 33 34 35 36 37 38 39", "hunter2-to[k](https://example.org/a)en-0123456789", "```\nhunter2-```tok\nen```go\n-0123456789\n```",
		strings.Repeat("x", 1990) + " hunter2-tok\nen-0123456789", strings.Repeat("word ", 396) + "hunter2-\n\ntoken-0123456789 " + strings.Repeat("word ", 50),
	} {
		if got, changes := sample().Guard(in); got != Withheld || len(changes) != 1 || changes[0].Rule != "O11" {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// While it grows, no more of a secret is shown than a few characters, and nothing that was shown is taken back.
func TestGrowingSecretIsHeldBack(t *testing.T) {
	for _, sign := range []string{" ", "\n", " **", "\u200b ", " \\"} {
		text := "It is " + strings.Join(strings.Split(topSecret, ""), sign)
		for end := range text {
			visible, _ := sample().Guard(sample().Visible(text[:end]))
			letters := strings.NewReplacer(" ", "", "*", "", "\n", "", "\\", "").Replace(strings.TrimPrefix(visible, "It is"))
			if len(letters) > 3 {
				t.Fatalf("%q shows %q", text[:end], visible)
			}
		}
	}
}
