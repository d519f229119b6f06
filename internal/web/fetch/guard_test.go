package fetch

import (
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// callers returns the names of the functions on the stack.
func callers() []string {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	var names []string
	for {
		frame, more := frames.Next()
		names = append(names, frame.Function)
		if !more {
			return names
		}
	}
}

// TestNothingPrivateIsDialled reads every page of the archive and then checks what was dialled.
func TestNothingPrivateIsDialled(t *testing.T) { synctest.Test(t, testNothingPrivateIsDialled) }

func testNothingPrivateIsDialled(t *testing.T) {
	f, w := open(t, archive(t), quick)
	for _, c := range pages {
		if strings.HasPrefix(c.want, string(turn.CodeBlockedURL)) || strings.HasPrefix(c.want, string(turn.CodeUnsupportedScheme)) {
			f.Fetch(t.Context(), c.url, Options{})
		}
	}
	for _, d := range w.Dials() {
		ap := netip.MustParseAddrPort(d)
		if err := CheckAddr(ap.Addr()); err != nil {
			t.Errorf("dialled %s", d)
		}
	}
	for _, r := range w.Requests() {
		checkRequest(t, r)
	}
}

// TestRebinding changes a name's address from public to loopback between two fetches.
func TestRebinding(t *testing.T) {
	f, w := open(t, archive(t), nil)
	pins := new(Pins)
	for _, path := range []string{"a", "b", "c"} {
		if _, err := f.Fetch(t.Context(), "http://rebind.example.org/"+path, Options{Pins: pins}); err != nil {
			t.Fatalf("%s, in the turn that pinned it: %v", path, err)
		}
	}
	if n := w.Lookups("rebind.example.org"); n != 1 {
		t.Errorf("%d lookups in one turn, want 1", n)
	}
	if _, err := f.Fetch(t.Context(), "http://rebind.example.org/d", Options{}); !is(err, "denied_address") {
		t.Errorf("in the next turn: %v", err)
	}
	for _, d := range w.Dials() {
		if strings.HasPrefix(d, "127.") {
			t.Errorf("dialled %s", d)
		}
	}
}

func TestDenyList(t *testing.T) {
	f, w := open(t, archive(t), func(c *Config, _ *limits) { c.Deny = []netip.Prefix{netip.MustParsePrefix("93.184.0.0/16")} })
	if _, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{}); !is(err, "denied_address") {
		t.Errorf("got %v", err)
	}
	if len(w.Dials()) > 0 {
		t.Errorf("dialled %v", w.Dials())
	}
}

func TestDomains(t *testing.T) {
	f, w := open(t, archive(t), nil)
	d, err := clean.NewDomains([]string{"example.org"}, []string{"www.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for url, reason := range map[string]turn.Code{
		"https://www.example.org/plain.html": "denied_domain",
		"https://other.example.net/":         "denied_domain",
		"http://old.example.org/a":           "redirect_to_blocked_target", // redirects to www
	} {
		if _, err := f.Fetch(t.Context(), url, Options{Domains: d}); !is(err, reason) {
			t.Errorf("%s: %v, want %s", url, err, reason)
		}
	}
	if n := w.Lookups("www.example.org") + w.Lookups("other.example.net"); n > 0 {
		t.Errorf("%d lookups of denied names", n)
	}
}

// TestRealDialerIsGuarded tests the default dial function against a real listener.
func TestRealDialerIsGuarded(t *testing.T) {
	f, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := f.dial(t.Context(), "tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("the real dial function reaches loopback")
	}
}

func TestNewRefusesBadConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"prefix":     {Deny: make([]netip.Prefix, 1)},
		"user agent": {UserAgent: "familiar\r\nCookie: a=b"},
	} {
		if f, err := New(c); err == nil {
			f.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestLimiterBounds counts how many concurrent requests a site receives.
func TestLimiterBounds(t *testing.T) { synctest.Test(t, testLimiterBounds) }

func testLimiterBounds(t *testing.T) {
	f, w := open(t, archive(t), func(_ *Config, l *limits) { l.global = 3 })
	var seen peak
	for _, host := range []string{"one.example.org", "two.example.org"} {
		w.Handle(host+"/p", seen.handler(host))
	}
	done := make(chan error)
	for i := range 12 {
		host := []string{"one", "two"}[i%2]
		go func() {
			_, err := f.Fetch(t.Context(), "http://"+host+".example.org/p?"+strings.Repeat("x", i+1), Options{})
			done <- err
		}()
	}
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := seen.most(); got["one.example.org"] > 2 || got["two.example.org"] > 2 || got[""] > 3 || got[""] < 2 {
		t.Errorf("greatest concurrency: %v", got)
	}
	if !slices.Equal(f.limiter.inUse(), nil) {
		t.Errorf("the limiter still has %v", f.limiter.inUse())
	}
}

// TestBusyHost occupies both places of a host.
func TestBusyHost(t *testing.T) { synctest.Test(t, testBusyHost) }

func testBusyHost(t *testing.T) {
	f, _ := open(t, archive(t), func(_ *Config, l *limits) { l.robots = time.Second })
	for range 2 {
		release, err := f.limiter.acquireHost(t.Context(), "other.example.net")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	if _, err := f.Fetch(t.Context(), "https://other.example.net/", Options{}); !is(err, "busy") {
		t.Errorf("got %v", err)
	}
	if _, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{}); err != nil {
		t.Errorf("another host: %v", err)
	}
}

func TestBusyLimiter(t *testing.T) { synctest.Test(t, testBusyLimiter) }

func testBusyLimiter(t *testing.T) {
	f, _ := open(t, archive(t), func(_ *Config, l *limits) { l.global = 1; l.queue = 50 * time.Millisecond })
	release, err := f.limiter.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{}); !is(err, "busy") {
		t.Errorf("got %v", err)
	}
	release()
	if _, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{}); err != nil {
		t.Errorf("a busy limiter was cached: %v", err)
	}
}
