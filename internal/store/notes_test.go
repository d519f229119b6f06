package store_test

import (
	"maps"
	"testing"

	"familiar/internal/test/storetest"
)

// TestNotesUnder saves, changes and deletes notes whose keys begin alike. Others are left alone.
func TestNotesUnder(t *testing.T) {
	db, ctx := storetest.Open(t), t.Context()
	if err := db.Notes.Set(ctx, "b", "other"); err != nil {
		t.Fatal(err)
	}
	for _, values := range []map[string]string{{"1": "one", "2": "two", "3": "three"}, {"2": "", "3": "drei"}} {
		if err := db.Notes.SetUnder(ctx, "a/", values); err != nil {
			t.Fatal(err)
		}
	}
	got, err := db.Notes.Under(ctx, "a/")
	if want := map[string]string{"1": "one", "3": "drei"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if kept, err := db.Notes.Get(ctx, "b"); kept != "other" || err != nil {
		t.Errorf("the other note is %q, %v", kept, err)
	}
}
