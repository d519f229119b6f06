package read

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/api"
	"familiar/internal/web/clean"
)

// TestRecognise checks which service has a URL, and the resulting address of the page.
func TestRecognise(t *testing.T) {
	for raw, want := range map[string]string{
		"https://en.wikipedia.org/wiki/Go_(game)":                     "wikipedia https://en.wikipedia.org/wiki/Go_(game)",
		"http://de.m.wikipedia.org/wiki/Caf%C3%A9#Geschichte":         "wikipedia https://de.wikipedia.org/wiki/Caf%C3%A9",
		"https://en.wikipedia.org/wiki/AC/DC?utm_source=a":            "wikipedia https://en.wikipedia.org/wiki/AC/DC",
		"https://fr.wikipedia.org/w/index.php?title=Go":               "wikipedia https://fr.wikipedia.org/wiki/Go",
		"https://en.wikipedia.org/w/index.php?title=Go&oldid=1":       "",
		"https://en.wikipedia.org/wiki/Go?action=edit":                "",
		"https://en.wikipedia.org/wiki/Special:Random":                "",
		"https://en.wikipedia.org/wiki/":                              "",
		"https://en.wikipedia.org/wiki/A%7CB":                         "",
		"https://en.wikipedia.org/":                                   "",
		"https://www.wikipedia.org/wiki/Go":                           "",
		"https://xx.wikipedia.org/wiki/Go":                            "",
		"https://en.wikipedia.org.example.net/wiki/Go":                "",
		"https://en.wiktionary.org/wiki/go":                           "",
		"https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PL1&t=3":    "youtube https://www.youtube.com/watch?v=dQw4w9WgXcQ",
		"https://m.youtube.com/watch?app=m&v=dQw4w9WgXcQ":             "youtube https://www.youtube.com/watch?v=dQw4w9WgXcQ",
		"https://youtu.be/dQw4w9WgXcQ":                                "youtube https://www.youtube.com/watch?v=dQw4w9WgXcQ",
		"https://youtube.com/live/dQw4w9WgXcQ":                        "youtube https://www.youtube.com/watch?v=dQw4w9WgXcQ",
		"https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ":          "youtube https://www.youtube.com/watch?v=dQw4w9WgXcQ",
		"https://www.youtube.com/watch?v=dQw4w9WgXc":                  "",
		"https://www.youtube.com/watch?v=dQw4w9WgXc%26":               "",
		"https://www.youtube.com/embed/videoseries?list=PL1":          "",
		"https://www.youtube.com/@channel":                            "",
		"https://youtu.be/dQw4w9WgXcQ/more":                           "",
		"https://github.com/golang/go":                                "github https://github.com/golang/go",
		"https://www.github.com/golang/go.git/":                       "github https://github.com/golang/go",
		"https://github.com/golang/go/issues/1?x=y":                   "github https://github.com/golang/go/issues/1",
		"https://github.com/golang/go/pull/22#discussion":             "github https://github.com/golang/go/pull/22",
		"https://github.com/golang/go/blob/master/src/a%20b.go#L3":    "github https://github.com/golang/go/blob/master/src/a%20b.go",
		"https://github.com/golang/go/blob/master/a%2F..%2F..%2Fuser": "",
		"https://github.com/golang/go/blob/master/a%3Fref=x":          "",
		"https://github.com/golang/go/issues/01":                      "",
		"https://github.com/golang/go/issues":                         "",
		"https://github.com/golang/go/tree/master":                    "",
		"https://github.com/golang":                                   "",
		"https://github.com/topics/go":                                "",
		"https://github.com/-x/go":                                    "",
		"https://github.com/golang/..":                                "",
		"https://gist.github.com/golang/go":                           "",
		"https://raw.githubusercontent.com/golang/go/master/README":   "",
		"https://stackoverflow.com/questions/1/title":                 "stackexchange https://stackoverflow.com/questions/1",
		"https://stackoverflow.com/q/1/2":                             "stackexchange https://stackoverflow.com/questions/1",
		"https://stackoverflow.com/a/3":                               "stackexchange https://stackoverflow.com/a/3",
		"https://unix.stackexchange.com/questions/1/x/2#2":            "stackexchange https://unix.stackexchange.com/questions/1",
		"https://es.stackoverflow.com/questions/1":                    "stackexchange https://es.stackoverflow.com/questions/1",
		"https://api.stackexchange.com/questions/1":                   "",
		"https://a.b.c.stackexchange.com/questions/1":                 "",
		"https://stackoverflow.com/questions/tagged/go":               "",
		"https://stackoverflow.com/questions/1;2":                     "",
		"https://stackoverflow.com/users/1/x":                         "",
		"https://news.ycombinator.com/item?id=1":                      "hackernews https://news.ycombinator.com/item?id=1",
		"https://news.ycombinator.com/item?id=1#2":                    "hackernews https://news.ycombinator.com/item?id=1",
		"https://news.ycombinator.com/item?id=1&p=2":                  "",
		"https://news.ycombinator.com/item?id=1%2F..":                 "",
		"https://news.ycombinator.com/user?id=1":                      "",
		"https://example.org/":                                        "",
		"https://en.wikipedia.org:8080/wiki/Go":                       "",
		"ftp://en.wikipedia.org/wiki/Go":                              "",
		"https://user@en.wikipedia.org/wiki/Go":                       "",
		"":                                                            "",
	} {
		got := ""
		if e := recognise(raw, ""); e != nil {
			got = e.reader + " " + e.final
		}
		if got != want {
			t.Errorf("%s\ngot  %q\nwant %q", raw, got, want)
		}
	}
}

