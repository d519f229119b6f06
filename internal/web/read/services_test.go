package read

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/context/turn"
	"familiar/internal/test/webtest"
	"familiar/internal/web/clean"
)

var update = flag.Bool("update", false, "write the outcomes of this run into the archives")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// required are the cases that every archive must have.
var required = []string{"hits", "missing", "limit", "malformed", "odd", "html", "large", "silence"}

// TestServices plays every archive against its service. A case is a folder of the archive with these files:
//
//   - url: the URL and, on a second line, the preferred language
//   - reply/<path>: an HTTP response to requests for a path and, if given, parameters. A header "Pad: n" makes the body n bytes longer
//   - want: the page or the error
//   - sent (optional): the requests that were sent
func TestServices(t *testing.T) {
	for _, e := range table() {
		t.Run(e.name, func(t *testing.T) {
			file := filepath.Join("testdata", e.name+".txtar")
			webtest.RunCases(t, file, required, *update, func(t *testing.T, c *webtest.Case) { runCase(t, c, e) })
		})
	}
}

func runCase(t *testing.T, c *webtest.Case, e entry) {
	far := &webtest.Replies{Describe: describeRequest, Find: func(req *http.Request) (string, bool) { return findReply(c.Files, req.URL) }}
	r := NewServices(ServicesConfig{Client: far.Client, UserAgent: "familiar/test (+https://example.org/operator)"})
	defer r.Close()
	address, language, _ := strings.Cut(strings.TrimSpace(c.Files["url"]), "\n")
	doc, err := r.read(t.Context(), address, serviceOptions{Language: language})
	c.Compare(t, "want", describe(t, e.name, doc, err))
	if _, interesting := c.Files["sent"]; interesting {
		sent := far.Sent()
		slices.Sort(sent)
		c.Compare(t, "sent", strings.Join(sent, ""))
	}
}

// describe formats an outcome for people.
func describe(t *testing.T, name string, doc *Document, err error) string {
	var b strings.Builder
	if failed, ok := errors.AsType[*ServiceError](err); ok {
		return fmt.Sprintf("error: %v: %s\n", failed, failed.Detail)
	} else if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	if doc.Reader != name {
		t.Errorf("read by %q", doc.Reader)
	}
	p := doc.Page
	for _, fact := range [][2]string{
		{"url", doc.Final}, {"title", p.Title}, {"author", p.Author}, {"site", p.Site}, {"language", p.Language}, {"type", p.Type},
	} {
		if fact[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", fact[0], fact[1])
		}
	}
	if !p.Published.IsZero() {
		fmt.Fprintf(&b, "published: %s\n", p.Published)
	}
	if !p.Modified.IsZero() {
		fmt.Fprintf(&b, "modified: %s\n", p.Modified)
	}
	if p.Hidden > 0 {
		fmt.Fprintf(&b, "hidden: %d\n", p.Hidden)
	}
	for _, l := range p.Links {
		fmt.Fprintf(&b, "link: %s %s\n", l.URL, l.Text)
	}
	fmt.Fprintf(&b, "\n%s\n", p.Markdown)
	return b.String()
}

// describeRequest formats a request for people: its address, parameters and some headers, one per line.
func describeRequest(req *http.Request) string {
	params := req.URL.Query()
	sent := fmt.Sprintf("%s %s://%s%s\n", req.Method, req.URL.Scheme, req.URL.Host, req.URL.EscapedPath())
	for _, name := range slices.Sorted(maps.Keys(params)) {
		sent += fmt.Sprintf("  %s=%s\n", name, strings.Join(params[name], ","))
	}
	for _, name := range []string{"Accept", "Authorization", "User-Agent"} {
		if value := req.Header.Get(name); value != "" {
			sent += fmt.Sprintf("  %s: %s\n", name, value)
		}
	}
	return sent
}

// findReply returns the reply whose name contains most of the request's parameters.
func findReply(files map[string]string, u *url.URL) (reply string, ok bool) {
	most := -1
	for name, text := range files {
		at, err := url.Parse(strings.TrimPrefix(name, "reply"))
		if !strings.HasPrefix(name, "reply/") || err != nil || at.Path != u.Path {
			continue
		}
		fits := len(at.Query())
		for key, values := range at.Query() {
			if u.Query().Get(key) != values[0] {
				fits = -1
			}
		}
		if fits > most {
			most, reply, ok = fits, text, true
		}
	}
	return reply, ok
}

