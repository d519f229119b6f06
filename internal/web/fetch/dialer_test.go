package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// fakeNet is a resolver and a network in memory. Each name returns its answers in turn, and the last one repeatedly.
type fakeNet struct {
	mu      sync.Mutex
	answers map[string][]string // "93.184.216.34,10.0.0.1"; "" fails, "hang" waits for ctx
	slow    map[string]bool     // addresses that never accept
	down    map[string]bool     // addresses that refuse
	lookups []string
	dials   []string
	open    int
}

func (n *fakeNet) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.lookups = append(n.lookups, network+" "+host)
	list := n.answers[strings.TrimSuffix(host, ".")]
	if len(list) > 1 {
		n.answers[strings.TrimSuffix(host, ".")] = list[1:]
	}
	n.mu.Unlock()
	if len(list) == 0 || list[0] == "" {
		return nil, &net.DNSError{Err: "no such host", Name: host}
	}
	if list[0] == "hang" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var addrs []netip.Addr
	for s := range strings.SplitSeq(list[0], ",") {
		addrs = append(addrs, netip.MustParseAddr(s))
	}
	return addrs, nil
}

func (n *fakeNet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	n.mu.Lock()
	n.dials = append(n.dials, address)
	slow, down := n.slow[host], n.down[host]
	n.mu.Unlock()
	if slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if down {
		return nil, errors.New("refused by " + address)
	}
	n.mu.Lock()
	n.open++
	n.mu.Unlock()
	return &fakeConn{n: n, address: address}, nil
}

type fakeConn struct {
	net.Conn
	n       *fakeNet
	address string
}

func (c *fakeConn) Close() error {
	c.n.mu.Lock()
	c.n.open--
	c.n.mu.Unlock()
	return nil
}

func noInterfaces() ([]netip.Addr, error) { return nil, nil }

func (n *fakeNet) dialer() *Dialer {
	return &Dialer{Guard: &Guard{Interfaces: noInterfaces}, Resolver: n, Dial: n.dial}
}

func TestDialer(t *testing.T) {
	for _, c := range []struct {
		name, address, answer string
		reason                turn.Code
		dials                 string
	}{
		{"public", "example.org:443", "93.184.216.34", "", "93.184.216.34:443"},
		{"mapped", "example.org:80", "::ffff:93.184.216.34", "", "93.184.216.34:80"},
		{"private", "example.org:443", "10.0.0.1", turn.CodeDeniedAddress, ""},
		{"mapped private", "example.org:443", "::ffff:10.0.0.1", turn.CodeDeniedAddress, ""},
		{"one of two is private", "example.org:443", "93.184.216.34,127.0.0.1", turn.CodeDeniedAddress, ""},
		{"the last of many", "example.org:443", "1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8,::1", turn.CodeDeniedAddress, ""},
		{"zone", "example.org:443", "fe80::1%eth0", turn.CodeDeniedAddress, ""},
		{"metadata", "example.org:80", "169.254.169.254", turn.CodeDeniedAddress, ""},
		{"fake IP", "example.org:443", "198.18.0.3", turn.CodeFakeIP, ""},
		{"unknown", "example.org:443", "", turn.CodeDNS, ""},
		{"port", "example.org:22", "93.184.216.34", turn.CodeDeniedPort, ""},
		{"no port", "example.org", "93.184.216.34", turn.CodeInvalidTarget, ""},
		{"literal", "93.184.216.34:443", "93.184.216.34", turn.CodeInvalidTarget, ""},
		{"literal v6", "[2606:4700::1111]:443", "93.184.216.34", turn.CodeInvalidTarget, ""},
		{"not canonical", "EXAMPLE.org:443", "93.184.216.34", turn.CodeInvalidTarget, ""},
		{"local name", "localhost:80", "93.184.216.34", turn.CodeDeniedHost, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &fakeNet{answers: map[string][]string{"example.org": {c.answer}, "localhost": {c.answer}}}
			conn, err := n.dialer().DialContext(t.Context(), "tcp", c.address)
			var e *clean.Refusal
			if c.reason == "" && err != nil || c.reason != "" && (!errors.As(err, &e) || e.Reason != c.reason) {
				t.Fatalf("got %v, want %q", err, c.reason)
			}
			if err == nil {
				conn.Close()
			} else if strings.Contains(err.Error(), "example") || strings.ContainsAny(err.Error(), "0123456789") {
				t.Errorf("%q shows the target", err)
			}
			if got := strings.Join(n.dials, " "); got != c.dials {
				t.Errorf("dialled %q, want %q", got, c.dials)
			}
			for _, l := range n.lookups {
				if l != "ip example.org." && l != "ip6 ipv4only.arpa." {
					t.Errorf("looked up %q", l)
				}
			}
		})
	}
}

func TestDialerTriesAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &fakeNet{
			answers: map[string][]string{"example.org": {"93.184.216.34,93.184.216.35,2606:4700::1,2606:4700::2"}},
			down:    map[string]bool{"2606:4700::1": true},
			slow:    map[string]bool{"93.184.216.34": true, "2606:4700::2": true},
		}
		began := time.Now()
		conn, err := n.dialer().DialContext(t.Context(), "tcp", "example.org:443")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		want := []string{"[2606:4700::1]:443", "93.184.216.34:443", "[2606:4700::2]:443", "93.184.216.35:443"}
		if !slices.Equal(n.dials, want) {
			t.Errorf("dialled %v, want %v", n.dials, want)
		}
		if got := conn.(*fakeConn).address; got != want[3] {
			t.Errorf("connected to %s, want %s", got, want[3])
		}
		if took := time.Since(began); took != 2*stagger {
			t.Errorf("took %v, want %v", took, 2*stagger)
		}
		if n.open != 1 {
			t.Errorf("%d connections are open, want 1", n.open)
		}
	})
}

func TestDialerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &fakeNet{answers: map[string][]string{"slow.org": {"93.184.216.34"}, "down.org": {"93.184.216.35"}, "hang.org": {"hang"}},
			slow: map[string]bool{"93.184.216.34": true}, down: map[string]bool{"93.184.216.35": true}}
		for host, reason := range map[string]turn.Code{"slow.org": turn.CodeConnect, "down.org": turn.CodeConnect, "hang.org": turn.CodeDNS} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			began := time.Now()
			_, err := n.dialer().DialContext(ctx, "tcp", host+":80")
			cancel()
			if e, ok := err.(*clean.Refusal); !ok || e.Reason != reason {
				t.Errorf("%s: %v, want %s", host, err, reason)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%s: took %v", host, took)
			}
		}
	})
}

func TestPins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &fakeNet{answers: map[string][]string{"rebind.org": {"93.184.216.34", "127.0.0.1"}}}
		d := n.dialer()
		d.Pins = new(Pins)
		dial := func() error {
			c, err := d.DialContext(t.Context(), "tcp", "rebind.org:443")
			if err == nil {
				c.Close()
			}
			return err
		}
		for range 3 {
			if err := dial(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(19 * time.Second)
		}
		time.Sleep(3*time.Second - time.Nanosecond)
		if err := dial(); err != nil || len(n.lookups) != 1 {
			t.Fatalf("%d lookups within a minute, want 1; %v", len(n.lookups), err)
		}
		time.Sleep(time.Nanosecond)
		if err := dial(); err == nil || err.(*clean.Refusal).Reason != turn.CodeDeniedAddress {
			t.Errorf("after a minute: %v, want a new lookup and its refusal", err)
		}
		if slices.Contains(n.dials, "127.0.0.1:443") {
			t.Error("dialled loopback")
		}
	})
}

func TestPinsAreBounded(t *testing.T) {
	var p Pins
	now := time.Now()
	for i := range 10 * maxPins {
		p.put(fmt.Sprint(i), nil, now.Add(time.Duration(i)))
	}
	if len(p.m) != maxPins {
		t.Errorf("%d pins, want %d", len(p.m), maxPins)
	}
	if _, ok := p.get(fmt.Sprint(10*maxPins-1), now); !ok {
		t.Error("the newest pin was dropped")
	}
}

// TestPinnedAddressIsCheckedAgain denies an address after it was pinned.
func TestPinnedAddressIsCheckedAgain(t *testing.T) {
	n := &fakeNet{answers: map[string][]string{"example.org": {"93.184.216.34"}}}
	d := n.dialer()
	d.Pins = new(Pins)
	if _, err := d.DialContext(t.Context(), "tcp", "example.org:443"); err != nil {
		t.Fatal(err)
	}
	d.Guard = &Guard{Interfaces: noInterfaces, Deny: []netip.Prefix{netip.MustParsePrefix("93.184.216.0/24")}}
	if _, err := d.DialContext(t.Context(), "tcp", "example.org:443"); err == nil {
		t.Error("a denied address is still pinned")
	}
}
