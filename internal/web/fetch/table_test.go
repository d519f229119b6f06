package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// TestReasonsAreClosed compares the table with the codes that other rooms rely on.
func TestReasonsAreClosed(t *testing.T) {
	codes := []turn.Code{"blocked_url", "unsupported_scheme", "unsupported_content_type", "response_too_large", "timeout", "http_error",
		"extraction_failed", "javascript_required"}
	for name, r := range reasons {
		if !slices.Contains(codes, r.code) || r.message == "" {
			t.Errorf("%s: %+v", name, r)
		}
		if r.transient && r.retryable {
			t.Errorf("%s is both retryable and transient", name)
		}
		checkNoLeak(t, fail(name))
	}
	for _, g := range []turn.Code{turn.CodeInvalidTarget, turn.CodeBadScheme, turn.CodeDeniedHost, turn.CodeDeniedAddress, turn.CodeDeniedPort, turn.CodeFakeIP,
		turn.CodeDNS, turn.CodeConnect} {
		if fail(g).Code == "" {
			t.Errorf("the guard's %s is not in the table", g)
		}
	}
}

// TestClassifyHidesText classifies errors whose text contains all secrets.
func TestClassifyHidesText(t *testing.T) {
	for _, err := range []error{
		errors.New("dial tcp 10.0.0.1:443: secret.example.org"),
		fmt.Errorf("get %q: %w", "https://secret.example.org/", &clean.Refusal{Code: turn.CodeBlockedURL, Reason: turn.CodeDeniedAddress}),
		errors.New(`http2: invalid header "X-Secret: example"`),
		errors.New("malformed HTTP response \"secret\""),
		errors.New("net/http: too many 1xx informational responses from 10.0.0.1"),
		errors.New("stream error: stream ID 1; INTERNAL_ERROR; received from peer"),
		context.DeadlineExceeded,
	} {
		e := classify(t.Context(), err)
		if e.Code == "" {
			t.Errorf("%v: not in the table", err)
		}
		checkNoLeak(t, e)
	}
}

func TestWatch(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int64         // sent at once …
		every time.Duration // … after each of these intervals
		slow  bool
	}{
		"steady":    {bytes: 2000, every: time.Second / 2},
		"just fast": {bytes: 300, every: time.Second / 4},
		"just slow": {bytes: 200, every: time.Second / 4, slow: true},
		"silent":    {bytes: 0, every: time.Second, slow: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			b := body{limits: defaults()}
			sent := new(counter)
			stop := b.watch(ctx, cancel, sent)
			for range int(4 * time.Second / c.every) {
				time.Sleep(c.every - time.Nanosecond)
				sent.n.Add(c.bytes)
				time.Sleep(time.Nanosecond)
			}
			stop()
			if slow := fromContext(ctx).Reason == "too_slow"; ctx.Err() != nil != c.slow || slow != c.slow {
				t.Errorf("%s: ended with %v", name, context.Cause(ctx))
			}
		})
	}
}

func TestLimits(t *testing.T) {
	got := defaults()
	if got.headers != 32<<10 || got.body != 5_000_000 || got.ratio != 100 || got.ratioFrom != 64<<10 || got.dial != 2*time.Second ||
		got.tls != 2*time.Second || got.header != 3*time.Second || got.total != 5*time.Second || got.rate != 1<<10 || got.grace != time.Second ||
		got.redirects != 4 || got.perHost != 2 || got.global != 8 || got.robotsBody != 500<<10 || got.robotsTTL != 24*time.Hour ||
		got.pageTTL != 5*time.Minute || got.failureTTL != time.Minute || got.maxTTL != time.Hour {
		t.Errorf("a limit is not the documented one: %+v", got)
	}
}

func TestStoreIsBounded(t *testing.T) {
	now := time.Now()
	s := newStore(1000, 0, func(v int64) int64 { return v }, func() time.Time { return now })
	for i := range 500 {
		s.put(fmt.Sprintf("%03d", i), 97, time.Minute)
	}
	if _, n := s.size(); n > 1000 || n == 0 {
		t.Errorf("weighs %d, want at most 1000", n)
	}
	s.put("big", 5000, time.Minute)
	if _, ok := s.get("big"); ok {
		t.Error("a value above the bound was kept")
	}
	now = now.Add(time.Minute)
	for i := range 500 {
		if _, ok := s.get(fmt.Sprintf("%03d", i)); ok {
			t.Fatal("a value was returned after its expiry")
		}
	}
}

func TestNoCache(t *testing.T) {
	f, w := open(t, archive(t), func(c *Config, _ *limits) { c.CacheBytes = -1 })
	for range 2 {
		if doc, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{}); err != nil || doc.Cached {
			t.Fatalf("%+v, %v", doc, err)
		}
	}
	if n := w.Hits("https://www.example.org/plain.html"); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestHumanSkipsRobots(t *testing.T) {
	const closed = "https://robots-500.example.org/" // does not exist: if robots.txt is skipped, the answer is 404
	for _, allowed := range []bool{false, true} {
		f, _ := open(t, archive(t), func(c *Config, _ *limits) { c.HumanSkipsRobots = allowed })
		if _, err := f.Fetch(t.Context(), closed, Options{}); !is(err, "robots_unreachable") {
			t.Errorf("a program: %v", err)
		}
		want := map[bool]turn.Code{false: turn.CodeRobotsUnreachable, true: turn.CodeHTTP4xx}[allowed]
		if _, err := f.Fetch(t.Context(), closed, Options{Human: true}); !is(err, want) {
			t.Errorf("a person, allowed %v: %v", allowed, err)
		}
	}
}
