package past

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/context/turn"
)

var now = time.Date(2026, 11, 22, 12, 30, 0, 0, time.UTC)

func request(message string) turn.Request {
	return turn.Request{
		GuildID: "1", Names: []string{"Sage"}, People: []string{"Ada", "Ben", "Grace Hopper", "May", "数人"},
		Message: turn.Message{ID: "9", Text: message, Author: turn.Author{ID: "2", Name: "Ana"}},
	}
}

func TestRead(t *testing.T) {
	for message, want := range map[string]string{
		"what did Ada say about the deploy?":                        "people Ada about deploy",
		"Sage, what did ada say about the deploy?":                  "people Ada about deploy",
		"who mentioned Kubernetes last week?":                       "from 11-09 about Kubernetes",
		"did we decide on a database?":                              "about database",
		"what did we decide about the logo yesterday":               "from 11-21 about logo",
		"what's the link that Ben posted?":                          "people Ben address",
		"what was the link Grace Hopper shared about COBOL":         "people Grace Hopper about COBOL address",
		"has anyone posted the schedule?":                           "about schedule",
		"what was said in this channel about the party?":            "here about party",
		"did I say anything about Lisbon?":                          "by asker about Lisbon",
		"what's pinned here?":                                       "pins here",
		"what is this channel for?":                                 "topic here",
		"what did I miss?":                                          "missed",
		"estuve fuera dos días, ¿de qué me perdí?":                  "missed",
		"what did you just say?":                                    "by bot",
		"was hat Ada gestern über das Logo gesagt?":                 "people Ada from 11-21 about Logo",
		"https://discord.com/channels/1/22/333 what is this about?": "link 333",
		"https://ptb.discord.com/channels/1/22/334":                 "link 334",
		"which links were posted by Ben?":                           "people Ben address",
		// Questions for the web, or for nobody.
		"who wrote a song about May and Ben":                "-",
		"what did Ada Lovelace say about the engine?":       "-",
		"who said \"I have a dream\"?":                      "-",
		"who wrote Hamlet?":                                 "-",
		"who proposed the theory of relativity?":            "-",
		"what did the president say yesterday?":             "-",
		"what is the tallest tree?":                         "-",
		"Ada said the deploy is broken.":                    "-",
		"should we discuss this tomorrow?":                  "-",
		"hello everyone":                                    "-",
		"search the web for what Ada said about the deploy": "-",
		"what happened in May?":                             "-",
		"tell me about Kubernetes":                          "-",
		"what do people say about the new iPhone?":          "-",
		"can you tell us who won the cup?":                  "-",
		"what does the doctor say about it?":                "-",
	} {
		if got := write(Read(request(message), now)); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
	direct := request("what did Ada say about the deploy?")
	direct.GuildID, direct.Servers = "", []string{"1"}
	if got := write(Read(direct, now)); got != "people Ada about deploy" {
		t.Error(got)
	}
	ordered := request("what did Ada say about the deploy?")
	ordered.Web.Switch = turn.WebAlways
	if Read(ordered, now).Asks() {
		t.Error("who orders a lookup means the web")
	}
	mentioned := request("what did @Zoë say in #off-topic?")
	mentioned.Message.Mentions = []string{"@Zoë", "#off-topic"}
	if got := write(Read(mentioned, now)); got != "people Zoë in off-topic" {
		t.Error(got)
	}
}

func write(q Question) string {
	if !q.Asks() {
		return "-"
	}
	var parts []string
	add := func(holds bool, what ...string) {
		if holds {
			parts = append(parts, what...)
		}
	}
	add(q.Maybe, "maybe")
	add(q.Missed, "missed")
	add(q.Pins, "pins")
	add(q.Topic, "topic")
	for _, l := range q.Links {
		parts = append(parts, "link", l.Message)
	}
	add(len(q.People) > 0, "people", strings.Join(q.People, ","))
	add(q.ByAsker, "by asker")
	add(q.ByBot, "by bot")
	add(len(q.Channels) > 0, "in", strings.Join(q.Channels, ","))
	add(q.Here, "here")
	add(!q.Span.From.IsZero(), "from", q.Span.From.Format("01-02"))
	add(len(q.Words) > 0, "about", strings.Join(q.Words, " "))
	add(q.Address, "address")
	return strings.Join(parts, " ")
}

func BenchmarkRead(b *testing.B) {
	r := request("so I tried the new build on my laptop, and it was slower than yesterday; is that what you saw, too?")
	for range 300 {
		r.People = append(r.People, "Somebody Else")
	}
	for b.Loop() {
		Read(r, now)
	}
}

// TestReader checks that those who read a turn at the same moment share the result. Another message of the turn is read again.
func TestReader(t *testing.T) {
	var r Reader
	for _, text := range []string{"what did Ada say here yesterday?", "what is the capital of France?"} {
		req := request(text)
		req.ID = "a turn"
		want := Read(req, now)
		for range 3 {
			if d := cmp.Diff(want, r.Read(req, now)); d != "" {
				t.Error(text, d)
			}
		}
	}
	if r.next != 2 {
		t.Errorf("%d readings, want 2", r.next)
	}
}
