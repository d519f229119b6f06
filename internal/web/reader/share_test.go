package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

// service answers in the place of every service.
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
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return turn.Code(fmt.Sprint(err))
}

func TestPagesAreKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		r := New(Config{Client: service(func(*http.Request) (int, string, string) { requests.Add(1); return 200, "", itemBody }).client})
		defer r.Close()
		for i, want := range []struct {
			wait     time.Duration
			cached   bool
			requests int32
		}{{0, false, 1}, {cacheTTL - time.Second, true, 1}, {time.Second, false, 2}} {
			time.Sleep(want.wait)
			doc, err := r.Read(t.Context(), thread8863+"&utm_source=x", Options{})
			if err != nil || doc.Cached != want.cached || requests.Load() != want.requests || doc.URL != thread8863 {
				t.Errorf("%d: %+v, %v, asked %d times", i, doc, err, requests.Load())
			}
		}
	})
}

func TestWhoAsksAtTheSameTimeShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		r := New(Config{Client: service(func(*http.Request) (int, string, string) {
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
			if _, err := r.Read(impatient, thread8863, Options{}); code(err) != turn.CodeTimeout || time.Since(began) != 50*time.Millisecond {
				t.Errorf("half of the time there was should leave the other half: %v after %s", err, time.Since(began))
			}
		})
		for range 5 {
			all.Go(func() {
				if doc, err := r.Read(t.Context(), thread8863, Options{}); err != nil || doc.Page.Title != "Light" {
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

func TestNobodyWaitsForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Client: service(func(r *http.Request) (int, string, string) { <-r.Context().Done(); return 0, "", "" }).client})
		began := time.Now()
		_, err := r.Read(t.Context(), thread8863, Options{})
		if code(err) != turn.CodeTimeout || time.Since(began) > readTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		r.Close()
		if _, err := r.Read(t.Context(), thread8863, Options{}); code(err) != turn.CodeTimeout {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestCooldown: a service that wants fewer requests gets none for as long as it says.
func TestCooldown(t *testing.T) {
	for _, test := range []struct {
		name, url    string
		status       int
		header, body string
		want         turn.Code     // code of the first answer, "<nil>" for a page
		cooldown     time.Duration // until the service is asked again
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
				r := New(Config{Client: service(func(*http.Request) (int, string, string) { requests++; return test.status, test.header, test.body }).client})
				defer r.Close()
				if _, err := r.Read(t.Context(), test.url, Options{}); code(err) != test.want || requests != 1 {
					t.Fatalf("%v, asked %d times", err, requests)
				}
				other := strings.Replace(test.url, "1", "7", 1)
				if other == test.url {
					other += "9"
				}
				if test.cooldown > 0 {
					time.Sleep(test.cooldown - time.Millisecond)
					if _, err := r.Read(t.Context(), other, Options{}); code(err) != turn.CodeRateLimited || requests != 1 {
						t.Errorf("%v, asked %d times", err, requests)
					}
					time.Sleep(time.Millisecond)
				}
				if _, err := r.Read(t.Context(), other, Options{}); code(err) != test.want || requests != 2 {
					t.Errorf("afterwards %v, asked %d times", err, requests)
				}
			})
		})
	}
}

// TestListsCloseEveryHost: a page is read by a reader only if its own host, its host for people and the service's are
// all allowed.
func TestListsCloseEveryHost(t *testing.T) {
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
		r := New(Config{Client: service(func(*http.Request) (int, string, string) { called = true; return 200, "", itemBody }).client})
		_, err := r.Read(t.Context(), test.url, Options{Domains: lists(t, strings.Fields(test.allow), strings.Fields(test.deny))})
		r.Close()
		if called != test.read || (err != ErrNone) != test.read {
			t.Errorf("%+v: asked %v, %v", test, called, err)
		}
	}
}

// TestListsHoldForWhatIsKept: what one turn may read another may not.
func TestListsHoldForWhatIsKept(t *testing.T) {
	r := New(Config{Client: service(func(*http.Request) (int, string, string) { return 200, "", itemBody }).client})
	defer r.Close()
	if _, err := r.Read(t.Context(), thread8863, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), thread8863, Options{Domains: lists(t, nil, []string{"news.ycombinator.com"})}); err != ErrNone {
		t.Errorf("from the cache: %v", err)
	}
}

