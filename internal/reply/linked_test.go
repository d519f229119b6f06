package reply

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

func TestLinked(t *testing.T) {
	t.Parallel()
	long := "https://long.example/" + strings.Repeat("x", 1500)
	l := &turn.Lookup{Sources: []turn.Source{{N: 1, URL: "https://a.example/x"}, {N: 2, URL: "https://b.example/"}, {N: 3, URL: long}}}
	one, two := "[[1]](<https://a.example/x>)", "[[2]](<https://b.example/>)"
	for post, want := range map[string]string{
		"It is high [1].":                        "It is high " + one + ".",
		"High [1], old [2?] [1].":                "High " + one + ", old [[2?]](<https://b.example/>) " + one + ".",
		"[1][2]":                                 one + two,
		"No source has this number [7].":         "No source has this number [7].",
		"Its address is too long [3].":           "Its address is too long [3].",
		"`a[1]` and [1]":                         "`a[1]` and " + one,
		"```\na[1]\n```\nand [1]":                "```\na[1]\n```\nand " + one,
		"```\na[1]":                              "```\na[1]",
		"High [1].\n\n-# sources: [1] a.example": "High " + one + ".\n\n-# sources: [1] a.example",
		"[1](<https://a.example/x>)":             "[1](<https://a.example/x>)",
		"- [1] a list - [2]":                     "- " + one + " a list - " + two,
		one:                                      one,
	} {
		got := Linked(post, l, nil, 2000)
		if got != want {
			t.Errorf("%q: %q, want %q", post, got, want)
		}
		if post != one && Unlinked(got) != post {
			t.Errorf("%q becomes %q", post, Unlinked(got))
		}
	}
	if got := OwnWords(Linked("It is high [1][2?].\n-# sources: [1] a.example", l, nil, 2000)); got != "It is high." {
		t.Errorf("own words: %q", got)
	}
}

// TestLinkedFits fills posts with citations. None is longer than Discord allows, and none has a link that is cut. There are as many posts
// as without links.
func TestLinkedFits(t *testing.T) {
	t.Parallel()
	l := &turn.Lookup{Sources: []turn.Source{{N: 1, URL: "https://a.example/" + strings.Repeat("é", 90)}, {N: 2, URL: "https://b.example/"}}}
	for n := 1; n < 120; n++ {
		text := strings.TrimSpace(strings.Repeat(fmt.Sprintf("It is %d metres high 🏔 [1] and old [2]. ", n), n))
		pieces := Split(text, 2000)
		for i, piece := range pieces {
			linked := Linked(piece, l, nil, 2000)
			if Units(linked) > 2000 || Unlinked(linked) != piece || strings.Count(linked, "](<") != strings.Count(linked, ">)") {
				t.Fatalf("%d, post %d: %d units, %q", n, i, Units(linked), linked)
			}
			if n == 1 && strings.Count(linked, "](<") != 2 {
				t.Errorf("%q", linked)
			}
		}
	}
}
