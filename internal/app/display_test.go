package app

import (
	"strings"
	"testing"
)

// Of an address, config check prints nothing that may be secret.
func TestDisplayAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://search.example.org/path":                           "https://search.example.org/path",
		"http://me:word@search.example.org:8080/a":                  "http://***@search.example.org:8080/a",
		"https://ghp_0123456789@host.example.org":                   "https://***@host.example.org",
		"https://host.example.org/v1?key=abc&name=x#token":          "https://host.example.org/v1?key=***&name=***#***",
		"https://host.example.org/?abcdef":                          "https://host.example.org/?***",
		"https://host.example.org/?key=a=b;c=d&e=":                  "https://host.example.org/?key=***;c=***&***",
		"https://me:wo%zzrd@host.example.org":                       "(no address, hidden)",
		"postgres://ada:12/word@host.example.org/x":                 "(no address, hidden)",
		"postgres://ada:a@word/b@host.example.org/x":                "(no address, hidden)",
		"postgres://ada:12#word@host.example.org/x":                 "(no address, hidden)",
		"https://social.example.org/@me":                            "https://social.example.org/@me",
		"me:word@host.example.org:80":                               "(no address, hidden)",
		"https://a.example.org/?k=v,http://b:c@d.example.org words": "https://a.example.org/?k=***,http://***@d.example.org words",
		"mailto:me@example.org":                                     "mailto:me@example.org",
		"me@example.org":                                            "me@example.org",
		"sage":                                                      "sage",
	} {
		if got := (Value{Text: text}).Displayed(); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// The secrets in an address are kept out of replies, too.
func TestSecretsInAddresses(t *testing.T) {
	c := &Config{Values: []Value{{Text: "https://ghp_0123456789abcdef@host.example.org/?key=s3cret-0123456789"}}}
	if got := c.Redactor().String("ghp_0123456789abcdef s3cret-0123456789"); strings.Contains(got, "0123456789") {
		t.Error(got)
	}
}
