package reply

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/test/bulk"
)

// post sends a reply, or the beginning of one that grows, through the guard and the splitter. It judges the result.
func post(rules Rules, marker *Marker, text string, growing bool, limit int) error {
	if growing {
		text = rules.Visible(text)
	}
	guarded, _ := rules.Guard(text)
	guarded, _, _ = marker.Mark(guarded, growing)
	posts := Split(guarded, limit)
	if err := judge(guarded, posts, limit); err != nil {
		return fmt.Errorf("%w\nposts %.3000q", err, posts)
	}
	return nil
}

// fillers push a text to where it is cut.
var fillers = []string{"x", "word ", "語", "a line of it\n", "It is so. ", "```\ncode\n", "- item\n", "> said\n"}

// filled puts n characters before a text.
func filled(filler string, n int, text string) string {
	return CutUnits(strings.Repeat(filler, n/len([]rune(filler))+1), n) + text
}

// The replies of a hijacked model are cut everywhere. Some are moved so that Discord's limit falls inside them, and the
// others are cut into short posts.
func TestHostileRepliesSplit(t *testing.T) {
	replies := bulk.Of(200, 30_000)
	const workers = 2
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(20261122, uint64(w))) // always the same replies
			a, rules, marker := attack{r}, sample(), &Marker{Lookup: readPages()}
			for n := range replies / workers {
				text, limit := a.some(1+r.IntN(3)), 60+r.IntN(300)
				if n%5 == 0 {
					limit = 2000
					text = filled(fillers[r.IntN(len(fillers))], limit-r.IntN(min(len(text), 1990)+8), text)
				}
				cut := len(text)
				if n%3 == 0 {
					cut = r.IntN(cut + 1)
				}
				if err := post(rules, marker, text[:cut], n%3 == 0, limit); err != nil {
					t.Errorf("reply %d of %d: %v\n  in %.300q … %q", n, w, err, text, text[max(0, len(text)-600):])
					return
				}
			}
		})
	}
	all.Wait()
}

// FuzzReply looks for replies that break a rule once they are guarded, marked and split, whole or while they grow.
func FuzzReply(f *testing.F) {
	for i, s := range fragments {
		f.Add(s+" "+fragments[(i*7)%len(fragments)], uint8(i), 1990, 20)
	}
	for _, s := range []string{
		"> ```\n@everyone\n```", "- ```\n<@1>\n```\n", "```` x ``` @here ````", "a ``` b\n```\n@everyone\n```", "`a\n\nb` @everyone `", "```\n[1](https://example.org/a)\n``` `@here", "\\``@everyone`", "# ```\n@here\n```", "```\ncode\n````@everyone\n```", "~~~\n```\n<@1>\n```", "**a`** @everyone `b", "`` a ` @everyone `", "\\\\`a` @everyone `b`",
		"hunter2-**token**-01234 56789", "68 75 6e 74 65 72 32 2d 74 6f 6b 65 6e 2d 30 31 32 33 34 35 36 37 38 39",
	} {
		f.Add(s, uint8(0), 0, 30)
		f.Add(s, uint8(1), 1990, 3000)
	}
	f.Fuzz(func(t *testing.T, text string, filler uint8, n, cut int) {
		text = filled(fillers[int(filler)%len(fillers)], max(0, min(n, 2100)), text[:min(len(text), 3000)])
		rules, marker := sample(), &Marker{Lookup: readPages()}
		for _, limit := range []int{2000, 60 + max(0, cut)%300} {
			for _, growing := range []bool{true, false} {
				part := text
				if growing {
					part = text[:max(0, min(cut, len(text)))]
				}
				if err := post(rules, marker, part, growing, limit); err != nil {
					t.Fatalf("%v\n  in %q", err, part)
				}
			}
		}
	})
}

