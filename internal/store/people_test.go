package store

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
)

func TestPeople(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	arrive := func(m Message) {
		t.Helper()
		if _, err := arrive(ctx, db, m, ""); err != nil {
			t.Fatal(err)
		}
	}
	person := func(id, author, name string, minute int) Message {
		m := message(id, "a", minute)
		m.AuthorID, m.AuthorName = author, name
		return m
	}
	own, direct := person("m5", "u9", "Familiar", 5), person("m6", "u8", "Stranger", 6)
	own.Own, direct.GuildID = true, ""
	for _, m := range []Message{person("m1", "u1", "Ada", 1), person("m2", "u2", "Bo", 2), person("m3", "u1", "Ada L.", 3), own, direct, person("m0", "u1", "Old", 0)} {
		arrive(m)
	}
	for guild, want := range map[string][]string{"g": {"Ada L.", "Bo"}, "": nil, "other": nil} {
		got, err := db.People(ctx, guild)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("people of %q: %v (-want +got):\n%s", guild, err, diff)
		}
	}
}

// TestPeopleAreReadAgain has names that were read before change: by somebody new, by a new name, by somebody who speaks again after a while
// and by a name that is forgotten.
func TestPeopleAreReadAgain(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	n := 0
	says := func(author, name string, minute int) {
		t.Helper()
		n++
		m := message(fmt.Sprint("m", n), "a", minute)
		m.AuthorID, m.AuthorName = author, name
		if _, err := arrive(ctx, db, m, ""); err != nil {
			t.Fatal(err)
		}
	}
	people := func(want ...string) {
		t.Helper()
		for range 2 {
			if got, err := db.People(ctx, "g"); !slices.Equal(got, want) || err != nil {
				t.Errorf("people are %q, %v; want %q", got, err, want)
			}
		}
	}
	people()
	says("u1", "Ada", 0)
	people("Ada")
	says("u2", "Bo", 1)
	people("Bo", "Ada")
	says("u1", "Ada", 2) // too soon to matter
	people("Bo", "Ada")
	says("u2", "Bob", 2)
	people("Bob", "Ada")
	says("u1", "Ada", 12)
	people("Ada", "Bob")
	if n, err := db.PrunePeople(ctx, noon.Add(15*time.Minute)); n != 1 || err != nil {
		t.Errorf("%d names forgotten, %v", n, err)
	}
	people("Ada")
	if err := db.DeleteGuild(ctx, "g"); err != nil {
		t.Fatal(err)
	}
	people()
}

func TestFeedback(t *testing.T) {
	dir := t.TempDir()
	db, ctx := open(t, dir), t.Context()
	said := func(domain, verdict, by string, minute int) Feedback {
		return Feedback{Character: "sage", Domain: domain, Verdict: verdict, By: by, GuildID: "g", URL: "https://" + domain + "/x", At: noon.Add(time.Duration(minute) * time.Minute)}
	}
	for _, f := range []Feedback{said("b.org", "wrong", "u1", 1), said("a.org", "outdated", "u1", 2), said("b.org", "outdated", "u2", 3), said("b.org", "outdated", "u1", 4)} {
		if err := db.SetFeedback(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	check := func(want ...Feedback) {
		t.Helper()
		got, err := db.Feedback(ctx, "sage")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	check(said("a.org", "outdated", "u1", 2), said("b.org", "outdated", "u2", 3), said("b.org", "outdated", "u1", 4))
	for _, f := range []struct {
		domain, guild, by string
		want              int
	}{{"b.org", "h", "u1", 0}, {"b.org", "h", "", 0}, {"b.org", "g", "u1", 1}, {"b.org", "", "u1", 0}, {"a.org", "", "", 1}, {"c.org", "", "", 0}} {
		if n, err := db.ForgetFeedback(ctx, "sage", f.domain, f.guild, f.by); n != f.want || err != nil {
			t.Errorf("forget %s of %q: %d, %v; want %d", f.domain, f.by, n, err, f.want)
		}
	}
	check(said("b.org", "outdated", "u2", 3))
	if got, err := db.Feedback(ctx, "other"); len(got) > 0 || err != nil {
		t.Errorf("another character has %v, %v", got, err)
	}
}

// TestFeedbackIn: what is said of a source counts in its own server and, in direct messages, for its person.
func TestFeedbackIn(t *testing.T) {
	db := open(t, t.TempDir())
	for _, f := range []Feedback{
		{GuildID: "g", By: "u1", Verdict: "wrong"}, {GuildID: "h", By: "u1", Verdict: "outdated"}, {GuildID: "g", By: "u2", Verdict: "wrong"},
		{GuildID: "", By: "u1", Verdict: "wrong"}, {GuildID: "", By: "u3", Verdict: "wrong"}, {GuildID: "?", By: "u1", Verdict: "wrong"},
	} {
		f.Character, f.Domain = "sage", "a.org"
		if err := db.SetFeedback(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		guild, person string
		want          int
	}{{"g", "u1", 2}, {"g", "u9", 2}, {"h", "u2", 1}, {"i", "u1", 0}, {"", "u1", 1}, {"", "u2", 0}} {
		if got, err := db.FeedbackIn(t.Context(), "sage", c.guild, c.person); err != nil || len(got) != c.want {
			t.Errorf("in %q for %s: %+v, %v; want %d", c.guild, c.person, got, err, c.want)
		}
	}
}

// What was said before servers were kept stays, as of a server that nobody knows.
func TestFeedbackFromBeforeServers(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	upTo(t, dir, 4, `INSERT INTO feedback (character, domain, verdict, by_id, url, at) VALUES ('sage', 'a.org', 'wrong', 'u1', '', 0)`)
	db := open(t, dir)
	if got, err := db.Feedback(ctx, "sage"); err != nil || len(got) != 1 || got[0].GuildID != "?" || got[0].Verdict != "wrong" {
		t.Errorf("%+v, %v", got, err)
	}
	if n, err := db.ForgetFeedback(ctx, "sage", "a.org", "g", ""); n != 0 || err != nil {
		t.Errorf("a server forgot %d, %v", n, err)
	}
}

// TestTextsFromBefore: records of before their texts were kept in one table are still whole.
func TestTextsFromBefore(t *testing.T) {
	dir := t.TempDir()
	upTo(t, dir, 6, `INSERT INTO traces VALUES ('T1', 'c', 'g', 1, 2, 'answered', '', 'Ada', 'q', 'm', '', '{"old":1}')`,
		`INSERT INTO trace_messages VALUES ('m1', 'T1')`, `INSERT INTO pages VALUES ('00ff', 'page one'), ('01ff', 'page two')`,
		`INSERT INTO trace_pages VALUES ('T1', 1, '00ff'), ('T1', 0, '01ff')`)
	db := open(t, dir)
	var got string
	err := db.Read().QueryRow(`SELECT t.record || m.message_id || group_concat(r.n || x.body || hex(x.sum) ORDER BY r.n) FROM traces t
		JOIN trace_messages m ON m.trace_id = t.id JOIN trace_texts r ON r.trace_id = t.id JOIN texts x ON x.id = r.text_id`).Scan(&got)
	if want := `{"old":1}m10page two01FF,1page one00FF`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// upTo makes a store as it was at a version of its schema, and runs queries in it.
func upTo(t *testing.T, dir string, version int64, queries ...string) {
	t.Helper()
	pool, err := connect(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		if _, err := pool.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
}
