package guard

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func TestControl(t *testing.T) {
	g := &Guard{Interfaces: noInterfaces}
	for _, c := range []struct {
		network, address string
		ok               bool
	}{
		{"tcp4", "93.184.216.34:443", true}, {"tcp4", "93.184.216.34:80", true}, {"tcp6", "[2606:4700::1111]:443", true},
		{"tcp4", "93.184.216.34:22", false}, {"tcp4", "93.184.216.34:0", false}, {"udp4", "93.184.216.34:443", false},
		{"tcp", "93.184.216.34:443", false}, {"unix", "/run/docker.sock", false}, {"tcp4", "169.254.169.254:80", false},
		{"tcp4", "127.0.0.1:443", false}, {"tcp6", "[::1]:443", false}, {"tcp6", "[::ffff:127.0.0.1]:443", false},
		{"tcp6", "[fe80::1%eth0]:443", false}, {"tcp6", "[2606:4700::1%eth0]:443", false}, {"tcp4", "example.org:443", false},
		{"tcp4", "127.1:443", false}, {"tcp4", "", false}, {"tcp4", ":443", false}, {"tcp4", "93.184.216.34", false},
		{"tcp4", "93.184.216.34:https", false}, {"tcp4", "93.184.216.34:443:443", false},
	} {
		if err := g.Control(c.network, c.address, nil); (err == nil) != c.ok {
			t.Errorf("Control(%q, %q) = %v", c.network, c.address, err)
		}
	}
}

// TestControlInDialer shows that a net.Dialer asks: a real listener on loopback is not reached.
func TestControlInDialer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := net.Dialer{Control: (&Guard{}).Control}
	conn, err := d.Dial("tcp", l.Addr().String())
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("got %v, %v, want a refusal", conn, err)
	}
}

func TestGuardDeny(t *testing.T) {
	g := &Guard{Interfaces: noInterfaces, Deny: []netip.Prefix{
		netip.MustParsePrefix("93.184.0.0/16"), netip.MustParsePrefix("2606:4700::/32"), netip.MustParsePrefix("::ffff:1.2.3.0/120")}}
	for addr, ok := range map[string]bool{"93.184.1.2": false, "::ffff:93.184.1.2": false, "93.185.1.2": true,
		"2606:4700::1": false, "2606:4701::1": true, "1.2.3.4": false, "::ffff:1.2.3.4": false, "1.2.4.4": true} {
		if err := g.Check(netip.MustParseAddr(addr)); (err == nil) != ok {
			t.Errorf("Check(%s) = %v", addr, err)
		}
	}
}

func TestGuardOwnInterfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, broken, asked := "93.184.216.34", error(nil), 0
		g := &Guard{Interfaces: func() ([]netip.Addr, error) {
			asked++
			return []netip.Addr{netip.MustParseAddr(own), netip.MustParseAddr("2606:4700::9")}, broken
		}}
		check := func(addr string, want bool) {
			t.Helper()
			if err := g.Check(netip.MustParseAddr(addr)); (err == nil) != want {
				t.Errorf("Check(%s) = %v", addr, err)
			}
		}
		check("93.184.216.34", false)
		check("::ffff:93.184.216.34", false)
		check("2606:4700::9", false)
		check("93.184.216.35", true)
		if asked != 1 {
			t.Errorf("asked the system %d times, want 1", asked)
		}
		own = "93.184.216.35"
		time.Sleep(time.Minute)
		check("93.184.216.34", true)
		check("93.184.216.35", false)
		broken = errors.New("no netlink")
		time.Sleep(time.Minute)
		check("93.184.216.34", false) // nobody knows what is ours
		broken = nil
		check("93.184.216.34", true)
	})
}

