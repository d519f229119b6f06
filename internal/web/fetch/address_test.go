package fetch

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
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

// TestControlInDialer checks that a net.Dialer calls Control: it does not reach a real listener on loopback.
func TestControlInDialer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := net.Dialer{Control: (&Guard{}).Control}
	conn, err := d.Dial("tcp", l.Addr().String())
	var e *clean.Refusal
	if !errors.As(err, &e) {
		t.Errorf("got %v, %v, want an error", conn, err)
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
		check("93.184.216.34", false) // the machine's addresses are unknown
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
			t.Error("an interface address is missing")
		}
	}
	if len(addrs) == 0 {
		t.Skip("no interfaces here")
	}
	if err := (&Guard{}).Check(addrs[0]); err == nil {
		t.Errorf("%s is ours and allowed", addrs[0])
	}
}

func BenchmarkDecision(b *testing.B) {
	g := &Guard{Interfaces: noInterfaces}
	d, err := clean.NewDomains(nil, []string{"example.net", "example.com"})
	if err != nil {
		b.Fatal(err)
	}
	v4, v6 := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("2606:2800:220:1:248:1893:25c8:1946")
	b.ReportAllocs()
	for b.Loop() {
		u, err := clean.ParseURL("https://www.example.org/articles/2026/a-long-title?page=2")
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

func TestTranslators(t *testing.T) {
	for answer, want := range map[string]string{
		"2001:67c:2b0:db32::c000:aa":               "2001:67c:2b0:db32::/96",
		"2a00:1:c000:aa::":                         "2a00:1::/32",
		"2a00:1:1c0:0:aa::":                        "2a00:1:100::/40",
		"2a00:1:1:c000:0:aa00::":                   "2a00:1:1::/48",
		"2a00:1:1:1c0:0:ab::":                      "2a00:1:1:100::/56",
		"2a00:1:1:1:c0:0:aa00:0":                   "2a00:1:1:1::/64",
		"2606:4700::1111":                          "",
		"::ffff:192.0.0.170":                       "",
		"192.0.0.170":                              "",
		"2a00::c000:aa,2a00::c000:ab,2a01::c000:9": "2a00::/96 2a00::/96",
	} {
		var addrs []netip.Addr
		for s := range strings.SplitSeq(answer, ",") {
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		var got []string
		for _, p := range translators(addrs) {
			got = append(got, p.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", answer, got, want)
		}
	}
}

// TestNAT64 uses a network that translates addresses under 2a00:64::/96.
func TestNAT64(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &fakeNet{answers: map[string][]string{
			"ipv4only.arpa": {"2a00:64::c000:aa"},
			"public.org":    {"2a00:64::8.8.8.8"},
			"private.org":   {"2a00:64::10.0.0.1"},
			"meta.org":      {"2a00:64::169.254.169.254"},
			"other.org":     {"2a00:65::10.0.0.1"},
			"four.org":      {"8.8.8.8"},
		}}
		d := n.dialer()
		for _, c := range []struct {
			host string
			ok   bool
		}{{"four.org", true}, {"public.org", true}, {"private.org", false}, {"meta.org", false}, {"other.org", true}} {
			conn, err := d.DialContext(t.Context(), "tcp", c.host+":443")
			if (err == nil) != c.ok {
				t.Errorf("%s: %v", c.host, err)
			}
			if err == nil {
				conn.Close()
			}
		}
		if got := strings.Join(n.lookups, ", "); strings.Count(got, "ip6 ipv4only.arpa.") != 1 || !strings.HasPrefix(got, "ip four.org., ip public.org., ip6") {
			t.Errorf("looked up %s", got)
		}
		time.Sleep(nat64TTL)
		n.answers["ipv4only.arpa"] = nil // moved to a network that does not translate
		if conn, err := d.DialContext(t.Context(), "tcp", "private.org:443"); err != nil {
			t.Errorf("after the network changed: %v", err)
		} else {
			conn.Close()
		}
	})
}

// TestNAT64Silence checks that known prefixes stay while the resolver does not answer.
func TestNAT64Silence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &fakeNet{answers: map[string][]string{
			"ipv4only.arpa": {"2a00:64::c000:aa", "hang"},
			"private.org":   {"2a00:64::10.0.0.1"},
		}}
		d := n.dialer()
		for range 3 {
			began := time.Now()
			if _, err := d.DialContext(t.Context(), "tcp", "private.org:443"); err == nil {
				t.Error("dialled a translated private address")
			}
			if took := time.Since(began); took > nat64Wait {
				t.Errorf("waited %v", took)
			}
			time.Sleep(nat64TTL)
		}
	})
}

