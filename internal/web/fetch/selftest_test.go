package fetch

import (
	"net/netip"
	"slices"
	"testing"

	"familiar/internal/context/turn"
)

func TestTry(t *testing.T) {
	f, w := open(t, archive(t), func(c *Config, _ *limits) { c.Deny = []netip.Prefix{netip.MustParsePrefix("93.184.216.0/24")} })
	public, denied, loopback := netip.MustParseAddr("93.184.217.34"), netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		url     string
		answers [][]netip.Addr
		reason  turn.Code
		dialed  []string
	}{
		{url: "http://127.0.0.1/", reason: turn.CodeInvalidTarget},
		{url: "http://page.example.org/", reason: turn.CodeDNS},
		{"http://page.example.org/", [][]netip.Addr{{loopback}}, turn.CodeDeniedAddress, nil},
		{"http://page.example.org/", [][]netip.Addr{{denied}}, turn.CodeDeniedAddress, nil},
		{"http://page.example.org/", [][]netip.Addr{{public, loopback}}, turn.CodeDeniedAddress, nil},
		{"http://page.example.org/", [][]netip.Addr{{public}, {loopback}}, turn.CodeConnect, []string{"93.184.217.34:80"}},
	} {
		got, err := f.Try(t.Context(), c.url, c.answers...)
		if err != nil || got.Reason != c.reason || !slices.Equal(slices.Compact(got.Dialed), c.dialed) {
			t.Errorf("%s %v: %+v, %v", c.url, c.answers, got, err)
		}
	}
	if len(w.Dials())+w.Lookups("page.example.org") > 0 {
		t.Errorf("something was dialled or asked for: %v", w.Dials())
	}
}
