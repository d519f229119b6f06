package card

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"/drag(on|ons)/i": "drag(on|ons)|i", `/a\/b/`: `a\/b|`, "/x/gimsuy": "x|gimsuy",
		"/a/b/": "", "plain": "", "//": "", "/x/q": "", "and/or": "", "/": "",
	} {
		pattern, flags, ok := patternLiteral(in)
		if got := pattern + "|" + flags; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", in, got, ok)
		}
	}
}

func TestCompile(t *testing.T) {
	for _, c := range []struct{ pattern, flags, matches, not string }{
		{"dragon", "i", "DRAGON", "drake"},
		{"^a.c$", "s", "a\nc", "a\nc\n"},
		{"^b$", "m", "a\nb\nc", "ab"},
		{`caf\u00e9`, "", "café", "cafe"},
		{`\u{1F600}`, "u", "😀", "x"},
		{`(?<year>\d{4})`, "", "1984", "198"},
		{`a\/b`, "", "a/b", "ab"},
		{`[^]x`, "", "\nx", "x"},
		{`[[a]`, "", "[", "b"},
		{`\bink\b`, "g", "the ink.", "pink"},
		{`dragon(?=s)`, "", "dragons", "dragon"},
		{`dragon(?!s)`, "", "dragon", "dragons"},
		{`(?<=red )dragon`, "", "red dragon", "dragon"},
		{`(?<!red )dragon`, "", "dragon", "red dragon"},
		{`(\w)\1`, "", "book", "bok"},
		{`(?<x>\w)\k<x>`, "", "book", "bok"},
	} {
		re, err := compilePattern(c.pattern, c.flags)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		matches, _ := re.MatchString(c.matches)
		not, _ := re.MatchString(c.not)
		if !matches || not {
			t.Errorf("%s: matches %q: %v, %q: %v", c.pattern, c.matches, matches, c.not, not)
		}
	}
}

func TestRefused(t *testing.T) {
	for pattern, want := range map[string]string{`(`: "missing", `[`: "[", `(?<x>a`: "missing", strings.Repeat("a", 5000): "at most"} {
		if _, err := compilePattern(pattern, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", pattern, err)
		}
	}
}

// bombs are patterns that cost what no text is worth.
var bombs = []string{`/^(a+)+$/`, `/(?:a?){900}c/`, `/(a|aa)+$/`, `/((a{100}){100}){100}/`, `/(.*)(.*)(.*)(.*)\1\2x/`, `/(?=(a+))*\1+b/`}

// Bombs in keys and in scripts run until the time for patterns is used up. Those that are left are not searched for, or the test would take
// minutes. Entries without patterns fire.
func TestBombs(t *testing.T) {
	text := strings.Repeat("a", 8<<10) + "!"
	b := Book{File: "b", Entries: []Entry{{ID: "plain", Keys: []string{"!"}, Content: "fires"}}}
	var scripts []Script
	for i := range 50 {
		find := bombs[i%len(bombs)]
		b.Entries = append(b.Entries, Entry{ID: "bomb", Keys: []string{find}, Content: "x"})
		scripts = append(scripts, Script{Find: find + "g", Replace: "-", On: []Place{OnReply}})
	}
	s, _ := NewScanner([]Book{b})
	r, _ := NewRewriter(scripts)
	found := s.Scan(t.Context(), Chat{Messages: []string{text}, Budget: 100})
	if len(found.Fired) != 1 || found.Fired[0].Entry != "plain" || len(found.Lost) == 0 || !strings.Contains(found.Lost[0].Why, "too long") {
		t.Errorf("%+v", found)
	}
	clock := Clock{}.set()
	if r.Apply(OnReply, text, 0, nil, clock); !clock.over() {
		t.Errorf("scripts that take minutes ran %v", time.Duration(clock.Spent.Load()))
	}
}

// What is left of the time is shared by all texts that scripts run over.
func TestPatternTime(t *testing.T) {
	r, _ := NewRewriter([]Script{{Find: "/o/g", Replace: "0", On: []Place{OnReply}}})
	clock := Clock{new(atomic.Int64), time.Second}
	if got := r.Apply(OnReply, "foo", 0, nil, clock); got != "f00" || clock.Spent.Load() == 0 {
		t.Errorf("%q, %v", got, clock.Spent.Load())
	}
	clock.Spent.Store(int64(time.Second))
	if got := r.Apply(OnReply, "foo", 0, nil, clock); got != "foo" {
		t.Errorf("without time: %q", got)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`/a[^]\u{41}(?=x)/gi`)
	f.Fuzz(func(t *testing.T, s string) {
		pattern, flags, ok := patternLiteral(s)
		if !ok {
			pattern = s
		}
		if re, err := compilePattern(pattern, flags); err == nil {
			re.MatchString("some text") // an error says that it takes too long
		}
	})
}

// BenchmarkPatterns looks for a hundred patterns in 8 KB.
func BenchmarkPatterns(b *testing.B) {
	var entries []Entry
	for i := range 100 {
		entries = append(entries, Entry{Keys: []string{fmt.Sprintf(`/\b(dragon|wyrm)%d(s|y)?\b/i`, i)}, Content: "x"})
	}
	s, _ := NewScanner([]Book{{File: "b", Entries: entries}})
	chat := Chat{Messages: []string{strings.Repeat("we spoke of dragons and things ", 264)}, Budget: 1000}
	for b.Loop() {
		s.Scan(b.Context(), chat)
	}
}

// Short patterns are limited in number: each takes memory for as long as the bot runs. An entry is told of once.
func TestManyPatterns(t *testing.T) {
	b := Book{File: "b"}
	for i := range 100 {
		b.Entries = append(b.Entries, Entry{ID: fmt.Sprint(i), Keys: slices.Repeat([]string{"/a?b/"}, maxKeys), Content: fmt.Sprint(i)})
	}
	s, problems := NewScanner([]Book{b})
	n := 0
	for _, e := range s.entries {
		n += len(e.primary)
	}
	too := slices.DeleteFunc(problems, func(p Problem) bool { return !strings.Contains(p.Text, "one too many") })
	if most := maxPatternBytes / patternCost; n > most || n < most/2 || len(too) == 0 || len(too) > len(b.Entries) {
		t.Errorf("%d patterns, %d problems", n, len(too))
	}
}