func lists(t *testing.T, allow, deny []string) clean.Domains {
	t.Helper()
	d, err := clean.NewDomains(allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// service answers instead of every service.
type service func(*http.Request) (status int, header, body string)

func (f service) RoundTrip(r *http.Request) (*http.Response, error) {
	status, header, body := f(r)
	h := http.Header{"Content-Type": {"application/json"}}
	if name, value, ok := strings.Cut(header, ": "); ok {
		h.Set(name, value)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (f service) client(string) *http.Client { return &http.Client{Transport: f} }

const (
	thread8863 = "https://news.ycombinator.com/item?id=8863"
	itemBody   = `{"id":8863,"title":"Light","author":"ana","text":"Some text."}`
)

func code(err error) turn.Code {
	if e, ok := errors.AsType[*ServiceError](err); ok {
		return e.Code
	}
	return turn.Code(fmt.Sprint(err))
}

func TestCacheExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) { requests.Add(1); return 200, "", itemBody }).client})
		defer r.Close()
		for i, want := range []struct {
			wait     time.Duration
			cached   bool
			requests int32
		}{{0, false, 1}, {cacheTTL - time.Second, true, 1}, {time.Second, false, 2}} {
			time.Sleep(want.wait)
			doc, err := r.read(t.Context(), thread8863+"&utm_source=x", serviceOptions{})
			if err != nil || doc.Cached != want.cached || requests.Load() != want.requests || doc.URL != thread8863 {
				t.Errorf("%d: %+v, %v, asked %d times", i, doc, err, requests.Load())
			}
		}
	})
}

func TestConcurrentReadsShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) {
			requests.Add(1)
			time.Sleep(time.Second)
			return 200, "", itemBody
		}).client})
		defer r.Close()
		impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			began := time.Now()
			if _, err := r.read(impatient, thread8863, serviceOptions{}); code(err) != turn.CodeTimeout || time.Since(began) != 50*time.Millisecond {
				t.Errorf("want half of the time to be left: %v after %s", err, time.Since(began))
			}
		})
		for range 5 {
			all.Go(func() {
				if doc, err := r.read(t.Context(), thread8863, serviceOptions{}); err != nil || doc.Page.Title != "Light" {
					t.Errorf("%+v, %v", doc, err)
				}
			})
		}
		all.Wait()
		if requests.Load() != 1 {
			t.Errorf("asked %d times", requests.Load())
		}
	})
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewServices(ServicesConfig{Client: service(func(r *http.Request) (int, string, string) { <-r.Context().Done(); return 0, "", "" }).client})
		began := time.Now()
		_, err := r.read(t.Context(), thread8863, serviceOptions{})
		if code(err) != turn.CodeTimeout || time.Since(began) > readTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		r.Close()
		if _, err := r.read(t.Context(), thread8863, serviceOptions{}); code(err) != turn.CodeTimeout {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestCooldown checks that a service that wants fewer requests gets none for the time that it asks for.
func TestCooldown(t *testing.T) {
	for _, test := range []struct {
		name, url    string
		status       int
		header, body string
		want         turn.Code     // code of the first reply, "<nil>" for a page
		cooldown     time.Duration // time until the next request to the service
	}{
		{"says how long", thread8863, 429, "Retry-After: 120", `{}`, turn.CodeRateLimited, 2 * time.Minute},
		{"says too long", thread8863, 503, "Retry-After: 999999", `{}`, turn.CodeUpstream, maxCooldown},
		{"says nothing", thread8863, 429, "", `{}`, turn.CodeRateLimited, defaultCooldown},
		{"a page for robots", thread8863, 403, "", `<html>captcha</html>`, turn.CodeBlocked, defaultCooldown},
		{"no such page", thread8863, 404, "", `{}`, turn.CodeMissing, 0},
		{"asks to back off", "https://stackoverflow.com/q/1", 200, "",
			`{"items":[{"question_id":1,"title":"T","body":"B"}],"backoff":30,"quota_remaining":5}`, "<nil>", 30 * time.Second},
		{"the day's last", "https://stackoverflow.com/q/1", 200, "",
			`{"items":[{"question_id":1,"title":"T","body":"B"}],"quota_remaining":0}`, "<nil>", maxCooldown},
		{"a ban", "https://stackoverflow.com/q/1", 400, "",
			`{"error_id":502,"error_message":"too many requests from this IP, more requests available in 90 seconds"}`, turn.CodeRateLimited, 90 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests int
				r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) { requests++; return test.status, test.header, test.body }).client})
				defer r.Close()
				if _, err := r.read(t.Context(), test.url, serviceOptions{}); code(err) != test.want || requests != 1 {
					t.Fatalf("%v, asked %d times", err, requests)
				}
				other := strings.Replace(test.url, "1", "7", 1)
				if other == test.url {
					other += "9"
				}
				if test.cooldown > 0 {
					time.Sleep(test.cooldown - time.Millisecond)
					if _, err := r.read(t.Context(), other, serviceOptions{}); code(err) != turn.CodeRateLimited || requests != 1 {
						t.Errorf("%v, asked %d times", err, requests)
					}
					time.Sleep(time.Millisecond)
				}
				if _, err := r.read(t.Context(), other, serviceOptions{}); code(err) != test.want || requests != 2 {
					t.Errorf("afterwards %v, asked %d times", err, requests)
				}
			})
		})
	}
}

