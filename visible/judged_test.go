package visible

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"familiar/visible/dom"
)

// tally counts judged texts.
type tally struct{ hidden, gone, shown, lost int }

// TestJudgedPages compares the text that Prune leaves with the text that a browser showed to command judge.
func TestJudgedPages(t *testing.T) {
	file, err := os.Open("testdata/judged.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all tally
	classes := map[string]*tally{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one struct {
			Page, Class  string
			Stated, Held bool
			Seen         map[string]bool
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		doc, err := parse(one.Page)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Prune(doc, Options{Scripts: true}); err != nil {
			t.Fatalf("%s: %v", one.Page, err)
		}
		text := dom.Text(doc)
		class := one.Class
		if one.Held {
			class += ", held"
		}
		if classes[class] == nil {
			classes[class] = &tally{}
		}
		for word, seen := range one.Seen {
			left := strings.Contains(text, word+" ")
			if one.Stated && seen && !left { // on purpose
				continue
			}
			for _, sum := range []*tally{&all, classes[class]} {
				sum.add(seen, left)
			}
			if seen != left && !one.Held {
				t.Logf("%s: %s is left: %v: %s", class, word, left, one.Page)
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		sum := classes[class]
		t.Logf("%-32s %3d of %3d hidden texts are gone, %3d of %4d visible ones are lost", class, sum.gone, sum.hidden, sum.lost, sum.shown)
	}
	if all.gone*100 < all.hidden*97 || all.lost*100 > all.shown {
		t.Error("at least 97 % must be gone and at most 1 % lost")
	}
}

func parse(page string) (*html.Node, error) {
	if strings.HasPrefix(page, "<?xml") {
		return XHTML(page)
	}
	return html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(true))
}

func (sum *tally) add(seen, left bool) {
	switch {
	case seen && left:
		sum.shown++
	case seen:
		sum.shown++
		sum.lost++
	case left:
		sum.hidden++
	default:
		sum.hidden++
		sum.gone++
	}
}
