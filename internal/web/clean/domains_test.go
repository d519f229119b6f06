package clean

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"familiar/internal/context/turn"
)

func site(t testing.TB, raw string) Site {
	t.Helper()
	s, err := NewSite(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSiteHolds(t *testing.T) {
	s := site(t, "https://Docs.Example.org/colony")
	if s.String() != "https://docs.example.org/colony/" || s.Host() != "docs.example.org" {
		t.Errorf("%s, host %s", s, s.Host())
	}
	for _, in := range []string{
		"https://docs.example.org/colony", "https://docs.example.org/colony/", "https://docs.example.org/colony/a/b.html?x=1#y",
		"https://DOCS.example.org:443/colony/a", "https://docs.example.org/%63olony/a", "https://docs.example.org/x/../colony/a", "https://docs.example.org/colony/a..b",
		"https://docs.example.org/colony/v1..2/%20",
	} {
		if !s.Holds(in) {
			t.Errorf("%s is outside", in)
		}
	}
	for _, out := range []string{
		"", "colony/a", "https://docs.example.org/", "https://docs.example.org/colonyx", "https://docs.example.org/colony-old/a",
		"http://docs.example.org/colony/a", "https://example.org/colony/a", "https://evil.docs.example.org/colony/a", "https://docs.example.org.evil.org/colony/a",
		"https://docs.example.org:80/colony/a", "https://docs.example.org@evil.org/colony/a", "https://docs.example.org/colony/../secret",
		"https://docs.example.org/colony/%2e%2e/secret", "https://docs.example.org/colony/..%2fsecret", "https://docs.example.org/colony/%252e%252e%252fsecret",
		"https://docs.example.org/colony/..%5csecret", "https://docs.example.org/colony/..;/secret", "https://docs.example.org/colony/%25252e%25252e%25252f",
		"https://docs.example.org/Colony/a", "ftp://docs.example.org/colony/a",
	} {
		if s.Holds(out) {
			t.Errorf("%s is inside", out)
		}
	}
	if !site(t, "http://docs.example.org").Holds("https://docs.example.org/a") {
		t.Error("the https version of an http site is outside")
	}
	if !(Site{}).Holds("anything") {
		t.Error("the zero Site refuses a page")
	}
}

func TestNewSiteRefuses(t *testing.T) {
	for _, raw := range []string{"", "docs.example.org", "ftp://docs.example.org", "https://127.0.0.1/", "https://docs.example.org/a?b", "https://docs.example.org/#a", "https://localhost/", "https://docs.example.org/..%2fa"} {
		if s, err := NewSite(raw); err == nil {
			t.Errorf("%q is %s", raw, s)
		}
	}
}

func TestSiteFind(t *testing.T) {
	s := site(t, "https://docs.example.org/colony/")
	tests := []struct {
		slug string
		want []string
	}{
		{"architecture/blackboard", []string{"architecture/blackboard.html", "architecture/blackboard", "architecture/blackboard/"}},
		{"/architecture/blackboard/#events", []string{"architecture/blackboard/#events", "architecture/blackboard.html#events", "architecture/blackboard#events"}},
		{"index.html", []string{"index.html", "index", "index/"}},
		{"a/../b", []string{"b.html", "b", "b/"}},
		{"release-1.2", []string{"release-1.2.html", "release-1.2", "release-1.2/"}},
		{"/", []string{""}},
	}
	for _, tt := range tests {
		for i := range tt.want {
			tt.want[i] = s.String() + tt.want[i]
		}
		got, err := s.Find(tt.slug)
		if err != nil {
			t.Errorf("%s: %v", tt.slug, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.slug, d)
		}
	}
	for slug, reason := range map[string]turn.Code{
		"../secret": turn.CodeOutsideSite, "a/../../secret": turn.CodeOutsideSite, "%2e%2e/secret": turn.CodeOutsideSite, "..%2fsecret": turn.CodeOutsideSite, "..": turn.CodeOutsideSite, "a/%252e%252e/%252e%252e/b": turn.CodeOutsideSite,
		"https://evil.org/a": turn.CodeInvalidTarget, "//evil.org:80/a": turn.CodeInvalidTarget, `..\secret`: turn.CodeInvalidTarget, "a?b=c": turn.CodeInvalidTarget, "a b": turn.CodeInvalidTarget, "a\x00b": turn.CodeInvalidTarget,
	} {
		got, err := s.Find(slug)
		if e, ok := err.(*Refusal); !ok || e.Reason != reason {
			t.Errorf("%q: %v, %v", slug, got, err)
		}
	}
}

// Any result for any slug must be inside and below the base, even after others clean the path.
func TestSiteFindStaysInside(t *testing.T) {
	s := site(t, "https://docs.example.org/colony/en/")
	parts := []string{"..", ".", "/", "%2e", "%2f", "%5c", "\\", ";", "a", "%", "%25", "25", "2e", "@evil.org", ":", "#", "?", ".html", "é", " "}
	rapid.Check(t, func(t *rapid.T) {
		slug := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		found, err := s.Find(slug)
		if err != nil {
			return
		}
		for _, address := range found {
			u, err := ParseURL(address)
			if err != nil || u.Host != "docs.example.org" || !strings.HasPrefix(u.Path, "/colony/en/") || !s.Holds(address) {
				t.Fatalf("%q leads to %q: %v", slug, address, err)
			}
		}
	})
}

func TestRegistered(t *testing.T) {
	for host, want := range map[string]string{
		"www.example.co.uk": "example.co.uk", "example.org": "example.org", "co.uk": "", "org": "", "": "", ".org": "",
	} {
		if got, ok := Registered(host); ok != (want != "") || ok && got != want {
			t.Errorf("Registered(%q) = %q, %v, want %q", host, got, ok, want)
		}
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		name, host  string
		allow, deny []string
		want        bool
	}{
		{"zero", "anything", nil, nil, true},
		{"allowed", "example.org", []string{"Example.org."}, nil, true},
		{"below allowed", "a.b.example.org", []string{"example.org"}, nil, true},
		{"not on a label", "badexample.org", []string{"example.org"}, nil, false},
		{"other", "example.net", []string{"example.org"}, nil, false},
		{"denied", "example.org", nil, []string{"example.org"}, false},
		{"below denied", "www.example.org", nil, []string{"example.org"}, false},
		{"not denied", "badexample.org", nil, []string{"example.org"}, true},
		{"deny wins", "www.example.org", []string{"www.example.org"}, []string{"example.org"}, false},
		{"deny below allow", "x.example.org", []string{"example.org"}, []string{"x.example.org"}, false},
		{"beside", "y.example.org", []string{"example.org"}, []string{"x.example.org"}, true},
		{"above", "org", []string{"example.org"}, nil, false},
		{"unicode entry", "xn--bcher-kva.de", nil, []string{"BÜCHER.de"}, false},
		{"upper case host", "EXAMPLE.ORG", nil, []string{"example.org"}, false},
		{"trailing dot", "example.org.", nil, []string{"example.org"}, false},
		{"not a host", "example.org:80", nil, []string{"example.net"}, false},
		{"empty host", "", nil, []string{"example.net"}, false},
	} {
		d, err := NewDomains(c.allow, c.deny)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Allows(c.host); got != c.want {
			t.Errorf("%s: Allows(%q) = %v", c.name, c.host, got)
		}
	}
}

func TestDomainsRefuseBadEntries(t *testing.T) {
	for _, bad := range []string{"", "org", "*.example.org", ".example.org", "https://example.org", "example.org/a", "exam ple.org",
		"127.0.0.1", "localhost", "example.org:443", "user@example.org", "a..b"} {
		if _, err := NewDomains([]string{"example.org", bad}, nil); err == nil {
			t.Errorf("allow list with %q was accepted", bad)
		}
		if _, err := NewDomains(nil, []string{bad}); err == nil {
			t.Errorf("deny list with %q was accepted", bad)
		}
	}
}

func TestDomainsVersion(t *testing.T) {
	version := func(allow, deny []string) string {
		d, err := NewDomains(allow, deny)
		if err != nil {
			t.Fatal(err)
		}
		return d.Version()
	}
	a, b := []string{"a.org", "b.org"}, []string{"B.org", "a.org"}
	if version(a, nil) != version(b, nil) {
		t.Error("equal lists have two versions")
	}
	if version(a, nil) == version(nil, a) || version(a, nil) == version(a[:1], nil) || version(nil, nil) != "" {
		t.Error("different lists share a version")
	}
}

func TestRegistrable(t *testing.T) {
	for host, want := range map[string]string{"www.example.co.uk": "example.co.uk", "example.org": "example.org",
		"a.b.c.example.org": "example.org", "user.github.io": "user.github.io", "co.uk": "co.uk", "xn--85x722f.com.cn": "xn--85x722f.com.cn"} {
		if got := Registrable(host); got != want {
			t.Errorf("Registrable(%s) = %s, want %s", host, got, want)
		}
	}
}

// BenchmarkDecision measures all decisions about one URL whose name has two addresses.
