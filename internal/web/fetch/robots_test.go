package fetch

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestRobots(t *testing.T) {
	for _, c := range []struct {
		name, robots, path string
		want               bool
	}{
		{"no rules", "", "/a", true},
		{"nothing for us", "User-agent: other\nDisallow: /\n", "/a", true},
		{"for all", "User-agent: *\nDisallow: /\n", "/a", false},
		{"ours over all", "User-agent: *\nDisallow: /\n\nUser-agent: Familiar\nDisallow: /b\n", "/a", true},
		{"ours", "User-agent: familiar\nDisallow: /a\n", "/a/b", false},
		{"longest match allows", "User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b", true},
		{"longest match forbids", "User-agent: *\nAllow: /a\nDisallow: /a/b\n", "/a/b", false},
		{"wildcard", "User-agent: *\nDisallow: /*.php$\n", "/x/y.php", false},
		{"end of path", "User-agent: *\nDisallow: /*.php$\n", "/x/y.php5", true},
		{"query", "User-agent: *\nDisallow: /*?print=\n", "/x?print=1", false},
		{"other query", "User-agent: *\nDisallow: /*?print=\n", "/x?page=1", true},
		{"empty rule", "User-agent: *\nDisallow:\n", "/a", true},
		{"a page in its place", "<!doctype html><title>Not found</title>", "/a", true},
		{"binary", "\x00\xff\xfe\x01", "/a", true},
		{"rule after the limit", "User-agent: *\n" + strings.Repeat("# padding\n", 60_000) + "Disallow: /a\n", "/a", true},
		{"rule on the limit is not half a rule", "User-agent: *\n" + strings.Repeat("#", 500<<10-27) + "\nDisallow: /a/b\n", "/a", true},
		{"rule before the limit", "User-agent: *\nDisallow: /a\n" + strings.Repeat("# padding\n", 60_000), "/a", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := open(t, "-- example.org/robots.txt --\n"+c.robots+"\n-- example.org"+c.path+" --\n<p>page\n", nil)
			_, err := f.Fetch(t.Context(), "https://example.org"+c.path, Options{})
			if c.want && err != nil || !c.want && !is(err, "robots") {
				t.Errorf("got %v, want allowed %v", err, c.want)
			}
			if n := w.Hits("https://example.org" + c.path); n > 0 != c.want {
				t.Errorf("the page was asked for %d times", n)
			}
		})
	}
}

// TestRobotsAreShared fetches many pages of a site at once.
func TestRobotsAreShared(t *testing.T) { synctest.Test(t, testRobotsAreShared) }

