package text

import (
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	for _, want := range []string{
		"Dr. Watson met J. R. Smith in St. Louis.|He paid 3.5 dollars!|\"Why?\" he asked.",
		"They met in 1999.|12 people came.|“All of them?”|(The twelve.)|Nobody else came…|Then they left.",
		"東京は大きい。|人が多い。|क्या यह बड़ा है?|हाँ।",
		"Version 2.1.0 of example.org is out (see below).|It is e.g. faster.|Point 4. below says more.",
		"He coached in the league ( NFL ) .|He had one rule ( of 2 ).|Known as J. (a.k.a. Jay), he left.",
		"Am 3. Mai.|Й. Иванов ест.",
		"He said: \"no.\" and left.|Yahoo! is a name... as they say.",
	} {
		if got := Sentences(strings.NewReplacer("。|", "。", "|", " ").Replace(want)); strings.Join(got, "|") != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if got := Sentences("A heading\n- A point\n\n• Another\n"); !slices.Equal(got, []string{"A heading", "A point", "Another"}) {
		t.Errorf("got %q", got)
	}
}

func TestMessageSentences(t *testing.T) {
	for _, want := range []string{
		"hi there.|what's the weather in rome?|thx!!",
		"ok...|и что там?|а в москве.|тепло",
		"ask mr. smith.|see example.org",
	} {
		if got := MessageSentences(strings.ReplaceAll(want, "|", " ")); strings.Join(got, "|") != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if got := MessageSentences(strings.Repeat("one. ", 20) + "two?"); len(got) != 8 || got[7] != "two?" {
		t.Errorf("got %q", got)
	}
}

func FuzzSentenceEnds(f *testing.F) {
	for _, s := range []string{"One. Two!\n", "ß. …\xff. ŉ. x", "。。\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for end := range SentenceEnds(s) {
			if end <= last {
				t.Errorf("%q: a sentence from %d to %d", s, last, end)
			}
			last = end
		}
		if last != len(s) {
			t.Errorf("%q: the sentences end at %d of %d", s, last, len(s))
		}
	})
}
