package view

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"

	"github.com/rogpeppe/go-internal/diff"

	"familiar/internal/reply"
)

// Differences is what a replay found, by section.
type Differences struct {
	Sections []Differing `json:"sections"`
	Notes    []string    `json:"notes,omitempty"`
}

// Differing is a section that differs.
type Differing struct {
	Name string `json:"name"`
	Diff string `json:"diff"` // lines, as diff -u writes them, without the header
}

// Compare writes both records as lines and returns the sections that differ.
func Compare(old, now *turn.Trace) Differences {
	d := Differences{Sections: []Differing{}}
	for _, s := range []struct {
		name string
		of   func(*turn.Trace) string
	}{
		{"lookup", lookupLines}, {"sources", sourceLines}, {"layers", layerLines}, {"cuts", cutLines}, {"providers", providerLines},
		{"guard", guardLines}, {"prompt", promptLines}, {"reply", func(t *turn.Trace) string { return reply.OwnWords(t.Reply) }},
	} {
		if lines := difference(s.of(old), s.of(now)); lines != "" {
			d.Sections = append(d.Sections, Differing{s.name, lines})
		}
	}
	return d
}

// difference returns a line diff of two texts, or "".
func difference(was, is string) string {
	if was == is {
		return ""
	}
	if was != "" {
		was += "\n"
	}
	if is != "" {
		is += "\n"
	}
	_, lines, _ := strings.Cut(string(diff.Diff("then", []byte(was), "now", []byte(is))), "+++ now\n")
	return strings.TrimRight(lines, "\n")
}

var sectionTitles = map[string]string{
	"lookup": "Lookup: decision and query", "sources": "Lookup: sources and quotes", "layers": "Layers: tokens used, of budget", "cuts": "What the budget cut",
	"providers": "Providers", "guard": "What the output guard changed", "prompt": "Prompt", "reply": "Reply",
}

// Text writes the differences for people. If live is set, the services were asked again.
func (d Differences) Text(old *turn.Trace, live bool) string {
	var b strings.Builder
	how := "from its record"
	if live {
		how = "with the services asked again"
	}
	fmt.Fprintf(&b, "turn %s of %s, taken again %s (- then, + now)\n", old.Request.ID, old.Began.UTC().Format(time.DateTime), how)
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	for _, s := range d.Sections {
		fmt.Fprintf(&b, "\n── %s ──\n%s\n", sectionTitles[s.Name], s.Diff)
	}
	if len(d.Sections) == 0 {
		b.WriteString("\nNothing differs.")
	}
	return strings.TrimRight(b.String(), "\n")
}

func lookupLines(t *turn.Trace) string {
	l := t.LookupBy("websearch")
	if l == nil {
		return "no lookup"
	}
	lines := []string{
		"state     " + string(l.State), "reason    " + l.Reason, fmt.Sprintf("need      %.2f (%s)", l.Score, strings.Join(l.Cues, ", ")), "intent    " + string(l.Intent), "question  " + l.Question,
	}
	if l.Failure != "" {
		lines = append(lines, "failure   "+string(l.Failure))
	}
	for q := range strings.SplitSeq(l.Query, "\n") {
		lines = append(lines, "query     "+q)
	}
	for _, s := range l.Steps {
		lines = append(lines, "step      "+s.By+": "+s.Text)
	}
	if len(l.Scrubbed) > 0 {
		lines = append(lines, "kept back "+strings.Join(l.Scrubbed, ", "))
	}
	return strings.Join(lines, "\n")
}

func sourceLines(t *turn.Trace) string {
	l := t.LookupBy("websearch")
	if l == nil {
		return ""
	}
	var lines []string
	for _, s := range l.Sources {
		lines = append(lines, fmt.Sprintf("[%d] %s %s", s.N, s.Title, s.URL))
	}
	for _, c := range l.Summary {
		lines = append(lines, c.Cited()+" "+strings.Join(strings.Fields(c.Text), " "))
	}
	for _, c := range l.Conflicts {
		lines = append(lines, fmt.Sprintf("conflict of %s: %s %s, %s %s", c.Of, c.Values[0].Value, c.Values[0].Cited(), c.Values[1].Value, c.Values[1].Cited()))
	}
	if l.Verdict != nil {
		lines = append(lines, fmt.Sprintf("verdict %s, %d for, %d against", l.Verdict.Label, len(l.Verdict.For), len(l.Verdict.Against)))
	}
	return strings.Join(lines, "\n")
}

func layerLines(t *turn.Trace) string {
	var lines []string
	for _, l := range t.Layers {
		lines = append(lines, fmt.Sprintf("%-16s %6d of %d", l.Layer, l.Used, l.Budget))
	}
	return strings.Join(lines, "\n")
}

func cutLines(t *turn.Trace) string {
	var lines []string
	for _, d := range t.Dropped {
		lines = append(lines, fmt.Sprintf("%-16s %s %s, %d tokens", d.Layer, d.Source, d.Reason, d.Tokens))
	}
	return strings.Join(lines, "\n")
}

func providerLines(t *turn.Trace) string {
	var lines []string
	for _, o := range t.Outcomes {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-12s %s %s", o.Provider, o.Status, o.Err), " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func guardLines(t *turn.Trace) string {
	var lines []string
	for _, g := range t.Guarded {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %d× %s", g.Rule, g.Count, g.What), " "))
	}
	for _, c := range t.Unsupported {
		lines = append(lines, fmt.Sprintf("not supported [%d] (%s): %s", c.Source, c.Refused, c.Text))
	}
	return strings.Join(lines, "\n")
}

// nonce matches the end of the tag names around strangers' words, which differs in each turn.
var nonce = regexp.MustCompile(`-[a-z2-7]{16}\b`)

func promptLines(t *turn.Trace) string {
	var lines []string
	for _, m := range t.Prompt {
		lines = append(lines, strings.TrimSpace("["+m.Role+"] "+m.Name))
		text := nonce.ReplaceAllString(strings.Map(unmarked, m.Text), "-…")
		lines = append(lines, strings.Split(text, "\n")...)
	}
	return strings.Join(lines, "\n")
}

// unmarked replaces the private characters that seal strangers' words, which differ in each turn, by spaces.
func unmarked(r rune) rune {
	if unicode.Is(unicode.Co, r) {
		return ' '
	}
	return r
}