// spy records requests and refuses them.
type spy struct {
	mu   sync.Mutex
	seen []*http.Request // guarded by mu
}

func (s *spy) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
	return nil, http.ErrServerClosed
}

// asked describes every request that may be sent before a service has replied.
var asked = map[string]*regexp.Regexp{
	"wikipedia":     regexp.MustCompile(`^https://([a-z]{2,4})\.wikipedia\.org/w/api\.php\?[a-z0-9=&|%_.A-Z~+-]*$`),
	"youtube":       regexp.MustCompile(`^https://www\.youtube\.com/watch\?hl=en&v=[A-Za-z0-9_-]{11}$`),
	"github":        regexp.MustCompile(`^https://api\.github\.com/repos/[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}(/issues/[1-9][0-9]{0,11}|/contents/[^?#\\]+\?ref=[A-Za-z0-9._-]+)?$`),
	"stackexchange": regexp.MustCompile(`^https://api\.stackexchange\.com/2\.3/(questions/[1-9][0-9]{0,11}|answers/[1-9][0-9]{0,11}/questions)\?filter=withbody&site=[a-z0-9.-]+$`),
	"hackernews":    regexp.MustCompile(`^https://hn\.algolia\.com/api/v1/items/[1-9][0-9]{0,11}$`),
}

