package guard

import (
	"slices"
	"testing"
)

func TestTypedURLs(t *testing.T) {
	for s, want := range map[string][]string{
		"see https://example.org/a, (http://example.org/b) and [WWW.example.org]!":                                     {"https://example.org/a", "http://example.org/b", "WWW.example.org"},
		"https://example.org/a_(b) is one, **https://example.org/c?d=1**":                                              {"https://example.org/a_(b)", "https://example.org/c?d=1"},
		"[https://example.org/a](https://example.org/a) and [b](<https://example.org/b>)":                              {"https://example.org/a", "https://example.org/a", "https://example.org/b"},
		"要点は？ https://example.org/a。 (https://example.org/b）、 ماذا يقول https://example.org/c؟ https://example.org/d…": {"https://example.org/a", "https://example.org/b", "https://example.org/c", "https://example.org/d"},
		"example.org and xhttp://example.org are none":                                                                 nil,
	} {
		if got := TypedURLs(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := WithoutURLs("read www.example.org/a?b now"); got != "read   now" {
		t.Errorf("without URLs: %q", got)
	}
}

func TestUnreadable(t *testing.T) {
	for canonical, want := range map[string]bool{
		"https://example.org/a.PNG": true, "https://example.org/a.zip?b=1": true, "https://example.org/a.html": false, "https://example.org/": false,
	} {
		if got := Unreadable(canonical); got != want {
			t.Errorf("%s: %t", canonical, got)
		}
	}
}