func testRobotsAreShared(t *testing.T) {
	f, w := open(t, "-- example.org/robots.txt.head --\n!delay 50ms\n-- example.org/p --\n<p>page\n", nil)
	var all sync.WaitGroup
	for _, q := range []string{"a", "b", "c", "d", "e"} {
		all.Go(func() {
			if _, err := f.Fetch(t.Context(), "https://example.org/p?"+q, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.Hits("https://example.org/robots.txt"); n != 1 {
		t.Errorf("robots.txt was asked for %d times, want 1", n)
	}
}

// TestRobotsPerOrigin keeps http and https apart, and reads the rules of each host of a redirect.
func TestRobotsPerOrigin(t *testing.T) {
	f, w := open(t, `
-- a.example.org/p.head --
302
Location: http://b.example.org/p
-- b.example.org/p --
<p>page
`, nil)
	if _, err := f.Fetch(t.Context(), "http://a.example.org/p", Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), "https://b.example.org/p", Options{}); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://a.example.org/robots.txt", "http://b.example.org/robots.txt", "https://b.example.org/robots.txt"} {
		if n := w.Hits(url); n != 1 {
			t.Errorf("%s was asked for %d times, want 1", url, n)
		}
	}
}

func TestRobotsRules(t *testing.T) {
	long := "/" + strings.Repeat("a", 16_000)
	for _, c := range []struct {
		name, robots string
		allowed      string // targets, separated by spaces
		forbidden    string
	}{
		{"nothing", "", "/ /a", ""},
		{"byte order mark", "\ufeffUser-agent: *\nDisallow: /a", "/b", "/a /a/b"},
		{"carriage returns", "User-agent: *\rDisallow: /a\r\rDisallow: /b", "/c", "/a /b"},
		{"both", "User-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b\r\n", "/c", "/a /b"},
		{"comments and blanks", " user-AGENT :\tfamiliar # us\n#\n  disallow: /a # not here", "/b", "/a"},
		{"rules without a user agent", "Disallow: /\nUser-agent: other\nDisallow: /\n", "/a", ""},
		{"a blank line ends nothing", "User-agent: *\n\nDisallow: /a\n\nDisallow: /b", "/c", "/a /b"},
		{"a sitemap ends nothing", "User-agent: familiar\nSitemap: https://example.org/s\nUser-agent: other\nDisallow: /a", "/b", "/a"},
		{"names share a group", "User-agent: other\nUser-agent: familiar\nDisallow: /a", "/b", "/a"},
		{"groups are merged", "User-agent: familiar\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: familiar\nDisallow: /c",
			"/b", "/a /c"},
		{"ours, though empty, over all", "User-agent: *\nDisallow: /\nUser-agent: familiar\n", "/a", ""},
		{"ours and all in one group", "User-agent: *\nUser-agent: familiar\nDisallow: /a\nUser-agent: *\nDisallow: /b", "/b", "/a"},
		{"our name with a version", "User-agent: Familiar/2.1 (x)\nDisallow: /a", "/b", "/a"},
		{"a name that begins like ours", "User-agent: familiar-bot\nDisallow: /a\nUser-agent: famil\nDisallow: /", "/a", ""},
		{"a star and a remark", "User-agent: * everybody\nDisallow: /a", "/b", "/a"},
		{"no colon", "User-agent familiar\nDisallow /a\nDisallow all of it\n", "/b", "/a"},
		{"typos", "Useragent: familiar\nDissallow: /a\nDisalow: /b\nUser agent: familiar\nDiasllow: /c", "/d", "/a /b /c"},
		{"other keys", "User-agent: *\nNoindex: /a\nDisallowed: /b\nCrawl-delay: 5\nDisallow: /c", "/a /b", "/c"},
		{"case of a path", "User-agent: *\nDisallow: /A", "/a", "/A"},
		{"longest wins", "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/a/b /a/b/d /z", "/a /a/c /a/b/c"},
		{"allow wins a tie", "User-agent: *\nDisallow: /a\nAllow: /a\nAllow: /b\nDisallow: /b", "/a /b", ""},
		{"stars count as one", "User-agent: *\nAllow: /page\nDisallow: /*.htm", "/page", "/page.htm /x.html"},
		{"root only", "User-agent: *\nDisallow: /\nAllow: /$", "/", "/a /?a"},
		{"stars", "User-agent: *\nDisallow: /a*b*c\nDisallow: *x*", "/acb /b", "/abc /aXbYc/d /x"},
		{"stars and end", "User-agent: *\nDisallow: /a*b$\nDisallow: /*.php$\nDisallow: /c*$", "/ab/ /x.php?y /x.php5", "/ab /abab /x.php /c/d"},
		{"dollar inside", "User-agent: *\nDisallow: /a$b", "/a", "/a$b /a$bc /a%24b"},
		{"signs that are meant", "User-agent: *\nDisallow: /a-%2A.x\nDisallow: /b%24", "/a-b.x /b", "/a-*.x /a-%2a.x /b$ /b%24"},
		{"no slash", "User-agent: *\nDisallow: a", "/a /b/a", ""},
		{"query", "User-agent: *\nDisallow: /a?b=", "/a /a?c=1", "/a?b=1"},
		{"beyond ASCII", "User-agent: *\nDisallow: /ツ", "/%E3%83", "/%E3%83%84 /%e3%83%84/x /ツ"},
		{"needless escapes", "User-agent: *\nDisallow: /%7ejoe\nDisallow: /b/~ann", "/%2Fjoe", "/~joe /%7Ejoe /b/%7Eann /b/~ann"},
		{"a slash is no %2F", "User-agent: *\nDisallow: /a/b", "/a%2Fb", "/a/b"},
		{"allowed as written only", "User-agent: *\nDisallow: /\nAllow: /%7ejoe", "/%7Ejoe /%7ejoe", "/~joe"},
		{"broken escapes", "User-agent: *\nDisallow: /%zz%\nDisallow: /b%4", "/%zz", "/%zz% /b%4 /b%41"},
		{"index", "User-agent: *\nDisallow: /\nAllow: /a/index.html\nDisallow: /b/index.html", "/a/ /a/index.html", "/a/x /a /b/ /a/index.htm"},
		{"a line too long", "User-agent: *\nDisallow: " + long + strings.Repeat("b", 2000), "/ /a", long + strings.Repeat("b", 1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ParseRobots([]byte(c.robots), "Familiar")
			for _, target := range strings.Fields(c.allowed) {
				if !r.Allows(target) {
					t.Errorf("%.40s is forbidden", target)
				}
			}
			for _, target := range strings.Fields(c.forbidden) {
				if r.Allows(target) {
					t.Errorf("%.40s is allowed", target)
				}
			}
		})
	}
}

func TestProductToken(t *testing.T) {
	for in, want := range map[string]string{"familiar/1.0 (+x)": "familiar", "My_Bot-x": "My_Bot-x", "foo bar": "foo", "": "", "7up": "", "é": ""} {
		if got := productToken(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestHostileRobots uses rules that take exponential or quadratic time with backtracking.
func TestHostileRobots(t *testing.T) {
	text := "User-agent: *\n" + strings.Repeat("Disallow: /"+strings.Repeat("*a", 400)+"b$\n", 600)
	r := ParseRobots([]byte(text), "familiar")
	if !r.Allows("/" + strings.Repeat("a", 2000)) {
		t.Error("forbidden")
	}
	if w := r.weight(); w < int64(len(text)) {
		t.Errorf("%d bytes of rules weigh %d", len(text), w)
	}
}

// asRegexp is the simplest definition of a pattern's meaning.
func asRegexp(p pattern) *regexp.Regexp {
	text, whole := strings.CutSuffix(string(p), "$")
	text = `(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`)
	if whole {
		text += `\z`
	}
	return regexp.MustCompile(text)
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*.php$\nAllow: /index.html\n", "/a.php")
	f.Add("\ufeffuser-agent familiar\rdissallow /%7Ejoe*x\r\nallow: /ツ$", "/~joe/x")
	f.Fuzz(func(t *testing.T, text, target string) {
		r := ParseRobots([]byte(text), "familiar")
		r.Allows(target)
		for _, rule := range r.rules {
			for _, p := range []pattern{rule.exact, rule.normal} {
				if len(p) > 200 || strings.ContainsFunc(string(p)+target, func(r rune) bool { return r >= 0x80 }) {
					continue // the regular expression matches runes and is slow
				}
				if got, want := p.matches(target), asRegexp(p).MatchString(target); got != want {
					t.Errorf("%q matches %q: %v, want %v", p, target, got, want)
				}
			}
		}
		if n := normalize(normalize(target)); !strings.ContainsRune(target, '%') && n != normalize(target) {
			t.Errorf("%q has two normal forms", target)
		}
		// Rules for others and different line endings must not change the result.
		more := "user-agent: other\ndisallow: /\n\n" + strings.TrimPrefix(text, "\ufeff")
		if strings.HasPrefix(strings.ToLower(text), "user-agent:") && ParseRobots([]byte(more), "familiar").Allows(target) != r.Allows(target) {
			t.Error("another group changed the result")
		}
		crs := strings.ReplaceAll(text, "\n", "\r\n")
		if ParseRobots([]byte(crs), "familiar").Allows(target) != r.Allows(target) {
			t.Error("line ends changed the answer")
		}
	})
}
