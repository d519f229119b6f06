package clean

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

func TestParseAccepts(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTPS://EXAMPLE.ORG:443/a?b=c#f":          "https://example.org/a?b=c",
		"https://例え.jp/":                           "https://xn--r8jz45g.jp/",
		"https://3.org/":                           "https://3.org/",
		"http://example.org":                       "http://example.org/",
		"http://example.org.":                      "http://example.org/",
		"http://example.org?q":                     "http://example.org/?q",
		"http://example.org:80/":                   "http://example.org/",
		"http://example.org:443/":                  "http://example.org:443/",
		"https://example.org:80/":                  "https://example.org:80/",
		"https://example.org/a/../b/./c":           "https://example.org/b/c",
		"https://example.org/../../b":              "https://example.org/b",
		"https://example.org//a//b":                "https://example.org//a//b",
		"https://example.org/é?q=é":                "https://example.org/%C3%A9?q=%C3%A9",
		"https://example.org/%2e%2e/a%2Fb":         "https://example.org/%2e%2e/a%2Fb",
		"https://example.org/?q=<a>\"'":            "https://example.org/?q=%3Ca%3E%22%27",
		"https://faß.de/":                          "https://xn--fa-hia.de/",
		"https://EXAMPLE。org/":                     "https://example.org/",
		"https://r3---sn-4g5e6nez.example.net/":    "https://r3---sn-4g5e6nez.example.net/",
		"https://аpple.com/":                       "https://xn--pple-43d.com/", // a Cyrillic letter becomes visible
		"https://example.org/#https://127.0.0.1/":  "https://example.org/",
		"https://example.org/?u=http://127.0.0.1/": "https://example.org/?u=http://127.0.0.1/",
		"https://nolocalhost.org/":                 "https://nolocalhost.org/",
	} {
		u, err := ParseURL(raw)
		if err != nil {
			t.Errorf("Parse(%q) = %v, want %s", raw, err, want)
		} else if u.String() != want {
			t.Errorf("Parse(%q) = %s, want %s", raw, u, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("a", maxURL)
	grows := "https://example.org/" + strings.Repeat("é", 700) // short enough before encoding
	for _, c := range []struct {
		reason turn.Code
		urls   string
	}{
		{turn.CodeInvalidTarget, `
			http://127.1/ http://127.0.0.1/ http://2130706433/ http://0x7f000001/ http://017700000001/ http://127.0.0.0x1/
			http://0177.0.0.1/ http://1.1.1.1/ http://1.2.3.4.5/ http://example.1/ http://example.0x1/ http://①②⑦.0.0.1/
			http://127。0。0。1/ http://127.0.0.1./ http://example.org../ http://.example.org/ http://a..b/ http://./ http://../
			http://[::1]/ http://[::ffff:7f00:1]/ http://[::ffff:8.8.8.8]:80/ http://[::1%25.example.com]/ http://[fe80::1%25eth0]/
			http://[example.org]/ http://example.org\@127.0.0.1/ http://example.org/\..\ \\example.org\a
			http://example.org:/ https://example.org:/a http:example.org http:/example.org http:///example.org http://
			http:// http://? http://:80/ http://@/ http://user@example.org/ http://user:pw@example.org/ http://@example.org/
			http://:@example.org/ http://exam_ple.org/ http://exam%70le.org/ http://example.org%2f@127.0.0.1/
			http://%6c%6f%63%61%6c%68%6f%73%74/ http://example.org%00.evil.com/ http://exa$mple.org/ http://exa*mple.org/
			http://xn--a.org/ http://xn--zn7c.a/ http://xn--.org/ http://example.org:80:80@127.0.0.1/
			//example.org/ example.org /a ?q #f http://example.org/%zz
			` + long + " " + grows + " http://" + strings.Repeat("a", 64) + ".org/ http://" + strings.Repeat("a.", 130) + "org/"},
		{turn.CodeDeniedPort, `http://example.org:22/ http://example.org:8080/ http://example.org:080/ http://example.org:0/
			https://example.org:00443/ http://example.org:65616/ http://example.org:99999/`},
		{turn.CodeDeniedHost, `http://localhost/ http://LOCALHOST/ http://localhost./ http://ｌocalhost/ http://foo.localhost/ http://metadata/
			http://ip6-localhost/ http://metadata.google.internal/ http://kubernetes.default.svc/ http://a.b.cluster.local/
			http://host.docker.internal/ http://1.1.1.1.in-addr.arpa/ http://printer.lan/ http://router.home/ http://nas.home.arpa/
			http://mail.corp/ http://a.private/ http://x.intranet/ http://x.localdomain/ http://x.onion/ http://x.i2p/
			http://x.invalid/ http://x.test/ http://x.example/ http://x.alt/ http://metadata.goog/ http://a.metadata.goog/ http://com/`},
		{turn.CodeBadScheme, `ftp://example.org/ file:///etc/passwd gopher://example.org/ javascript:alert(1) data:text/html,hi
			jar:http://example.org!/ mailto:a@example.org ws://example.org/ HTTPSS://example.org/ view-source:http://example.org/`},
	} {
		for _, raw := range strings.Fields(c.urls) {
			checkRefused(t, raw, c.reason)
		}
	}
	for _, raw := range []string{"", " http://example.org/", "http://example.org/ ", "http://exa mple.org/", "http://example.org/a b",
		"http://example.org/\n", "http://example.org\t/", "http://\x9b.A", "http://example.org/\xff", "http://example.org/\u0085",
		"http://example.org/\x7f", "ht\ntp://example.org/", "http://example.org/\x00", "http://\u200bexample.org\u2028/", "http://a\u202eb.org"} {
		checkRefused(t, raw, turn.CodeInvalidTarget)
	}
}

func checkRefused(t *testing.T, raw string, reason turn.Code) {
	t.Helper()
	u, err := ParseURL(raw)
	var e *Refusal
	if !errors.As(err, &e) || u != nil || e.Reason != reason {
		t.Errorf("Parse(%.80q) = %v, %v, want %s", raw, u, err, reason)
		return
	}
	if want := map[bool]turn.Code{true: turn.CodeUnsupportedScheme, false: turn.CodeBlockedURL}[reason == turn.CodeBadScheme]; e.Code != want {
		t.Errorf("Parse(%.80q) has code %s, want %s", raw, e.Code, want)
	}
}

func TestResolve(t *testing.T) {
	base, err := ParseURL("https://example.org/a/b?c")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"d":                        "https://example.org/a/d",
		"/d#f":                     "https://example.org/d",
		"?e":                       "https://example.org/a/b?e",
		"../../../d":               "https://example.org/d",
		"//example.net/x":          "https://example.net/x",
		"http://EXAMPLE.net":       "http://example.net/",
		"":                         "https://example.org/a/b?c",
		"//127.0.0.1/":             "",
		"http://localhost/":        "",
		"http://[::1]/":            "",
		`/\127.0.0.1/`:             "",
		`\\127.0.0.1\`:             "",
		"ftp://example.org/":       "",
		"//user@example.net/":      "",
		"http://example.net:8080/": "",
		"/a b":                     "",
		"/\xff":                    "",
		"//example.net%2f.org/":    "",
	} {
		u, err := ResolveURL(base, ref)
		switch {
		case want == "" && err == nil:
			t.Errorf("Resolve(%q) = %s, want an error", ref, u)
		case want != "" && err != nil:
			t.Errorf("Resolve(%q) = %v, want %s", ref, err, want)
		case want != "" && u.String() != want:
			t.Errorf("Resolve(%q) = %s, want %s", ref, u, want)
		}
	}
}

func TestHost(t *testing.T) {
	for raw, want := range map[string]string{
		"Example.ORG": "example.org", "bücher.example.de.": "xn--bcher-kva.example.de", "a.b.c.net": "a.b.c.net",
		"": "", "org": "", "https://example.org": "", "example.org:80": "", "*.example.org": "", ".example.org": "",
		"example.org/": "", "127.0.0.1": "", "::1": "", "fe80::1%eth0": "", "localhost": "", "exam ple.org": "", "user@example.org": "",
	} {
		got, err := Host(raw)
		if want == "" && err == nil {
			t.Errorf("Host(%q) = %s, want an error", raw, got)
		} else if want != "" && got != want {
			t.Errorf("Host(%q) = %s, %v, want %s", raw, got, err, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.org/?utm_source=x&a=1&UTM_b=2&fbclid=3#top": "https://example.org/?a=1",
		"https://example.org/?utm_source=x":                          "https://example.org/",
		"https://example.org/?":                                      "https://example.org/",
		"https://example.org/?&a=1&&b=2&":                            "https://example.org/?a=1&b=2",
		"https://example.org/?b=2&a=1":                               "https://example.org/?b=2&a=1",
		"https://example.org/%7euser/%e9?%61=%c3%a9":                 "https://example.org/~user/%E9?a=%C3%A9",
		"https://example.org/a/%2e%2E/b":                             "https://example.org/b",
		"https://example.org/a%2fb%252e":                             "https://example.org/a%2Fb%252e",
		"https://example.org/?q=100%&r=%zz":                          "https://example.org/?q=100%&r=%zz",
		"https://example.org/?%75tm_medium=x":                        "https://example.org/",
		"HTTPS://Example.Org:443":                                    "https://example.org/",
	} {
		got, ok := Canonical(raw)
		if !ok || got != want {
			t.Errorf("Canonical(%q) = %q, %v, want %q", raw, got, ok, want)
		}
	}
	if got, ok := Canonical("https://localhost/"); ok || got != "" {
		t.Errorf("Canonical of a refused URL = %q, %v", got, ok)
	}
}

func TestDedupeKey(t *testing.T) {
	for _, same := range [][]string{
		{"https://example.org/?b=2&a=1", "https://example.org/?a=1&b=2", "HTTPS://Example.org:443/./?b=2&utm_source=x&a=1#f"},
		{"https://example.org/a b?q=c d", " https://example.org/a%20b?q=c+d ", "https://example.org/a%20b?q=c%20d"},
		{"https://example.org/?a=2&b&a=1", "https://example.org/?a=2&a=1&b", "https://example.org/?b&a=2&a=1"},
		{"https://example.org/%7eb/%C3%a9?", "https://example.org/~b/é"},
	} {
		want, ok := DedupeKey(same[0])
		for _, raw := range same[1:] {
			if got, ok2 := DedupeKey(raw); !ok || !ok2 || got != want {
				t.Errorf("DedupeKey(%q) = %q, %v, want %q", raw, got, ok2, want)
			}
		}
	}
	seen := map[string]string{}
	for _, raw := range []string{"https://example.org/watch?v=1", "https://example.org/watch?v=2", "https://example.org/watch", "https://example.org/Watch?v=1",
		"https://example.org/?a=2&a=1", "https://example.org/?a=1&a=2", "https://example.org/?a=c%2Bd", "https://example.org/?a=c+d",
		"https://example.org/a+b", "https://example.org/a%20b", "https://example.org/a%2Fb", "https://example.org/a/b", "https://example.org/?a=1%26b=2",
		"https://example.org/?a=1&b=2"} {
		key, ok := DedupeKey(raw)
		if other, taken := seen[key]; !ok || taken {
			t.Errorf("DedupeKey(%q) = %q, %v, as of %q", raw, key, ok, other)
		}
		seen[key] = raw
	}
	for _, raw := range []string{"https://exa mple.org/", "https://localhost/", "https://example.org/a\tb\tc", "", " "} {
		if got, ok := DedupeKey(raw); ok {
			t.Errorf("DedupeKey(%q) = %q", raw, got)
		}
	}
}

// TestCanonicalNeverGuesses checks that Canonical keeps URLs apart that only DedupeKey may join.
func TestCanonicalNeverGuesses(t *testing.T) {
	for _, pair := range [][2]string{
		{"https://example.org/?b=2&a=1", "https://example.org/?a=1&b=2"},
		{"https://example.org/?q=a+b", "https://example.org/?q=a%20b"},
		{"https://example.org/a", "http://example.org/a"},
		{"https://example.org/a", "https://example.org/a/"},
		{"https://example.org/a", "https://www.example.org/a"},
	} {
		a, _ := Canonical(pair[0])
		if b, _ := Canonical(pair[1]); a == b {
			t.Errorf("%q and %q are both %q", pair[0], pair[1], a)
		}
	}
	if got, ok := Canonical("https://example.org/a b"); ok {
		t.Errorf("a space was accepted: %q", got)
	}
}

// FuzzPlain compares the fast path with the full one.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"example.org", "-a.b-", "xn--a.b", "a--b.c", "1.2", "a..b", ".a", "a.", "r3---sn.a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if got, err := hosts.ToASCII(host); isPlain(host) && (err != nil || got != host) {
			t.Fatalf("%q is not plain: %q, %v", host, got, err)
		}
	})
}

// FuzzParse checks what all callers rely on: an accepted host is a public name in its only spelling.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"HTTPS://EXAMPLE.ORG:443/a?b=c#f", "https://例え.jp/%7e/../x", "http://\x9b.A", "http://127.1/",
		"http://[::1]/", "http://①②⑦.0.0.1/", "http://a.b?utm_source=%zz&x='", "http://xn--zn7c.a", "http://A.com@127.0.0.1:80/",
		"http://a.b//..//x/%2e%2e/%2F", "https://a.b./;x=1/.?/..#", "http://a.b/%41%c3%A9?%41", "http://ab。c/^|`{}",
		"htTp://a.bA9?1%c3%/%4%41", "http://a.b/%%41%4%41%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := ParseURL(raw)
		if err != nil {
			if strings.Contains(err.Error(), raw) && len(raw) > 20 {
				t.Fatalf("error %v shows %q", err, raw)
			}
			return
		}
		s := u.String()
		again, err := ParseURL(s)
		if err != nil || again.String() != s {
			t.Fatalf("Parse(%q) = %q, and again %v, %v", raw, s, again, err)
		}
		checkSafe(t, u)
		c, ok := Canonical(raw)
		if !ok {
			t.Fatalf("Canonical(%q) refuses what Parse accepts", raw)
		}
		if c2, ok := Canonical(c); !ok || c2 != c {
			t.Fatalf("Canonical(%q) = %q, and again %q", raw, c, c2)
		}
		k, ok := DedupeKey(raw)
		if !ok {
			t.Fatalf("DedupeKey(%q) refuses what Parse accepts", raw)
		}
		if k2, ok := DedupeKey(k); !ok || k2 != k {
			t.Fatalf("DedupeKey(%q) = %q, and again %q", raw, k, k2)
		}
		if k2, ok := DedupeKey(c); !ok || k2 != k {
			t.Fatalf("%q has the keys %q and, in canonical form, %q", raw, k, k2)
		}
	})
}

func checkSafe(t *testing.T, u *url.URL) {
	t.Helper()
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		t.Fatalf("%s has an address for a host", u)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.User != nil, u.Fragment != "", u.Opaque != "", len(u.String()) > maxURL,
		!strings.Contains(host, "."), last == "", last[0] >= '0' && last[0] <= '9', last == "localhost", last == "internal",
		strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "", u.Port() != "" && u.Port() != "80" && u.Port() != "443",
		!strings.HasPrefix(u.Path, "/"), strings.ContainsAny(u.String(), "\\ <>\"\n\r\t"):
		t.Fatalf("%q is not safe", u)
	}
}

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
