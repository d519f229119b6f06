package trace

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/postgres"
	"familiar/internal/test/storetest"
)

func TestFind(t *testing.T) {
	s := open(t)
	for i, one := range []struct {
		author, question, reply, channel string
		phase                            turn.Phase
	}{
		{"Ada Lovelace", "How tall is the Eiffel Tower?", "It has 330 metres, antennas included.", "c1", turn.Answered},
		{"Ben", "who built the towers of Bologna", "", "c1", turn.Broken},
		{"Ben", "and the Lovelace award?", "It is given every year" + strings.Repeat(" and again", 100) + " in spring.", "c2", turn.Answered},
		{"☃", "東京の天気は?", "", "c2", turn.Interrupted},
	} {
		tr := record(fmt.Sprint("T", i), noon.Add(time.Duration(i)*time.Minute), "a page")
		tr.Request.Message.Author.Name, tr.Request.Message.Text, tr.Request.ChannelID, tr.Phase, tr.Reply = one.author, one.question, one.channel, one.phase, one.reply
		if err := s.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what string
		q    Query
		want string
	}{
		{"all", Query{}, "[T3 T2 T1 T0]"},
		{"a word", Query{Words: "tower"}, "[T1 T0]"},
		{"the beginning of a word", Query{Words: "tow* bolo*"}, "[T1]"},
		{"words in any order", Query{Words: "tower eiffel"}, "[T0]"},
		{"words of the reply", Query{Words: "antenna"}, "[T0]"},
		{"of the question and of the reply", Query{Words: "award year"}, "[T2]"},
		{"far behind in a long reply", Query{Words: "spring"}, "[]"},
		{"a name is no word of a reply", Query{Author: "year"}, "[]"},
		{"no operator", Query{Words: `"NOT" tower AND -`}, "[]"},
		{"signs alone", Query{Words: "?!"}, "[]"},
		{"a part of a name", Query{Author: "love"}, "[T0]"},
		{"a name without letters", Query{Author: "☃"}, "[T3]"},
		{"a name and a word", Query{Author: "ben", Words: "lovelace"}, "[T2]"},
		{"a channel", Query{ChannelID: "c2"}, "[T3 T2]"},
		{"what failed", Query{Phase: turn.Broken}, "[T1]"},
		{"what was interrupted", Query{Phase: turn.Interrupted}, "[T3]"},
		{"a time", Query{Since: noon.Add(time.Minute), Until: noon.Add(3 * time.Minute)}, "[T2 T1]"},
		{"a script without spaces", Query{Words: "東京"}, "[T3]"},
		{"a page", Query{Before: "T2", Limit: 1}, "[T1]"},
		{"a page of words", Query{Words: "tower", Before: "T1"}, "[T0]"},
		{"behind a turn that is gone", Query{Before: "T9"}, "[]"},
	} {
		found, _, err := s.Find(t.Context(), c.q)
		ids := []string{}
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		if err != nil || fmt.Sprint(ids) != c.want {
			t.Errorf("%s: %v, want %s (%v)", c.what, ids, c.want, err)
		}
	}
	if _, more, _ := s.Find(t.Context(), Query{Limit: 3}); !more {
		t.Error("there is no further page")
	}
	if _, more, _ := s.Find(t.Context(), Query{Limit: 4}); more {
		t.Error("there is a further page")
	}
	channels, err := s.Channels(t.Context(), 10)
	if err != nil || len(channels) != 2 || channels[0].ID != "c1" || channels[1].ID != "c2" || channels[1].Last.IsZero() {
		t.Error(channels, err)
	}
	found, _, err := s.Lookups(t.Context(), Query{})
	if err != nil || len(found) != 4 || found[0].Lookup == nil {
		t.Error(found, err)
	}
}

