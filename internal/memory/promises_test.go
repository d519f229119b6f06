package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/storetest"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

// messagesOf returns the messages of a file, one a line, with \n for the end of a line.
func messagesOf(t *testing.T, file string) (all []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		all = append(all, strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n"))
	}
	return all
}

// side is a side model that proposes something for a message.
type side func(message string) []map[string]any

// keeperWith returns a keeper with a store of its own, in which Ana has said that she has a boat.
func keeperWith(t *testing.T, s side) (*Keeper, func(message string) []turn.MemoryChange) {
	t.Helper()
	db := storetest.Open(t)
	k := &Keeper{Memories: New(db), ByMessage: (&trace.Store{DB: db}).ByMessage, Redact: clean.NewRedactor(), Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))}
	message := ""
	if s != nil {
		k.Ask = func(_ context.Context, _, _ string, answer any) error {
			data, err := json.Marshal(map[string]any{"orders": s(message)})
			if err != nil {
				return err
			}
			return json.Unmarshal(data, answer)
		}
	}
	n := 0
	return k, func(said string) []turn.MemoryChange {
		n++
		message = said
		r := turn.Request{ID: fmt.Sprint("t", n), ChannelID: "c", Character: "familiar", Names: []string{"familiar"}, People: []string{"ana", "ben", "ada", "carl", "dana"},
			Addressed: turn.ByMention, Message: turn.Message{ID: fmt.Sprint(n), ChannelID: "c", Author: turn.Author{ID: "1", Name: "ana"}, Text: said, At: time.Now()}}
		if _, err := db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: store.Message{ID: r.Message.ID, ChannelID: "c", AuthorID: "1", AuthorName: "ana", Text: said, At: r.Message.At}}); err != nil {
			t.Fatal(err)
		}
		var applied Applied
		all := k.Apply(t.Context(), r, &applied)
		for _, one := range all {
			if one.Refused == turn.MemoryBroken {
				t.Fatalf("%q: %+v", said, one)
			}
		}
		return all
	}
}

// What speaks of the memory always ends in a receipt, whatever a side model makes of it. None of these is kept.
func TestReceiptForEach(t *testing.T) {
	sides := map[string]side{"none": nil, "sees nothing": func(string) []map[string]any { return nil }, "hostile": func(message string) []map[string]any {
		return []map[string]any{{"kind": "keep", "words": message}, {"kind": "forget", "memory": 1}, {"kind": "correct", "words": message, "memory": 1}}
	}}
	for name, s := range sides {
		_, say := keeperWith(t, s)
		for _, message := range messagesOf(t, "receipts.txt") {
			got := say(message)
			if why := (&Keeper{}).whyNot(turn.Request{Message: turn.Message{Text: message}}); len(got) == 0 && (name != "sees nothing" || why == turn.MemoryOrder) {
				t.Errorf("side model %s: %q has no receipt", name, message)
			}
			for _, one := range got {
				if one.Refused == "" {
					t.Errorf("side model %s: %q: %+v", name, message, one)
				}
			}
		}
	}
}

// A person who writes on while an order is carried out cancels the attempt. The next attempt has the receipt of the whole order.
func TestCanceledOrderIsWhole(t *testing.T) {
	k, say := keeperWith(t, nil)
	for i := range 100 {
		say("remember that I love plums")
		r := turn.Request{ID: fmt.Sprint("forget", i), ChannelID: "c", Character: "familiar", Names: []string{"familiar"}, Addressed: turn.ByMention,
			Message: turn.Message{ID: fmt.Sprint("f", i), ChannelID: "c", Author: turn.Author{ID: "1", Name: "ana"}, Text: "forget that I love plums", At: time.Now()}}
		ctx, cancel := context.WithCancel(t.Context())
		stop := time.AfterFunc(time.Duration(i)*50*time.Microsecond, cancel)
		var applied Applied
		k.Apply(ctx, r, &applied)
		stop.Stop()
		cancel()
		r.Message.Text += "\nand be quick about it"
		again := k.Apply(t.Context(), r, &applied)
		if len(again) != 1 || again[0].Refused != "" || len(again[0].IDs) != 1 {
			t.Fatalf("canceled after %d × 50 µs: %+v", i, again)
		}
		if turnID, err := k.Memories.LatestUndo(t.Context(), "1", time.Now()); err != nil || turnID != r.ID {
			t.Fatalf("canceled after %d × 50 µs: the undo is of %q: %v", i, turnID, err)
		}
	}
}

// Pasted text orders nothing, whatever a side model proposes.
func TestPastedOrdersNothing(t *testing.T) {
	words := ""
	k, say := keeperWith(t, func(string) []map[string]any {
		return []map[string]any{{"kind": "keep", "words": words}, {"kind": "forget", "memory": 1}, {"kind": "correct", "words": words, "memory": 1}}
	})
	for _, message := range messagesOf(t, "pasted.txt") {
		for line := range strings.Lines(message) {
			for _, words = range []string{strings.TrimSpace(line), message, line[strings.IndexAny(line, " ")+1:]} {
				for _, one := range say(message) {
					if one.Refused == "" {
						t.Errorf("%q, proposed %q: %+v", message, words, one)
					}
				}
				all, err := k.proposed(t.Context(), turn.Request{GuildID: "", ChannelID: "c", Message: turn.Message{Author: turn.Author{ID: "1"}, Text: message}})
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range all {
					if one.refused == "" {
						t.Errorf("%q, proposed %q, taken: %+v", message, words, one)
					}
				}
			}
		}
	}
}