// TestListsApplyToEveryHost checks that a service is used only if all hosts are allowed. They are the page's host, its host for people and
// the service's host.
func TestListsApplyToEveryHost(t *testing.T) {
	for _, test := range []struct {
		url         string
		allow, deny string
		read        bool
	}{
		{thread8863, "", "", true},
		{thread8863, "", "ycombinator.com", false},
		{thread8863, "", "algolia.com", false},
		{thread8863, "ycombinator.com", "", false},
		{thread8863, "ycombinator.com algolia.com", "", true},
		{"https://youtu.be/dQw4w9WgXcQ", "", "youtube.com", false},
		{"https://youtu.be/dQw4w9WgXcQ", "", "youtu.be", false},
	} {
		called := false
		r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) { called = true; return 200, "", itemBody }).client})
		_, err := r.read(t.Context(), test.url, serviceOptions{Domains: lists(t, strings.Fields(test.allow), strings.Fields(test.deny))})
		r.Close()
		if called != test.read || (err != errNoService) != test.read {
			t.Errorf("%+v: asked %v, %v", test, called, err)
		}
	}
}

// TestListsApplyToCachedPages checks that a cached page is not served to a turn whose lists forbid it.
func TestListsApplyToCachedPages(t *testing.T) {
	r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) { return 200, "", itemBody }).client})
	defer r.Close()
	if _, err := r.read(t.Context(), thread8863, serviceOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.read(t.Context(), thread8863, serviceOptions{Domains: lists(t, nil, []string{"news.ycombinator.com"})}); err != errNoService {
		t.Errorf("from the cache: %v", err)
	}
}

// TestKeys checks that each key is sent only to its own service, and is in no error.
func TestKeys(t *testing.T) {
	const token, key = "ghp_0123456789abcdef", "stackkey0123456789"
	var mu sync.Mutex
	sent := map[string]string{}
	r := NewServices(ServicesConfig{GitHubToken: token, StackExchangeKey: key, Client: service(func(r *http.Request) (int, string, string) {
		mu.Lock()
		defer mu.Unlock()
		sent[r.URL.Host] += fmt.Sprint(r.URL, r.Header)
		return 500, "", token + key
	}).client})
	defer r.Close()
	for _, u := range []string{thread8863, "https://github.com/golang/go", "https://stackoverflow.com/q/1", "https://en.wikipedia.org/wiki/Go", "https://youtu.be/dQw4w9WgXcQ"} {
		_, err := r.read(t.Context(), u, serviceOptions{})
		e, ok := errors.AsType[*ServiceError](err)
		if !ok || strings.Contains(e.Error()+e.Detail, token) || strings.Contains(e.Error()+e.Detail, key) {
			t.Errorf("%s: %+v", u, err)
		}
	}
	for host, what := range sent {
		if strings.Contains(what, "Bearer "+token) != (host == "api.github.com") || strings.Contains(what, "key="+key) != (host == "api.stackexchange.com") {
			t.Errorf("%s was sent %s", host, what)
		}
	}
	if len(sent) != 5 {
		t.Errorf("sent to %d hosts", len(sent))
	}
}

