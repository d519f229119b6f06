package clean_test

import (
	"encoding/hex"
	"fmt"
	"html/template"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/web/clean"
)

// between inserts a sign between the characters of a secret.
func between(s, sign string) string { return strings.Join(strings.Split(s, ""), sign) }

// Secrets are found in the text as a reader sees it.
func TestSecretUnderMarks(t *testing.T) {
	for _, secret := range []string{"sk-test-1234567890abcdef", "hunter2-token-0123456789", "correct horse battery staple", "!!a*_~|?=)(/&%$!"} {
		r := clean.NewRedactor(secret)
		h := hex.EncodeToString([]byte(secret))
		var percent, escaped, numbers, mixed string
		for i := range len(secret) {
			percent += fmt.Sprintf("%%%02X", secret[i])
			escaped += fmt.Sprintf(`\x%02x`, secret[i])
			numbers += fmt.Sprintf("0x%02x ", secret[i])
			if mixed += secret[i : i+1]; i%3 == 0 {
				mixed = mixed[:len(mixed)-1] + fmt.Sprintf("%%%02x", secret[i])
			}
		}
		var spaced, colons strings.Builder
		for i := 0; i < len(h); i += 2 {
			spaced.WriteString(h[i:i+2] + " ")
			colons.WriteString(h[i:i+2] + ":")
		}
		half := len(secret) / 2
		for name, form := range map[string]string{
			"escapes": strings.NewReplacer("-", `\-`, "_", `\_`, "*", `\*`, "|", `\|`).Replace(secret),
			"bold":    secret[:5] + "**" + secret[5:9] + "**" + secret[9:], "spoiler": "||" + secret[:7] + "||" + secret[7:], "backticks": "`" + secret[:7] + "``" + secret[7:] + "`",
			"spaces": between(secret, " "), "lines": secret[:half] + "\n\n" + secret[half:], "quotation": secret[:half] + "\n> " + secret[half:], "underlined": "__" + secret[:half] + "__" + secret[half:],
			"upper case": strings.ToUpper(secret), "title": strings.ToUpper(secret[:1]) + secret[1:], "zero width": between(secret, "\u200b"), "joiner": between(secret, "\u2060"), "selector": between(secret, "\ufe0f"),
			"percent": percent, "some percent": mixed, "escaped bytes": escaped, "numbers": numbers, "spaced hex": spaced.String(), "hex with colons": colons.String(), "hex in one": "0x" + h, "hex in two": "0x" + h[:20] + " 0x" + h[20:] + " 0x41", "hex with some percent": strings.Replace(spaced.String(), " ", "%", 3), "hex with some numbers": strings.Replace(spaced.String(), " ", " 0x", 3),
			"a link's target": secret[:half] + "](https://example.org/a_(b)c)" + secret[half:], "a block's language": secret[:half] + "```go\n" + secret[half:] + "```", "an emoji": secret[:half] + "<:smile:123456>" + secret[half:],
			"a citation": secret[:half] + "[1]" + secret[half:], "accents": between(secret, "\u0331"), "full width": strings.Map(func(c rune) rune {
				if c > ' ' && c < 0x7f {
					return c + 0xFEE0
				}
				return c
			}, secret), "flags": strings.Map(func(c rune) rune {
				if c >= 'a' && c <= 'z' {
					return c - 'a' + 0x1F1E6
				}
				return c
			}, secret), "reversed, in bold": "**" + between(reversed(secret), " ") + "**",
		} {
			for _, text := range []string{form, "It is " + form, form + " indeed", "é語" + form + ".", "(" + form + ")"} {
				if !r.Found(text) {
					t.Errorf("%q, %s: %q is not found", secret, name, text)
				}
				if masked := r.String(text); r.Found(masked) || !strings.Contains(masked, clean.Mask) {
					t.Errorf("%q, %s: %q becomes %q", secret, name, text, masked)
				}
			}
		}
	}
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// The mask covers exactly the secret.
func TestMaskOfSecretUnderMarks(t *testing.T) {
	r := clean.NewRedactor("sk-test-1234567890abcdef")
	for in, want := range map[string]string{
		`é it is s\k\-**test**-12345 67890abcdef, no?`: "é it is ***, no?",
		"a sk%2Dtest%2D1234567890ABCDEF b":             "a *** b",
		"語 ＳＫ-test-1234567890abcdef 語":                 "語 *** 語",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Ordinary words that resemble a secret are not hidden.
func TestNoSecretInWords(t *testing.T) {
	r := clean.NewRedactor("not-needed-in-this-place", "sk-test-1234567890abcdef", "local-model-server")
	for _, text := range []string{
		"It is not needed in this place.", "a local model server", "sk test 1234567890", "73 6b 2d 74 65 73 74", "100%20 of 0x73", strings.Repeat("desk test 1 2 3 4 5 6 7 8 9 0 abc ", 3),
	} {
		if r.Found(text) || r.String(text) != text {
			t.Errorf("%q becomes %q", text, r.String(text))
		}
	}
}

// A growing secret is held back after its first few characters, however it is written. Text once shown is never taken
// back.
func TestBegun(t *testing.T) {
	const secret = "sk-test-1234567890abcdef"
	r := clean.NewRedactor(secret)
	rapid.Check(t, func(t *rapid.T) {
		sign := rapid.SampledFrom([]string{"", " ", "**", `\`, "\n", "`", " - "}).Draw(t, "sign")
		before := rapid.SampledFrom([]string{"", "It is ", "desk ", "s k ", "語", "sk-te sk-tes "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", " and on it goes", "s"}).Draw(t, "after")
		cut := rapid.IntRange(1, len(secret)-1).Draw(t, "cut")
		text := before + between(secret[:cut], sign) + sign + after
		shown := 0
		for end := range text + " " {
			now := r.Begun(text[:end])
			if now < shown {
				t.Fatalf("%q: %d, and was %d", text[:end], now, shown)
			}
			shown = now
			if end <= len(before) {
				continue
			}
			letters := strings.Map(func(c rune) rune {
				if strings.ContainsRune(secret, c) && c != '-' {
					return c
				}
				return -1
			}, text[min(len(before), now):now])
			if end < len(text)-len(after) && len(letters) > 3 {
				t.Fatalf("%q: %q is shown", text[:end], text[:now])
			}
		}
	})
	if got := r.Begun("a plain text "); got != len("a plain text ") {
		t.Error(got)
	}
}

func BenchmarkFound(b *testing.B) {
	r := clean.NewRedactor("sk-test-1234567890abcdef", "hunter2-token-0123456789", "correct horse battery staple")
	text := strings.Repeat("Some words that make a **sentence**, [and](https://example.org/a) a link [1]. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Found(text)
	}
}

// A page of HTML writes some characters as references, otherwise in each context. The secret is found in all of them.
func TestSecretInHTML(t *testing.T) {
	page := template.Must(template.New("").Parse(`<p title="{{.}}">{{.}}</p><a href="/?q={{.}}">x</a><a href="{{.}}">y</a><script>var s = {{.}}; var t = "{{.}}";</script><textarea>{{.}}</textarea>`))
	for _, secret := range []string{`aB3+dE6&gH9<jK2>mN5'pQ8"sT1`, `sk-p+r/o&j1=2%3 4567`, `"quoted" & <tagged> + 'plain'`} {
		var b strings.Builder
		if err := page.Execute(&b, secret); err != nil {
			t.Fatal(err)
		}
		r := clean.NewRedactor(secret)
		masked := r.String(b.String())
		if n := strings.Count(masked, clean.Mask); n != 7 || r.Found(masked) {
			t.Errorf("%s: %d of 7 masked:\n%s\n%s", secret, n, b.String(), masked)
		}
	}
}
