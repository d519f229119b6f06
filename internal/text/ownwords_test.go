package text

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// The rows of evaluate's set "language". They are messages with addresses, code, names and quotations, and the language of their writers'
// own words.
func TestMessageLanguage(t *testing.T) {
	f, err := os.Open("../../cmd/evaluate/own/language/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right, all := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); all++ {
		var row struct{ ID, Lang, Text string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if got := MessageLanguage(row.Text); got == row.Lang {
			right++
		} else {
			t.Logf("%s: %q is %q, want %q", row.ID, row.Text, got, row.Lang)
		}
	}
	if 60*right < 58*all {
		t.Errorf("%d of %d are right, want 58 of 60", right, all)
	}
}
