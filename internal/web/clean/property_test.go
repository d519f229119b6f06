package clean

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const testNonce = "K3F9ZQ2X7ABCD"

// hostile draws texts out of the pieces that rules are about, so that they meet each other.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"<", ">", "＜", "﹥", "`", "|", "<|", "|>", "[INST]", "im_start", "<tool_call>", "</s>", "<<SYS>>", "system", ":", "：", "user: ", "\n", "\r", " ",
			"\u200b", "\u200d", "\ufe0f", "\u0301", "\u0336\u0336\u0336", "\u034f", "\u202e", "\U000E0041", "\xff", "\x1b[", "\u1fef", "\u2126", "😀", "日本", "ａ",
			testNonce, testNonce[:5], testNonce[5:], strings.ToLower(testNonce), "![a](", "](javascript:", "data:,", "data:text/html;base64,QQ",
			"A sentence. ", strings.Repeat("Qm9", 45), strings.Repeat("word ", 450), strings.Repeat("A b. ", 900), "\n\n\n",
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

// failer is what a property needs of a test: rapid's and the fuzzer's differ.
type failer interface {
	Fatalf(format string, args ...any)
}

func checkText(t failer, s string) {
	once, _ := Text(s)
	if twice, report := Text(once); twice != once || report != nil {
		t.Fatalf("Text is no fixed point: %q → %q → %q (%v)", s, once, twice, report)
	}
	if !utf8.ValidString(once) || strings.ContainsFunc(once, changes) {
		t.Fatalf("Text(%q) = %q keeps what it should not", s, once)
	}
	if n := utf8.RuneCountInString(once); n > blockLength {
		t.Fatalf("Text leaves %d characters", n)
	}
	line := Line(s, 60)
	if Line(line, 60) != line || utf8.RuneCountInString(line) > 60 || strings.ContainsAny(line, "\n\t") {
		t.Fatalf("Line(%q) = %q", s, line)
	}
}

func checkInert(t failer, s string) {
	once, _ := Inert(s, testNonce)
	if twice, _ := Inert(once, testNonce); twice != once {
		t.Fatalf("Inert is no fixed point: %q → %q → %q", s, once, twice)
	}
	if strings.ContainsAny(once, "<>`＜＞﹤﹥｀") {
		t.Fatalf("Inert(%q) = %q keeps a bracket or a backtick", s, once)
	}
	if strings.Contains(strings.ToLower(once), strings.ToLower(testNonce)) {
		t.Fatalf("Inert(%q) = %q keeps the nonce", s, once)
	}
	for line := range strings.SplitSeq(once, "\n") {
		if _, _, _, role := speaker(line); role != "" {
			t.Fatalf("Inert(%q) lets %q speak", s, line)
		}
	}
}

func checkReply(t failer, s string) {
	once, _ := Reply(s)
	if twice, _ := Reply(once); twice != once {
		t.Fatalf("Reply is no fixed point: %q → %q → %q", s, once, twice)
	}
	for _, r := range once {
		switch {
		case r == zwj, r == zwnj, r == textStyle, r == emojiLook, r >= 0xE0020 && r <= 0xE007F:
		case changes(r):
			t.Fatalf("Reply(%q) = %q keeps %U", s, once, r)
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
