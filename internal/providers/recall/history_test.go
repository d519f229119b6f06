package recall

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/storetest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)

func at(second int) time.Time { return noon.Add(time.Duration(second) * time.Second) }

// stored returns message n of a channel, written in second n.
func stored(n int, text string) store.Message {
	return store.Message{
		ID: fmt.Sprint(100 + n), ChannelID: "c", AuthorID: "7", AuthorName: "Ada", Text: text, At: at(n),
	}
}

func own(m store.Message) store.Message {
	m.AuthorID = "sage"
	m.Own, m.AuthorName = true, "Sage"
	return m
}

// request returns the turn of message n.
func requestAt(n int) turn.Request {
	m := stored(n, "now").SeenBy("")
	return turn.Request{Character: "sage", ChannelID: "c", Message: m}
}

// show returns the contributions, each on a line.
func show(cs []turn.Contribution) (lines []string) {
	for _, c := range cs {
		lines = append(lines, fmt.Sprintf("%d %s %s: %s", c.Priority, c.Source, c.Message.Author.Name, c.Message.Text))
	}
	return lines
}

func TestHistory(t *testing.T) {
	another := stored(2, "elsewhere")
	another.ID, another.ChannelID = "x", "d"
	earlier := own(stored(8, "my first answer to it"))
	earlier.ReplyTo = "106"
	conversation := []store.Message{
		stored(1, "one"), own(stored(2, "two")), another, stored(3, " "), stored(4, "four"), stored(5, "five"),
		stored(6, "now"), stored(7, "written while it waited"), earlier, own(stored(9, "said while it waited")),
	}
	parent := stored(1, "one").SeenBy("")
	old := turn.Message{ID: "50", Author: turn.Author{Name: "Bo"}, Text: "long ago", At: noon.Add(-time.Hour)}

	tests := []struct {
		name   string
		window int
		change func(*turn.Request)
		want   []string
	}{
		{"newest first, neither the turn's own nor what came after", 0, func(*turn.Request) {}, []string{
			"800 history:recent Sage: said while it waited", "799 history:recent Ada: five", "798 history:recent Ada: four",
			// The blank message takes a place and is not offered.
			"796 history:recent Sage: two", "795 history:recent Ada: one",
		}},
		{"window", 2, func(*turn.Request) {}, []string{
			"800 history:recent Sage: said while it waited", "799 history:recent Ada: five",
		}},
		{"parent once, and before the rest", 3, func(r *turn.Request) { r.Parent = &parent }, []string{
			"1000 history:parent Ada: one", "800 history:recent Sage: said while it waited",
			"799 history:recent Ada: five", "798 history:recent Ada: four",
		}},
		{"chain after the parent", 1, func(r *turn.Request) { r.Parent = &parent; r.Chain = []turn.Message{parent, old} }, []string{
			"1000 history:parent Ada: one", "899 history:chain Bo: long ago", "800 history:recent Sage: said while it waited",
		}},
		{"parent from the store", 1, func(r *turn.Request) { r.Message.ReplyTo = "102" }, []string{
			"1000 history:parent Sage: two", "800 history:recent Sage: said while it waited",
		}},
		{"parent deleted", 1, func(r *turn.Request) { r.Message.ReplyTo = "404" }, []string{
			"800 history:recent Sage: said while it waited",
		}},
		{"parent in another channel", 1, func(r *turn.Request) { r.Message.ReplyTo = "x" }, []string{
			"800 history:recent Sage: said while it waited",
		}},
		{"what the turn's message holds already", 2, func(r *turn.Request) { r.Burst = []string{"104", "105"} }, []string{
			"800 history:recent Sage: said while it waited", // and message 3, which is blank
		}},
		{"a channel without messages", 0, func(r *turn.Request) { r.ChannelID = "new" }, nil},
	}
	db := storetest.Open(t, conversation...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := requestAt(6)
			tt.change(&req)
			cs, err := (&HistoryProvider{Store: db, Window: tt.window}).Contribute(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, show(cs)); d != "" {
				t.Error(d)
			}
			for _, c := range cs {
				if c.Layer != turn.RecentHistory || c.Text != "" {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

func TestWindowOfForty(t *testing.T) {
	var ms []store.Message
	for n := range 60 {
		ms = append(ms, stored(n, fmt.Sprint("text ", n)))
	}
	cs, err := (&HistoryProvider{Store: storetest.Open(t, ms...)}).Contribute(t.Context(), requestAt(50))
	if err != nil || len(cs) != 40 {
		t.Fatalf("%d messages, %v", len(cs), err)
	}
	if first, last := cs[0].Message.Text, cs[39].Message.Text; first != "text 49" || last != "text 10" {
		t.Errorf("from %q to %q", first, last)
	}
}

// TestHalfIsDroppedAtOnce checks that prompts begin with the same message until they have too many messages or tokens. A deleted first
// message counts as one that no longer fits.
func TestHalfIsDroppedAtOnce(t *testing.T) {
	db := storetest.Open(t)
	p := &HistoryProvider{Store: db, Window: 6, Count: func(s string) int { return len(s) }}
	req := func(n, room int) turn.Request {
		r := requestAt(n)
		r.Budget = turn.Budget{Layers: map[turn.Layer]int{turn.RecentHistory: room}}
		return r
	}
	var shown []string
	for n := range 16 {
		cs, err := p.Contribute(t.Context(), req(n, 6*(6+perLabel)))
		if err != nil {
			t.Fatal(err)
		}
		if len(cs) > 0 {
			shown = append(shown, cs[len(cs)-1].Message.Text+"-"+fmt.Sprint(len(cs)))
		}
		if err := db.Messages.Save(t.Context(), stored(n, fmt.Sprintf("text%02d", n))); err != nil {
			t.Fatal(err)
		}
	}
	want := "text00-1 text00-2 text00-3 text00-4 text00-5 text00-6 text04-3 text04-4 text04-5 text04-6 text08-3 text08-4 text08-5 text08-6 text12-3"
	if got := strings.Join(shown, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	cs, err := p.Contribute(t.Context(), req(16, 3*(6+perLabel))) // half of the room has place for one
	if err != nil || len(cs) != 1 || cs[0].Message.Text != "text15" {
		t.Errorf("with less room: %d, %v", len(cs), err)
	}
	if err := db.Messages.Delete(t.Context(), "115"); err != nil {
		t.Fatal(err)
	}
	if cs, err := p.Contribute(t.Context(), req(16, 1000)); err != nil || len(cs) != 3 {
		t.Errorf("without the first: %d, %v", len(cs), err)
	}
}

func TestStoreFails(t *testing.T) {
	parent := stored(1, "one").SeenBy("")
	req := requestAt(6)
	req.Parent = &parent
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cs, err := (&HistoryProvider{Store: storetest.Open(t, stored(2, "two"))}).Contribute(ctx, req)
	if err == nil || !strings.HasPrefix(err.Error(), "read recent messages: ") {
		t.Errorf("error %v", err)
	}
	if d := cmp.Diff([]string{"1000 history:parent Ada: one"}, show(cs)); d != "" {
		t.Error(d)
	}
}

func TestShorten(t *testing.T) {
	short := strings.Repeat("é", maxLength)
	sentences := strings.Repeat("Words that make a sentence. ", 100)
	tests := []struct {
		name, text string
		ends       string
		atLeast    int
	}{
		{"short enough", short, "é", maxLength},
		{"at a sentence", sentences, "make a sentence. …", maxLength - 40},
		{"other scripts", strings.Repeat("今日は晴れです。", 400), "です。 …", maxLength - 20},
		{"at a space", strings.Repeat("word ", 1000), "word …", maxLength - 20},
		{"hard", strings.Repeat("ж", 5000), "жжж …", maxLength - 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := shorten(tt.text)
			n := utf8.RuneCountInString(got)
			if !strings.HasSuffix(got, tt.ends) || n > maxLength || n < tt.atLeast || !utf8.ValidString(got) {
				t.Errorf("%d characters, ending in %q", n, got[max(0, len(got)-30):])
			}
		})
	}
	cs, err := (&HistoryProvider{Store: storetest.Open(t, stored(1, sentences))}).Contribute(t.Context(), requestAt(6))
	if err != nil || !strings.HasSuffix(cs[0].Message.Text, " …") {
		t.Errorf("%+v, %v", cs, err)
	}
}

func BenchmarkContribute(b *testing.B) {
	db := storetest.Open(b)
	for n := range 100 {
		if err := db.Messages.Save(b.Context(), stored(n, "some words that were said")); err != nil {
			b.Fatal(err)
		}
	}
	p := &HistoryProvider{Store: db}
	for b.Loop() {
		if cs, err := p.Contribute(b.Context(), requestAt(90)); err != nil || len(cs) != 40 {
			b.Fatal(len(cs), err)
		}
	}
}
