package dom

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

func TestLetters(t *testing.T) {
	pieces := []string{"a", "word", " ", "\t\n\r", "\x00", "\x7f", "~!", "é", "日本", "\u00a0", "\u2003", "\x85", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		want := 0
		for _, c := range text {
			if c > ' ' && !unicode.IsSpace(c) {
				want++
			}
		}
		if got := Letters(text); got != want {
			t.Fatalf("Letters(%q) = %d, want %d", text, got, want)
		}
	})
}

func TestNameWords(t *testing.T) {
	for name, want := range map[string][]string{
		"post-author": {"post", "author"}, "postAuthor__name2": {"post", "author", "name"}, "a1b2-text": {"text"}, "HTML": {"html"}, "": nil,
	} {
		if got := slices.Collect(NameWords(name)); !slices.Equal(got, want) {
			t.Errorf("NameWords(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestLabel(t *testing.T) {
	for source, want := range map[string]string{
		"<p> Read <b>more</b> </p>": "Read more", "<p>" + strings.Repeat("long ", 100): "", "<p>" + strings.Repeat("<b></b>", 100): "", "<p>" + strings.Repeat("x", 301): "",
	} {
		doc, err := html.Parse(strings.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		if got := Label(doc.LastChild.LastChild.FirstChild); got != want {
			t.Errorf("Label of %.40q = %q, want %q", source, got, want)
		}
	}
}
