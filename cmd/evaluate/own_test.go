//go:build !race

// Predicting for all rows takes eight times as long under the race detector. The rows in testdata run the same code under it.

package main

import (
	"slices"
	"testing"
)

// TestOwn predicts for the project's own rows and checks their figures. Every row must be scored, and its id must be unique in its set.
func TestOwn(t *testing.T) {
	table, err := scorings()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := own.ReadDir(ownFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		i := slices.IndexFunc(table, func(s scoring) bool { return s.Folder == ownFolder && s.Set == folder.Name() && s.Unseen == "" })
		if i < 0 {
			t.Errorf("%s has no figures", folder.Name())
			continue
		}
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			code, out, complaint := command(t, t.TempDir(), folder.Name())
			if code != exitOK || complaint != "" {
				t.Errorf("exit code %d: %s", code, complaint)
			}
			checkRows(t, predictionsIn(t, out))
			outcomes, err := report{}.outcomes(table[i], "", out)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if o.Worse {
					t.Errorf("%s: %.1f, recorded is %s", o.Measure, o.Reached, plain(o.Recorded))
				}
			}
		})
	}
}

func checkRows(t *testing.T, rows []prediction) {
	t.Helper()
	ids := map[any]bool{}
	for _, row := range rows {
		if ids[row["id"]] {
			t.Errorf("two rows are called %v", row["id"])
		}
		ids[row["id"]] = true
		if !slices.ContainsFunc([]string{"found", "alarm", "leak", "kept", "right", "wrong", "need_found", "need_alarm"}, func(s string) bool { return row[s] != nil }) {
			t.Errorf("%v: nothing is scored", row["id"])
		}
	}
}
