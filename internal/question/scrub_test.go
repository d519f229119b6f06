package question

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"familiar/internal/context/turn"
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
		{"see ABChttps://example.org now", "see now", "url"},
		{"see 1https://example.org/a now", "see 1 now", "url"},
		{"see Xwww.example.org now", "see X now", "url"},
		{"see https:/example.org and https:\\\\example.org", "see and", "url"},
		{"see obsidian://open?vault=mine now", "see now", "url"},
		{"ask éé[at]example.org now", "ask now", "email"},
		{"ask q\u0323e\u0301[at]example.org now", "ask now", "email"},
		{"ask jo{at}example[dot]org now", "ask now", "email"},
		{"ask jo [@] example.org now", "ask now", "email"},
		{"who owns lena dot krafft at mail dot example now", "who owns now", "email"},
		{"who owns jo at example dot org", "who owns", "email"},
		{"look at polka dot skirts", "look at polka dot skirts", ""},
		{"why look at polka dot in art", "why look at polka dot in art", ""},
		{"what is at https: and http", "what is at https: and http", ""},
		{"the score (at) half-time", "the score (at) half-time", ""},
		{"what does :// mean", "what does :// mean", ""},
		{"the battle of 2026-11-20 and 1914 1918", "the battle of 2026-11-20 and 1914 1918", ""},
		{"population over 299792458", "population over 299792458", ""},
	} {
		got, kinds := scrub(tt.in, Names{})
		if got != tt.want || tt.kind != "" && !slices.Contains(kinds, tt.kind) || tt.kind == "" && len(kinds) > 0 {
			t.Errorf("scrub(%q) = %q, %v; want %q, %s", tt.in, got, kinds, tt.want, tt.kind)
		}
	}
}

// Independent patterns of what a reader takes for an address.
var (
	anyURL   = regexp.MustCompile(`(?i)[a-z]://[^\s/]|www\.[a-z0-9]|https?:[/\\]`)
	anyEmail = regexp.MustCompile(`(?i)[\pL\pN][\pM"']*\s?(?:@|[(\[{]at[)\]}])\s?[\pL\pN]+\.[\pL\pN]`)
)

// FuzzScrub looks for texts that leak addresses, or that change when scrubbed again.
func FuzzScrub(f *testing.F) {
	for _, s := range []string{
		"ABChttps://org", "see éé[at]x.org", "jo @ x . org", "jo[<@1>at]x.org", "jo@ann@x.org", "<https://x.org/a b>", "ht<@12>tps://x.org", "w<:a:1>ww.x.org", "ask @Ann Lee about 030 1234567 Rome",
		"jo[at]Ada x.org", "https:Ada//x.org", "+49 170 <@1> 1234567", "discord.gg/a b", "sk-abcdefghijklmnopqrstuvwx@x.org", "e\u0301\u0323[at]x.org",
	} {
		f.Add(s, "Ada Lopez")
	}
	f.Fuzz(func(t *testing.T, s, name string) {
		for _, names := range []Names{{}, {names: []string{name}, mentions: []string{"@" + name}, parts: []string{"Ada"}}} {
			if !utf8.ValidString(name) || strings.TrimSpace(name) == "" {
				continue
			}
			got, _ := scrub(s, names)
			if m := anyURL.FindString(got) + anyEmail.FindString(got); m != "" {
				t.Fatalf("%q leaves %q in %q", s, m, got)
			}
			if again, kinds := scrub(got, names); again != got || len(kinds) > 0 {
				t.Fatalf("%q becomes %q and then %q, %v", s, got, again, kinds)
			}
		}
	})
}

// TestLongWords checks that a long compound word is not taken for a key.
func TestLongWords(t *testing.T) {
	for _, word := range []string{"Donaudampfschifffahrtsgesellschaft", "Rindfleischetikettierungsüberwachung", "Grundstücksverkehrsgenehmigungszuständigkeit", "Betäubungsmittelverschreibungsverordnung", "Bundesausbildungsförderungsgesetz",
		"Lebensversicherungsgesellschaft", "Sternwartenbeobachtungsinstrument", "Arbeitsunfähigkeitsbescheinigung", "Straßenverkehrsordnungswidrigkeit", "Rheinland-Pfalz-Landesregierung"} {
		if got, kinds := scrub("was ist "+word, Names{}); got != "was ist "+word || len(kinds) > 0 {
			t.Errorf("%q: %q %v", word, got, kinds)
		}
	}
	for _, key := range []string{"abcdefghijklmnopqrstuvwx", "qwertzuiopasdfghjklyxcvbnm", "sk-proj-abcdefghijklmnopqr", "xoxbqkzjvwpmtrnsldhgfcbkqz", "Gesellschaft1234567890abcdef", "GesellschaftsVerordnungenXyzAbc"} {
		if got, kinds := scrub("was ist "+key, Names{}); got != "was ist" || len(kinds) != 1 {
			t.Errorf("%q: %q %v", key, got, kinds)
		}
	}
}

// TestFormsOfNames checks names in capitals and in the German genitive.
func TestFormsOfNames(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"Ada", "the death of Ada's father", "the death of father"},
		{"ANNA SCHMIDT", "what did Anna do", "what did do"},
		{"Anna Schmidt", "how old is ANNA", "how old is"},
		{"Anna Schmidt", "wie alt ist Annas Vater", "wie alt ist Vater"},
		{"Ada", "wie alt ist Adas Vater", "wie alt ist Vater"},
		{"Müller", "wie alt ist Müllers Hund", "wie alt ist Hund"},
		{"Mar", "how far is Mars from here", "how far is Mars from here"},
		{"Zyphoria", "WHERE DOES ZYPHORIA WORK", "WHERE DOES WORK"},
		{"USA fan", "who leads the USA", "who leads the USA"},
	} {
		req := turn.Request{GuildID: "hall", Message: turn.Message{Text: tt.in, Author: turn.Author{Name: tt.name}}}
		if got, _ := scrub(tt.in, NamesIn(req, nil)); got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}
