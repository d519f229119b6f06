package bot

import (
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
)

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
		b := &Bot{Cast: sageAlone}
		r := draft{bot: b, actor: sage, trace: &turn.Trace{}, lookup: look, rules: reply.RulesFor(turn.Request{}, look, nil)}
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
		r := draft{bot: b, actor: sage, trace: &turn.Trace{}, lookup: look, rules: reply.RulesFor(turn.Request{}, look, nil), marker: &reply.Marker{Lookup: look}}
		text := r.compose(c.body)
		if len(r.trace.Unsupported) != c.unborne || r.trace.Uncited != c.uncited || strings.Contains(text, "[1?]") != (c.unborne > 0) {
			t.Errorf("%q: %+v, uncited %v:\n%s", c.body, r.trace.Unsupported, r.trace.Uncited, text)
		}
		if words := reply.OwnWords(text); strings.Contains(words, "[1") {
			t.Errorf("history has %q", words)
		}
	}
}

// The reason for a failed lookup is reported exactly, and never blames the web wrongly.
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

// TestNotesAreStripped has history forget what code wrote below a reply, in every language.
func TestNotesAreStripped(t *testing.T) {
	for _, language := range append(reply.Languages(), reply.English) {
		look := readPage()
		look.Reused = &turn.Reuse{Age: time.Hour}
		for _, buttons := range []bool{false, true} {
			record := &turn.Trace{Request: turn.Request{Language: language, Buttons: buttons}}
			b := resting(t, &recorder{})
			r := draft{bot: b, actor: b.Cast.Default, trace: record, lookup: look, rules: reply.RulesFor(turn.Request{}, look, nil), marker: &reply.Marker{Lookup: look}, away: true}
			text := r.compose("It is 1,280 metres long [1].", r.say(cutOff), r.say(onlyOutline), r.say(noModelNote))
			if got := reply.OwnWords(text); got != "It is 1,280 metres long." || strings.Count(text, "\n"+reply.SmallType) < 5 {
				t.Errorf("%s: history has %q of:\n%s", language, got, text)
			}
			if again, _ := r.rules.Guard(text); strings.Contains(again, reply.SmallType) {
				t.Errorf("%s: a model may write %q", language, again)
			}
		}
	}
}
