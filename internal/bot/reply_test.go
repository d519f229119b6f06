package bot

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
)

func TestSourceLineIsInert(t *testing.T) {
	tests := []struct{ name, title, want string }{
		{"plain", "The Weald: a history", "The Weald: a history"},
		{"invite", "Join discord.gg/abc now", "Join link removed now"},
		{"invite with scheme", "https://discord.gg/abc", "link removed"},
		{"invite in pieces", "dis*cord.g_g/abc", "link removed"},
		{"link", "Free https://evil.example.net/?q=1 here", "Free link removed here"},
		{"link in pieces", "ht*tps:/|/evil.example.net/?q=1", "link removed"},
		{"link in angle brackets", "<https://evil.example.net/>", "link removed"},
		{"odd link", `https://"@evil.example.net/`, `link removed`},
		{"other scheme", "steam://run/1", "link removed"},
		{"markdown link", "[docs](https://evil.example.net/)", "docslink removed"},
		{"image", "![x](https://evil.example.net/p.png)", "xlink removed"},
		{"www", "www.evil.example.net", "link removed"},
		{"a bare domain is no link", "evil.example.net/x", "evil.example.net/x"},
		{"everyone", "@everyone, @here", "everyone, here"},
		{"mention markup", "a <@123> <@&4> <#5> b", "a 123 &4 5 b"},
		{"styles", "**b** ||s|| `c` # h", "b s c  h"},
		{"line end", "one\n-# [2] two\r\nthree", "one - 2 two three"},
		{"citation", "[1] [2]", "1 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, line := range []string{
				sourceLine(turn.Source{N: 1, URL: "https://example.org/a", Title: tt.title, Site: "www.example.org"}),
				sourceLine(turn.Source{N: 1, URL: "https://example.org/a", Title: "example.org", Site: tt.title}),
			} {
				if strings.Count(line, "://") != 1 || strings.ContainsAny(line, "@\n\r*`|") || strings.Contains(line, "discord.gg") {
					t.Errorf("line %q", line)
				}
			}
			if got := inert(tt.title, 80); got != tt.want {
				t.Errorf("inert(%q) = %q, want %q", tt.title, got, tt.want)
			}
		})
	}
	line := sourceLine(turn.Source{N: 1, URL: "https://www.example.org/a", Title: "T", Site: "www.example.org"})
	if want := "[1] T · example.org · undated <https://www.example.org/a>"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
}

func TestSourceLines(t *testing.T) {
	l := &turn.Lookup{Sources: []turn.Source{{N: 1, Title: "A"}, {N: 2, Title: "B"}}}
	o := Outgoing{Citations: 2}
	tests := []struct{ name, body, heading, listed string }{
		{"one", "True [2].", "Sources", "2"},
		{"group", "True [1, 2].", "Sources", "12"},
		{"range", "True [1-2].", "Sources", "12"},
		{"footnote", "True [^1].", "Sources", "1"},
		{"behind a word", "True[1].", "Sources", "1"},
		{"year", "As of [2024].", "Read for this, not cited", "12"},
		{"index beyond", "Take b[12].", "Read for this, not cited", "12"},
		{"unknown", "True [7].", "Read for this, not cited", "12"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			guarded, _ := o.Guard(tt.body)
			lines := sourceLines(l, guarded, nil)
			var listed strings.Builder
			for _, line := range lines[1:] {
				listed.WriteString(strings.TrimPrefix(line, small+"[")[:1])
			}
			if lines[0] != small+tt.heading || listed.String() != tt.listed {
				t.Errorf("%q: %q", guarded, lines)
			}
		})
	}
}

