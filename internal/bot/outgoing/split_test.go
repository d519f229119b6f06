package outgoing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"nothing", "", 40, nil},
		{"blank", " \n\t\n", 40, nil},
		{"short", "\n\n  hello \n", 40, []string{"  hello"}},
		{"exact", strings.Repeat("a", 40), 40, []string{strings.Repeat("a", 40)}},
		{"exact, then space", strings.Repeat("a", 40) + " \n b", 40, []string{strings.Repeat("a", 40), " b"}},
		{"endless indentation", "a\n" + strings.Repeat(" ", 90) + "b", 40, []string{"a", "b"}},
		{"paragraphs", "One paragraph of words.\n\nTwo is as long as one.\n\nThree.", 40,
			[]string{"One paragraph of words.", "Two is as long as one.\n\nThree."}},
		{"lines", "Roses are red and\nviolets are blue and\nsugar is sweet", 40,
			[]string{"Roses are red and\nviolets are blue and", "sugar is sweet"}},
		{"sentences", "This is the first one. The second is here now. So is the last.", 60,
			[]string{"This is the first one. The second is here now.", "So is the last."}},
		{"words", "there is no end to what these few words say", 40,
			[]string{"there is no end to what these few words", "say"}},
		{"characters", strings.Repeat("x", 50), 40, []string{strings.Repeat("x", 40), strings.Repeat("x", 10)}},
		{"pairs of units", strings.Repeat("🦉", 21), 40, []string{strings.Repeat("🦉", 20), "🦉"}},
		{"families", strings.Repeat("👨‍👩‍👧", 6), 40, []string{strings.Repeat("👨‍👩‍👧", 5), "👨‍👩‍👧"}},
		{"flags", "a" + strings.Repeat("🇩🇪", 11), 40, []string{"a" + strings.Repeat("🇩🇪", 9), "🇩🇪🇩🇪"}},
		{"one character too long", "e" + strings.Repeat("\u0301", 45), 40,
			[]string{"e" + strings.Repeat("\u0301", 39), strings.Repeat("\u0301", 6)}},
		{"heading", "Some words before it.\n\n## Heading\n\nSome after it.", 40,
			[]string{"Some words before it.", "## Heading\n\nSome after it."}},
		{"list", "Take these things with you:\n\n- a lamp\n- a rope\n- bread", 40,
			[]string{"Take these things with you:", "- a lamp\n- a rope\n- bread"}},
		{"loose list", "Take these things:\n\n1. a lamp\n\n2. a rope\n\n3. bread", 40,
			[]string{"Take these things:", "1. a lamp\n\n2. a rope\n\n3. bread"}},
		{"long list", "- a lamp and its oil\n  - for the cave\n- a rope\n- bread", 40,
			[]string{"- a lamp and its oil\n  - for the cave", "- a rope\n- bread"}},
		{"table", "The table that follows:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd", 40,
			[]string{"The table that follows:", "| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd"}},
		{"inline code", "You may want to run `go test -race ./...` now", 40,
			[]string{"You may want to run", "`go test -race ./...` now"}},
		{"link", "You may want to see [the other page](https://example.org/) now", 50,
			[]string{"You may want to see", "[the other page](https://example.org/) now"}},
		{"link not yet written", "You may want to see [the other page, which says so", 40,
			[]string{"You may want to see", "[the other page, which says so"}},
		{"what would become a list", "we know that seventeen and eighteen are - if you ask", 40,
			[]string{"we know that seventeen and eighteen", "are - if you ask"}},
		{"code that fits", "Say this to the computer:\n```go\nfmt.Println(1)\n```\nDone.", 40,
			[]string{"Say this to the computer:", "```go\nfmt.Println(1)\n```\nDone."}},
		{"long code", "```go\nfirst line here\n\n\tsecond line here\n\tthird one\n```\nEnd.", 40,
			[]string{"```go\nfirst line here\n```", "```go\n\tsecond line here\n\tthird one\n```", "End."}},
		{"a cut before the closing fence", "```\n" + strings.Repeat("x", 32) + "\n\n\n```\nEnd.", 40,
			[]string{"```\n" + strings.Repeat("x", 32) + "\n```", "End."}},
		{"tildes around backticks", "~~~md\n```\nlooks like code in code\n```\n\nsome more\n~~~", 40,
			[]string{"~~~md\n```\nlooks like code in code\n~~~", "~~~md\n```\n\nsome more\n~~~"}},
		{"code never closed", "```go\nfirst()", 40, []string{"```go\nfirst()\n```"}},
		{"code closed in part", "```go\nfirst()\n``", 40, []string{"```go\nfirst()\n```"}},
		{"code closed in part, indented", "- x\n  ```go\n  first()\n  ``", 40, []string{"- x\n  ```go\n  first()\n  ```"}},
		{"code not yet begun", "So:\n```go", 40, []string{"So:\n```go"}},
		{"fence on one line", "```no code``` but some words and\n\nsome more words", 40,
			[]string{"```no code``` but some words and", "some more words"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Split(c.text, c.limit)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var longAddress = regexp.MustCompile(`\S{10,}:/|:/\S{10,}`)

// fits reports what is wrong with the pieces of any text.
func fits(text string, limit int, pieces []string) error {
	for i, p := range pieces {
		if strings.TrimSpace(p) == "" {
			return fmt.Errorf("piece %d is blank", i)
		}
		if n := Units(p); n > limit {
			return fmt.Errorf("piece %d has %d units", i, n)
		}
	}
	if longAddress.MatchString(text) {
		return nil // it may be gone
	}
	all := []rune(strings.Join(pieces, "\n"))
	for _, r := range text { // in order, though what opens code may come again
		if unicode.IsSpace(r) || r == '`' || r == '~' {
			continue
		}
		i := slices.Index(all, r)
		if i < 0 {
			return fmt.Errorf("%q is lost", r)
		}
		all = all[i+1:]
	}
	return nil
}

// grows reports where the pieces of a text that grows by a few bytes at a time change though others follow them.
func grows(text string, limit, step int) error {
	var before []string
	for end := range text + " " {
		if end%step > 0 && end < len(text) {
			continue
		}
		now := Split(text[:end], limit)
		if len(now) < len(before) {
			return fmt.Errorf("%d pieces became %d at %q", len(before), len(now), text[:end])
		}
		for i := range len(before) - 1 {
			if now[i] != before[i] {
				return fmt.Errorf("piece %d of %d became %q at %q", i, len(before), now[i], text[:end])
			}
		}
		before = now
	}
	return nil
}

// closedCode reports a piece in which code is left open.
func closedCode(pieces []string) error {
	for i, p := range pieces {
		open := ""
		for line := range strings.Lines(p) {
			run := strings.TrimSpace(line)
			switch {
			case open == "" && strings.HasPrefix(run, "```"):
				open = "```"
			case open != "" && run == open:
				open = ""
			}
		}
		if open != "" {
			return fmt.Errorf("code is open at the end of piece %d: %q", i, p)
		}
	}
	return nil
}

// characters are what a person sees, but for white space and the lines of fences.
func characters(texts ...string) []string {
	var all []string
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				continue
			}
			for g := graphemes.FromString(line); g.Next(); {
				if strings.TrimSpace(g.Value()) != "" {
					all = append(all, g.Value())
				}
			}
		}
	}
	return all
}

