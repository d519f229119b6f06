package guard

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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

// TestNAT64 has a network that translates what is under 2a00:64::/96.
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

// TestNAT64Silence keeps what was known while the resolver does not answer.
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