// TestLongThreadsAreTruncated checks that the comments nearest to the story are kept, and the rest counted.
func TestLongThreadsAreTruncated(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"id":8863,"title":"Light","author":"ana","children":[`)
	for i := range 150 {
		fmt.Fprintf(&body, `{"id":%d,"author":"u%d","text":"Top %d.","children":[{"id":%d,"author":"v","text":"Below %d.","children":[]}]},`, 2*i, i, i, 2*i+1, i)
	}
	body.WriteString(`null]}`)
	r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) { return 200, "", body.String() }).client})
	defer r.Close()
	doc, err := r.read(t.Context(), thread8863, serviceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := doc.Page.Markdown
	if strings.Count(text, "Top ") != 150 || strings.Count(text, "Below ") != 50 || !strings.HasSuffix(text, "(100 more are not shown here.)") {
		t.Errorf("%d and %d:\n%s", strings.Count(text, "Top "), strings.Count(text, "Below "), text[len(text)-200:])
	}
	if i := strings.Index(text, "Below 0."); i < strings.Index(text, "Top 0.") || i > strings.Index(text, "Top 1.") {
		t.Error("a reply does not follow the comment that it answers")
	}
}

// TestLongTextsAreTruncated checks that a text is cut at the end of a paragraph.
func TestLongTextsAreTruncated(t *testing.T) {
	paragraph := "<p>" + strings.Repeat("word ", 200) + "</p>"
	r := NewServices(ServicesConfig{Client: service(func(*http.Request) (int, string, string) {
		return 200, "", `{"parse":{"title":"Go","text":"` + strings.Repeat(paragraph, 290) + `"}}`
	}).client})
	defer r.Close()
	doc, err := r.read(t.Context(), "https://en.wikipedia.org/wiki/Go", serviceOptions{})
	if err != nil || doc.Bytes > maxText || doc.Bytes < maxText*9/10 || !strings.HasSuffix(doc.Page.Markdown, "word") {
		t.Errorf("%v, %d bytes", err, doc.Bytes)
	}
}

func TestNoServices(t *testing.T) {
	var none *Services
	if _, err := none.read(t.Context(), thread8863, serviceOptions{}); err != errNoService {
		t.Errorf("%v", err)
	}
}

// TestSlowExtrasAreSkipped checks that a page is read without the parts that arrive too late.
func TestSlowExtrasAreSkipped(t *testing.T) {
	slow := func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/answers") || strings.HasSuffix(r.URL.Path, "/comments") || strings.HasSuffix(r.URL.Path, "/readme") ||
			r.URL.Path == "/api/timedtext" || r.URL.Query().Get("action") == "query"
	}
	for address, body := range map[string]string{
		"https://stackoverflow.com/q/1":               `{"items":[{"question_id":1,"answer_count":2,"title":"T","body":"B"}]}`,
		"https://github.com/golang/go/issues/1":       `{"title":"T","comments":3,"body_html":"B"}`,
		"https://github.com/golang/go":                `{"full_name":"golang/go","description":"B"}`,
		"https://en.wikipedia.org/wiki/Go":            `{"parse":{"title":"T","text":"B"}}`,
		"https://www.youtube.com/watch?v=dQw4w9WgXcQ": `ytInitialPlayerResponse = {"captions":{"playerCaptionsTracklistRenderer":{"captionTracks":[{"baseUrl":"/api/timedtext?v=dQw4w9WgXcQ"}]}},"videoDetails":{"videoId":"dQw4w9WgXcQ","title":"T","shortDescription":"B"}}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var waited atomic.Int32
			r := NewServices(ServicesConfig{Client: service(func(r *http.Request) (int, string, string) {
				if slow(r) {
					waited.Add(1)
					<-r.Context().Done()
				}
				return 200, "", body
			}).client})
			defer r.Close()
			began := time.Now()
			doc, err := r.read(t.Context(), address, serviceOptions{})
			if err != nil || !strings.Contains(doc.Page.Markdown, "B") || time.Since(began) > extrasTimeout || waited.Load() != 1 {
				t.Errorf("%s: %+v, %v after %s, %d slow", address, doc, err, time.Since(began), waited.Load())
			}
		})
	}
}

// TestTokenOpensOnlyPublicRepositories checks that nothing private is shown that only a token can see.
func TestTokenOpensOnlyPublicRepositories(t *testing.T) {
	const secret = "the private words"
	repos := map[string]string{
		"o/public": `"private":false,"visibility":"public"`, "o/old": `"private":false`, "o/private": `"private":true,"visibility":"private"`, "o/internal": `"private":false,"visibility":"internal"`, "o/silent": `"id":1`,
	}
	for _, token := range []string{"", "ghp_0123456789abcdef"} {
		var mu sync.Mutex
		var asked []string
		r := NewServices(ServicesConfig{GitHubToken: token, Client: service(func(r *http.Request) (int, string, string) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.URL.Path)
			parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/repos/"), "/")
			repo := parts[0] + "/" + parts[1]
			switch {
			case len(parts) == 2:
				return 200, "", `{"full_name":"` + repo + `","description":"` + secret + `",` + repos[repo] + `}`
			case parts[2] == "issues" && parts[3] == "2": // it moved
				return 200, "", `{"title":"T","body_html":"` + secret + `","repository_url":"https://api.github.com/repos/o/private"}`
			case parts[2] == "issues":
				return 200, "", `{"title":"T","body_html":"` + secret + `","repository_url":"https://api.github.com/repos/` + repo + `"}`
			}
			return 200, "", secret
		}).client})
		for repo := range repos {
			for _, page := range []string{"/blob/main/a.go", "", "/issues/1", "/pull/1", "/issues/2", "/blob/main/README.md"} {
				asked = nil
				doc, err := r.read(t.Context(), "https://github.com/"+repo+page, serviceOptions{})
				open := token == "" || (repo == "o/public" || repo == "o/old") && page != "/issues/2"
				if open != (err == nil) || err == nil && !strings.Contains(doc.Page.Markdown, secret) {
					t.Errorf("token %q, %s%s: %v, %+v", token, repo, page, err, doc)
				}
				if !open && page != "/issues/2" && len(asked) > 1 {
					t.Errorf("%s%s: asked for %q", repo, page, asked)
				}
			}
		}
		r.Close()
	}
}
