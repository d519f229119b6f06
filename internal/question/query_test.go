package question

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
)

func containsFold(s, sub string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(sub))
}

func TestQuery(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"sage, can you look up the opening hours of the Prado please?", "the opening hours of the Prado"},
		{"hey sage! could you please search for good ramen in Osaka, thanks", "good ramen in Osaka"},
		{"what is the latest version of Go?", "what is the latest version of Go 2026"},
		{"best films of last year", "best films of 2025"},
		{"who won the cup in 1998?", "who won the cup in 1998"},
		{"such nach dem Wetter in Bonn bitte", "dem Wetter in Bonn"},
		{"who won the match yesterday?", "who won the match 19 November 2026"},
		{"what is the weather in Rome tomorrow?", "what is the weather in Rome tomorrow"},
		{"who said “I think, therefore I am”?", `who said "I think, therefore I am"`},
		{"who wrote the novel The Left Hand of Darkness", `who wrote the novel "The Left Hand of Darkness"`},
		{"wer schrieb den Roman Der Name der Rose?", `wer schrieb den Roman "Der Name der Rose"`},
		{"is the film called Blade Runner any good", `is the film called "Blade Runner" any good`},
		{"what does the \"dangling quote mean", "what does the dangling quote mean"},
		{"las vegas shows this weekend", "las vegas shows November 2026"},
		{"what is the height of K2, check again please", "what is the height of K2"},
		{"any update on the Artemis launch?", "any update on the Artemis launch"},
		{"search !g :de cats <30 !!secret", "g de cats secret"},
	} {
		req := ask(tt.text)
		p := plan(req)
		if len(p.Queries) == 0 || p.Queries[0] != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, p.Queries, tt.want)
		}
	}
}

// TestQueriesKeepSecrets checks, for any text, that there are at most two queries, none too long and none with a secret.
func TestQueriesKeepSecrets(t *testing.T) {
	digit, letter := rapid.StringMatching(`[0-9]{3}`), rapid.StringMatching(`[a-zA-Z0-9_-]{12}`)
	plain := rapid.StringMatching(`[a-z]{4,9}`)
	secrets := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { return "sk-" + letter.Draw(t, "a") + letter.Draw(t, "b") }),
		rapid.StringMatching(`[1-9][0-9]{16,19}`),
		rapid.StringMatching(`<@!?[1-9][0-9]{16,19}>`),
		rapid.Custom(func(t *rapid.T) string { return plain.Draw(t, "user") + "@" + plain.Draw(t, "host") + ".org" }),
		rapid.Custom(func(t *rapid.T) string { return "+49 170 " + digit.Draw(t, "a") + digit.Draw(t, "b") }),
		rapid.Custom(func(t *rapid.T) string { return "https://discord.gg/" + plain.Draw(t, "code") }),
	)
	filler := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"who is", "what about", "and in", "look up", "he", "Rome", "yesterday", `"`, "“", "search for", "?", "«", "latest", "the film", ", ", "\n"}))
	rapid.Check(t, func(t *rapid.T) {
		secret := secrets.Draw(t, "secret")
		text := func(label string) string {
			parts := rapid.SliceOfN(filler, 0, 6).Draw(t, label)
			parts = slices.Insert(parts, rapid.IntRange(0, len(parts)).Draw(t, label+" at"), secret)
			return strings.Join(parts, " ")
		}
		req := ask(text("text"))
		req.Chain = []turn.Message{{ID: "B", Text: text("before")}}
		queries := plan(req).Queries
		if len(queries) > 2 {
			t.Fatalf("%d queries", len(queries))
		}
		for _, q := range queries {
			if n := utf8.RuneCountInString(q); n > maxQuery {
				t.Fatalf("%d characters", n)
			}
			if strings.Contains(q, secret) || strings.ContainsAny(q, "@<>\n") || strings.Count(q, `"`)%2 == 1 {
				t.Fatalf("%q of %q", q, secret)
			}
		}
	})
}
