package guard

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

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
	var e *Error
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
