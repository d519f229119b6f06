package ranking

import (
	"fmt"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// conversation is a channel of two people, a session of each row.
func conversation() (all []turn.Message) {
	for i, session := range [][]string{
		{"ada: I bought a piano in the end.", "ben: Nice! What do you play?", "ada: Mostly Satie, slowly."},
		{"ben: My puppy ate the rug.", "ada: Poor rug.", "ben: He is three months old."},
		{"ada: We decided on Lisbon.", "ben: When do you leave?", "ada: On the third of May."},
		{"ben: Nothing new here.", "ada: Same."},
	} {
		at := now.AddDate(0, -8+2*i, 0)
		for j, line := range session {
			all = append(all, turn.Message{
				ID: fmt.Sprintf("%d.%d", i, j), ChannelID: "c", Author: turn.Author{ID: line[:3], Name: line[:3]}, Text: line[5:], At: at.Add(time.Duration(j) * time.Minute),
			})
		}
	}
	return all
}

func TestRank(t *testing.T) {
	for question, want := range map[string]string{
		"What pet does ben have?":                  "1.0", // a puppy
		"what was the decision about the trip?":    "2.0", // decided
		"What does ada play?":                      "0.2", // the answer behind the question
		"what did I buy?":                          "0.0", // bought, by who asks
		"what happened 2 months ago? Nothing new?": "3.0",
	} {
		q := Read(question, "ada", []string{"ada", "ben"}, now)
		messages := conversation()
		got := q.Rank(messages, q.Weigh(messages))
		if len(got.Hits) != len(messages) || got.Hits[0].ID != want {
			t.Errorf("%s: %s %q", question, got.Hits[0].ID, got.Hits[0].Text)
		}
		if got.Hits[0].Session != got.Sessions[0].Number {
			t.Errorf("%s: the best session is %+v", question, got.Sessions[0])
		}
	}
	if q := Read("?!", "ada", nil, now); len(q.Words()) > 0 {
		t.Errorf("words %v", q.Words())
	}
}
