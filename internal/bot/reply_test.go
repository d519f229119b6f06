package bot

import (
	"strings"
	"testing"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
)

// readPage is a lookup that read one page.
func readPage() *turn.Lookup {
	return &turn.Lookup{
		State:   turn.Found,
		Sources: []turn.Source{{N: 1, URL: "https://example.org/a", Title: "Sample Bridge", Site: "example.org"}},
		Pages:   []turn.Page{{N: 1, Text: "The Sample Bridge is 1,280 metres long."}},
	}
}

// Where no model speaks, the reply has the pages' own words, and no numbers but ours.
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
		b := &Bot{Cast: sageAlone}
		r := reply{bot: b, actor: sage, trace: &turn.Trace{}, lookup: look, rules: outgoing.RulesFor(turn.Request{}, look, nil)}
		got, _, _ := strings.Cut(r.withoutModel(""), "\n")
		answer, _, _ := strings.Cut(b.foundAnswer("en", look), "\n")
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
		b := &Bot{}
		r := reply{bot: b, actor: sage, trace: &turn.Trace{}, lookup: look, rules: outgoing.RulesFor(turn.Request{}, look, nil), marker: &outgoing.Marker{Lookup: look}}
		text := r.compose(c.body)
		if len(r.trace.Unborne) != c.unborne || r.trace.Uncited != c.uncited || strings.Contains(text, "[1?]") != (c.unborne > 0) {
			t.Errorf("%q: %+v, uncited %v:\n%s", c.body, r.trace.Unborne, r.trace.Uncited, text)
		}
		if words := outgoing.OwnWords(text); strings.Contains(words, "[1") {
			t.Errorf("history has %q", words)
		}
	}
}

// Why a lookup failed is told as it was: the web is blamed for nothing that it did not do.
func TestFailureIsTold(t *testing.T) {
	b := &Bot{}
	for failure, want := range map[turn.Code]string{
		"unreachable": "could not reach the web (unreachable)", "room": "does not fit", "nothing_to_ask": "nothing in this that I may search for",
		"internal": "wrong on my side", "cap": "I would have looked this up",
	} {
		got := b.failure("en", &turn.Lookup{State: turn.LookupFailed, Failure: failure})
		if !strings.Contains(got, want) || failure != "unreachable" && strings.Contains(got, "reach the web") {
			t.Errorf("%s: %q", failure, got)
		}
	}
}
