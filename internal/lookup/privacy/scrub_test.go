package privacy

import (
	"slices"
	"testing"
)

func TestScrub(t *testing.T) {
	for _, tt := range []struct{ in, want, kind string }{
		{"who is <@123456789012345678> really", "who is really", "mention"},
		{"ask @Ann about Rome", "ask about Rome", "mention"},
		{"is jo.doe+x@mail.example.org a scam", "is a scam", "email"},
		{"who calls from +49 30 1234567 at night", "who calls from at night", "phone"},
		{"who calls from 030 123 45 67 89 at night", "who calls from at night", "phone"},
		{"message 123456789012345678 where", "message where", "snowflake"},
		{"what is sk-abcdefghijklmnopqrstuvwx for", "what is for", "token"},
		{"what is MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "what is", "token"},
		{"join https://discord.gg/abc123 now", "join now", "invite"},
		{"read https://example.org/?user=me today", "read today", "url"},
		{"sk-abcdefghijkl\u200bmnopqrstuvwxyz0123", "", "token"},
		{"jo＠mail.example.org hi", "hi", "email"},
		{"is jo (at) mail.example.org a scam", "is a scam", "email"},
		{"is jo @ mail.example.org a scam", "is a scam", "email"},
		{"the battle of 2026-11-20 and 1914 1918", "the battle of 2026-11-20 and 1914 1918", ""},
		{"population over 299792458", "population over 299792458", ""},
	} {
		got, kinds := Scrub(tt.in, Names{})
		if got != tt.want || tt.kind != "" && !slices.Contains(kinds, tt.kind) || tt.kind == "" && len(kinds) > 0 {
			t.Errorf("scrub(%q) = %q, %v; want %q, %s", tt.in, got, kinds, tt.want, tt.kind)
		}
	}
}
