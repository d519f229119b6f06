package websearch

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/test/storetest"
)

// TestCapsRoll checks that a channel's half hour rolls, and that a refusal names the next free time.
func TestCapsRoll(t *testing.T) {
	w := newWorld(t, &finder{hits: hits("https://peaks.example.org/everest.html")})
	db := storetest.Open(t)
	w.Store, w.Policy.PerSession, w.Policy.PerDay = db, 2, 4
	for i, tt := range []struct {
		at, channel, who, refusal string
	}{
		{"12:20", "C", "U1", ""},
		{"12:28", "C", "U2", ""},
		{"12:31", "C", "U1", "the 2 lookups that this channel has in half an hour are used up; the next is free in 19 min, at 12:50 UTC"},
		{"12:31", "D", "U1", ""},
		{"12:50", "C", "U1", ""},
		{"12:51", "C", "U1", "channel has in half an hour are used up; the next is free in 7 min, at 12:58 UTC"},
		{"13:30", "C", "U1", ""},
		{"14:30", "C", "U1", "the 4 lookups that a person has in a day are used up; the next is free in 21 h, at 12:20 UTC"},
		{"14:30", "C", "U2", ""},
	} {
		at, err := time.Parse("15:04", tt.at)
		if err != nil {
			t.Fatal(err)
		}
		w.Now = func() time.Time { return time.Date(2026, 11, 20, at.Hour(), at.Minute(), 0, 0, time.UTC) }
		req := ask(fmt.Sprintf("What is the height of Mount Everest in the year %d?", 1900+i))
		req.GuildID, req.ChannelID, req.Message.Author.ID = "G", tt.channel, tt.who
		l := w.lookup(t, req)
		if refused := l.Failure == turn.CodeCap; refused != (tt.refusal != "") || !strings.Contains(l.Reason, tt.refusal) || refused && l.State != turn.LookupFailed {
			t.Errorf("%s of %s in %s: %s %s %q, want %q", tt.at, tt.who, tt.channel, l.State, l.Failure, l.Reason, tt.refusal)
		}
	}
}

// TestMinute checks the searches of a character in a minute, in all channels together. A refusal blames no service, and
// a reused result costs nothing.
func TestMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &finder{hits: hits("https://peaks.example.org/everest.html")}
		w := newWorld(t, f)
		w.Policy.PerMinute = 3
		look := func(year int) turn.Lookup {
			req := ask(fmt.Sprintf("What is the height of Mount Everest in the year %d?", year))
			req.ChannelID, req.Message.Author.ID = fmt.Sprint("C", year), fmt.Sprint("U", year)
			return w.lookup(t, req)
		}
		for year := 1901; year <= 1903; year++ {
			if l := look(year); l.State != turn.Found {
				t.Errorf("%d: %s (%s)", year, l.State, l.Reason)
			}
		}
		l := look(1904)
		if want := "the 3 searches that I have in a minute, in all channels together, are used up"; l.State != turn.LookupFailed || l.Failure != turn.CodeCap || !strings.Contains(l.Reason, want) {
			t.Errorf("one too many: %s %s (%s)", l.State, l.Failure, l.Reason)
		}
		if want := "the lookups allowed for now are used up"; !strings.Contains(l.Block, want) {
			t.Errorf("the model is told %q", l.Block)
		}
		if l := look(1901); l.State != turn.Found || !l.Cached {
			t.Errorf("what was found before: %s (%s)", l.State, l.Reason)
		}
		time.Sleep(20 * time.Second)
		if l := look(1905); l.State != turn.Found {
			t.Errorf("20 seconds later: %s (%s)", l.State, l.Reason)
		}
		w.Policy.PerMinute = 0
		for year := 1910; year < 1950; year++ {
			if l := look(year); l.State != turn.Found {
				t.Errorf("without a limit, %d: %s (%s)", year, l.State, l.Reason)
			}
		}
		w.Search.Wait()
	})
}
