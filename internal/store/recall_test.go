package store

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestRecall gathers messages with the words and their neighbours, only from readable channels. Newer messages with a word in other
// channels do not matter.
func TestRecall(t *testing.T) {
	db := open(t, t.TempDir())
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []Message
	add := func(guild, channel, text string) {
		n := len(all)
		all = append(all, Message{ID: fmt.Sprintf("%06d", n), GuildID: guild, ChannelID: channel, AuthorID: "a", AuthorName: "Ada", Text: text, At: begin.Add(time.Duration(n) * time.Minute)})
	}
	add("g", "open", "what shall we call the kitten?")
	add("g", "open", "Biscuit, of course")
	add("g", "closed", "the kitten of the boss is called Swordfish")
	for range perWord + 50 {
		add("h", "other", "a kitten")
	}
	if err := db.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	q := Recall{GuildID: "g", Channels: []string{"open"}, Words: [][]string{{"kittens"}, {"absent"}}}
	got, err := db.Messages.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range got.Messages {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"000000", "000001"}) {
		t.Errorf("gathered %v", ids)
	}
	if got.Weights[1] <= got.Weights[0] {
		t.Errorf("weights %v: the rarer word is worth more", got.Weights)
	}
	if err := db.Messages.Delete(t.Context(), "000000"); err != nil {
		t.Fatal(err)
	}
	if got, err = db.Messages.Recall(t.Context(), q); err != nil || len(got.Messages) > 0 {
		t.Errorf("after the deletion: %v, %v", got.Messages, err)
	}
	if err := db.Messages.TidyIndex(t.Context()); err != nil {
		t.Error(err)
	}
	q.Channels = nil
	if got, err = db.Messages.Recall(t.Context(), q); err != nil || len(got.Messages) > 0 {
		t.Errorf("without channels: %v, %v", got.Messages, err)
	}
}

// TestKoreanWords finds a word with its suffixes.
func TestKoreanWords(t *testing.T) {
	db := open(t, t.TempDir())
	err := db.Messages.Save(t.Context(),
		Message{ID: "1", GuildID: "g", ChannelID: "c", Text: "우리 강아지가 양탄자를 먹었어", At: noon}, Message{ID: "2", GuildID: "g", ChannelID: "c", Text: "회의가 길었어", At: noon})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"강아지", "강아"} {
		got, err := db.Messages.Recall(t.Context(), Recall{GuildID: "g", Channels: []string{"c"}, Words: [][]string{{word}}})
		if err != nil || len(got.Messages) == 0 || got.Messages[0].ID != "1" {
			t.Errorf("%s: %v, %v", word, got.Messages, err)
		}
		found, err := db.Messages.Search(t.Context(), Query{GuildID: "g", Channels: []string{"c"}, Words: word, Limit: 9})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", word, found, err)
		}
	}
}

// TestRecallOfATime gathers messages of the time asked about, even without a word of the question. It gathers none that may not be read.
func TestRecallOfATime(t *testing.T) {
	db := open(t, t.TempDir())
	var all []Message
	for i := range 200 {
		m := Message{ID: fmt.Sprintf("%04d", i), GuildID: "g", ChannelID: "open", Text: fmt.Sprint("words ", i), At: noon.AddDate(0, 0, i)}
		if i%2 == 1 {
			m.ChannelID = "closed"
		}
		all = append(all, m)
	}
	if err := db.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	got, err := db.Messages.Recall(t.Context(), Recall{GuildID: "g", Channels: []string{"open"}, Words: [][]string{{"absent"}}, From: noon.AddDate(0, 0, 100), To: noon.AddDate(0, 0, 109)})
	var ids []string
	for _, m := range got.Messages {
		ids = append(ids, m.ID)
	}
	if slices.Sort(ids); err != nil || !slices.Equal(ids, []string{"0100", "0102", "0104", "0106", "0108"}) {
		t.Errorf("gathered %v, %v", ids, err)
	}
}
