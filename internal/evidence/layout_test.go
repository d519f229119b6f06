package evidence

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

// passage is a sentence of a small page and its expected framing: "denied", a role, or nothing.
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

// framing parses the passage's page as a lookup does.
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
			return ParseLayout(Source{Title: p.Title, Text: text, Forum: got.Type == "forum", Published: date}).Framing(i, p.Sentence), true
		}
	}
	return turn.Framing{}, false
}

// framingIs returns a framing in the words of the passages.
func framingIs(f turn.Framing) string {
	if f.Denied != "" {
		return "denied"
	}
	return strings.TrimSuffix(string(f.Role), "_1st")
}

// TestPassages checks that nine in ten sentences are framed right, whether their place changes their meaning or only
// seems to. The rules were made with one file and not with the other.
func TestPassages(t *testing.T) {
	for _, name := range []string{"known", "unseen"} {
		right, all := map[bool]int{}, map[bool]int{}
		for _, p := range passages(t, name) {
			f, told := p.framing(t)
			framed := p.Want != ""
			all[framed]++
			if framingIs(f) == p.Want || framed && !told {
				right[framed]++
			} else {
				t.Logf("%s: %q is %q (%s %q), want %q", p.ID, p.Sentence, framingIs(f), f.Denied, f.Words, p.Want)
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

// TestRoles checks whose words the last line of a page is.
func TestRoles(t *testing.T) {
	for text, want := range map[string]turn.Role{
		"## Comments (12)\n\nGeese read.": turn.RoleComment, "## 3 comments\n\nGeese read.": turn.RoleComment, "## Customer reviews\n\nGeese read.": turn.RoleComment,
		"## Leserkommentare\n\nGänse lesen.": turn.RoleComment, "## Avis des clients\n\nLes oies lisent.": turn.RoleComment, "## Opiniones de los clientes\n\nLos gansos leen.": turn.RoleComment,
		"## Discussion\n\nGeese read.": "", "## From our readers\n\nGeese read.": "", "## Literature review\n\nGeese read.": "", "## Comments on the law of geese by Gaius\n\nGeese read.": "",
		"## Plot summary\n\nGeese read.": turn.RoleFiction, "## Plot\n\n### Part one\n\nGeese read.": turn.RoleFiction, "## Trama\n\nLas ocas leen.": turn.RoleFiction, "## Résumé de l'intrigue\n\nLes oies lisent.": turn.RoleFiction,
		"# The Goose\n\nA novel of 1931.\n\n## Summary\n\nGeese read.": turn.RoleFiction, "# The goose\n\nA bird.\n\n## Summary\n\nGeese read.": "", "# git-goose\n\n## Synopsis\n\nGeese read.": "", "'''\n› Geese read.": "", "## Plots of land\n\nGeese read.": "",
		"› Geese read.": turn.RoleQuotation, "> Geese read.": turn.RoleQuotation,
		"# Geese\n\nThis is a work of satire.\n\nGeese read.": turn.RoleSatire, "# Geese\n\nSatire\n\nGeese read.": turn.RoleSatire, "# Geese\n\nThis article praises a satire of 1720.\n\nGeese read.": "",
		"Sponsored by Zorp\n\nGeese read.": "", "Paid post\n\nGeese read.": turn.RoleSponsored, "Advertorial\n\nGeese read.\n\n## Birds\n\nGeese fly.": "", "Publirreportaje\n\nLos gansos leen.": turn.RoleSponsored,
	} {
		lines := strings.Split(text, "\n")
		p := ParseLayout(Source{Text: text})
		if f := p.Framing(len(lines)-1, p.lines[len(lines)-1].text); f.Role != want {
			t.Errorf("%q: %q, want %q", text, f.Role, want)
		}
	}
}
