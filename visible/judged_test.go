package visible

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"familiar/visible/dom"
)

// TestJudgedPages compares the text that Prune leaves with the text that a browser showed to command judge.
func TestJudgedPages(t *testing.T) {
	file, err := os.Open("testdata/judged.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var hidden, gone, shown, lost int
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one struct {
			Page   string
			Stated bool
			Seen   map[string]bool
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		doc, err := html.ParseWithOptions(strings.NewReader(one.Page), html.ParseOptionEnableScripting(true))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Prune(doc, Options{Scripts: true}); err != nil {
			t.Fatalf("%s: %v", one.Page, err)
		}
		text := dom.Text(doc)
		for word, seen := range one.Seen {
			left := strings.Contains(text, word+" ")
			switch {
			case one.Stated && seen && !left: // on purpose
			case seen:
				if shown++; !left {
					lost++
					t.Logf("%s is lost: %s", word, one.Page)
				}
			default:
				if hidden++; left {
					t.Logf("%s is left: %s", word, one.Page)
				} else {
					gone++
				}
			}
		}
	}
	t.Logf("%d of %d hidden texts are gone, %d of %d visible ones are lost", gone, hidden, lost, shown)
	if gone*100 < hidden*97 || lost*100 > shown {
		t.Error("at least 97 % must be gone and at most 1 % lost")
	}
}
