package outgoing

import (
	"strings"
	"testing"
)

// Where a model chooses the words before a link, it chooses where the message ends. Half of a link leads elsewhere.
func TestSplitCutsNoLink(t *testing.T) {
	const (
		link = "https://x.community/a"
		most = 200 // as Discord's 2,000 in less time
	)
	rules := Rules{URLs: map[string]bool{link: true}, Citations: 1}
	for _, form := range []string{link, "<" + link + ">", "[the page](" + link + ")", "[1](" + link + ")", "`" + link + "`", "see " + link + " now"} {
		for _, filler := range []string{"x", "語", "- a\n", "word "} {
			for _, fence := range []string{"", "```go\n"} {
				for n := most - 38; n <= most+1; n++ {
					before := fence + CutUnits(strings.Repeat(filler, most), n)
					guarded, _ := rules.Guard(before + form + " and on " + strings.Repeat("y", 30))
					pieces := Split(guarded, most)
					whole := 0
					for _, p := range pieces {
						whole += strings.Count(p, link)
						for _, got := range anyScheme.FindAllString(p, -1) {
							if strings.TrimRight(got, ">)`") != link {
								t.Fatalf("%q after %d of %q: the link became %q", form, n, fence+filler, got)
							}
						}
						if Units(p) > most {
							t.Fatalf("%d units", Units(p))
						}
					}
					if whole != 1 {
						t.Fatalf("%q after %d of %q: %d links", form, n, fence+filler, whole)
					}
				}
			}
		}
	}
}

// What must not be an address does not become one because a message begins with it.
func TestSplitMakesNoAddress(t *testing.T) {
	for _, hidden := range []string{"awww.evil.net/x", "xdsc.gg/abc", "xinvite.gg/abc"} {
		for n := 1980; n <= 2000; n++ {
			guarded, _ := sample().Guard(strings.Repeat("x", n) + hidden)
			for _, p := range Split(guarded, 2000) {
				if rule, what := violation(p); rule != "" {
					t.Fatalf("%s after %d: %s %q", hidden, n, rule, what)
				}
			}
		}
	}
}

// A link that is too long for a message goes, and both the reader and the record are told.
func TestLinkTooLongForAMessage(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("a", 1990)
	rules := Rules{URLs: map[string]bool{long: true}}
	text, changes := rules.Guard("See " + long + " for more.")
	if text != "See (link removed) for more." || len(changes) != 1 || changes[0].Rule != "O1" {
		t.Errorf("%q %v", text, changes)
	}
	got := Split("See "+long[:100]+" for more.", 60)
	if want := "See|(link removed) for more."; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}

// Inline code that is cut is none: what it shows as it is written would become a mention.
func TestSplitCutsNoInlineCode(t *testing.T) {
	code := "`" + strings.Repeat("z ", 150) + "@everyone <@12>" + strings.Repeat(" z", 100) + "`"
	for n := 500; n <= 2000; n += 7 {
		for _, gap := range []string{"", " "} {
			guarded, _ := sample().Guard(strings.Repeat("x", n) + gap + code)
			for _, p := range Split(guarded, 2000) {
				if rule, what := violation(p); rule != "" {
					t.Fatalf("after %d: %s %q", n, rule, what)
				}
			}
		}
	}
}

// A link that grows is not shown before it ends, wherever its letters would let a word end.
func TestGrowingLinkIsHeldBack(t *testing.T) {
	rules := Rules{URLs: map[string]bool{"https://example.org/": true, "https://example.org/%E8%AA%9E": true}}
	text := "見て https://example.org/語 と <https://example.org/語>だ。(https://example.org/)語 end "
	for end := range text {
		visible := rules.Visible(text[:end])
		for _, at := range anyScheme.FindAllStringIndex(visible, -1) {
			if link := visible[at[0]:at[1]]; link != anyScheme.FindString(text[at[0]:]) && !strings.Contains(link, ">") {
				t.Errorf("%q shows %q", text[:end], link)
			}
		}
	}
	if got := rules.Visible(text); got != text {
		t.Errorf("%q is left of %q", got, text)
	}
}

func TestHead(t *testing.T) {
	if got := Head("see <https://example.org/a/b/c/d/e/f> and on", 40); got != "see <https://example.org/a/b/c/d/e/f>" {
		t.Errorf("%q", got)
	}
	if got := Head("see this page: <https://example.org/a/b/c/d>", 40); got != "see this page:" {
		t.Errorf("%q", got)
	}
	if got := Head(" \n", 40); got != "" {
		t.Errorf("%q", got)
	}
}