// The judge finds a bare attack, in the posts of any guard.
func TestJudge(t *testing.T) {
	for want, posts := range map[string][]string{
		"live mention":           {"> ```\n@everyone\n```"},
		"live mention \"<@1>\"":  {"```` x ``` <@1> ````"},
		"live mention \"@here\"": {"# ```\n@here\n```"},
		"live link":              {"see <https://x.com", "munity>"},
		"secret":                 {"hunter2-**token**", "-01234 56789"},
		"blank":                  {" "},
		"too long":               {strings.Repeat("a", 2001)},
		"lost":                   {"and so on", "to the"},
		"doubled":                {"and so on", "and so on to the end"},
	} {
		guarded := strings.Join(posts, "\n")
		if want == "lost" || want == "doubled" {
			guarded = "and so on to the end"
		}
		if err := judge(guarded, posts, 2000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", posts, err, want)
		}
	}
	for _, post := range []string{"`@everyone` and ```\n<@1>\n```", "<https://example.org/a> [x](<https://example.org/a>)", "> a\n> b\n@ everyone"} {
		if err := judge(post, []string{post}, 2000); err != nil {
			t.Errorf("%q: %v", post, err)
		}
	}
}

// A link is allowed if a person wrote it, and never because a bot did. What this one posted may come from a page, and what another posted
// from anybody.
func TestLinksOfTheParent(t *testing.T) {
	const link = "https://example.org/a"
	for _, tt := range []struct {
		name    string
		parent  turn.Message
		allowed bool
	}{
		{"a person's", turn.Message{}, true},
		{"our own", turn.Message{Own: true}, false},
		{"another bot's", turn.Message{Author: turn.Author{Machine: true}}, false},
	} {
		tt.parent.Text = "see " + link
		rules := RulesFor(turn.Request{Message: turn.Message{Text: "and this?"}, Parent: &tt.parent}, nil, nil)
		if got, _ := rules.Guard(link); rules.URLs[link] != tt.allowed || strings.Contains(got, link) != tt.allowed {
			t.Errorf("%s: allowed %v, says %q", tt.name, rules.URLs, got)
		}
	}
}

func TestTypedLinks(t *testing.T) {
	const planet = "https://en.example.org/wiki/Mercury_(planet)"
	tests := []struct{ typed, want string }{
		{planet, planet},
		{"(see " + planet + ").", planet},
		{planet + "?", planet},
		{"(https://example.org/a)", "https://example.org/a"},
		{"[a](https://example.org/a), please", "https://example.org/a"},
		{`"https://example.org/a"!`, "https://example.org/a"},
		{"<https://example.org/a>", "https://example.org/a"},
		{"**https://example.org/a**", "https://example.org/a"},
		{"https://example.org/a{b}.", "https://example.org/a%7Bb%7D"},
	}
	for _, tt := range tests {
		rules := RulesFor(turn.Request{Message: turn.Message{Text: tt.typed}}, nil, nil)
		if len(rules.URLs) != 1 || !rules.URLs[tt.want] {
			t.Errorf("%q: %v, want %q", tt.typed, rules.URLs, tt.want)
		}
	}
}

// A secret is found under whatever Discord does not show, and where two messages share it.
func TestSecretUnderMarks(t *testing.T) {
	spaced := strings.Join(strings.Split(topSecret, ""), " ")
	for _, in := range []string{
		`hunter2\-token\-0123456789`, "**hunter2**-token-0123456789", "||hunter2||-token-`0123456789`", spaced, strings.ToUpper(topSecret), "hunter2%2Dtoken%2d0123456789",
		"68 75 6e 74 65 72 32 2d 74 6f 6b 65 6e 2d 30 31 32 33 34 35 36 37 38 39", "hunter2-to[k](https://example.org/a)en-0123456789", "```\nhunter2-```tok\nen```go\n-0123456789\n```",
		strings.Repeat("x", 1990) + " hunter2-tok\nen-0123456789", strings.Repeat("word ", 396) + "hunter2-\n\ntoken-0123456789 " + strings.Repeat("word ", 50),
	} {
		if got, changes := sample().Guard(in); got != Withheld || len(changes) != 1 || changes[0].Rule != "O11" {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// While it grows, no more of a secret is shown than a few characters. Nothing that was shown is taken back.
func TestGrowingSecretIsHeldBack(t *testing.T) {
	for _, sign := range []string{" ", "\n", " **", "\u200b ", " \\"} {
		text := "It is " + strings.Join(strings.Split(topSecret, ""), sign)
		for end := range text {
			visible, _ := sample().Guard(sample().Visible(text[:end]))
			letters := strings.NewReplacer(" ", "", "*", "", "\n", "", "\\", "").Replace(strings.TrimPrefix(visible, "It is"))
			if len(letters) > 3 {
				t.Fatalf("%q shows %q", text[:end], visible)
			}
		}
	}
}