func TestCheckAddr(t *testing.T) {
	refused := `
		0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.255
		169.254.0.0 169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23 169.254.255.255 172.16.0.0
		172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0
		192.168.255.255 192.175.48.1 198.51.100.7 203.0.113.7 224.0.0.0 224.0.0.251 239.255.255.255 240.0.0.0
		255.255.255.255 168.63.129.16
		:: ::1 ::7f00:1 ::8.8.8.8 ::ffff:8.8.8.8 ::ffff:198.18.0.1
		::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8
		64:ff9b::7f00:1 64:ff9b:1::1 100::1 100:0:0:1::1 4000::1 5f00::1 8000::1 fc00::1 fd00:ec2::254 fd00:ec2::23
		fd20:ce::254 fd00:42::42 fe80::1 fe80::a9fe:a9fe fe80::1%eth0 fec0::1 ff00::1 ff02::1 1fff:ffff::1
		2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:1::3 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1
		2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 2002::1 2002:7f00:1::1 2002:808:808::1 2620:4f:8000::1 3fff::1
		3fff:fff:ffff::1 2606:4700::5efe:7f00:1 2606:4700::200:5efe:a00:1 2606:4700::5efe:808:808 2606:4700::1111%eth0`
	for _, s := range strings.Fields(refused) {
		checkAddr(t, s, turn.CodeDeniedAddress)
	}
	for _, s := range strings.Fields("198.18.0.0 198.18.0.5 198.19.255.255") {
		checkAddr(t, s, turn.CodeFakeIP)
		if err := CheckAddr(netip.MustParseAddr(s)); !strings.Contains(err.Error(), "fake-IP") {
			t.Errorf("%q does not say what to do", err)
		}
	}
	allowed := `
		1.1.1.1 8.8.8.8 93.184.216.34 1.0.0.0 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0 172.15.255.255 172.32.0.1
		100.63.255.255 100.128.0.1 169.253.255.255 169.255.0.0 198.17.255.255 198.20.0.1 192.0.1.1 192.0.3.0 191.255.255.255
		192.167.255.255 192.169.0.0 223.255.255.255 168.63.129.15 168.63.129.17 203.0.112.255 203.0.114.0 198.51.99.255
		198.51.101.0 2000:: 2001:200::1 2001:db7::1 2001:db9::1 2001:4860:4860::8888 2003::1 2606:4700::1111
		2620:4f:7fff::1 2620:4f:8001::1 2a00:1450::1 3ffe::1 3fff:1000::1 2606:4700::100:5efe:7f00:1 2606:4700::5eff:7f00:1`
	for _, s := range strings.Fields(allowed) {
		checkAddr(t, s, "")
	}
	if CheckAddr(netip.Addr{}) == nil {
		t.Error("the zero Addr is allowed")
	}
}

func checkAddr(t *testing.T, s string, reason turn.Code) {
	t.Helper()
	err := CheckAddr(netip.MustParseAddr(s))
	var e *clean.Refusal
	switch {
	case reason == "" && err != nil:
		t.Errorf("%s: %v, want it allowed", s, err)
	case reason != "" && (!errors.As(err, &e) || e.Reason != reason || e.Code != turn.CodeBlockedURL):
		t.Errorf("%s: %v, want %s", s, err, reason)
	case reason != "" && strings.Contains(err.Error(), s):
		t.Errorf("%s: %q names the address", s, err)
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
