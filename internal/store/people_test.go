package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		got, err := db.People.Names(ctx, guild)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("people of %q: %v (-want +got):\n%s", guild, err, diff)
		}
	}
}

// TestPeopleAreReadAgain changes names that are cached. A new person, a new name, a person who speaks again later, and a forgotten name
// change them.
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
			if got, err := db.People.Names(ctx, "g"); !slices.Equal(got, want) || err != nil {
				t.Errorf("people are %q, %v; want %q", got, err, want)
			}
		}
	}
	people()
	says("u1", "Ada", 0)
	people("Ada")
	says("u2", "Bo", 1)
	people("Bo", "Ada")
	says("u1", "Ada", 2) // too soon to be noted
	people("Bo", "Ada")
	says("u2", "Bob", 2)
	people("Bob", "Ada")
	says("u1", "Ada", 12)
	people("Ada", "Bob")
	if n, err := db.People.Prune(ctx, noon.Add(15*time.Minute)); n != 1 || err != nil {
		t.Errorf("%d names forgotten, %v", n, err)
	}
	people("Ada")
	if _, err := db.ChangeRows(ctx, "people", "guild_id, author_id", `guild_id = @server`, "", Args{"server": "g"}); err != nil {
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
		if err := db.Ratings.SaveFeedback(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	check := func(want ...Feedback) {
		t.Helper()
		got, err := db.Ratings.Feedback(ctx, "sage")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	check(said("a.org", "outdated", "u1", 2), said("b.org", "outdated", "u2", 3), said("b.org", "outdated", "u1", 4))
	for _, f := range []struct {
		domain, guild, by string
		want              int
	}{{"b.org", "h", "u1", 0}, {"b.org", "h", "", 0}, {"b.org", "g", "u1", 1}, {"b.org", "", "u1", 0}, {"a.org", "", "", 1}, {"c.org", "", "", 0}} {
		if n, err := db.Ratings.ForgetFeedback(ctx, "sage", f.domain, f.guild, f.by); n != f.want || err != nil {
			t.Errorf("forget %s of %q: %d, %v; want %d", f.domain, f.by, n, err, f.want)
		}
	}
	check(said("b.org", "outdated", "u2", 3))
	if got, err := db.Ratings.Feedback(ctx, "other"); len(got) > 0 || err != nil {
		t.Errorf("another character has %v, %v", got, err)
	}
}

// TestFeedbackIn checks that feedback on a source counts in its own server or, in direct messages, for its person.
func TestFeedbackIn(t *testing.T) {
	db := open(t, t.TempDir())
	for _, f := range []Feedback{
		{GuildID: "g", By: "u1", Verdict: "wrong"}, {GuildID: "h", By: "u1", Verdict: "outdated"}, {GuildID: "g", By: "u2", Verdict: "wrong"},
		{GuildID: "", By: "u1", Verdict: "wrong"}, {GuildID: "", By: "u3", Verdict: "wrong"}, {GuildID: "?", By: "u1", Verdict: "wrong"},
	} {
		f.Character, f.Domain = "sage", "a.org"
		if err := db.Ratings.SaveFeedback(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		guild, person string
		want          int
	}{{"g", "u1", 2}, {"g", "u9", 2}, {"h", "u2", 1}, {"i", "u1", 0}, {"", "u1", 1}, {"", "u2", 0}} {
		if got, err := db.Ratings.FeedbackIn(t.Context(), "sage", c.guild, c.person); err != nil || len(got) != c.want {
			t.Errorf("in %q for %s: %+v, %v; want %d", c.guild, c.person, got, err, c.want)
		}
	}
}
