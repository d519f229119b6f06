package fetch

import (
	"math/big"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"pgregory.net/rapid"
)

// special is a row of one of IANA's registries, entered by hand. It has a prefix, and whether its column "Globally Reachable" is true. N/A
// counts as false.
//
//	https://www.iana.org/assignments/iana-ipv4-special-registry
//	https://www.iana.org/assignments/iana-ipv6-special-registry
type special struct {
	prefix string
	global bool
}

var registry = []special{
	{"0.0.0.0/8", false}, {"0.0.0.0/32", false}, {"10.0.0.0/8", false}, {"100.64.0.0/10", false}, {"127.0.0.0/8", false},
	{"169.254.0.0/16", false}, {"172.16.0.0/12", false}, {"192.0.0.0/24", false}, {"192.0.0.0/29", false}, {"192.0.0.8/32", false},
	{"192.0.0.9/32", true}, {"192.0.0.10/32", true}, {"192.0.0.170/32", false}, {"192.0.0.171/32", false}, {"192.0.2.0/24", false},
	{"192.31.196.0/24", true}, {"192.52.193.0/24", true}, {"192.88.99.0/24", false}, {"192.88.99.2/32", false}, {"192.168.0.0/16", false},
	{"192.175.48.0/24", true}, {"198.18.0.0/15", false}, {"198.51.100.0/24", false}, {"203.0.113.0/24", false}, {"240.0.0.0/4", false},
	{"255.255.255.255/32", false},

	{"::1/128", false}, {"::/128", false}, {"::ffff:0:0/96", false}, {"64:ff9b::/96", true}, {"64:ff9b:1::/48", false}, {"100::/64", false},
	{"100:0:0:1::/64", false}, {"2001::/23", false}, {"2001::/32", false}, {"2001:1::1/128", true}, {"2001:1::2/128", true},
	{"2001:1::3/128", true}, {"2001:2::/48", false}, {"2001:3::/32", true}, {"2001:4:112::/48", true}, {"2001:10::/28", false},
	{"2001:20::/28", true}, {"2001:30::/28", true}, {"2001:db8::/32", false}, {"2002::/16", false}, {"2620:4f:8000::/48", true},
	{"3fff::/20", false}, {"5f00::/16", false}, {"fc00::/7", false}, {"fe80::/10", false},
}

// stricter lists all ranges that are refused although IANA does not say so, with the reasons. IANA calls them globally reachable or does
// not list them.
var stricter = map[string]string{
	"192.0.0.9/32":                  "a server of port control, of the network at hand by design",
	"192.0.0.10/32":                 "a relay, of the network at hand by design",
	"192.31.196.0/24":               "AS112: answers to queries about private addresses",
	"192.52.193.0/24":               "AMT: tunnels",
	"192.175.48.0/24":               "AS112",
	"168.63.129.16/32":              "Azure's host: looks public and is not",
	"224.0.0.0/4":                   "multicast has a registry of its own and no pages",
	"64:ff9b::/96":                  "NAT64 reaches any IPv4 address, private ones too",
	"2001:1::1/128":                 "as 192.0.0.9",
	"2001:1::2/128":                 "as 192.0.0.10",
	"2001:1::3/128":                 "an anycast of service registration, of the network at hand",
	"2001:3::/32":                   "AMT: tunnels",
	"2001:4:112::/48":               "AS112",
	"2001:20::/28":                  "names of hosts, not places",
	"2001:30::/28":                  "names of drones, not places",
	"2620:4f:8000::/48":             "AS112",
	"::/3":                          "not handed out: 2000::/3 alone is",
	"4000::/2":                      "not handed out",
	"8000::/1":                      "not handed out; link and site local, unique local, multicast",
	"::5efe:0:0 (under any prefix)": "ISATAP tunnels to the IPv4 address inside",
}

