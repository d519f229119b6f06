package reply

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

	"familiar/internal/test/bulk"
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

// fits returns an error if the pieces break a rule for texts of any kind.
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
		return nil // it may be dropped
	}
	all := []rune(strings.Join(pieces, "\n"))
	for _, r := range text { // in order, although an opening fence may repeat
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

// grows returns an error if a piece of a growing text changes after another has followed it.
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

// closedCode returns an error if a piece ends in open code.
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

// characters returns the visible characters, without white space and lines of fences.
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
	length := bulk.Of(200, 800)
	rapid.Check(t, func(t *rapid.T) {
		text, limit := document.Draw(t, "text"), rapid.IntRange(60, 300).Draw(t, "limit")
		if err := grows(CutUnits(text, length), limit, rapid.IntRange(1, 9).Draw(t, "step")); err != nil {
			t.Fatal(err)
		}
	})
}

// A block that fits is kept whole, wherever it is.
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

// A model that chooses the words before a link also chooses where a message ends. Half a link leads elsewhere.
func TestSplitCutsNoLink(t *testing.T) {
	const (
		link = "https://x.community/a"
		most = 200 // 2,000 as on Discord would take longer
	)
	rules := Rules{URLs: map[string]bool{link: true}, Citations: 1}
	first, step := 0, bulk.Of(3, 1) // each combination begins elsewhere, so that the limit falls on every byte of a link
	for _, form := range []string{link, "<" + link + ">", "[the page](" + link + ")", "[1](" + link + ")", "`" + link + "`", "see " + link + " now"} {
		for _, filler := range []string{"x", "語", "- a\n", "word "} {
			for _, fence := range []string{"", "```go\n"} {
				first++
				for n := most - 38 + first%step; n <= most+1; n += step {
					before := fence + CutUnits(strings.Repeat(filler, most), n)
					guarded, _ := rules.Guard(before + form + " and on " + strings.Repeat("y", 30))
					pieces := Split(guarded, most)
					whole := 0
					for _, p := range pieces {
						whole += strings.Count(p, link)
						for _, got := range anyScheme.FindAllString(p, -1) {
							if strings.TrimRight(got, ">)`") != link {
								t.Fatalf("%q after %d of %q: the link became %q", form, n, fence+filler, got)
							}
						}
						if Units(p) > most {
							t.Fatalf("%d units", Units(p))
						}
					}
					if whole != 1 {
						t.Fatalf("%q after %d of %q: %d links", form, n, fence+filler, whole)
					}
				}
			}
		}
	}
}

// Text does not become an address because a message begins with it.
func TestSplitMakesNoAddress(t *testing.T) {
	for _, hidden := range []string{"awww.evil.net/x", "xdsc.gg/abc", "xinvite.gg/abc"} {
		for n := 1980; n <= 2000; n++ {
			guarded, _ := sample().Guard(strings.Repeat("x", n) + hidden)
			for _, p := range Split(guarded, 2000) {
				if rule, what := violation(p); rule != "" {
					t.Fatalf("%s after %d: %s %q", hidden, n, rule, what)
				}
			}
		}
	}
}

// A link that is too long for a message is removed, and the reader and the record see that.
func TestLinkTooLongForAMessage(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("a", 1990)
	rules := Rules{URLs: map[string]bool{long: true}}
	text, changes := rules.Guard("See " + long + " for more.")
	if text != "See (link removed) for more." || len(changes) != 1 || changes[0].Rule != "O1" {
		t.Errorf("%q %v", text, changes)
	}
	got := Split("See "+long[:100]+" for more.", 60)
	if want := "See|(link removed) for more."; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}

// Inline code that is cut is no longer code, and its content could become a mention.
func TestSplitCutsNoInlineCode(t *testing.T) {
	code := "`" + strings.Repeat("z ", 150) + "@everyone <@12>" + strings.Repeat(" z", 100) + "`"
	for n := 2000 - Units(code); n <= 2000; n += bulk.Of(13, 1) { // a shorter beginning leaves room for the code
		for _, gap := range []string{"", " "} {
			guarded, _ := sample().Guard(strings.Repeat("x", n) + gap + code)
			for _, p := range Split(guarded, 2000) {
				if rule, what := violation(p); rule != "" {
					t.Fatalf("after %d: %s %q", n, rule, what)
				}
			}
		}
	}
}

// A growing link is held back until it ends, wherever its letters might end a word.
func TestGrowingLinkIsHeldBack(t *testing.T) {
	rules := Rules{URLs: map[string]bool{"https://example.org/": true, "https://example.org/%E8%AA%9E": true}}
	text := "見て https://example.org/語 と <https://example.org/語>だ。(https://example.org/)語 end "
	for end := range text {
		visible := rules.Visible(text[:end])
		for _, at := range anyScheme.FindAllStringIndex(visible, -1) {
			if link := visible[at[0]:at[1]]; link != anyScheme.FindString(text[at[0]:]) && !strings.Contains(link, ">") {
				t.Errorf("%q shows %q", text[:end], link)
			}
		}
	}
	if got := rules.Visible(text); got != text {
		t.Errorf("%q is left of %q", got, text)
	}
}

func TestHead(t *testing.T) {
	if got := Head("see <https://example.org/a/b/c/d/e/f> and on", 40); got != "see <https://example.org/a/b/c/d/e/f>" {
		t.Errorf("%q", got)
	}
	if got := Head("see this page: <https://example.org/a/b/c/d>", 40); got != "see this page:" {
		t.Errorf("%q", got)
	}
	if got := Head(" \n", 40); got != "" {
		t.Errorf("%q", got)
	}
}