// egress returns all requests that are sent for a URL, and what is wrong with them.
func egress(t *testing.T, raw string) (sent []string, wrong error) {
	s := &spy{}
	r := NewServices(ServicesConfig{Client: func(string) *http.Client { return &http.Client{Transport: s} }})
	defer r.Close()
	e := recognise(raw, "de")
	_, err := r.read(t.Context(), raw, serviceOptions{Language: "de"})
	if e == nil {
		if err != errNoService || len(s.seen) > 0 {
			wrong = fmt.Errorf("no service has it, but %v, %d requests", err, len(s.seen))
		}
		return nil, wrong
	}
	if canonical, ok := clean.Canonical(e.final); !ok || canonical != e.final {
		return nil, fmt.Errorf("the final URL %q is not canonical", e.final)
	}
	if again := recognise(e.final, "de"); again == nil || again.final != e.final || again.reader != e.reader {
		return nil, fmt.Errorf("the final URL %q is read as another page", e.final)
	}
	for _, one := range s.seen {
		address := one.URL.String()
		sent = append(sent, address)
		found := asked[e.reader].FindStringSubmatch(address)
		if found == nil || e.reader == "wikipedia" && !api.HasWikipedia(found[1]) {
			return sent, fmt.Errorf("asked for %q", address)
		}
		for _, part := range strings.Split(one.URL.Path, "/") {
			if part == "." || part == ".." {
				return sent, fmt.Errorf("asked for %q, which leads up", address)
			}
		}
		if len(one.URL.Query()) != strings.Count(one.URL.RawQuery, "=") {
			return sent, fmt.Errorf("asked for %q with parameters from the URL", address)
		}
		if one.Method != http.MethodGet || one.Header.Get("Cookie") != "" || one.Header.Get("Referer") != "" {
			return sent, fmt.Errorf("%s with %v", one.Method, one.Header)
		}
	}
	if len(s.seen) == 0 {
		return nil, fmt.Errorf("no request was sent")
	}
	return sent, nil
}

// TestEgress combines parts of real URLs with parts that could break out of them.
func TestEgress(t *testing.T) {
	hosts := []string{
		"en.wikipedia.org", "de.m.wikipedia.org", "evil.wikipedia.org", "en.wikipedia.org.evil.net", "www.youtube.com", "youtu.be", "github.com",
		"api.github.com", "stackoverflow.com", "unix.stackexchange.com", "x.y.stackexchange.com", "news.ycombinator.com", "evil.net",
	}
	pieces := []string{
		"wiki", "w", "index.php", "watch", "embed", "dQw4w9WgXcQ", "golang", "go", "blob", "issues", "questions", "q", "a", "item", "1", "22", "0", "-1", "..", ".",
		"%2e%2e", "%2f", "%5c", "%3f", "%23", "%00", "%0a", "a b", "a;b", "a&b=c", "a=b", "ä", "@", ":", "Special:Random", "\u202e", "💡", strings.Repeat("9", 20),
	}
	queries := []string{"", "", "v=dQw4w9WgXcQ", "id=1", "title=Go", "title=A%26action%3Ddelete", "id=1%26x%3D2", "v=dQw4w9WgXcQ%26x", "id=1&id=2", "fbclid=1"}
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(rt, "path")
		raw := "https://" + rapid.SampledFrom(hosts).Draw(rt, "host") + "/" + strings.Join(path, "/")
		if q := rapid.SampledFrom(queries).Draw(rt, "query"); q != "" {
			raw += "?" + q
		}
		raw += rapid.SampledFrom([]string{"", "#x", "#1", "#%zz"}).Draw(rt, "fragment")
		if _, err := egress(t, raw); err != nil {
			rt.Fatalf("%s: %v", raw, err)
		}
	})
}

// FuzzEgress checks that no URL causes a request to another origin, or of another shape, than in the table.
func FuzzEgress(f *testing.F) {
	for _, seed := range []string{
		"https://en.wikipedia.org/wiki/Go_(game)#History", "https://youtu.be/dQw4w9WgXcQ", "https://github.com/golang/go/blob/master/README.md",
		"https://github.com/golang/go/issues/1", "https://stackoverflow.com/a/1", "https://news.ycombinator.com/item?id=1", "https://example.org/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := egress(t, raw); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// TestTable checks that no two services have the same URL, and that every origin uses https.
func TestTable(t *testing.T) {
	var names []string
	for _, e := range table() {
		if u, err := url.Parse(strings.ReplaceAll(e.origin, "{language}", "en")); err != nil || u.Scheme != "https" || u.Path != "" || u.User != nil {
			t.Errorf("%s has the origin %q, want https", e.name, e.origin)
		}
		if asked[e.name] == nil || slices.Contains(names, e.name) {
			t.Errorf("%s is missing from asked", e.name)
		}
		names = append(names, e.name)
	}
}
