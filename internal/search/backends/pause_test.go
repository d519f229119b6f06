package backends

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// sequence answers requests one after the other and counts them.
type sequence struct {
	replies []string // status, headers and body, as in the archives
	asked   int      // the requests so far
}

func (s *sequence) RoundTrip(req *http.Request) (*http.Response, error) {
	far := replies(map[string]string{"reply": s.replies[min(s.asked, len(s.replies)-1)]})
	s.asked++
	return far.RoundTrip(req)
}

// TestPauses: a service that asks to be left alone is, for as long as it says, and no longer.
func TestPauses(t *testing.T) {
	const (
		head  = "HTTP/1.1 200 OK\nContent-Type: application/json\n"
		empty = `{"items":[]`
	)
	resets := func(after time.Duration) string { // of the bubble's clock
		return fmt.Sprint(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(after).Unix())
	}
	for _, test := range []struct {
		name, backend, reply string
		code                 turn.Code
		wait                 time.Duration
	}{
		{"backoff", "stackexchange", head + "\n" + empty + `,"backoff":10,"quota_max":300,"quota_remaining":100}`, turn.CodeRateLimited, 10 * time.Second},
		{"a day's quota", "stackexchange", head + "\n" + empty + `,"quota_max":300,"quota_remaining":0}`, turn.CodeQuota, 24 * time.Hour},
		{"nonsense", "stackexchange", head + "\n" + empty + `,"backoff":1e300,"quota_max":300,"quota_remaining":1}`, turn.CodeRateLimited, 24 * time.Hour},
		{"throttled", "stackexchange", "HTTP/1.1 400 Bad Request\n\n" + `{"error_name":"throttle_violation"}`, turn.CodeRateLimited, time.Minute},
		{"the last search", "github", head + "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: " + resets(40*time.Second) + "\n\n" + empty + "}", turn.CodeQuota, 40 * time.Second},
		{"primary limit", "github", "HTTP/1.1 403 Forbidden\nX-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: " + resets(50*time.Second) + "\n\n" + `{"message":"API rate limit exceeded"}`, turn.CodeRateLimited, 50 * time.Second},
		{"secondary limit", "github", "HTTP/1.1 403 Forbidden\nRetry-After: 90\n\n" + `{"message":"You have exceeded a secondary rate limit"}`, turn.CodeRateLimited, 90 * time.Second},
		{"secondary limit without a time", "github", "HTTP/1.1 429 Too Many Requests\n\n{}", turn.CodeRateLimited, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := &sequence{replies: []string{test.reply, head + "\n" + empty + "}"}}
				line, _ := entryOf(test.backend)
				b, err := line.open(Config{Client: func(string) *http.Client { return &http.Client{Transport: far} }})
				if err != nil {
					t.Fatal(err)
				}
				e := &search.Engine{Backends: []search.Backend{b}}
				q := search.Query{Text: "x", Intent: "docs", Limit: 10}
				if first := e.Search(t.Context(), q); (first.State == turn.LookupFailed) != strings.Contains(test.reply, " 4") {
					t.Errorf("the first: %+v", first)
				}
				time.Sleep(test.wait - time.Second)
				if second := e.Search(t.Context(), q); far.asked != 1 || second.Failure != test.code {
					t.Errorf("a second before the end: %+v after %d requests; want %s", second, far.asked, test.code)
				}
				time.Sleep(time.Second)
				if third := e.Search(t.Context(), q); third.State != turn.Empty || far.asked != 2 {
					t.Errorf("at the end: %+v after %d requests", third, far.asked)
				}
			})
		})
	}
}

// TestCompressed: Stack Exchange compresses whatever it is asked for.
func TestCompressed(t *testing.T) {
	base, _ := farEnd(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		io.WriteString(z, `{"items":[{"title":"T","link":"https://stackoverflow.com/q/1"}]}`)
		z.Close()
	})
	b := connect(t, "stackexchange", Config{Client: clients(t), Base: map[string]string{"stackexchange": base}})
	if got, err := b.Search(t.Context(), search.Query{Text: "x", Limit: 10}); err != nil || len(got.Hits) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