// isStricter reports whether a row of stricter explains the refusal of a.
func isStricter(a netip.Addr) bool {
	for row := range stricter {
		if p, err := netip.ParsePrefix(row); err == nil && p.Contains(a) {
			return true
		}
	}
	return a.Is6() && isatap(a)
}

// reachable returns IANA's answer: the narrowest row that contains a decides, and an address in no row is reachable.
func reachable(a netip.Addr) bool {
	global, bits := true, -1
	for _, r := range registry {
		if p := netip.MustParsePrefix(r.prefix); p.Contains(a) && p.Bits() > bits {
			global, bits = r.global, p.Bits()
		}
	}
	return global
}

// TestStricterIsTrue checks that every row of stricter is a real difference.
func TestStricterIsTrue(t *testing.T) {
	for row := range stricter {
		p, err := netip.ParsePrefix(row)
		if err != nil {
			continue
		}
		for _, a := range []netip.Addr{p.Addr(), lastOf(p)} {
			if CheckAddr(a) == nil {
				t.Errorf("%s is listed as refused, and %s is not", row, a)
			}
		}
	}
}

// borders returns the prefixes of all lists, IANA's and ours.
func borders() []netip.Prefix {
	all := append(append([]netip.Prefix{globalUnicast, ssrf.IPv6NAT64Prefix}, denied4...), denied6...)
	all = append(append(all, ssrf.IPv4DeniedPrefixes...), ssrf.IPv6DeniedPrefixes...)
	for _, r := range registry {
		all = append(all, netip.MustParsePrefix(r.prefix))
	}
	return all
}

// near returns the address a few steps from a, wrapping around.
func near(a netip.Addr, steps int64) netip.Addr {
	n := new(big.Int).Add(new(big.Int).SetBytes(a.AsSlice()), big.NewInt(steps))
	n.And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(a.BitLen())), big.NewInt(1)))
	b := n.FillBytes(make([]byte, a.BitLen()/8))
	out, _ := netip.AddrFromSlice(b)
	return out
}

// TestAgainstLists draws addresses, most of them near a border of a list, and compares three answers. They are IANA's, that of the library
// ssrf, and ours. Ours must refuse everything that another refuses, and nothing else except stricter.
func TestAgainstLists(t *testing.T) {
	other, edges := ssrf.New(), borders()
	compare := func(fatal func(string, ...any), a netip.Addr) {
		ours, theirs := CheckAddr(a) == nil, other.SafeAddr(a) == nil
		switch {
		case ours && !reachable(a):
			fatal("%s is allowed; IANA says it is not globally reachable", a)
		case ours && !theirs:
			fatal("%s is allowed; ssrf refuses it", a)
		case !ours && reachable(a) && !isStricter(a):
			fatal("%s is refused; IANA has nothing against it, and no reason is listed", a)
		case !ours && theirs && !isStricter(a):
			fatal("%s is refused; ssrf allows it, and no reason is listed", a)
		}
	}
	for _, p := range edges {
		for steps := int64(-2); steps <= 2; steps++ {
			compare(t.Errorf, near(p.Masked().Addr(), steps))
			compare(t.Errorf, near(lastOf(p), steps))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(edges).Draw(t, "border")
		from := rapid.SampledFrom([]netip.Addr{p.Masked().Addr(), lastOf(p)}).Draw(t, "end")
		compare(t.Fatalf, near(from, rapid.Int64Range(-1<<40, 1<<40).Draw(t, "steps")))
		compare(t.Fatalf, near(from, rapid.Int64Range(-300, 300).Draw(t, "few steps")))
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "anywhere")
		compare(t.Fatalf, netip.AddrFrom16([16]byte(b)))
		compare(t.Fatalf, netip.AddrFrom4([4]byte(b[:4])))
		b[0] = b[0]&0x1f | 0x20
		compare(t.Fatalf, netip.AddrFrom16([16]byte(b)))
		b[8], b[9], b[10], b[11] = b[8]&2, 0, 0x5e, 0xfe
		compare(t.Fatalf, netip.AddrFrom16([16]byte(b)))
	})
}
