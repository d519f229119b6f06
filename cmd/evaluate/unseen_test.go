package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"familiar/cmd/evaluate/train"
)

// TestUnseen changes the evidence of single rows. The predictions for such a row and its fold must not change. No model that predicts there
// has seen the row.
func TestUnseen(t *testing.T) {
	rows := claims(25, -1)
	fold := func(i int) int { return train.Fold(rows[i]["page"].(string)) }
	before := unseenLabels(t, rows)
	changed := 0
	for turned := range 4 {
		after := unseenLabels(t, claims(len(rows), turned))
		for i := range rows {
			same := cmp.Equal(before[i], after[i])
			if fold(i) == fold(turned) && !same {
				t.Errorf("row %d, turned %d: %v, then %v", i, turned, before[i], after[i])
			} else if !same {
				changed++
			}
		}
	}
	if changed == 0 {
		t.Error("no evidence has any effect: nothing is learned")
	}
}

// claims are rows of the set verify. One of them has the wrong evidence.
func claims(n, turned int) (rows []map[string]any) {
	for i := range n {
		gold := 0
		if i == turned {
			gold = 1
		}
		rows = append(rows, map[string]any{
			"id": i, "claim": fmt.Sprintf("The bridge of Nordhafen %d was opened in %d.", i, 1900+i), "label": "SUPPORTS", "page": fmt.Sprint("Nordhafen ", i), "gold": []int{gold},
			"candidates": []string{fmt.Sprintf("The bridge was opened in %d.", 1900+i), "It has a bridge (and a mill), which was opened."},
		})
	}
	return rows
}

// unseenLabels returns the predictions, with the weights of the model.
func unseenLabels(t *testing.T, rows []map[string]any) (all []prediction) {
	t.Helper()
	dir := t.TempDir()
	lines := jsonLines(t, rows)
	if err := os.MkdirAll(filepath.Join(dir, "factcheck"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "factcheck", "cases.jsonl"), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	folds := &train.Folds{Dir: dir}
	predict := unseenVerify(folds)
	for line := range bytes.Lines(lines) {
		got, err := predict(t.Context(), fs.FS(nil), line)
		if err != nil {
			t.Fatal(err)
		}
		var row struct{ Page string }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		m, err := folds.Claim(row.Page)
		if err != nil {
			t.Fatal(err)
		}
		got = maps.Clone(got)
		got["order"] = m.Bytes()
		all = append(all, got)
	}
	return all
}

func jsonLines(t *testing.T, rows []map[string]any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, row := range rows {
		if err := json.NewEncoder(&b).Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestUnseenNeedsTheSets checks that training without its sets fails.
func TestUnseenNeedsTheSets(t *testing.T) {
	for _, s := range sets() {
		if s.unseen == nil {
			continue
		}
		if _, err := s.unseen(&train.Folds{Dir: t.TempDir()})(t.Context(), nil, []byte(`{"id":1,"text":"hello","question":"who?","claim":"It rains."}`)); err == nil {
			t.Errorf("%s predicts without its set", s.name)
		}
	}
}

func TestFirstFolds(t *testing.T) {
	rows := claims(60, -1)
	kept, err := firstFolds(jsonLines(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, row := range rows {
		if train.Fold(row["page"].(string)) < quickFolds {
			want++
		}
	}
	if got := bytes.Count(kept, []byte("\n")); got != want || got == 0 || got == len(rows) {
		t.Errorf("%d of %d rows are kept, want %d", got, len(rows), want)
	}
}
