package clean_test

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/web/clean"
)

func TestString(t *testing.T) {
	r := clean.NewRedactor("sk-secret-123456", "lm-studio", "abc", "  spaced-out-token\n")
	for _, c := range []struct{ name, in, want string }{
		{"as it is", "key=sk-secret-123456!", "key=***!"},
		{"twice", "sk-secret-123456 sk-secret-123456", "*** ***"},
		{"hex", hex.EncodeToString([]byte("sk-secret-123456")), "***"},
		{"upper-case hex", strings.ToUpper(hex.EncodeToString([]byte("sk-secret-123456"))), "***"},
		{"reversed", "654321-terces-ks", "***"},
		{"trimmed", "the spaced-out-token here", "the *** here"},
		{"too short to hide", "abc", "abc"},
		{"a placeholder", "I run in lm-studio", "I run in lm-studio"},
		{"nothing", "nothing to see", "nothing to see"},
	} {
		if got := r.String(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProtects(t *testing.T) {
	for secret, want := range map[string]bool{
		"": false, "ollama": false, "lm-studio": false, "secret": false, "not-needed": false, "hunter2": false,
		"elevenbytes": false, "passwordsonly": false, "123456789012": false, "fifteen-letters": false, " twelve bytes \n": false,
		"abcdefghijk1": true, "1a3456789012": true, "sixteen-letters!": true, " sk-0123456789abcdef\n": true,
	} {
		if got := clean.Protects(secret); got != want {
			t.Errorf("%q: %v", secret, got)
		}
		if got := clean.NewRedactor(secret).Found("it is " + secret); got != want {
			t.Errorf("%q is found: %v", secret, got)
		}
	}
}

func TestBase64AtEveryAlignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9_.-]{16,60}`).Draw(t, "secret")
		around := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "around")
		text := slices.Concat(around, []byte(secret), around)
		r := clean.NewRedactor(secret)
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if s := enc.EncodeToString(text); !r.Found(s) {
				t.Fatalf("%q hides %q", s, secret)
			}
		}
	})
}

func TestStringLeavesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9]{11}[0-9]|[a-zA-Z0-9]{16,20}`).Draw(t, "secret")
		before := rapid.String().Draw(t, "before")
		r := clean.NewRedactor(secret)
		if out := r.String(before + secret + before); clean.Protects(secret) && strings.Contains(out, secret) {
			t.Fatalf("%q survives in %q", secret, out)
		}
	})
}

func TestNil(t *testing.T) {
	var r *clean.Redactor
	if r.Found("anything") || r.String("anything") != "anything" {
		t.Error("a nil redactor must do nothing")
	}
}
