package fetch

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"familiar/internal/context/turn"
	"familiar/internal/test/webtest"
	"familiar/internal/web/clean"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick shortens the limits of single phases, for tests that wait until they are reached.
func quick(_ *Config, l *limits) {
	l.dial, l.tls, l.header, l.grace = 500*time.Millisecond, time.Second, time.Second, 300*time.Millisecond
}

// brief shortens the limit of a whole fetch.
func brief(_ *Config, l *limits) { l.total = 600 * time.Millisecond }

// open starts the web in archive, in memory, with a Fetcher. Tests of waits and limits run in virtual time.
func open(t testing.TB, archive string, change func(*Config, *limits)) (*Fetcher, *webtest.Web) {
	t.Helper()
	w := webtest.InMemory(t, []byte(archive))
	return on(t, w, change), w
}

// openSockets is like open, but uses loopback, for tests that count files or nanoseconds.
func openSockets(t testing.TB, archive string, change func(*Config, *limits)) (*Fetcher, *webtest.Web) {
	t.Helper()
	w := webtest.New(t, []byte(archive))
	return on(t, w, change), w
}

// virtually runs a test in virtual time.
func virtually(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, f) }
}

func on(t testing.TB, w *webtest.Web, change func(*Config, *limits)) *Fetcher {
	t.Helper()
	c := Config{UserAgent: "familiar/1.0 (+https://example.org/bot)", Resolver: w, Dial: w.Dial, RootCAs: w.RootCAs()}
	l := defaults()
	l.backoff = 10 * time.Millisecond
	if change != nil {
		change(&c, &l)
	}
	f, err := newFetcher(c, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func archive(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/web.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPages reads each page of the archive and compares the result with the table in pages_test.go.
func TestPages(t *testing.T) {
	for _, c := range pages {
		t.Run(c.name, virtually(func(t *testing.T) {
			change := func(c *Config, _ *limits) { c.JSON = true }
			switch {
			case c.want == "timeout/total_timeout":
				change = brief
			case strings.HasPrefix(c.want, "timeout") || strings.Contains(c.name, "silent"):
				change = quick
			}
			f, w := open(t, archive(t), change)
			defer func() {
				for _, r := range w.Requests() {
					checkRequest(t, r)
				}
			}()
			doc, err := f.Fetch(t.Context(), c.url, Options{})
			if c.want == "ok" {
				if err != nil {
					t.Fatalf("%s: %v", c.url, err)
				}
				if !strings.Contains(string(doc.Body), c.detail) {
					t.Errorf("%s: body %.80q lacks %q", c.url, doc.Body, c.detail)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%s: got %v, want %s", c.url, err, c.want)
			}
			if got := string(e.Code + "/" + e.Reason); got != c.want {
				t.Errorf("%s: got %s, want %s", c.url, got, c.want)
			}
			if doc != nil {
				t.Error("a document came with the error")
			}
			checkNoLeak(t, e)
		}))
	}
}

// TestUnpacksTooLarge sends a body that is too large only after decompression, and is not a bomb.
func TestUnpacksTooLarge(t *testing.T) {
	f, w := open(t, "", func(_ *Config, l *limits) { l.body = 100_000 })
	w.Handle("example.org/unpacks", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		block := make([]byte, 60_000)
		rand.NewChaCha8([32]byte{}).Read(block)
		fmt.Fprintf(z, "%x", block)
	})
	if _, err := f.Fetch(t.Context(), "https://example.org/unpacks", Options{}); !is(err, "too_large") {
		t.Errorf("got %v", err)
	}
}

func checkRequest(t *testing.T, r webtest.Request) {
	t.Helper()
	for name := range r.Header {
		if !slices.Contains([]string{"User-Agent", "Accept", "Accept-Encoding"}, name) {
			t.Errorf("%s: sent %s", r.URL, name)
		}
	}
	if r.Method != http.MethodGet || r.Header.Get("User-Agent") != "familiar/1.0 (+https://example.org/bot)" {
		t.Errorf("%s: %s by %q", r.URL, r.Method, r.Header.Get("User-Agent"))
	}
	if strings.HasPrefix(r.URL, "https:") && r.Proto != "HTTP/2.0" {
		t.Errorf("%s: over %s, want HTTP/2", r.URL, r.Proto)
	}
	if strings.Contains(r.URL, "must-not") {
		t.Errorf("%s was asked for", r.URL)
	}
}

// checkNoLeak compares an error with its row of the table, which has no room for the target. It also searches everything
// that the error shows. Every name, path, header and body in the archive that could leak contains one of these words.
func checkNoLeak(t testing.TB, e *Error) {
	t.Helper()
	if r, ok := reasons[e.Reason]; !ok || e.Code != r.code || e.Message != r.message || e.Status < 0 || e.Status > 999 {
		t.Errorf("%+v is not in the table", e)
	}
	blob, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var flat map[string]any
	if err := json.Unmarshal(blob, &flat); err != nil {
		t.Fatal(err)
	}
	for k := range flat {
		if !slices.Contains([]string{"error", "reason", "message", "status_code"}, k) {
			t.Errorf("JSON has a key %q", k)
		}
	}
	for _, text := range []string{string(blob), e.Error()} {
		text = strings.ToLower(text)
		for _, word := range []string{"example", ".org", "secret", "127.", "10.0", "169.254", "198.18", "93.184", "::", "->", "//", "text/", "x-"} {
			if strings.Contains(text, word) {
				t.Errorf("%q leaks %q", text, word)
			}
		}
	}
}

func TestDocument(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	f, _ := open(t, archive(t), func(c *Config, _ *limits) { c.Now = func() time.Time { return now } })
	doc, err := f.Fetch(t.Context(), "http://old.example.org/a#part", Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(doc.Body)
	want := Document{
		URL: "http://old.example.org/a", Final: "https://www.example.org/page?id=7", Status: 200,
		ContentType: "text/html; charset=ISO-8859-1",
		Fetched:     now, LastModified: time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC),
		Hops: doc.Hops, Body: doc.Body, Took: doc.Took, Timings: doc.Timings,
	}
	if diff := cmp.Diff(want, *doc); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(string(doc.Body), "caf\xe9") {
		t.Errorf("body %q was changed", doc.Body)
	}
	if doc.SHA256() != hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s", doc.SHA256())
	}
	if d := doc.Timings; d.Connect <= 0 || d.TLS <= 0 || d.Header <= 0 || d.Body <= 0 {
		t.Errorf("timings %+v lack a phase", d)
	}
}

func TestCache(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	f, w := open(t, archive(t), func(c *Config, _ *limits) { c.Now = func() time.Time { return now } })
	fetch := func(url string, o Options) (*Document, error) {
		t.Helper()
		return f.Fetch(t.Context(), url, o)
	}
	const page, missing = "https://www.example.org/plain.html", "https://www.example.org/no-such-page"
	for i, url := range []string{page, page + "#x", page + "?utm_source=a", "HTTPS://WWW.example.org:443/plain.html"} {
		doc, err := fetch(url, Options{})
		if err != nil || doc.Cached != (i > 0) {
			t.Fatalf("%s: cached %v, %v", url, doc != nil && doc.Cached, err)
		}
	}
	fetch(missing, Options{})
	fetch(missing, Options{})
	if a, b := w.Hits(page), w.Hits(missing); a != 1 || b != 1 {
		t.Errorf("%d and %d requests, want one each", a, b)
	}
	deny, err := clean.NewDomains(nil, []string{"example.org"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(page, Options{Domains: deny}); !is(err, "denied_domain") {
		t.Errorf("from the cache, past a deny list: %v", err)
	}
	now = now.Add(61 * time.Second)
	fetch(page, Options{})
	fetch(missing, Options{})
	if a, b := w.Hits(page), w.Hits(missing); a != 1 || b != 2 {
		t.Errorf("after a minute %d and %d requests, want 1 and 2", a, b)
	}
	now = now.Add(4 * time.Minute)
	fetch(page, Options{})
	if n := w.Hits(page); n != 2 {
		t.Errorf("after five minutes %d requests, want 2", n)
	}
	if n := w.Hits("https://www.example.org/robots.txt"); n != 1 {
		t.Errorf("%d requests for robots.txt, want 1", n)
	}
	now = now.Add(24 * time.Hour)
	fetch(page, Options{})
	if n := w.Hits("https://www.example.org/robots.txt"); n != 2 {
		t.Errorf("after a day %d requests for robots.txt, want 2", n)
	}
}

func is(err error, reason turn.Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == reason
}

// TestCacheKeepsDomainsApart checks that a redirect allowed by one policy is not served to another.
func TestCacheKeepsDomainsApart(t *testing.T) {
	f, _ := open(t, archive(t), nil)
	if _, err := f.Fetch(t.Context(), "http://old.example.org/a", Options{}); err != nil {
		t.Fatal(err)
	}
	only, err := clean.NewDomains([]string{"old.example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), "http://old.example.org/a", Options{Domains: only}); !is(err, "redirect_to_blocked_target") {
		t.Errorf("got %v", err)
	}
}

func TestCoalesce(t *testing.T) { synctest.Test(t, testCoalesce) }

func testCoalesce(t *testing.T) {
	f, w := open(t, archive(t), nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := f.Fetch(t.Context(), "https://slow.example.org/", Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.Hits("https://slow.example.org/"); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestImpatientCaller leaves a flight that it started. The flight still serves the other caller.
func TestImpatientCaller(t *testing.T) { synctest.Test(t, testImpatientCaller) }

func testImpatientCaller(t *testing.T) {
	f, w := open(t, "", nil)
	release := make(chan struct{})
	w.Handle("example.org/p", func(rw http.ResponseWriter, r *http.Request) {
		<-release
		rw.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(rw, "landed")
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan error, 2)
	for i, ctx := range []context.Context{ctx, t.Context()} {
		go func() {
			_, err := f.Fetch(ctx, "https://example.org/p", Options{})
			results <- err
		}()
		synctest.Wait()
		if s := f.Stats(); s.Misses != 1 || s.Shared != int64(i) {
			t.Fatalf("after %d callers: %+v", i+1, s)
		}
	}
	cancel()
	if err := <-results; !is(err, "canceled") {
		t.Errorf("impatient: %v", err)
	}
	close(release)
	if err := <-results; err != nil {
		t.Errorf("patient: %v", err)
	}
	if n := w.Hits("https://example.org/p"); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestDeadlineAndCancel(t *testing.T) { synctest.Test(t, testDeadlineAndCancel) }

func testDeadlineAndCancel(t *testing.T) {
	f, _ := open(t, archive(t), nil)
	const limit = 900 * time.Millisecond // before the time of grace of a slow body ends
	for _, url := range []string{"https://bad.example.org/hang", "http://bad.example.org/drip", "http://bad.example.org/endless-slow",
		"https://hang-dns.example.org/", "https://hang-robots.example.org/"} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		began := time.Now()
		_, err := f.Fetch(ctx, url, Options{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v is not DeadlineExceeded", url, err)
		}
		if took := time.Since(began); !is(err, "deadline") || took != limit {
			t.Errorf("%s: %v after %v", url, err, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	if _, err := f.Fetch(ctx, "https://bad.example.org/hang", Options{}); !is(err, "canceled") || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := f.Fetch(ctx, "https://www.example.org/plain.html", Options{}); !is(err, "canceled") {
		t.Errorf("canceled before: %v", err)
	}
}

func TestClose(t *testing.T) { synctest.Test(t, testClose) }

func testClose(t *testing.T) {
	f, _ := open(t, archive(t), nil)
	time.AfterFunc(time.Second, f.Close)
	if _, err := f.Fetch(t.Context(), "https://bad.example.org/hang", Options{}); !is(err, "canceled") {
		t.Errorf("closed in flight: %v", err)
	}
	if _, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{}); !is(err, "canceled") {
		t.Errorf("closed before: %v", err)
	}
}

func TestPanicFailsOnePage(t *testing.T) {
	f, _ := open(t, archive(t), func(c *Config, _ *limits) {
		c.HumanSkipsRobots = true
		c.Now = func() time.Time {
			if slices.Contains(callers(), "familiar/internal/web/fetch.(*visit).read") {
				panic("hostile bytes")
			}
			return time.Now()
		}
	})
	if _, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{Human: true}); !is(err, "internal") {
		t.Errorf("got %v", err)
	}
}

// TestSite restricts a fetch to a part of the web. The restriction applies to the requested page, to every hop, and to
// pages that an earlier unrestricted fetch cached.
func TestSite(t *testing.T) {
	f, w := open(t, `
-- docs.example.org/colony/a.html --
<p>A page of the documentation.
-- docs.example.org/colony/moved.head --
301
Location: /colony/a.html
-- docs.example.org/colony/away.head --
301
Location: /blog/a.html
-- docs.example.org/colony/far.head --
302
Location: https://example.org/
-- docs.example.org/colony/through.head --
302
Location: https://docs.example.org/blog/back
-- docs.example.org/blog/back.head --
302
Location: /colony/a.html
-- docs.example.org/blog/a.html --
<p>A page of the blog.
-- example.org/index.html --
<p>Elsewhere.
-- docs.example.org/colony/sitemap.xml.head --
Content-Type: application/xml
-- docs.example.org/colony/sitemap.xml --
<?xml version="1.0"?><urlset></urlset>
`, nil)
	site, err := clean.NewSite("https://docs.example.org/colony/")
	if err != nil {
		t.Fatal(err)
	}
	const base = "https://docs.example.org/"
	for _, o := range []Options{{}, {Site: site}} { // the first round fills the cache
		for path, reason := range map[string]turn.Code{
			"colony/a.html": "", "colony/moved": "", "blog/a.html": turn.CodeOutsideSite, "colony/../blog/a.html": turn.CodeOutsideSite,
			"colony/away": "redirect_to_blocked_target", "colony/far": "redirect_to_blocked_target", "colony/through": "redirect_to_blocked_target",
			"colony/sitemap.xml": "bad_type",
		} {
			if o.Site == (clean.Site{}) && reason != "bad_type" {
				reason = ""
			}
			if _, err := f.Fetch(t.Context(), base+path, o); reason == "" && err != nil || reason != "" && !is(err, reason) {
				t.Errorf("%s in %s: %v", path, o.Site, err)
			}
		}
	}
	if n := w.Hits(base+"blog/a.html") + w.Hits(base+"blog/back") + w.Hits("https://example.org/"); n != 4 { // all in the first round
		t.Errorf("%d requests outside", n)
	}
	if d, err := f.Fetch(t.Context(), base+"colony/sitemap.xml", Options{Site: site, XML: true}); err != nil || d.ContentType != "application/xml" {
		t.Errorf("%+v, %v", d, err)
	}
}
