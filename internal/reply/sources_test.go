package reply

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
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
				sourceLine("en", turn.Source{N: 1, URL: "https://example.org/a", Title: tt.title, Site: "www.example.org"}),
				sourceLine("en", turn.Source{N: 1, URL: "https://example.org/a", Title: "example.org", Site: tt.title}),
			} {
				if strings.Count(line, "://") != 1 || strings.ContainsAny(line, "@\n\r*`|") || strings.Contains(line, "discord.gg") {
					t.Errorf("line %q", line)
				}
			}
			if got := Inert(tt.title, 80); got != tt.want {
				t.Errorf("Inert(%q) = %q, want %q", tt.title, got, tt.want)
			}
		})
	}
	line := sourceLine("en", turn.Source{N: 1, URL: "https://www.example.org/a", Title: "T", Site: "www.example.org"})
	if want := "[1] T · example.org · undated <https://www.example.org/a>"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
}

func TestSources(t *testing.T) {
	l := &turn.Lookup{Sources: []turn.Source{{N: 1, Title: "A"}, {N: 2, Title: "B"}}}
	rules := Rules{Citations: 2}
	tests := []struct {
		name, body string
		cited      bool
		listed     string
	}{
		{"one", "True [2].", true, "2"},
		{"group", "True [1, 2].", true, "12"},
		{"range", "True [1-2].", true, "12"},
		{"footnote", "True [^1].", true, "1"},
		{"behind a word", "True[1].", true, "1"},
		{"year", "As of [2024].", false, "12"},
		{"index beyond", "Take b[12].", false, "12"},
		{"unknown", "True [7].", false, "12"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			guarded, _ := rules.Guard(tt.body)
			lines, cited := Sources(l, guarded, "en", nil)
			var listed strings.Builder
			for _, line := range lines {
				listed.WriteString(strings.TrimPrefix(line, "[")[:1])
			}
			if cited != tt.cited || listed.String() != tt.listed {
				t.Errorf("%q: %q, cited %v", guarded, lines, cited)
			}
		})
	}
}

// Brief lists the sources in one line that Split keeps whole on the last post.
func TestBrief(t *testing.T) {
	l := &turn.Lookup{Sources: []turn.Source{{N: 1, Site: "www.example.org"}, {N: 2, Site: "a*b.example.net @everyone"}, {N: 3}}}
	for body, want := range map[string]string{
		"True [1].": "[1] example.org", "True [1][2].": "[1] example.org · [2] ab.example.net everyone", "True [3].": "[3]",
		"True.": "[1] example.org · [2] ab.example.net everyone · [3]",
	} {
		if got, cited := Brief(l, body, nil); got != want || cited != strings.Contains(body, "[") {
			t.Errorf("%q: %q, cited %v", body, got, cited)
		}
	}
	if got, _ := Brief(nil, "True [1].", nil); got != "" {
		t.Errorf("without a lookup: %q", got)
	}
	const line = SmallType + "sources: [1] example.org · [2] example.net · looked up 22:03 UTC"
	for n := 2000 - 2*Units(line); n < 2100; n++ { // before that all fits into one post
		pieces := Split(strings.Repeat("word ", n/5)+strings.Repeat("x", n%5)+".\n\n"+line, 2000)
		if last := pieces[len(pieces)-1]; !strings.HasSuffix(last, line) {
			t.Fatalf("%d letters: the last of %d posts is %q", n, len(pieces), last)
		}
	}
}

func TestOwnWords(t *testing.T) {
	tests := []struct{ in, want string }{
		{"True [1], and more [1][2] [3].\n\n-# Sources\n-# [1] A", "True, and more."},
		{"[1] says so.\n[2] too", "says so.\n too"},
		{"True [1](<https://example.org/a>)[2].", "True."},
		{"犬です[1]。", "犬です。"},
		{"array[0] = a[1][2]; f(x)[3], as of [2024]", "array[0] = a[1][2]; f(x)[3], as of [2024]"},
	}
	for _, tt := range tests {
		if got := OwnWords(tt.in); got != tt.want {
			t.Errorf("OwnWords(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
