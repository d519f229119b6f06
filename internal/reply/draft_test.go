package reply

import (
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
)

var sage = &character.Character{Name: "Sage"}

// readPage is a lookup that read one page.
func readPage() *turn.Lookup {
	return &turn.Lookup{
		State:   turn.Found,
		Sources: []turn.Source{{N: 1, URL: "https://example.org/a", Title: "Sample Bridge", Site: "example.org"}},
		Pages:   []turn.Page{{N: 1, Text: "The Sample Bridge is 1,280 metres long."}},
	}
}

// Without a model, the reply has the pages' own words and only the program's numbers.
func TestExtracts(t *testing.T) {
	const cities = "Rome has 3 million people, Paris 2 million."
	for _, tt := range []struct {
		name  string
		claim turn.Claim
		want  string
	}{
		{"the page's words", turn.Claim{Text: "Rome has 3 million people", Quote: cities}, "Rome has 3 million people [1]"},
		{"a part of a sentence", turn.Claim{Text: "…Paris 2 million.", Quote: cities}, "…Paris 2 million. [1]"},
		{"what its page denies", turn.Claim{Text: "Rome has 9 million people.", Framing: turn.Framing{Denied: turn.DeniedByHeading, Words: "False claims [2]"}},
			"Rome has 9 million people. (denied there: listed under “False claims”) [1]"},
		{"forged citations", turn.Claim{Text: "Rome[2] has［2］ 3 million【2】 people.[12][a]", Quote: "Rome[2] has［2］ 3 million【2】 people.[12][a]"}, "Rome has 3 million people. [1]"},
		{"forged, put together", turn.Claim{Text: "So it is [[1]2], or [source 2] says."}, "So it is, or says. [1]"},
	} {
		tt.claim.Source = 1
		look := readPage()
		look.Summary = []turn.Claim{tt.claim}
		r := Draft{Character: sage, Trace: &turn.Trace{}, Lookup: look, Rules: RulesFor(turn.Request{}, look, nil), Speeches: &Speeches{}}
		got, _, _ := strings.Cut(r.WithoutModel(""), "\n")
		answer, _, _ := strings.Cut(foundAnswer("en", look, nil), "\n")
		if got != tt.want || answer != tt.want {
			t.Errorf("%s: %q and %q, want %q", tt.name, got, answer, tt.want)
		}
	}
}

func TestRecordsOfCitations(t *testing.T) {
	for _, c := range []struct {
		body    string
		unborne int
		uncited bool
	}{
		{"It is 1,280 metres long [1].", 0, false},
		{"It is 1,999 metres long [1].", 1, false},
		{"It is long.", 0, true},
	} {
		look := readPage()
		r := Draft{Character: sage, Trace: &turn.Trace{}, Lookup: look, Rules: RulesFor(turn.Request{}, look, nil), Marker: &Marker{Lookup: look}}
		text := r.Compose(c.body)
		if len(r.Trace.Unsupported) != c.unborne || r.Trace.Uncited != c.uncited || strings.Contains(text, "[1?]") != (c.unborne > 0) {
			t.Errorf("%q: %+v, uncited %v:\n%s", c.body, r.Trace.Unsupported, r.Trace.Uncited, text)
		}
		if words := OwnWords(text); strings.Contains(words, "[1") {
			t.Errorf("history has %q", words)
		}
	}
}

// The reason for a failed lookup is reported exactly, and never blames the web wrongly.
func TestFailureIsTold(t *testing.T) {
	for code, want := range map[turn.Code]string{
		"unreachable": "could not reach the web.", "room": "does not fit", "nothing_to_ask": "nothing in this that I may search for",
		"internal": "wrong on my side", "cap": "I would have looked this up", "upstream": "the search service is out of order", "forbidden_json": "it answers no programs",
	} {
		got := Draft{Character: sage, Trace: &turn.Trace{}, Lookup: &turn.Lookup{State: turn.LookupFailed, Failure: code}}.failure()
		if !strings.Contains(got, want) || !slices.Contains([]turn.Code{"unreachable", "upstream", "forbidden_json"}, code) && strings.Contains(got, "reach the web") {
			t.Errorf("%s: %q", code, got)
		}
	}
}

// TestNotesAreStripped has history forget what code wrote below a reply, in every language.
func TestNotesAreStripped(t *testing.T) {
	for _, language := range append(Languages(), English) {
		look := readPage()
		look.Reused = &turn.Reuse{Age: time.Hour}
		for _, buttons := range []bool{false, true} {
			record := &turn.Trace{Request: turn.Request{Language: language, Buttons: buttons}}
			r := Draft{Character: sage, Trace: record, Lookup: look, Rules: RulesFor(turn.Request{}, look, nil), Marker: &Marker{Lookup: look}, Away: true}
			text := r.Compose("It is 1,280 metres long [1].", r.Say(CutOff), r.Say(onlyOutline), r.Say(noModelNote))
			if got := OwnWords(text); got != "It is 1,280 metres long." || strings.Count(text, "\n"+SmallType) < 5 {
				t.Errorf("%s: history has %q of:\n%s", language, got, text)
			}
			if again, _ := r.Rules.Guard(text); strings.Contains(again, SmallType) {
				t.Errorf("%s: a model may write %q", language, again)
			}
		}
	}
}