// TestKeys: each key goes to its own service, and into no error.
func TestKeys(t *testing.T) {
	const token, key = "ghp_0123456789abcdef", "stackkey0123456789"
	var mu sync.Mutex
	sent := map[string]string{}
	r := New(Config{GitHubToken: token, StackExchangeKey: key, Client: service(func(r *http.Request) (int, string, string) {
		mu.Lock()
		defer mu.Unlock()
		sent[r.URL.Host] += fmt.Sprint(r.URL, r.Header)
		return 500, "", token + key
	}).client})
	defer r.Close()
	for _, u := range []string{thread8863, "https://github.com/golang/go", "https://stackoverflow.com/q/1", "https://en.wikipedia.org/wiki/Go", "https://youtu.be/dQw4w9WgXcQ"} {
		_, err := r.Read(t.Context(), u, Options{})
		e, ok := errors.AsType[*Error](err)
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

// TestLongThreadsAreCut: those nearest to the story are kept, and how many are not is said.
func TestLongThreadsAreCut(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"id":8863,"title":"Light","author":"ana","children":[`)
	for i := range 150 {
		fmt.Fprintf(&body, `{"id":%d,"author":"u%d","text":"Top %d.","children":[{"id":%d,"author":"v","text":"Below %d.","children":[]}]},`, 2*i, i, i, 2*i+1, i)
	}
	body.WriteString(`null]}`)
	r := New(Config{Client: service(func(*http.Request) (int, string, string) { return 200, "", body.String() }).client})
	defer r.Close()
	doc, err := r.Read(t.Context(), thread8863, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := doc.Page.Markdown
	if strings.Count(text, "Top ") != 150 || strings.Count(text, "Below ") != 50 || !strings.HasSuffix(text, "(100 more are not shown here.)") {
		t.Errorf("%d and %d:\n%s", strings.Count(text, "Top "), strings.Count(text, "Below "), text[len(text)-200:])
	}
	if i := strings.Index(text, "Below 0."); i < strings.Index(text, "Top 0.") || i > strings.Index(text, "Top 1.") {
		t.Error("a reply does not stand behind what it replies to")
	}
}

// TestLongTextsAreCut at the end of a paragraph.
func TestLongTextsAreCut(t *testing.T) {
	paragraph := "<p>" + strings.Repeat("word ", 200) + "</p>"
	r := New(Config{Client: service(func(*http.Request) (int, string, string) {
		return 200, "", `{"parse":{"title":"Go","text":"` + strings.Repeat(paragraph, 290) + `"}}`
	}).client})
	defer r.Close()
	doc, err := r.Read(t.Context(), "https://en.wikipedia.org/wiki/Go", Options{})
	if err != nil || doc.Bytes > maxText || doc.Bytes < maxText*9/10 || !strings.HasSuffix(doc.Page.Markdown, "word") {
		t.Errorf("%v, %d bytes", err, doc.Bytes)
	}
}

func TestNoReaders(t *testing.T) {
	var none *Readers
	if _, err := none.Read(t.Context(), thread8863, Options{}); err != ErrNone {
		t.Errorf("%v", err)
	}
}

// TestExtrasAreNotWaitedFor: a page is read without what its service does not deliver soon.
func TestExtrasAreNotWaitedFor(t *testing.T) {
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
			r := New(Config{Client: service(func(r *http.Request) (int, string, string) {
				if slow(r) {
					waited.Add(1)
					<-r.Context().Done()
				}
				return 200, "", body
			}).client})
			defer r.Close()
			began := time.Now()
			doc, err := r.Read(t.Context(), address, Options{})
			if err != nil || !strings.Contains(doc.Page.Markdown, "B") || time.Since(began) > extrasTimeout || waited.Load() != 1 {
				t.Errorf("%s: %+v, %v after %s, %d slow", address, doc, err, time.Since(began), waited.Load())
			}
		})
	}
}

// TestTokenOpensPublicRepositoriesAlone: what a token may see beyond them is not for the channel.
func TestTokenOpensPublicRepositoriesAlone(t *testing.T) {
	const secret = "the private words"
	repos := map[string]string{
		"o/public": `"private":false,"visibility":"public"`, "o/old": `"private":false`, "o/private": `"private":true,"visibility":"private"`, "o/internal": `"private":false,"visibility":"internal"`, "o/silent": `"id":1`,
	}
	for _, token := range []string{"", "ghp_0123456789abcdef"} {
		var mu sync.Mutex
		var asked []string
		r := New(Config{GitHubToken: token, Client: service(func(r *http.Request) (int, string, string) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.URL.Path)
			parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/repos/"), "/")
			repo := parts[0] + "/" + parts[1]
			switch {
			case len(parts) == 2:
				return 200, "", `{"full_name":"` + repo + `","description":"` + secret + `",` + repos[repo] + `}`
			case parts[2] == "issues" && parts[3] == "2": // it was moved
				return 200, "", `{"title":"T","body_html":"` + secret + `","repository_url":"https://api.github.com/repos/o/private"}`
			case parts[2] == "issues":
				return 200, "", `{"title":"T","body_html":"` + secret + `","repository_url":"https://api.github.com/repos/` + repo + `"}`
			}
			return 200, "", secret
		}).client})
		for repo := range repos {
			for _, page := range []string{"/blob/main/a.go", "", "/issues/1", "/pull/1", "/issues/2", "/blob/main/README.md"} {
				asked = nil
				doc, err := r.Read(t.Context(), "https://github.com/"+repo+page, Options{})
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
