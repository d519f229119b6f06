package card

import (
	"strings"
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
	} {
		re, err := compilePattern(c.pattern, c.flags)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if !re.MatchString(c.matches) || re.MatchString(c.not) {
			t.Errorf("%s: matches %q: %v, %q: %v", c.pattern, c.matches, re.MatchString(c.matches), c.not, re.MatchString(c.not))
		}
	}
}

// The error names what RE2 lacks. A pattern that would be huge is refused before it costs anything.
func TestRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`dragon(?=s)`: "lookahead", `dragon(?!s)`: "lookahead", `(?<=red )dragon`: "lookbehind", `(?<!red )dragon`: "lookbehind", `(a)\1`: "backreference",
		`(?<x>a)\k<x>`: "backreference", `(`: "missing", `((a{100}){100}){100}`: "repeat", strings.Repeat("a", 5000): "at most", strings.Repeat(`\pL{900}`, 9): "spelled out",
		`\u{110000}`: "no character", `\uZZZZ`: "no character", `\u`: "no character", strings.Repeat("(", 2000): "",
	} {
		began := time.Now()
		_, err := compilePattern(pattern, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", pattern, err)
		}
		if took := time.Since(began); took > 5*time.Second { // a second is a thousand times what it takes
			t.Errorf("%.40s took %v", pattern, took)
		}
	}
}

// A pattern on which backtracking engines would run for years ends.
func TestBombEnds(t *testing.T) {
	re, err := compilePattern(`^(a+)+$`, "")
	if err != nil || re.MatchString(strings.Repeat("a", 50_000)+"!") {
		t.Error(err)
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
			re.MatchString("some text")
		}
	})
}