var (
	words = rapid.SampledFrom([]string{"a", "word", "etc.", "End.", "wasn't", "été", "e\u0301", "日本語。", "🦉", "👨‍👩‍👧", "🇩🇪🇫🇷", "**bold**", "`code here`",
		"[a link](https://example.org/x)", "<https://example.org/>", "[", "`", "-", "#", "1.", "|", strings.Repeat("long", 15)})
	line = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(words, 1, 12).Draw(t, "words"), " ")
	})
	paragraph = rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "# ", "> "}).Draw(t, "begin") + strings.Join(rapid.SliceOfN(line, 1, 4).Draw(t, "lines"), "\n")
	})
	list = rapid.Custom(func(t *rapid.T) string {
		mark := rapid.SampledFrom([]string{"- ", "1. ", "- x\n  - "}).Draw(t, "mark")
		gap := rapid.SampledFrom([]string{"\n", "\n\n"}).Draw(t, "gap")
		return mark + strings.Join(rapid.SliceOfN(line, 1, 6).Draw(t, "items"), gap+mark)
	})
	grid = rapid.Custom(func(t *rapid.T) string {
		rows := rapid.IntRange(1, 6).Draw(t, "rows")
		return "| a | b |\n|---|---|" + strings.Repeat("\n| 1 | two |", rows)
	})
	code = rapid.Custom(func(t *rapid.T) string {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", "x := 1", "\tif y {", "// 日本", strings.Repeat("z", 70)}), 1, 8).Draw(t, "lines"), "\n")
		return "```" + rapid.SampledFrom([]string{"", "go"}).Draw(t, "info") + "\n" + body + "\n```"
	})
	document = rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, part := range rapid.SliceOfN(rapid.OneOf(paragraph, list, grid, code), 1, 8).Draw(t, "blocks") {
			b.WriteString(part + rapid.SampledFrom([]string{"\n", "\n\n", "\n\n\n"}).Draw(t, "gap"))
		}
		return b.String()
	})
)

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := document.Draw(t, "text"), rapid.IntRange(60, 300).Draw(t, "limit")
		pieces := Split(text, limit)
		if err := fits(text, limit, pieces); err != nil {
			t.Fatal(err)
		}
		if err := closedCode(pieces); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(characters(text), characters(pieces...)); diff != "" {
			t.Fatal(diff)
		}
		if most := 3*Units(text)/limit + 3; len(pieces) > most {
			t.Fatalf("%d pieces for %d units, limit %d", len(pieces), Units(text), limit)
		}
	})
}