func TestSystemAddrs(t *testing.T) {
	addrs, err := systemAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if !a.IsValid() {
			t.Error("an interface address was lost")
		}
	}
	if len(addrs) == 0 {
		t.Skip("no interfaces here")
	}
	if err := (&Guard{}).Check(addrs[0]); err == nil {
		t.Errorf("%s is ours and allowed", addrs[0])
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		name, host  string
		allow, deny []string
		want        bool
	}{
		{"zero", "anything", nil, nil, true},
		{"allowed", "example.org", []string{"Example.org."}, nil, true},
		{"below allowed", "a.b.example.org", []string{"example.org"}, nil, true},
		{"not on a label", "badexample.org", []string{"example.org"}, nil, false},
		{"other", "example.net", []string{"example.org"}, nil, false},
		{"denied", "example.org", nil, []string{"example.org"}, false},
		{"below denied", "www.example.org", nil, []string{"example.org"}, false},
		{"not denied", "badexample.org", nil, []string{"example.org"}, true},
		{"deny wins", "www.example.org", []string{"www.example.org"}, []string{"example.org"}, false},
		{"deny below allow", "x.example.org", []string{"example.org"}, []string{"x.example.org"}, false},
		{"beside", "y.example.org", []string{"example.org"}, []string{"x.example.org"}, true},
		{"above", "org", []string{"example.org"}, nil, false},
		{"unicode entry", "xn--bcher-kva.de", nil, []string{"BÜCHER.de"}, false},
		{"upper case host", "EXAMPLE.ORG", nil, []string{"example.org"}, false},
		{"trailing dot", "example.org.", nil, []string{"example.org"}, false},
		{"not a host", "example.org:80", nil, []string{"example.net"}, false},
		{"empty host", "", nil, []string{"example.net"}, false},
	} {
		d, err := NewDomains(c.allow, c.deny)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Allows(c.host); got != c.want {
			t.Errorf("%s: Allows(%q) = %v", c.name, c.host, got)
		}
	}
}

func TestDomainsRefuseBadEntries(t *testing.T) {
	for _, bad := range []string{"", "org", "*.example.org", ".example.org", "https://example.org", "example.org/a", "exam ple.org",
		"127.0.0.1", "localhost", "example.org:443", "user@example.org", "a..b"} {
		if _, err := NewDomains([]string{"example.org", bad}, nil); err == nil {
			t.Errorf("allow list with %q was accepted", bad)
		}
		if _, err := NewDomains(nil, []string{bad}); err == nil {
			t.Errorf("deny list with %q was accepted", bad)
		}
	}
}

func TestDomainsVersion(t *testing.T) {
	version := func(allow, deny []string) string {
		d, err := NewDomains(allow, deny)
		if err != nil {
			t.Fatal(err)
		}
		return d.Version()
	}
	a, b := []string{"a.org", "b.org"}, []string{"B.org", "a.org"}
	if version(a, nil) != version(b, nil) {
		t.Error("equal lists have two versions")
	}
	if version(a, nil) == version(nil, a) || version(a, nil) == version(a[:1], nil) || version(nil, nil) != "" {
		t.Error("different lists share a version")
	}
}

func TestRegistrable(t *testing.T) {
	for host, want := range map[string]string{"www.example.co.uk": "example.co.uk", "example.org": "example.org",
		"a.b.c.example.org": "example.org", "user.github.io": "user.github.io", "co.uk": "co.uk", "xn--85x722f.com.cn": "xn--85x722f.com.cn"} {
		if got := Registrable(host); got != want {
			t.Errorf("Registrable(%s) = %s, want %s", host, got, want)
		}
	}
}

// BenchmarkDecision is everything that is decided about one URL whose name has two addresses.
func BenchmarkDecision(b *testing.B) {
	g := &Guard{Interfaces: noInterfaces}
	d, err := NewDomains(nil, []string{"example.net", "example.com"})
	if err != nil {
		b.Fatal(err)
	}
	v4, v6 := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("2606:2800:220:1:248:1893:25c8:1946")
	b.ReportAllocs()
	for b.Loop() {
		u, err := Parse("https://www.example.org/articles/2026/a-long-title?page=2")
		if err != nil || !d.Allows(u.Hostname()) || g.Check(v4) != nil || g.Check(v6) != nil {
			b.Fatal("refused")
		}
	}
}

func BenchmarkCheckAddr(b *testing.B) {
	addr := netip.MustParseAddr("93.184.216.34")
	for b.Loop() {
		if CheckAddr(addr) != nil {
			b.Fatal("refused")
		}
	}
}
