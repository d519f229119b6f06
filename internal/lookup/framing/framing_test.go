package framing

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/page"
	"familiar/internal/web/read"
)

// passage is a sentence of a small page with what it is there: "denied", a role, or nothing.
type passage struct{ ID, Want, Sentence, HTML, Title, Date string }

func passages(t *testing.T, name string) (all []passage) {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var p passage
		if err := json.Unmarshal(s.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// framing reads the passage's page as a lookup does.
func (p passage) framing(t *testing.T) (f turn.Framing, told bool) {
	t.Helper()
	got, err := page.Read([]byte("<!doctype html><title>"+p.Title+"</title><main>"+p.HTML+"</main>"), "text/html; charset=utf-8", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := read.Text(got.Markdown)
	date, _ := time.Parse(time.DateOnly, p.Date)
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, p.Sentence) {
			return Read(Source{Title: p.Title, Text: text, Forum: got.Type == "forum", Published: date}).At(i, p.Sentence), true
		}
	}
	return turn.Framing{}, false
}

// is is what a framing makes of a sentence, in the words of the passages.
func is(f turn.Framing) string {
	if f.Denied != "" {
		return "denied"
	}
	return strings.TrimSuffix(string(f.Role), "_1st")
}

// TestPassages: of the sentences whose place changes what they mean, and of those where it only seems to, nine in ten are
// taken for what they are. The rules were made with one file and not with the other.
func TestPassages(t *testing.T) {
	for _, name := range []string{"known", "unseen"} {
		right, all := map[bool]int{}, map[bool]int{}
		for _, p := range passages(t, name) {
			f, told := p.framing(t)
			framed := p.Want != ""
			all[framed]++
			if is(f) == p.Want || framed && !told {
				right[framed]++
			} else {
				t.Logf("%s: %q is %q (%s %q), want %q", p.ID, p.Sentence, is(f), f.Denied, f.Words, p.Want)
			}
		}
		t.Logf("%s: %d of %d framed, %d of %d plain", name, right[true], all[true], right[false], all[false])
		for framed, n := range all {
			if right[framed]*10 < n*9 {
				t.Errorf("%s: %d of %d right (framed: %v), want nine in ten", name, right[framed], n, framed)
			}
		}
	}
}
