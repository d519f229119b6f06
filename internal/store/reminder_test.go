package store

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReminders(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	r := db.Reminders
	oven := Reminder{PersonID: "ada", GuildID: "g", ChannelID: "c", MessageID: "m1", Language: "en", Text: "the oven", At: noon, Zone: "UTC", Made: noon.Add(-time.Hour)}
	set := func(one Reminder) Reminder {
		t.Helper()
		id, err := r.Set(ctx, one)
		if err != nil {
			t.Fatal(err)
		}
		one.ID = id
		return one
	}
	of := func(who string, want ...Reminder) {
		t.Helper()
		got, err := r.Of(ctx, who)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	set(oven)
	oven.At = noon.Add(time.Hour)
	oven = set(oven) // the message was edited
	select {
	case <-r.Changed():
	default:
		t.Error("nobody was woken")
	}
	cake := oven
	cake.Text, cake.MessageID, cake.Zone, cake.At = "the cake", "m2", "", noon
	cake = set(cake)
	of("ada", cake, oven)
	of("ben")
	if first, err := r.First(ctx, 1); err != nil || len(first) != 1 || first[0].Text != "the cake" {
		t.Errorf("%+v, %v", first, err)
	}

	// A claim.
	for i, want := range []time.Time{{}, noon} {
		if before, err := r.Begin(ctx, cake, noon.Add(time.Duration(i)*time.Minute)); err != nil || !before.Equal(want) {
			t.Errorf("%v, %v", before, err)
		}
	}
	if _, err := r.Cancel(ctx, "ben", cake.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("cancelled by another: %v", err)
	}
	if _, err := r.Cancel(ctx, "ada", cake.ID); err != nil {
		t.Error(err)
	}
	if _, err := r.Begin(ctx, cake, noon); !errors.Is(err, ErrNotFound) {
		t.Errorf("begun what is cancelled: %v", err)
	}

	// A zone moves what was set in another that was taken.
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err == nil {
		err = db.Write(ctx, func(tx *Tx) error { return r.MoveIn(tx, "ada", tokyo) })
	}
	if err != nil {
		t.Fatal(err)
	}
	before := oven
	oven.At, oven.Zone = oven.At.Truncate(time.Second).Add(-9*time.Hour), ""
	of("ada", oven)
	if _, err := r.Begin(ctx, before, noon); !errors.Is(err, ErrNotFound) {
		t.Errorf("begun what was moved: %v", err)
	}

	// A message that says something else, or is gone.
	m := message("m1", "c", 0)
	m.Text = "remind me of the oven at one"
	err = db.Messages.Save(ctx, m)
	for _, text := range []string{"remind me of the oven at two", "never mind"} {
		of("ada", oven)
		_, failed := db.Messages.Edit(ctx, "m1", text)
		err = errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	of("ada")
	set(oven)
	if err := db.Messages.Delete(ctx, "m1"); err != nil {
		t.Fatal(err)
	}
	of("ada")

	for i := range MostReminders {
		oven.Text = strconv.Itoa(i)
		set(oven)
	}
	oven.Text = "one more"
	if _, err := r.Set(ctx, oven); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	if err := db.Privacy.OptOut(ctx, "ben", true, time.Now()); err != nil {
		t.Fatal(err)
	}
	oven.PersonID, oven.Made = "ben", time.Now()
	if _, err := r.Set(ctx, oven); !errors.Is(err, ErrOptedOut) {
		t.Error(err)
	}
}
