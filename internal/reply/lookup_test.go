package reply

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

func TestFoundAnswer(t *testing.T) {
	found := func(claims, length int) *turn.Lookup {
		l := &turn.Lookup{State: turn.Found}
		for n := 1; n <= claims; n++ {
			text := fmt.Sprintf("claim %d ", n) + strings.Repeat("x", length) + " end"
			l.Summary = append(l.Summary, turn.Claim{Text: text, Quote: text, Source: n})
			l.Sources = append(l.Sources, turn.Source{N: n, Title: "Page", Site: "example.org", URL: fmt.Sprintf("https://example.org/%d", n)})
		}
		return l
	}
	for _, c := range []struct {
		claims, length int
		has, lacks     string
	}{
		{3, 20, "end [3]", "more: /context"},
		{6, 500, "end [3]\n(3 more: /context)\n\n-# Sources\n", "claim 4"},
		{6, 500, "<https://example.org/3>", "example.org/4"},
		{1, 5000, "x…\n\n-# ", "end [1]"},
		{1, 5000, "<https://example.org/1>", "more"},
	} {
		got := LookupAnswer("en", found(c.claims, c.length), nil)
		if !strings.Contains(got, c.has) || strings.Contains(got, c.lacks) || Units(got) > AnswerUnits {
			t.Errorf("%d claims of %d: %d units:\n%s", c.claims, c.length, Units(got), got)
		}
	}
}