func TestSplitOfGrowingText(t *testing.T) {
	length := 800
	if underRace {
		length = 300
	}
	rapid.Check(t, func(t *rapid.T) {
		text, limit := document.Draw(t, "text"), rapid.IntRange(60, 300).Draw(t, "limit")
		if err := grows(CutUnits(text, length), limit, rapid.IntRange(1, 9).Draw(t, "step")); err != nil {
			t.Fatal(err)
		}
	})
}

// What fits whole is kept whole, wherever it stands.
func TestSplitKeepsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 250
		short := func(s string) bool { return Units(s) <= limit }
		blocks := rapid.SliceOfN(rapid.OneOf(paragraph, list, grid, code).Filter(short), 1, 8).Draw(t, "blocks")
		pieces := Split(strings.Join(blocks, "\n\n"), limit)
		for i, b := range blocks {
			precious := strings.HasPrefix(b, "```") || strings.HasPrefix(b, "| a | b |\n|--")
			if !precious || i > 0 && endsInHeading(blocks[i-1]) {
				continue // with its heading it may be too long
			}
			if !slices.ContainsFunc(pieces, func(p string) bool { return strings.Contains(p, b) }) {
				t.Fatalf("cut:\n%s\npieces: %q", b, pieces)
			}
		}
	})
}

func endsInHeading(block string) bool {
	return strings.HasPrefix(block[strings.LastIndexByte(block, '\n')+1:], "#")
}

func FuzzSplit(f *testing.F) {
	f.Add("Some words.\n\n```go\ncode()\n```\n- a\n- [b](https://example.org)\n| c |\n", 10)
	f.Add(strings.Repeat("🇩🇪👨‍👩‍👧e\u0301 ", 20), 5)
	f.Add("~~~\n````\n`\n\xff\r\n\u2028"+strings.Repeat("`", 60), 0)
	f.Fuzz(func(t *testing.T, text string, more int) {
		limit := 40 + max(more, 0)%200
		text = text[:min(len(text), 400)] // longer ones find nothing more, slowly
		if err := fits(text, limit, Split(text, limit)); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text) {
			return
		}
		if err := grows(text, limit, 1); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("Some words that make a sentence. Others do not, but go on.\n\n- an item\n- `another`\n\n```go\nx := 1\n```\n", 60)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Split(text, 2000)
	}
}
