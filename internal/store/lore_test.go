package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLore checks that the state of entries is counted in messages of their channel and is deleted with the server.
func TestLore(t *testing.T) {
	db := open(t, t.TempDir())
	defer db.Close()
	ctx := t.Context()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6 {
		m := Message{ID: fmt.Sprint("m", i), ChannelID: "c", GuildID: "g", AuthorID: "ana", Text: "x", At: begin.Add(time.Duration(i) * time.Minute)}
		if i%2 == 1 {
			m.Own, m.AuthorID = true, "moss"
		}
		if err := db.Messages.Save(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	chat := func(i int) LoreChat {
		return LoreChat{ChannelID: "c", GuildID: "g", Character: "moss", MessageID: fmt.Sprint("m", i), At: begin.Add(time.Duration(i) * time.Minute)}
	}
	for i, turn := range []string{"t1", "t2"} {
		if err := db.Characters.SetLore(ctx, chat(2*i), turn, "book/1"); err != nil {
			t.Fatal(err)
		}
	}
	for message, since := range map[int]int{1: 0, 2: 0, 3: 1, 4: 2, 5: 3, 6: 4} {
		got, err := db.Characters.Lore(ctx, chat(message))
		want := map[string]LoreFiring{"book/1": {Since: since, TurnID: "t2", FirstTurn: "t1"}}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("at message %d: %v %s", message, err, d)
		}
	}
	for message, want := range map[int][2]int{0: {1, 0}, 4: {5, 2}, 6: {7, 3}} {
		all, own, err := db.Characters.ChatLength(ctx, chat(message))
		if got := [2]int{all, own}; err != nil || got != want {
			t.Errorf("at message %d: %v %v", message, got, err)
		}
	}
	other := chat(5)
	other.Character = "fern"
	if got, err := db.Characters.Lore(ctx, other); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}

	for _, want := range []int{-1, 2} {
		if n, err := db.Characters.Greeting(ctx, "c", "moss"); n != want || err != nil {
			t.Errorf("%d %v", n, err)
		}
		if err := db.Characters.SetGreeting(ctx, "c", "g", "moss", 2); err != nil {
			t.Fatal(err)
		}
	}
	for table, keys := range map[string]string{"lore": "channel_id, character, entry", "greetings": "channel_id, character"} {
		if _, err := db.ChangeRows(ctx, table, keys, `guild_id = @server`, "", Args{"server": "g"}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := db.Characters.Lore(ctx, chat(5)); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
	if n, err := db.Characters.Greeting(ctx, "c", "moss"); n != -1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}