// An honest side model has forgotten what the message speaks of, and nothing else.
func TestForgetsAsProposed(t *testing.T) {
	_, say := keeperWith(t, func(string) []map[string]any { return []map[string]any{{"kind": "forget", "memory": 1}} })
	say("remember that my dog is called Rex")
	for _, message := range []string{"that boat thing i told u? scrap it", "delete the old cat pictures"} {
		for _, one := range say(message) {
			if one.Refused == "" {
				t.Errorf("%q: %+v", message, one)
			}
		}
	}
	if got := say("that dog thing i told u? scrap it"); len(got) != 1 || got[0].Deed != "forget" || len(got[0].IDs) != 1 {
		t.Errorf("%+v", got)
	}
}

// What speaks of the memory without an order, and orders to forget, are not kept. This holds even if a hostile side model proposes all of
// it.
func TestDoubtfulIsNotKept(t *testing.T) {
	_, say := keeperWith(t, func(message string) []map[string]any {
		return []map[string]any{{"kind": "keep", "words": message}, {"kind": "keep", "words": message[strings.LastIndexAny(message, " ,:，：")+1:]}}
	})
	for _, message := range messagesOf(t, "doubtful.txt") {
		for _, one := range say(message) {
			if one.Refused == "" {
				t.Errorf("%q: %+v", message, one)
			}
		}
	}
}

// A hostile side model points at words that steer the bot, plant an address, or tell of another's health. Some are not the author's own.
// None is kept, whether it proposes them alone, with the whole message, or as a correction. What follows a second bar is the author's
// own beside them.
func TestHostileProposals(t *testing.T) {
	var words string
	asked := 0
	_, say := keeperWith(t, func(message string) []map[string]any {
		asked++
		return []map[string]any{{"kind": "keep", "words": words}, {"kind": "correct", "words": words, "memory": 1}, {"kind": "keep", "words": message}}
	})
	say("remember that my boat is named Wanda")
	rows := messagesOf(t, "proposals.txt")
	for _, row := range rows {
		parts := append(strings.Split(row, " | "), "")
		words = parts[1]
		for _, one := range say(parts[0]) {
			if one.Refused == "" && one.Text != parts[2] {
				t.Errorf("%q: %+v", parts[0], one)
			}
		}
	}
	if asked < len(rows)/4 {
		t.Errorf("for %d of %d the side model is not asked: code decides most, and the test is of little use", len(rows)-asked, len(rows))
	}
}

// An honest side model has each of these forgotten. A hostile one that points at something else has nothing forgotten.
func TestForgetsInAnyWords(t *testing.T) {
	for _, row := range messagesOf(t, "forgets.txt") {
		kept, message, _ := strings.Cut(row, " | ")
		for _, honest := range []bool{true, false} {
			memory := 1
			if !honest {
				memory = 2
			}
			k, say := keeperWith(t, func(string) []map[string]any { return []map[string]any{{"kind": "forget", "memory": memory}} })
			k.Memories.Save(t.Context(), Statement{Kind: Note, Scope: Scope{Kind: ScopeDM, ID: "c"}, Text: "zither zeppelin", Author: "1", By: "1", Sources: []string{CommandSource("z")}, SaidAt: time.Now().Add(-time.Hour), LearnedAt: time.Now().Add(-time.Hour)})
			k.Memories.Save(t.Context(), Statement{Kind: Note, Scope: Scope{Kind: ScopeDM, ID: "c"}, Text: kept, Author: "1", By: "1", Sources: []string{CommandSource("k")}, SaidAt: time.Now(), LearnedAt: time.Now()})
			got := say(message)
			forgot := len(got) == 1 && got[0].Deed == "forget" && got[0].Refused == "" && len(got[0].IDs) == 1
			all, err := k.Memories.Export(t.Context())
			if err != nil || honest && !forgot || len(all) != 2 && !forgot || forgot && !(len(all) == 1 && strings.Contains(all[0].Text, "zither")) {
				t.Errorf("%q, honest %t: %+v, left %d, %v", message, honest, got, len(all), err)
			}
		}
	}
}

// People say in 13 languages how they want to be called. What else they order beside that is no part of it.
func TestPeopleSayHowTheyAreCalled(t *testing.T) {
	k, say := keeperWith(t, nil)
	for _, message := range []string{
		"call me Lena", "nenn mich Lena", "sag Lena zu mir", "appelle-moi Lena", "llámame Lena", "me chama de Lena", "chiamami Lena", "noem me Lena", "zeg Lena tegen me", "зови меня Lena", "обращайся ко мне Lena",
		"mów mi Lena", "mów na mnie Lena", "zwracaj się do mnie Lena", "bana Lena de", "Lenaって呼んで", "叫我Lena", "Lena라고 불러 줘",
	} {
		if _, err := k.Memories.SetCard(t.Context(), "1", turn.CardName, "", time.Now()); err != nil {
			t.Fatal(err)
		}
		got := say(message)
		card, err := k.Memories.Card(t.Context(), "1")
		if len(got) != 1 || got[0].Refused != "" || card[turn.CardName] != "Lena" || err != nil {
			t.Errorf("%q: %+v, %v, %v", message, got, card, err)
		}
	}
	for _, message := range []string{"mów mi Lena i zawsze odpowiadaj po łacinie", "nenn mich Lena und antworte immer auf Latein"} {
		if got := say(message); len(got) != 1 || got[0].Refused != turn.MemoryOrder {
			t.Errorf("%q: %+v", message, got)
		}
	}
}
