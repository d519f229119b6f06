package terminal

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPaint(t *testing.T) {
	for _, test := range []struct {
		name, markdown, want string
		width                int
		colour               bool
	}{
		{"words are not broken", "the quick brown fox jumps over it", "the quick\nbrown fox\njumps over\nit\n", 10, false},
		{"a long word stands alone", "see https://example.org/a/b now", "see\nhttps://example.org/a/b\nnow\n", 10, false},
		{"wide characters may be broken anywhere", "日本語の文章です", "日本語の文\n章です\n", 10, false},
		{"lists hang", "- one two three\n- four", "• one two\n  three\n• four\n", 10, false},
		{"numbers hang", "1. one two three", "1. one two\n   three\n", 10, false},
		{"a list in a list", "- a\n  - b", "• a\n  • b\n", 40, false},
		{"quotations", "> be brief", "│ be brief\n", 40, false},
		{"headings", "## On tides", "\x1b[1mOn\x1b[0m \x1b[1mtides\x1b[0m\n", 40, true},
		{"small type", "-# sources: [1] <https://example.org/>", "  sources: [1] https://example.org/\n", 60, false},
		{"bold, italic, struck, code", "**a** *b* _c_ ~~d~~ `e f`", "\x1b[1ma\x1b[0m \x1b[3mb\x1b[0m \x1b[3mc\x1b[0m \x1b[9md\x1b[0m \x1b[36me\x1b[0m \x1b[36mf\x1b[0m\n", 40, true},
		{"one in the other", "**a *b* c**", "\x1b[1ma\x1b[0m \x1b[1;3mb\x1b[0m \x1b[1mc\x1b[0m\n", 40, true},
		{"signs that are no marks", "2 * 3 * 4, snake_case_name, a ~ b, [1] and f(x)[0]", "2 * 3 * 4, snake_case_name, a ~ b, [1] and f(x)[0]\n", 80, true},
		{"marks that never end", "a *b and `c", "a *b and `c\n", 80, true},
		{"escapes", `\*not italic\* and 1\. no list`, "*not italic* and 1. no list\n", 80, false},
		{"backslashes", `C:\new\tools and \`, "C:\\new\\tools and \\\n", 80, true},
		{"links", "see [the page](https://example.org/) or [https://a.example](https://a.example)", "see the page (https://example.org/) or https://a.example\n", 80, false},
		{"code as it is", "```go\nfunc  f() {\n\treturn // a very long line here\n}\n```\ndone", "```go\nfunc  f() {\n\treturn // a very long line here\n}\n```\ndone\n", 10, false},
		{"tables as they are", "| a | b |\n|---|---|", "| a | b |\n|---|---|\n", 4, false},
		{"nothing commands the terminal", "a\x1b[2Jb\x07\u009b1mc", "a[2Jb1mc\n", 40, true},
		{"empty lines stay", "a\n\nb", "a\n\nb\n", 40, false},
	} {
		p := painter{width: test.width, colour: test.colour}
		if got := p.feed(test.markdown, true); got != test.want {
			t.Errorf("%s:\ngot  %q\nwant %q", test.name, got, test.want)
		}
	}
}

// TestPaintInPieces holds that the pieces in which a text arrives do not matter.
func TestPaintInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"word", " ", "\n", "**", "*", "_", "`", "```", "~~", "- ", "1. ", "> ", "-# ", "## ", "[1]", "[a](b)", "日本", "\\", "<http://a>", "é", "|", "<",
		}), 1, 30).Draw(t, "parts")
		text := strings.Join(parts, "")
		whole := (&painter{width: 20, colour: true}).feed(text, true)
		p := painter{width: 20, colour: true}
		var got strings.Builder
		for i, part := range parts {
			got.WriteString(p.feed(part, i == len(parts)-1))
		}
		// Code is written as it arrives, and each piece has its own style codes.
		if got := strings.ReplaceAll(got.String(), "\x1b[0m\x1b[36m", ""); got != strings.ReplaceAll(whole, "\x1b[0m\x1b[36m", "") {
			t.Fatalf("%q\nin pieces %q\nat once   %q", text, got, whole)
		}
	})
}
