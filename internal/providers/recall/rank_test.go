package recall

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"familiar/internal/context/turn"
)

var rankingNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// conversation returns the messages of a channel of two people. Each row is a session.
func conversation() (all []turn.Message) {
	for i, session := range [][]string{
		{"ada: I bought a piano in the end.", "ben: Nice! What do you play?", "ada: Mostly Satie, slowly."},
		{"ben: My puppy ate the rug.", "ada: Poor rug.", "ben: He is three months old."},
		{"ada: We decided on Lisbon.", "ben: When do you leave?", "ada: On the third of May."},
		{"ben: Nothing new here.", "ada: Same."},
	} {
		at := rankingNow.AddDate(0, -8+2*i, 0)
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
		"What does ada play?":                      "0.2", // the answer after the question
		"what did I buy?":                          "0.0", // bought, by the asker
		"what happened 2 months ago? Nothing new?": "3.0",
	} {
		q := readQuery(question, "ada", []string{"ada", "ben"}, rankingNow)
		messages := conversation()
		got := q.rank(messages, q.weigh(messages))
		if len(got) != len(messages) || got[0].ID != want {
			t.Errorf("%s: %s %q", question, got[0].ID, got[0].Text)
		}
	}
	if q := readQuery("?!", "ada", nil, rankingNow); len(q.words()) > 0 {
		t.Errorf("words %v", q.words())
	}
}

func TestFuse(t *testing.T) {
	if got := fuse([]string{"a", "b", "c"}, []string{"c", "b"}, []string{"b", "d"}); !slices.Equal(got, []string{"b", "c", "a", "d"}) {
		t.Error(got)
	}
	if got := fuse[int](); len(got) > 0 {
		t.Error(got)
	}
}

// TestFuseNear checks that hits high in both lists come first, and that an empty second list changes nothing.
func TestFuseNear(t *testing.T) {
	var hits []Hit
	for _, id := range []string{"a", "b", "c", "d"} {
		hits = append(hits, Hit{Message: turn.Message{ID: id}})
	}
	order := func() (ids string) {
		for _, h := range hits {
			ids += h.ID
		}
		return ids
	}
	if fuseNear(hits, nil); order() != "abcd" {
		t.Error(order())
	}
	if fuseNear(hits, []string{"elsewhere"}); order() != "abcd" {
		t.Error(order())
	}
	if fuseNear(hits, []string{"d", "b"}); order() != "bdac" {
		t.Error(order())
	}
	if why := hits[1].Why; !slices.Equal(why, []Reason{{"near in meaning", 1.0 / 61}}) {
		t.Error(why)
	}
}
