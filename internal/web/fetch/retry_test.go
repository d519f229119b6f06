package fetch

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

// TestRetry prepares a sequence of answers for a page and counts the requests.
func TestRetry(t *testing.T) {
	reset := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	status := func(code int, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if len(header) > 0 {
				w.Header().Set("Retry-After", header[0])
			}
			w.WriteHeader(code)
		}
	}
	half := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "half")
	}
	page := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "whole")
	}
	const passed, late = "Fri, 31 Dec 1999 23:00:00 GMT", "Sat, 01 Jan 2000 01:00:00 GMT" // virtual time starts between them
	for _, c := range []struct {
		name, scheme string
		answers      []func(http.ResponseWriter)
		reason       turn.Code
		asked        int
		atLeast      time.Duration
	}{
		{"reset", "http", []func(http.ResponseWriter){reset, page}, "", 2, 0},
		{"reset twice", "http", []func(http.ResponseWriter){reset, reset, page}, "transport", 2, 0},
		{"reset of a stream", "https", []func(http.ResponseWriter){reset, page}, "peer_reset_stream", 1, 0},
		{"half a page", "http", []func(http.ResponseWriter){half, page}, "", 2, 0},
		{"500", "https", []func(http.ResponseWriter){status(500), page}, "", 2, 0},
		{"503 twice", "https", []func(http.ResponseWriter){status(503), status(503), page}, "http_5xx", 2, 0},
		{"408", "https", []func(http.ResponseWriter){status(408), page}, "", 2, 0},
		{"429", "https", []func(http.ResponseWriter){status(429), page}, "", 2, 0},
		{"429, soon", "https", []func(http.ResponseWriter){status(429, "1"), page}, "", 2, time.Second},
		{"429, late", "https", []func(http.ResponseWriter){status(429, "60"), page}, "rate_limited", 1, 0},
		{"503, date passed", "https", []func(http.ResponseWriter){status(503, passed), page}, "", 2, 0},
		{"503, late date", "https", []func(http.ResponseWriter){status(503, late), page}, "http_5xx", 1, 0},
		{"429, nonsense", "https", []func(http.ResponseWriter){status(429, "-1h"), page}, "", 2, 0},
		{"404", "https", []func(http.ResponseWriter){status(404), page}, "http_4xx", 1, 0},
		{"403", "https", []func(http.ResponseWriter){status(403), page}, "http_4xx", 1, 0},
	} {
		t.Run(c.name, virtually(func(t *testing.T) {
			f, w := open(t, "", nil)
			left := make(chan func(http.ResponseWriter), len(c.answers))
			for _, a := range c.answers {
				left <- a
			}
			w.Handle("example.org/p", func(rw http.ResponseWriter, r *http.Request) { (<-left)(rw) })
			began := time.Now()
			doc, err := f.Fetch(t.Context(), c.scheme+"://example.org/p", Options{})
			if c.reason == "" && (err != nil || string(doc.Body) != "whole") || c.reason != "" && !is(err, c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
			if n := w.Hits(c.scheme + "://example.org/p"); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			if took := time.Since(began); took < c.atLeast {
				t.Errorf("asked again after %v, want %v", took, c.atLeast)
			}
		}))
	}
}

// TestRetryFitsCaller checks that a retry does not wait beyond the caller's deadline.
func TestRetryFitsCaller(t *testing.T) { synctest.Test(t, testRetryFitsCaller) }

func testRetryFitsCaller(t *testing.T) {
	f, w := open(t, "", nil)
	w.Handle("example.org/p", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Retry-After", "4") // within the limit of a fetch
		rw.WriteHeader(http.StatusTooManyRequests)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := f.Fetch(ctx, "https://example.org/p", Options{}); !is(err, "rate_limited") {
		t.Errorf("got %v", err)
	}
	if ctx.Err() != nil {
		t.Error("waited for a retry")
	}
}
