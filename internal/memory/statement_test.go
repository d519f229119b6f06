package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/store"
	"familiar/internal/test/postgres"
	"familiar/internal/test/storetest"
)

var (
	inC   = Scope{Kind: ScopeChannel, ID: "c", GuildID: "g"}
	inDM  = Scope{Kind: ScopeDM, ID: "d"}
	seesC = FilterGuild("g", []string{"c"})
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)

// open returns a new memory.
func open(t *testing.T) *Store {
	t.Helper()
	s := New(storetest.Open(t))
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func come(t *testing.T, s *Store, all ...store.Message) {
	t.Helper()
	if err := s.DB.Messages.Save(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
}

// learn saves a message for each source, and a statement with these sources.
func learn(t *testing.T, db *Store, m Statement) int64 {
	t.Helper()
	for _, id := range m.Sources {
		message := store.Message{ID: id, ChannelID: m.Scope.ID, GuildID: m.Scope.GuildID, AuthorID: "ada", Text: m.Text, At: noon}
		if err := db.DB.Messages.Save(t.Context(), message); err != nil {
			t.Fatal(err)
		}
	}
	id, err := db.Save(t.Context(), m)
	if err != nil {
		t.Fatalf("%q: %v", m.Text, err)
	}
	return id
}

func about(text string, scope Scope, sources ...string) Statement {
	return Statement{Kind: Person, Scope: scope, Subject: "ada", Text: text, By: "ada", Sources: sources, SaidAt: noon, LearnedAt: noon}
}

// texts returns the texts of statements, superseded ones in brackets.
func texts(t *testing.T, all []Statement, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range all {
		if m.Superseded {
			m.Text = "(" + m.Text + ")"
		}
		said = append(said, m.Text)
	}
	return strings.Join(said, "; ")
}

func everything(t *testing.T, db *Store) string {
	t.Helper()
	all, err := db.Export(t.Context())
	return texts(t, all, err)
}

func TestRemember(t *testing.T) {
	db, ctx := open(t), t.Context()
	want := about("Is a vegetarian", inC, "1", "2")
	want.TraceID, want.Pinned = "turn", true
	want.ID = learn(t, db, want)
	got, err := db.Get(ctx, seesC, want.ID)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	if id := learn(t, db, about("is a  VEGETARIAN.", inC, "3")); id != want.ID {
		t.Errorf("the same statement was saved again as %d", id)
	}
	if got, _ = db.Get(ctx, seesC, want.ID); !slices.Equal(got.Sources, []string{"1", "2", "3"}) {
		t.Errorf("sources: %v", got.Sources)
	}
	other := learn(t, db, about("Is a vegetarian", inDM, "4"))
	if other == want.ID {
		t.Error("a private statement was merged with another")
	}
	mine := about("Is a vegetarian", inC, "5")
	mine.By = "bob"
	if id := learn(t, db, mine); id == want.ID {
		t.Error("a statement has two owners")
	}
	if _, err := db.Get(ctx, seesC, 99); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such statement: %v", err)
	}
}

// TestNotRemembered checks that a statement needs a source in its scope, and the person's consent.
func TestNotRemembered(t *testing.T) {
	db, ctx := open(t), t.Context()
	come(t, db, store.Message{ID: "1", ChannelID: "c", GuildID: "g", At: noon}, store.Message{ID: "2", ChannelID: "other", GuildID: "g", At: noon})
	by := func(m Statement, change func(*Statement)) Statement { change(&m); return m }
	for name, c := range map[string]struct {
		m    Statement
		want error
	}{
		"no source":                {about("x", inC), ErrNoSource},
		"deleted source":           {about("x", inC, "99"), ErrNoSource},
		"source elsewhere":         {about("x", inC, "2"), ErrNoSource},
		"guild's source in public": {about("x", Scope{Kind: ScopePublic}, "1"), ErrNoSource},
		"private as a server's":    {about("x", Scope{Kind: ScopeGuild, ID: "g", GuildID: "g"}, "1"), ErrNoSource},
		"learned without consent":  {by(about("x", inC, "1"), func(m *Statement) { m.By = "" }), ErrNoConsent},
		"replaces what is not":     {by(about("x", inC, "1"), func(m *Statement) { m.Supersedes = 7 }), store.ErrNotFound},
		"no scope":                 {about("x", Scope{Kind: ScopeDM}, "1"), errNoScope},
		"a dm's of a server":       {about("x", Scope{Kind: ScopeDM, ID: "c", GuildID: "g"}, "1"), errNoScope},
	} {
		if _, err := db.Save(ctx, c.m); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for name, m := range map[string]Statement{
		"empty": about("  ", inC, "1"), "long": about(strings.Repeat("x", MaxText+1), inC, "1"),
		"no kind": by(about("x", inC, "1"), func(m *Statement) { m.Kind = "" }), "nobody": by(about("x", inC, "1"), func(m *Statement) { m.Subject = "" }),
	} {
		if _, err := db.Save(ctx, m); err == nil {
			t.Errorf("%s: was remembered", name)
		}
	}
	if got := everything(t, db); got != "" {
		t.Errorf("remembered: %s", got)
	}
	for i := range MostRemembered {
		if _, err := db.Save(ctx, about(fmt.Sprint("fact ", i), inC, "1")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Save(ctx, about("one more", inC, "1")); !errors.Is(err, store.ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
}

// TestSupersede checks that a correction replaces a statement, which remains as history until the correction is deleted.
func TestSupersede(t *testing.T) {
	db, ctx := open(t), t.Context()
	replace := func(text, source string, id int64) int64 {
		m := about(text, inC, source)
		m.Supersedes = id
		return learn(t, db, m)
	}
	first := learn(t, db, about("Is a vegetarian", inC, "1"))
	if err := db.Pin(ctx, seesC, first, true, store.By{}); err != nil {
		t.Fatal(err)
	}
	second := replace("Is a vegan", "2", first)
	third := replace("Eats fish", "3", first) // it names history, so it replaces the second
	if same := replace("Eats fish", "4", third); same != third {
		t.Errorf("replaced by itself: %d", same)
	}
	history, err := db.History(ctx, seesC, third)
	if got := texts(t, history, err); got != "(Is a vegan); (Is a vegetarian)" {
		t.Errorf("history: %s", got)
	}
	now, err := db.About(ctx, seesC, []string{"ada"})
	if got := texts(t, now, err); got != "Eats fish" || !now[0].Pinned {
		t.Errorf("now: %s, pinned %v", got, now[0].Pinned)
	}
	for query, want := range map[string]string{"vegan": "", "fish": "Eats fish"} {
		all, err := db.Search(ctx, seesC, query, 5)
		if got := texts(t, all, err); got != want {
			t.Errorf("search for %q: %s", query, got)
		}
	}
	stranger := about("Is a pirate", inC, "5")
	stranger.Subject, stranger.Supersedes = "bob", third
	elsewhere := about("Is a pirate", inDM, "6")
	elsewhere.Supersedes = third
	for _, m := range []Statement{stranger, elsewhere} {
		come(t, db, store.Message{ID: m.Sources[0], ChannelID: m.Scope.ID, GuildID: m.Scope.GuildID, At: noon})
		if _, err := db.Save(ctx, m); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("replaced from elsewhere: %v", err)
		}
	}
	// The middle of the history is deleted with its message, and the rest with the statement.
	if err := db.DB.Messages.Delete(ctx, "2"); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, db); got != "(Is a vegetarian); Eats fish" {
		t.Errorf("without the second: %s", got)
	}
	if err := db.Forget(ctx, seesC, first, store.By{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("history was forgotten by itself: %v", err)
	}
	if err := db.Forget(ctx, seesC, third, store.By{}); err != nil || everything(t, db) != "" {
		t.Errorf("after all: %s, %v", everything(t, db), err)
	}
	_ = second
}

func TestSearchMemories(t *testing.T) {
	db, ctx := open(t), t.Context()
	for i, text := range []string{"Likes running marathons", "Runs a bakery in Köln", "来週東京に行く", "Plays C++ (NOT Java) OR \"Go\""} {
		learn(t, db, about(text, inC, fmt.Sprint(i)))
	}
	topic := Statement{Kind: Topic, Scope: inC, Subject: "beekeeping", Text: "Bob has three hives", Sources: []string{"t"}, SaidAt: noon, LearnedAt: noon}
	learn(t, db, topic)
	for query, want := range map[string]string{
		"run a marathon?":      "Likes running marathons; Runs a bakery in Köln",
		"koln":                 "Runs a bakery in Köln",
		"東京へ":                  "来週東京に行く",
		`"c++" -java AND (`:    `Plays C++ (NOT Java) OR "Go"`,
		"Beekeeping":           "Bob has three hives",
		"ada":                  "",
		"!?* ^ : {} near(x,y)": "",
		"":                     "",
	} {
		all, err := db.Search(ctx, seesC, query, 10)
		if got := texts(t, all, err); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	if err := db.DB.Notes.Set(ctx, store.MemoryWordsNote, "of another program"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.DB.Exec(ctx, "empty the index", emptyMemory); err != nil {
		t.Fatal(err)
	}
	if err := db.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if all, err := db.Search(ctx, seesC, "bakery marathons", 1); texts(t, all, err) == "" {
		t.Error("nothing is found after the index was rebuilt")
	}
}

// TestSourcesGo checks that a statement is deleted with the last of its sources, in every way of deleting messages. Others must stay.
func TestSourcesGo(t *testing.T) {
	for name, remove := range map[string]func(*Store, context.Context) error{
		"deleted": func(db *Store, ctx context.Context) error { return db.DB.Messages.Delete(ctx, "1") },
		"edited": func(db *Store, ctx context.Context) error {
			_, err := db.DB.Messages.Edit(ctx, "1", "never mind")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, ctx := open(t), t.Context()
			if err := db.DB.Messages.Save(ctx, store.Message{ID: "1", ChannelID: "c", GuildID: "g", At: noon.Add(-time.Hour)}); err != nil {
				t.Fatal(err)
			}
			for _, m := range []Statement{about("the word shibboleth", inC, "1"), about("rests on two", inC, "1", "2")} {
				come(t, db, store.Message{ID: "2", ChannelID: "c", GuildID: "g", At: noon})
				if _, err := db.Save(ctx, m); err != nil {
					t.Fatal(err)
				}
			}
			learn(t, db, about("rests on another", inC, "3"))
			if err := remove(db, ctx); err != nil {
				t.Fatal(err)
			}
			all, err := db.Export(ctx)
			if got := texts(t, all, err); got != "rests on two; rests on another" || !slices.Equal(all[0].Sources, []string{"2"}) {
				t.Errorf("left: %s, which rests on %v", got, all[0].Sources)
			}
			if found, err := db.Search(ctx, seesC, "shibboleth", 5); texts(t, found, err) != "" {
				t.Error("it is still found")
			}
		})
	}
	t.Run("left server", func(t *testing.T) {
		db, ctx := open(t), t.Context()
		learn(t, db, about("said there", inC, "1"))
		server := about("holds there", Scope{Kind: ScopeGuild, ID: "g", GuildID: "g"}, CommandSource("7"))
		if _, err := db.Save(ctx, server); err != nil {
			t.Fatal(err)
		}
		learn(t, db, about("said in private", inDM, "2"))
		if _, err := db.DeleteGuild(ctx, "g"); err != nil || everything(t, db) != "said in private" {
			t.Errorf("left: %s, %v", everything(t, db), err)
		}
	})
}

// TestDeleteInSteps has the deletion of the ninth statement fail. Eight are gone then: a step that has not been measured yet is of no more.
func TestDeleteInSteps(t *testing.T) {
	postgres.Off(t) // the trigger that stops it is SQLite's
	db, ctx := open(t), t.Context()
	for i := range 20 {
		learn(t, db, about(fmt.Sprintf("Has cat %d", i), inC, fmt.Sprint(i+1)))
	}
	if _, err := db.DB.Exec(ctx, "stop at the ninth", `CREATE TRIGGER ninth BEFORE DELETE ON memories WHEN (SELECT count(*) FROM memories) = 12
		BEGIN SELECT RAISE(ABORT, 'the ninth'); END`); err != nil {
		t.Fatal(err)
	}
	if n, err := db.DeleteGuild(ctx, "g"); n != 8 || err == nil || strings.Count(everything(t, db), "cat") != 12 {
		t.Errorf("%d, %v, left: %s", n, err, everything(t, db))
	}
	if _, err := db.DB.Exec(ctx, "go on", `DROP TRIGGER ninth`); err != nil {
		t.Fatal(err)
	}
	if n, err := db.DeleteGuild(ctx, "g"); n != 12 || err != nil || everything(t, db) != "" {
		t.Errorf("%d, %v, left: %s", n, err, everything(t, db))
	}
}

// TestNoMemory checks that a message on which statements rest stays while nothing retracts them.
func TestNoMemory(t *testing.T) {
	db, ctx := open(t), t.Context()
	learn(t, db, about("Is a vegetarian", inC, "1"))
	db.DB.Messages.OnRetract(nil)
	if err := db.DB.Messages.Delete(ctx, "1"); err == nil {
		t.Error("the message was deleted")
	}
	New(db.DB)
	if err := db.DB.Messages.Delete(ctx, "1"); err != nil || everything(t, db) != "" {
		t.Errorf("left: %s, %v", everything(t, db), err)
	}
}

func TestConsentGoes(t *testing.T) {
	db, ctx := open(t), t.Context()
	agrees := func(want bool) {
		t.Helper()
		if got, err := db.Consent(ctx, "ada"); got != want || err != nil {
			t.Errorf("agrees: %v, %v", got, err)
		}
	}
	agrees(false)
	if _, err := db.SetConsent(ctx, store.By{ID: "ada", At: noon}, true); err != nil {
		t.Fatal(err)
	}
	if all, err := db.DB.Changes.All(ctx, 1); err != nil || len(all) != 1 || all[0].Kind != store.ChangeLearning || all[0].From != "off" || all[0].To != "on" {
		t.Errorf("on record: %+v, %v", all, err)
	}
	agrees(true)
	noticed := about("Gets up late", inC, "1")
	noticed.By = ""
	id := learn(t, db, noticed)
	if again := learn(t, db, about("Gets up late", inC, "2")); again != id { // she now asks for it herself
		t.Errorf("statement %d", again)
	}
	noticed.Text = "Has a cat"
	learn(t, db, noticed)
	learn(t, db, about("Is a vegetarian", inC, "3"))
	if n, err := db.SetConsent(ctx, store.By{ID: "ada", At: noon}, false); n != 1 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	agrees(false)
	if got := everything(t, db); got != "Gets up late; Is a vegetarian" {
		t.Errorf("left: %s", got)
	}
}

// TestMemoryOutlastsMessages checks that requested statements outlive old messages. What the bot learned by itself is kept for its own
// time. The author of a message stays known until they are forgotten or delete the message.
func TestMemoryOutlastsMessages(t *testing.T) {
	db, ctx := open(t), t.Context()
	if _, err := db.SetConsent(ctx, store.By{ID: "ada", At: noon}, true); err != nil {
		t.Fatal(err)
	}
	itself := about("Has a parrot", inC, "3")
	itself.By = ""
	for _, m := range []Statement{about("Is a vegetarian", inC, "1"), about("Lives in Lyon", inC, "2"), itself} {
		learn(t, db, m)
	}
	if n, err := db.DB.Messages.Prune(ctx, noon.Add(time.Hour)); n != 3 || err != nil {
		t.Fatalf("%d messages pruned, %v", n, err)
	}
	if got := everything(t, db); got != "Is a vegetarian; Lives in Lyon; Has a parrot" {
		t.Errorf("after the messages went: %s", got)
	}
	if n, err := db.Prune(ctx, noon.Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d memories pruned, %v", n, err)
	}
	if err := db.DB.Messages.Delete(ctx, "2"); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, db); got != "Is a vegetarian" {
		t.Errorf("after the deletion: %s", got)
	}
	if all, err := db.SourcesOf(ctx, "ada"); fmt.Sprint(all) != "[1]" || err != nil {
		t.Errorf("sources: %v, %v", all, err)
	}
	if err := db.DB.Messages.Erase(ctx, []string{"1"}); err != nil {
		t.Fatal(err)
	}
	if got := everything(t, db); got != "" {
		t.Errorf("after its author was forgotten: %s", got)
	}
}

func TestNearest(t *testing.T) {
	db := open(t)
	vectors := NewVectors(db.DB)
	random := rand.New(rand.NewPCG(1, 2))
	meaning := func(field int) Vector { // a noisy vector, near to all others of the same field
		components := make([]float32, 96)
		for i := range components {
			components[i] = float32(random.NormFloat64())
		}
		if field >= 0 {
			components[field] += 40
		}
		return NewVector(components)
	}
	var target int64
	for i := range 60 {
		m := Statement{Kind: Note, Scope: Scope{Kind: ScopeChannel, ID: "open", GuildID: "g"}, Text: fmt.Sprint("statement ", i), Sources: []string{fmt.Sprint("command:", i)}, By: "a", SaidAt: time.Unix(int64(i), 0), LearnedAt: time.Unix(int64(i), 0)}
		id, err := db.Save(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if i == 5 {
			target = id
		}
	}
	all, err := vectors.MissingMemories(t.Context(), "m", 100)
	if err != nil || len(all) != 60 {
		t.Fatal(len(all), err)
	}
	for _, u := range all {
		field := -1
		if u.Memo == target {
			field = 3
		}
		if _, err := vectors.Save(t.Context(), "m", Embedded{Unembedded: u, Vector: meaning(field)}); err != nil {
			t.Fatal(err)
		}
	}
	to := meaning(3)
	near := func(w ScopeFilter) int {
		found, err := db.Nearest(t.Context(), w, "m", to, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			if m.ID != target {
				t.Errorf("near is %q", m.Text)
			}
		}
		return len(found)
	}
	if n := near(FilterGuild("g", []string{"open"})); n != 1 {
		t.Errorf("%d statements are apart", n)
	}
	if n := near(FilterGuild("g", []string{"elsewhere"})) + near(FilterDM("open")) + near(ScopeFilter{}); n != 0 {
		t.Errorf("%d statements from a channel that is not read", n)
	}
	if err := db.Erase(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := db.DB.Read().QueryRow(`SELECT count(*) FROM memory_vectors`).Scan(&left); err != nil || left != 59 {
		t.Errorf("%d vectors left: %v", left, err)
	}
}
