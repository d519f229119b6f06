package websearch

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func containsFold(s, sub string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(sub))
}

func TestQuery(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"sage, can you look up the opening hours of the Prado please?", "the opening hours of the Prado"},
		{"hey sage! could you please search for good ramen in Osaka, thanks", "good ramen in Osaka"},
		{"what is the latest version of Go?", "what is the latest version of Go 2026"},
		{"best films of last year", "best films of last year 2025"},
		{"who won the cup in 1998?", "who won the cup in 1998"},
		{"such nach dem Wetter in Bonn bitte", "dem Wetter in Bonn"},
		{"search !g :de cats <30 !!secret", "g de cats secret"},
	} {
		req := ask(tt.text)
		p := decide(req, []string{"sage"}, Policy{})
		p.compose([]string{"sage"}, today)
		if len(p.queries) == 0 || p.queries[0] != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, p.queries, tt.want)
		}
	}
}

func TestScrub(t *testing.T) {
	for _, tt := range []struct{ in, want, kind string }{
		{"who is <@123456789012345678> really", "who is really", "mention"},
		{"ask @Ann about Rome", "ask about Rome", "mention"},
		{"is jo.doe+x@mail.example.org a scam", "is a scam", "email"},
		{"who calls from +49 30 1234567 at night", "who calls from at night", "phone"},
		{"who calls from 030 123 45 67 89 at night", "who calls from at night", "phone"},
		{"message 123456789012345678 where", "message where", "snowflake"},
		{"what is sk-abcdefghijklmnopqrstuvwx for", "what is for", "token"},
		{"what is MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "what is", "token"},
		{"join https://discord.gg/abc123 now", "join now", "invite"},
		{"read https://example.org/?user=me today", "read today", "url"},
		{"sk-abcdefghijkl\u200bmnopqrstuvwxyz0123", "", "token"},
		{"jo＠mail.example.org hi", "hi", "email"},
		{"the battle of 2026-11-20 and 1914 1918", "the battle of 2026-11-20 and 1914 1918", ""},
		{"population over 299792458", "population over 299792458", ""},
	} {
		got, kinds := scrub(tt.in, known{})
		if got != tt.want || tt.kind != "" && !slices.Contains(kinds, tt.kind) || tt.kind == "" && len(kinds) > 0 {
			t.Errorf("scrub(%q) = %q, %v; want %q, %s", tt.in, got, kinds, tt.want, tt.kind)
		}
	}
}

// Whatever people write: no query is too long, none tells a secret, and there are two at most.
func TestQueriesKeepSecrets(t *testing.T) {
	secrets := []string{"sk-abcdefghijklmnopqrstuvwxyz", "123456789012345678", "ann@example.org", "+49 170 1234567", "<@123456789012345678>"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "before") + " " + rapid.SampledFrom(secrets).Draw(t, "secret") + " " + rapid.StringN(0, 300, 600).Draw(t, "after")
		p := decide(ask(text), []string{"sage"}, Policy{})
		p.compose([]string{"sage"}, today)
		if len(p.queries) > 2 {
			t.Fatalf("%d queries", len(p.queries))
		}
		for _, q := range p.queries {
			if n := utf8.RuneCountInString(q); n > maxQuery {
				t.Fatalf("%d characters", n)
			}
			for _, s := range secrets {
				if strings.Contains(q, s) {
					t.Fatalf("%q left in %q", s, q)
				}
			}
		}
	})
}

func FuzzDecide(f *testing.F) {
	for _, s := range []string{"and in Berlin?", "how old is he's", "don't", "what's", "<@1>", "*a* ```", "。？", "'s 't", "see www.x"} {
		f.Add(s, "who is Ada Lovelace?")
	}
	f.Fuzz(func(t *testing.T, text, before string) {
		req := ask(text)
		req.Chain = append(req.Chain, req.Message)
		req.Chain[0].ID, req.Chain[0].Text = "B", before
		p := decide(req, []string{"sage", before}, Policy{DeniedTopics: []string{before}})
		p.compose([]string{"sage"}, today)
		if p.score < 0 || p.score > 1 {
			t.Fatal(p.score)
		}
		for _, q := range p.queries {
			if utf8.RuneCountInString(q) > maxQuery || strings.ContainsAny(q, "<>\n") || strings.HasPrefix(q, "!") {
				t.Fatalf("query %q", q)
			}
		}
	})
}

// TestFragmentsAreForReadersAlone: a fragment names a part of a page, which only a special reader looks at.
func TestFragmentsAreForReadersAlone(t *testing.T) {
	urls, _ := typedURLs(ask("see https://example.org/a#part-2, http://example.org/b# and https://example.org/a#part-2"))
	targets := typedTargets(urls, Policy{}.withDefaults())
	found, _ := choose(hits("https://example.net/c#d"), Policy{}.withDefaults())
	var got []string
	for _, t := range append(targets, found...) {
		got = append(got, t.url+" "+t.anchor)
	}
	if diff := cmp.Diff([]string{"https://example.org/a #part-2", "http://example.org/b ", "https://example.net/c #d"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