// Where no model speaks, the reply has the pages' own words, and no numbers but ours.
func TestExtracts(t *testing.T) {
	const cities = "Rome has 3 million people, Paris 2 million."
	for _, tt := range []struct {
		name  string
		claim turn.Claim
		want  string
	}{
		{"the page's words", turn.Claim{Text: "Rome has 3 million people", Quote: cities}, "Rome has 3 million people [1]"},
		{"a part of a sentence", turn.Claim{Text: "…Paris 2 million.", Quote: cities}, "…Paris 2 million. [1]"},
		{"facts that changed places", turn.Claim{Text: "Paris has 3 million people, Rome 2 million.", Quote: cities}, cities + " [1]"},
		{"forged citations", turn.Claim{Text: "Rome[2] has［2］ 3 million【2】 people.[12][a]", Quote: "Rome[2] has［2］ 3 million【2】 people.[12][a]"}, "Rome has 3 million people. [1]"},
		{"forged, put together", turn.Claim{Text: "x", Quote: "So it is [[1]2], or [source 2] says."}, "So it is, or says. [1]"},
	} {
		tt.claim.Source = 1
		look := readPages()
		look.Summary = []turn.Claim{tt.claim}
		b := &Bot{Character: sage}
		r := reply{bot: b, trace: &turn.Trace{}, lookup: look, out: b.outgoing(turn.Request{}, look)}
		got, _, _ := strings.Cut(r.withoutModel(""), "\n")
		answer, _, _ := strings.Cut(b.foundAnswer(look), "\n")
		if got != tt.want || answer != tt.want {
			t.Errorf("%s: %q and %q, want %q", tt.name, got, answer, tt.want)
		}
	}
}

func TestSpoken(t *testing.T) {
	tests := []struct{ in, want string }{
		{"True [1], and more [1][2] [3].\n\n-# Sources\n-# [1] A", "True, and more."},
		{"[1] says so.\n[2] too", "says so.\n too"},
		{"True [1](<https://example.org/a>)[2].", "True."},
		{"犬です[1]。", "犬です。"},
		{"array[0] = a[1][2]; f(x)[3], as of [2024]", "array[0] = a[1][2]; f(x)[3], as of [2024]"},
	}
	for _, tt := range tests {
		if got := spoken(tt.in); got != tt.want {
			t.Errorf("spoken(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A link is allowed if a person wrote it, and never because a bot did: what this one posted may come from a page, and
// what another posted from anybody.
func TestLinksOfTheParent(t *testing.T) {
	const link = "https://example.org/a"
	for _, tt := range []struct {
		name    string
		parent  turn.Message
		allowed bool
	}{
		{"a person's", turn.Message{}, true},
		{"our own", turn.Message{Own: true}, false},
		{"another bot's", turn.Message{Author: turn.Author{Machine: true}}, false},
	} {
		tt.parent.Text = "see " + link
		out := (&Bot{}).outgoing(turn.Request{Message: turn.Message{Text: "and this?"}, Parent: &tt.parent}, nil)
		if got, _ := out.Guard(link); out.URLs[link] != tt.allowed || strings.Contains(got, link) != tt.allowed {
			t.Errorf("%s: allowed %v, says %q", tt.name, out.URLs, got)
		}
	}
}

func TestTypedLinks(t *testing.T) {
	const planet = "https://en.example.org/wiki/Mercury_(planet)"
	tests := []struct{ typed, want string }{
		{planet, planet},
		{"(see " + planet + ").", planet},
		{planet + "?", planet},
		{"(https://example.org/a)", "https://example.org/a"},
		{"[a](https://example.org/a), please", "https://example.org/a"},
		{`"https://example.org/a"!`, "https://example.org/a"},
		{"<https://example.org/a>", "https://example.org/a"},
		{"**https://example.org/a**", "https://example.org/a"},
		{"https://example.org/a{b}.", "https://example.org/a%7Bb%7D"},
	}
	for _, tt := range tests {
		out := (&Bot{}).outgoing(turn.Request{Message: turn.Message{Text: tt.typed}}, nil)
		if len(out.URLs) != 1 || !out.URLs[tt.want] {
			t.Errorf("%q: %v, want %q", tt.typed, out.URLs, tt.want)
		}
	}
}

// Why a lookup failed is told as it was: the web is blamed for nothing that it did not do.
func TestFailureIsTold(t *testing.T) {
	b := &Bot{Character: &character.Character{}}
	for failure, want := range map[turn.Code]string{
		"unreachable": "could not reach the web (unreachable)", "room": "does not fit", "nothing_to_ask": "nothing in this that I may search for",
		"internal": "wrong on my side", "cap": "I would have looked this up",
	} {
		got := b.failure(&turn.Lookup{State: turn.LookupFailed, Failure: failure})
		if !strings.Contains(got, want) || failure != "unreachable" && strings.Contains(got, "reach the web") {
			t.Errorf("%s: %q", failure, got)
		}
	}
}
