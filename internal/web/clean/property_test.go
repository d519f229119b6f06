package clean

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

const testNonce = "K3F9ZQ2X7ABCD"

// hostile generates texts from the pieces that the rules are about, in random combinations.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"<", ">", "＜", "﹥", "`", "|", "<|", "|>", "[INST]", "im_start", "<tool_call>", "</s>", "<<SYS>>", "system", ":", "：", "user: ", "\n", "\r", " ",
			"\u200b", "\u200d", "\ufe0f", "\u0301", "\u0336\u0336\u0336", "\u034f", "\u202e", "\U000E0041", "\xff", "\x1b[", "\u1fef", "\u2126", "😀", "日本", "ａ",
			testNonce[:5] + "\n" + testNonce[5:], "а", "ѕ", "ai: ", "system (x): ", "[10:54] ", "model",
			testNonce, testNonce[:5], testNonce[5:], strings.ToLower(testNonce), "![a](", "](javascript:", "data:,", "data:text/html;base64,QQ",
			"A sentence. ", "[1]", "[source 2] ", "\uf087", "\uf09f", "\u2028", strings.Repeat("Qm9", 45), strings.Repeat("word ", 450), strings.Repeat("A b. ", 900), "\n\n\n",
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces"), "")
	})
}

func TestFixedPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "s")
		checkText(t, s)
		checkInert(t, s)
		checkReply(t, s)
	})
}

// failer is what properties need from a test. The types of rapid and of the fuzzer differ.
type failer interface {
	Fatalf(format string, args ...any)
}

// What T8 and T9 must remove completely.
var (
	towers  = regexp.MustCompile(`\p{M}{5}`)
	deserts = regexp.MustCompile(`\n[ \t]*\n[ \t]*\n[ \t]*\n`)
)

func checkText(t failer, s string) {
	once, _ := Text(s)
	if twice, report := Text(once); twice != once || report != nil {
		t.Fatalf("Text is not a fixed point: %q → %q → %q (%v)", s, once, twice, report)
	}
	if !utf8.ValidString(once) || strings.ContainsFunc(once, changes) {
		t.Fatalf("Text(%q) = %q keeps a forbidden character", s, once)
	}
	if !norm.NFC.IsNormalString(once) || towers.MatchString(once) {
		t.Fatalf("Text(%q) = %q is not composed, or has too many marks", s, once)
	}
	if n := utf8.RuneCountInString(once); n > blockLength || deserts.MatchString(once) {
		t.Fatalf("Text leaves %d characters, or many blank lines: %q", n, once)
	}
	for line := range strings.SplitSeq(once, "\n") {
		if n := utf8.RuneCountInString(line); n > lineLength {
			t.Fatalf("Text leaves a line of %d characters", n)
		}
	}
	line := Line(s, 60)
	if Line(line, 60) != line || utf8.RuneCountInString(line) > 60 || strings.ContainsAny(line, "\n\t") {
		t.Fatalf("Line(%q) = %q", s, line)
	}
}

func checkInert(t failer, s string) {
	once := Inert(s, testNonce)
	if twice := Inert(once, testNonce); twice != once {
		t.Fatalf("Inert is not a fixed point: %q → %q → %q", s, once, twice)
	}
	if strings.ContainsAny(once, "<>`＜＞﹤﹥｀") {
		t.Fatalf("Inert(%q) = %q keeps a bracket or a backtick", s, once)
	}
	if strings.Contains(strings.ToLower(strings.Join(strings.Fields(once), "")), strings.ToLower(testNonce)) {
		t.Fatalf("Inert(%q) = %q keeps the nonce", s, once)
	}
	for line := range strings.SplitSeq(once, "\n") {
		if h, ok := headOf(line); ok && h.names(nil) {
			t.Fatalf("Inert(%q) lets %q speak", s, line)
		}
	}
	if token := templateTokens.FindString(once); token != "" {
		t.Fatalf("Inert(%q) = %q keeps %q", s, once, token)
	}
	checkLine(t, s)
}

// checkLine checks that marked words stay on one line and have no mark of their own. No speaker, delimiter or number of a source may be
// among them.
func checkLine(t failer, s string) {
	seal := Seal{Nonce: testNonce, Mark: firstMark + 7}
	line := seal.Line(s)
	words, marked := strings.CutPrefix(line, string(seal.Mark))
	if !marked || seal.Words(s) != line+string(seal.Mark) || strings.ContainsFunc(words, changes) || strings.ContainsAny(words, "\n<>`\"＜＞﹤﹥｀") {
		t.Fatalf("Line(%q) = %q", s, line)
	}
	if strings.Contains(strings.ToLower(strings.Join(strings.Fields(words), "")), strings.ToLower(testNonce)) {
		t.Fatalf("Line(%q) = %q keeps the nonce", s, line)
	}
	if h, ok := headOf(words); ok && h.names(nil) || templateTokens.MatchString(words) || Unreferenced(words) != words {
		t.Fatalf("Line(%q) = %q speaks, or keeps a token or a reference", s, line)
	}
}

func checkReply(t failer, s string) {
	once, _ := Reply(s)
	if twice, _ := Reply(once); twice != once {
		t.Fatalf("Reply is not a fixed point: %q → %q → %q", s, once, twice)
	}
	for _, r := range once {
		switch {
		case r == zwj, r == zwnj, r == textStyle, r == emojiLook, r >= 0xE0020 && r <= 0xE007F:
		case changes(r):
			t.Fatalf("Reply(%q) = %q keeps %U", s, once, r)
		}
	}
}

// TestStarts compares every character that starts accepts with Unicode's tables.
func TestStarts(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if !starts(c) {
			continue
		}
		own := norm.NFC.PropertiesString(string(c))
		if own.CCC() != 0 || !own.BoundaryBefore() || !norm.NFC.IsNormalString(string(c)) || unicode.Is(unicode.M, c) {
			t.Errorf("%U is composed with others, or written in another way", c)
		}
	}
}

func FuzzText(f *testing.F)  { f.Fuzz(func(t *testing.T, s string) { checkText(t, s) }) }
func FuzzInert(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { checkInert(t, s) }) }
func FuzzReply(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { checkReply(t, s) }) }

func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":  strings.Repeat("An ordinary sentence, of ordinary words; it says little.\n", 400),
		"quotes": strings.Repeat("“An ordinary sentence” – with the marks that newspapers’ texts have.\n", 300),
		"cjk":    strings.Repeat("日本語の普通の文章です。特に変わったことはありません。\n", 700),
		"dirty":  strings.Repeat("An ordinary\u200b sentence,\u00a0of ordinary words; it says little.\n", 400),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Text(s)
			}
		})
	}
}
