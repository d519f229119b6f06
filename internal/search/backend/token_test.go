package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// However many searches want a token at once, one fetches it and all get the same result.
func TestTokenIsShared(t *testing.T) {
	refusal := errors.New("no")
	for _, outcome := range []error{nil, refusal} {
		synctest.Test(t, func(t *testing.T) {
			fetches := 0 // one search at a time fetches
			tok := newToken(func(context.Context) (string, time.Duration, error) {
				fetches++
				time.Sleep(time.Second)
				return "value", time.Hour, outcome
			})
			if outcome != nil {
				tok.fetch = func(context.Context) (string, time.Duration, error) {
					fetches++
					time.Sleep(time.Second)
					return "", 0, outcome
				}
			}
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					value, err := tok.get(t.Context(), "")
					if err != outcome || (value != "value") == (err == nil) {
						t.Errorf("got %q, %v", value, err)
					}
				})
			}
			all.Wait()
			if fetches != 1 {
				t.Errorf("%d fetches, want 1", fetches)
			}
			if _, err := tok.get(t.Context(), ""); err != outcome || outcome == nil && fetches != 1 || outcome != nil && fetches != 2 {
				t.Errorf("later: %v after %d fetches", err, fetches)
			}
		})
	}
}

// When the search that fetches ends, the searches that wait for the token go on.
func TestTokenOutlivesItsFetcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tok := newToken(func(ctx context.Context) (string, time.Duration, error) {
			select {
			case <-time.After(3 * time.Second):
				return "value", time.Hour, nil
			case <-ctx.Done():
				return "", 0, ctx.Err()
			}
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := tok.get(short, ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if value, err := tok.get(t.Context(), ""); value != "value" || err != nil {
				t.Errorf("the second: %q, %v", value, err)
			}
		})
		synctest.Wait()
		waits, cancelWait := context.WithTimeout(t.Context(), time.Second/2)
		defer cancelWait()
		if _, err := tok.get(waits, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that waits no longer: %v", err)
		}
		all.Wait()
	})
}

// redditServer issues numbered tokens and accepts only the newest.
type redditServer struct {
	mu       sync.Mutex
	tokens   int  // guarded by mu
	searches int  // guarded by mu
	expired  bool // guarded by mu; no token is accepted
}

func (r *redditServer) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	status, body := http.StatusOK, ""
	switch req.URL.Path {
	case "/api/v1/access_token":
		r.tokens++
		body = fmt.Sprintf(`{"access_token":"token-%d","expires_in":3600}`, r.tokens)
	default:
		r.searches++
		body = `{"data":{"children":[]}}`
		if r.expired || req.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", r.tokens) {
			status, body = http.StatusUnauthorized, `{"error":401}`
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// One token serves until it expires. A rejected token is replaced once.
func TestRedditToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &redditServer{}
		b := connect(t, "reddit", Config{Keys: testKeys(), Client: func(string) *http.Client { return &http.Client{Transport: far} }})
		search := func(what string, wantTokens, wantSearches int, wantCode turn.Code) {
			t.Helper()
			_, err := b.Search(t.Context(), search.Query{Text: "x", Limit: 10})
			if code := codeOf(err); code != wantCode || far.tokens != wantTokens || far.searches != wantSearches {
				t.Errorf("%s: %v after %d tokens and %d searches; want %q, %d and %d", what, err, far.tokens, far.searches, wantCode, wantTokens, wantSearches)
			}
		}
		search("the first", 1, 1, "")
		search("the second", 1, 2, "")
		time.Sleep(time.Hour)
		search("an hour later", 2, 3, "")
		far.tokens = 7 // ours is no longer the newest
		search("refused", 8, 5, "")
		far.expired = true
		search("refused twice", 9, 7, turn.CodeUnauthorized)
	})
}

func TestRedditAgent(t *testing.T) {
	const agent = "familiar/1.2 (+https://example.org)"
	for name, want := range map[string]string{"": agent, "me": "server:familiar:1.2 (by /u/me)", "/u/me": "server:familiar:1.2 (by /u/me)"} {
		if got := redditAgent(agent, name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