// TestFindInSteps: a search whose time is up goes on where it ended, and finds each turn once.
func TestFindInSteps(t *testing.T) {
	s := open(t)
	for i := range 40 {
		tr := record(fmt.Sprintf("T%02d", i), noon.Add(time.Duration(i*i)*time.Minute), "a page")
		tr.Request.Message.Text, tr.Phase = fmt.Sprint("tower ", i%2), turn.Answered
		if i%10 == 3 {
			tr.Phase = turn.Broken
		}
		if err := s.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.IndexWords(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, q := range map[string]Query{"T33 T23 T13 T03": {Phase: turn.Broken}, "T38 T36 T34": {Words: "0", Since: noon.Add(33 * 33 * time.Minute)}} {
		var ids []string
		pauses := 0
		for again := true; again; pauses++ {
			c, err := s.conditions(t.Context(), q)
			if err == nil {
				err = s.bounds(t.Context(), &c, q)
			}
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.search(t.Context(), &c, 100, 0) // no time at all
			for _, f := range found {
				ids = append(ids, f.ID)
			}
			var late *Late
			if again = errors.As(err, &late); again {
				q.Before = late.Before
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(ids, " "); got != what || pauses < 3 {
			t.Errorf("%s after %d pauses, want %s", got, pauses, what)
		}
	}
}

// TestRank counts all turns that match, and puts first what has most. It comes to the same in pieces.
func TestRank(t *testing.T) {
	s := open(t)
	for i := range 40 {
		tr := record(fmt.Sprintf("T%02d", i), noon.Add(time.Duration(i)*time.Hour), "a page")
		tr.Request.Message.Text, tr.Phase, tr.Took = []string{"towers", "bridges"}[i%2], turn.Answered, time.Duration(i*7%40)*time.Second
		tr.Usage = turn.Usage{Prompt: i * 11 % 40, Cost: float64(i*13%40) / 100}
		if err := s.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		q    Query
		n    int
		want string
	}{
		{Query{Order: ByTime, Limit: 2}, 40, "T39 T38"},
		{Query{Order: ByTook, Limit: 2}, 40, "T17 T34"},
		{Query{Order: ByTokens, Limit: 2}, 40, "T29 T18"},
		{Query{Order: ByCost, Limit: 3, Words: "bridge"}, 20, "T03 T09 T15"},
		{Query{Order: ByCost, Limit: 2, Phase: turn.Broken}, 0, ""},
		{Query{Order: ByTook, Limit: 1, Since: noon.Add(36 * time.Hour)}, 4, "T39"},
	} {
		for _, s.SearchTime = range []time.Duration{time.Hour, 1} {
			var top []string
			n, q := 0, c.q
			var late *Late
			for again := true; again; q.Before = late.Before {
				some, more, err := s.Rank(t.Context(), q)
				if again = errors.As(err, &late); err != nil && !again {
					t.Fatal(err)
				}
				n += more
				for _, one := range some {
					top = append(top, one.ID)
				}
				if !again {
					break
				}
			}
			if got := strings.Join(top, " "); n != c.n || s.SearchTime == time.Hour && got != c.want || !strings.Contains(got, c.want[:min(3, len(c.want))]) {
				t.Errorf("%+v in %v: %d, %s; want %d, %s", c.q, s.SearchTime, n, got, c.n, c.want)
			}
		}
	}
}

// TestFindUsesIndexes asks SQLite how it would look for what few turns have.
func TestFindUsesIndexes(t *testing.T) {
	s := &Store{DB: storetest.OpenFile(t, t.TempDir())}
	for index, q := range map[string]Query{
		"traces_troubled": {Phase: turn.Broken}, "traces_troubled (phase=? AND began>? AND began<?)": {Phase: turn.Interrupted, Model: "x"}, "traces_unfinished": {Phase: turn.Begun},
		"traces_looked_up": {Lookup: turn.LookupFailed}, "traces_by_channel": {ChannelID: "c"}, "traces_by_time": {Longer: time.Second}, "VIRTUAL TABLE INDEX": {Words: "moons"},
	} {
		c, err := s.conditions(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := store.List(t.Context(), s.DB, "explain", func(row store.Scanner) (detail string, err error) {
			var a, b, c int
			err = row.Scan(&a, &b, &c, &detail)
			return detail, err
		}, "EXPLAIN QUERY PLAN "+c.query(summaryOf)+c.newest()+" LIMIT ?", append(c.args, 0, 1, 50)...)
		if all := strings.Join(plan, "; "); err != nil || !strings.Contains(all, index) || strings.Contains(all, "SCAN t ") {
			t.Errorf("%s: %s (%v)", index, all, err)
		}
	}
}

// TestFindInReusedRows: new records get the rows of deleted ones, before and after these were indexed.
func TestFindInReusedRows(t *testing.T) {
	s := open(t)
	save := func(id, question string) {
		tr := record(id, noon, "a page")
		tr.Request.Message.Text = question
		if err := s.Save(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
	drop := func(ids ...string) {
		if _, err := s.Remove(t.Context(), ids, false); err != nil {
			t.Fatal(err)
		}
	}
	found := func(words string) (all string) {
		lines, _, err := s.Find(t.Context(), Query{Words: words})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			all += l.ID
		}
		return all
	}
	save("A", "one")
	save("B", "two")
	save("C", "three")
	if got := found("three"); got != "C" {
		t.Error(got)
	}
	drop("B")
	drop("C")
	save("D", "four") // in the row of B
	save("E", "five")
	drop("E") // not indexed yet
	save("F", "six")
	for words, want := range map[string]string{"four": "D", "six": "F", "one": "A", "two": "", "three": "", "five": ""} {
		if got := found(words); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	if postgres.Used() { // FTS5 alone has such a check
		return
	}
	if err := s.DB.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO trace_words (trace_words, rank) VALUES ('integrity-check', 1)`)
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestFindAfterForgetting: nobody finds what is deleted.
func TestFindAfterForgetting(t *testing.T) {
	s := open(t)
	tr := record("T", noon, "a page")
	tr.Request.Message.Text, tr.Reply = "a word: xylophone", "A xylophone has bars of wood."
	if err := s.Save(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
	if found, _, err := s.Find(t.Context(), Query{Words: "xylophone"}); len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := s.RedactMessages(t.Context(), []store.Message{{ID: tr.Request.Message.ID}}); err != nil {
		t.Fatal(err)
	}
	if found, _, err := s.Find(t.Context(), Query{Words: "xylophone"}); len(found) != 0 || err != nil {
		t.Fatal(found, err)
	}
	if _, err := s.Prune(t.Context(), noon.AddDate(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if found, _, err := s.Find(t.Context(), Query{}); len(found) != 0 || err != nil {
		t.Fatal(found, err)
	}
}
