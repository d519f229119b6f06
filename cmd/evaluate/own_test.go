package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestOwnFigures keeps what the project's own rows measure, which needs no data from elsewhere.
func TestOwnFigures(t *testing.T) {
	table, err := scorings()
	if err != nil {
		t.Fatal(err)
	}
	r := report{program: &program{out: io.Discard, err: t.Output()}}
	for _, s := range table {
		if s.Folder != ownFolder {
			continue
		}
		outcomes, err := r.measure(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			if o.Worse {
				t.Errorf("%s, %s: %.1f, recorded is %s", o.Set, o.Measure, o.Reached, plain(o.Recorded))
			}
		}
	}
}

// TestOwnRows: a row that says nothing of what is right would measure nothing, and two rows of one name would hide one.
func TestOwnRows(t *testing.T) {
	folders, err := own.ReadDir("own")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		code, out, complaint := command(t, t.TempDir(), folder.Name())
		if code != exitOK || complaint != "" {
			t.Errorf("%s: exit code %d: %s", folder.Name(), code, complaint)
		}
		ids := map[any]bool{}
		for _, row := range predictionsIn(t, out) {
			if ids[row["id"]] {
				t.Errorf("%s: two rows are called %v", folder.Name(), row["id"])
			}
			ids[row["id"]] = true
			if row["found"] == nil && row["alarm"] == nil && row["leak"] == nil && row["kept"] == nil {
				t.Errorf("%s, %v: nothing is scored", folder.Name(), row["id"])
			}
		}
	}
}

func predictionsIn(t *testing.T, out string) (all []prediction) {
	t.Helper()
	for line := range strings.Lines(out) {
		var row prediction
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}
