package prompt

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/characters"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
	"familiar/internal/store"
	"familiar/internal/test/storetest"
)

// The prompts of two successive turns are equal up to the first message that differs. The asker, what is known about the question, and what was
// looked up come after it.
func TestHeadIsStable(t *testing.T) {
	sage, err := character.Load(characters.FS, "sage")
	if err != nil {
		t.Fatal(err)
	}
	var counter llm.Counter
	talk := []turn.Message{
		said(1, "Ada", "morning! {{user}} is a macro"), said(2, "Sage", "Good morning. The kettle is on."), said(3, "Bo", "is there tea?"),
		said(4, "Sage", "There is, in the pot."), said(5, "Ada", "and cake?"),
	}
	render := func(n int) string {
		asked := talk[n]
		history := recent(talk[:n]...)
		b := &Builder{Count: counter.Count, Clock: time.UTC, Providers: []Provider{
			&character.Provider{Character: sage},
			fake{"history", func(context.Context) ([]turn.Contribution, error) { return history, nil }},
			fake{"memory", func(context.Context) ([]turn.Contribution, error) {
				return []turn.Contribution{
					{Layer: turn.HistorySummary, Text: "Earlier: they spoke of owls.", Source: "history:summary"},
					{Layer: turn.Content, Text: fmt.Sprint("What is known of ", asked.Author.Name, ": nothing yet."), Source: "memory"},
					{Layer: turn.Content, Web: true, Text: fmt.Sprint("<web-search-results-", n, ">"), Source: "websearch"},
				}, nil
			}},
		}}
		limits := sage.Modes[turn.Text]
		p := b.Build(t.Context(), turn.Request{
			GuildID: "1", Mode: turn.Text, Message: asked, Deadline: time.Now().Add(time.Minute), Budget: turn.Budget{Total: limits.Total, Layers: limits.Layers},
		})
		return show(p.Messages)
	}
	before, after := render(2), render(4)
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	t.Logf("the common head has %d tokens of %d", counter.Count(before[:same]), counter.Count(before))
	for _, want := range []string{"write only your words", "means that you did not search", "You are Sage, librarian", "One to four sentences", "Earlier: they spoke of owls.", "The kettle is on."} {
		if !strings.Contains(before[:same], want) {
			t.Errorf("the common head lacks %q", want)
		}
	}
	for _, late := range []string{"What is known of", "<web-search-results-4>"} {
		if strings.Contains(before[:same], late) || strings.Index(after, late) < strings.Index(after, "There is, in the pot.") {
			t.Errorf("%q does not stand near the end", late)
		}
	}
}

// TestHeadOfALivelyChannel measures how much of a prompt is the beginning of the next one. The channel's window is full.
func TestHeadOfALivelyChannel(t *testing.T) {
	sage, err := character.Load(characters.FS, "sage")
	if err != nil {
		t.Fatal(err)
	}
	var counter llm.Counter
	db := storetest.Open(t)
	b := &Builder{Count: counter.Count, Clock: time.UTC, Providers: []Provider{
		&character.Provider{Character: sage}, &recall.HistoryProvider{Store: db, Window: sage.Window, Count: counter.Count},
	}}
	limits := sage.Modes[turn.Text]
	questions := []string{"sage, which of the two bridges is older?", "and when was the tower closed", "ok but who paid for all that?", "is there a map in the library", "I read it was the other way round, are you sure?"}
	answers := []string{"The northern one, by about forty years; the plaque on it says 1891.", "I don't know, and I would rather not guess. The town archive might.", "Two towns, in equal parts, and both complained."}
	var earlier string
	good, turns := 0, 0
	for n := range 100 {
		asked := said(2*n, []string{"Ada", "Bo", "Cyd"}[n%3], questions[n%len(questions)])
		asked.ChannelID = "c"
		p := b.Build(t.Context(), turn.Request{
			Character: "sage", GuildID: "1", ChannelID: "c", Mode: turn.Text, Message: asked, Deadline: time.Now().Add(time.Minute), Budget: turn.Budget{Total: limits.Total, Layers: limits.Layers},
		})
		if len(p.Dropped) > 0 {
			t.Errorf("turn %d: %+v", n, p.Dropped)
		}
		now := show(p.Messages)
		now = now[strings.Index(now, "\n"):] // the size of the first message
		same := 0
		for same < min(len(earlier), len(now)) && earlier[same] == now[same] {
			same++
		}
		if n >= sage.Window/2 { // the window is full
			turns++
			if 10*counter.Count(now[:same]) >= 9*counter.Count(earlier) {
				good++
			}
		}
		earlier = now
		for i, m := range []turn.Message{asked, said(2*n+1, "Sage", answers[n%len(answers)])} {
			if err := db.Messages.Save(t.Context(), store.Message{ID: m.ID, ChannelID: "c", AuthorID: []string{m.Author.ID, "sage"}[i], AuthorName: m.Author.Name, Text: m.Text, At: m.At, Own: i == 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("in %d of %d turns 90 %% of the tokens or more are shared", good, turns)
	if 10*good < 9*turns {
		t.Errorf("in %d of %d turns 90 %% of the tokens are shared, want 9 of 10", good, turns)
	}
}
