package bot

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

// Page is one page of a record, as plain text.
type Page struct{ Name, Text string }

// View writes a turn's record for people: what happened first, then the lookup, the prompt and the reply. The text
// is plain and complete; whoever shows it bounds and redacts it.
func View(t *turn.Trace) []Page {
	pages := []Page{{"Overview", overview(t)}}
	if l := t.Lookup(); l != nil {
		pages = append(pages, Page{"Lookup", ViewLookup(l)})
	}
	return append(pages, Page{"Prompt", promptPage(t)}, Page{"Reply", replyPage(t)})
}

// WholeView is every page of a record under its name.
func WholeView(t *turn.Trace) string {
	var all strings.Builder
	for i, p := range View(t) {
		if i > 0 {
			fmt.Fprintf(&all, "\n── %s ──\n", p.Name)
		}
		all.WriteString(p.Text)
	}
	return all.String()
}

// leaf is as much of a page as one message takes.
type leaf struct {
	Page
	part, of int // from 1
}

// leaves cuts pages into leaves of at most room UTF-16 units, between lines where a line isn't too long for that. They
// can stand in a code block.
func leaves(pages []Page, room int) []leaf {
	var all []leaf
	for _, p := range pages {
		rest, first := strings.TrimSpace(strings.ReplaceAll(p.Text, "`", "'")), len(all)
		for len(all) == first || rest != "" {
			piece := cutUnits(rest, room)
			if i := strings.LastIndexByte(piece, '\n'); len(piece) < len(rest) && i > len(piece)/2 {
				piece = piece[:i]
			}
			rest = strings.TrimLeft(rest[len(piece):], "\n")
			all = append(all, leaf{Page: Page{p.Name, piece}, part: len(all) - first + 1})
		}
		for i := first; i < len(all); i++ {
			all[i].of = len(all) - first
		}
	}
	return all
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// cutUnits is the beginning of s in at most n UTF-16 units.
func cutUnits(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// sheet collects lines of "label  value".
type sheet struct{ strings.Builder }

func (s *sheet) row(label, format string, values ...any) {
	fmt.Fprintf(s, "%-10s %s\n", label, fmt.Sprintf(format, values...))
}

func (s *sheet) line(format string, values ...any) { fmt.Fprintf(s, format+"\n", values...) }

func overview(t *turn.Trace) string {
	var s sheet
	r := t.Request
	s.row("turn", "%s · %s · %s in %s", r.ID, t.Began.UTC().Format("2006-01-02 15:04:05 UTC"), t.Phase, ms(t.Took))
	s.row("asked", "%s: %q", r.Message.Author.Name, clean.Line(r.Message.Text, 200))
	s.row("mode", "%s · character %s", r.Mode, r.Character)
	if l := t.Lookup(); l != nil {
		s.row("lookup", "%s", lookupSummary(l))
		if l.Query != "" {
			s.row("query", "%s", quoted(l.Query))
		}
	}
	for i, o := range t.Outcomes {
		s.row(once(i == 0, "providers"), "%s %s %s%s", o.Provider, o.Status, ms(o.Took), aside(o.Err))
	}
	s.row("tokens", "%s", layerTokens(t.Layers))
	for i, d := range t.Dropped {
		s.row(once(i == 0, "cut"), "%s/%s %s, %d tokens", d.Layer, d.Source, d.Reason, d.Tokens)
	}
	s.row("model", "%s%s", orDash(t.Model), modelUse(t))
	s.row("times", "prompt %s · first words %s · first seen %s", ms(t.Timings.Prompt), ms(t.Timings.FirstToken), ms(t.Timings.FirstSeen))
	for i, g := range t.Guarded {
		s.row(once(i == 0, "guard"), "%s ×%d%s", g.Rule, g.Count, aside(g.What))
	}
	for i, c := range t.Unborne {
		s.row(once(i == 0, "unborne"), "[%d] %s (%s)", c.Source, clean.Line(c.Text, 120), c.Refused)
	}
	if t.Uncited {
		s.row("cited", "none of the sources that were given")
	}
	if t.Err != "" {
		s.row("error", "%s", t.Err)
	}
	return s.String()
}

func lookupSummary(l *turn.Lookup) string {
	read, tried := 0, 0
	for _, p := range l.Pages {
		if p.Snippet() { // the page itself stands there as not read
			continue
		}
		tried++
		if p.Failure == "" {
			read++
		}
	}
	text := string(l.State)
	if tried > 0 {
		text += fmt.Sprintf(", %d of %d pages read", read, tried)
	}
	if !l.Newest.IsZero() {
		text += ", newest " + day(l.Newest)
	}
	if l.Stale > 0 {
		text += ", the search failed, these are results from " + ago(l.Stale)
	}
	if r := l.Reused; r != nil {
		text += ", read " + ago(r.Age) + " for a like question"
	}
	return text + aside(l.Reason)
}

func layerTokens(layers []turn.LayerTokens) string {
	var parts []string
	for _, l := range layers {
		if l.Used > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", l.Layer, l.Used, l.Budget))
		}
	}
	return orDash(strings.Join(parts, " · "))
}

func modelUse(t *turn.Trace) string {
	var text string
	if u := t.Usage; u.Prompt+u.Completion > 0 {
		text += fmt.Sprintf(" · %d tokens in, %d out", u.Prompt, u.Completion)
	}
	if t.Usage.Cost > 0 {
		text += fmt.Sprintf(" · $%.4f", t.Usage.Cost)
	}
	if t.Finish != "" {
		text += " · " + t.Finish
	}
	for _, f := range t.Tried {
		text += fmt.Sprintf(" · %s failed: %s", f.Model, f.Kind)
	}
	return text
}

// intents names what kinds of question a lookup answers, with how sure each is: "news 0.71, person 0.22". A lookup may
// have one without that.
func intents(l *turn.Lookup) string {
	var all []string
	for _, in := range l.Intents {
		all = append(all, fmt.Sprintf("%s %.2f", in.Name, in.Confidence))
	}
	return cmp.Or(strings.Join(all, ", "), l.Intent)
}

// ViewLookup writes what a lookup asked, read and found.
func ViewLookup(l *turn.Lookup) string {
	var s sheet
	s.row("state", "%s%s", l.State, aside(l.Failure))
	why := orDash(l.Reason)
	if l.State == turn.Disabled {
		why = "switched off: " + why
	}
	s.row("why", "%s (score %.2f)", why, l.Score)
	if len(l.Cues) > 0 {
		s.row("cues", "%s", strings.Join(l.Cues, ", "))
	}
	if l.Intent != "" {
		s.row("intent", "%s", intents(l))
	}
	if l.Question != "" {
		s.row("question", "%q", l.Question)
	}
	if l.Query != "" {
		s.row("query", "%s", quoted(l.Query))
	}
	for i, step := range l.Steps {
		s.row(once(i == 0, "worded"), "%s: %s", step.By, clean.Line(step.Text, 300))
	}
	if len(l.Scrubbed) > 0 {
		s.row("kept in", "%s", strings.Join(l.Scrubbed, ", "))
	}
	for i, c := range l.Caps {
		s.row(once(i == 0, "caps"), "%s: %d of %d", c.Of, c.Used, c.Limit)
	}
	if r := l.Reused; r != nil {
		s.row("cached", "what turn %s found for %q, %s ago", r.Turn, r.Query, r.Age.Round(time.Second))
	}
	viewAsked(&s, l)
	viewHits(&s, l)
	viewPages(&s, l)
	viewClaims(&s, l)
	for i, r := range l.Removed {
		s.row(once(i == 0, "removed"), "rule %s ×%d", r.Rule, r.Count)
	}
	var stages []string
	for _, st := range l.Stages {
		stages = append(stages, st.Name+" "+ms(st.Took))
	}
	s.row("took", "%s%s", ms(l.Took), aside(strings.Join(stages, ", ")))
	return s.String()
}

// viewAsked writes each backend's part in the search, with the query where there were several.
func viewAsked(s *sheet, l *turn.Lookup) {
	several := strings.Contains(l.Query, "\n")
	for i, a := range l.Asked {
		hits := fmt.Sprintf("%d hits", a.Hits)
		if a.Stale > 0 {
			hits += " from " + ago(a.Stale)
		}
		which := ""
		if several && a.Query > 0 {
			which = fmt.Sprintf("query %d: ", a.Query)
		}
		s.row(once(i == 0, "asked"), "%s%s %s, %s, %s%s", which, a.Backend, a.Status, hits, ms(a.Took), aside(a.Detail))
	}
}

func viewHits(s *sheet, l *turn.Lookup) {
	for i, h := range l.Hits {
		s.row(once(i == 0, "hits"), "%s #%d %s", h.Backend, h.Rank, clean.Line(h.Title, 80))
		s.row("", "   %s%s", h.URL, aside(h.Why))
	}
}

func viewPages(s *sheet, l *turn.Lookup) {
	for i, p := range l.Pages {
		label := once(i == 0, "pages")
		passed := ""
		if p.Passed != "" {
			passed = "reader " + p.Passed
		}
		if p.Failure != "" {
			s.row(label, "not read: %s%s", p.URL, aside(strings.Join(nonEmpty(p.Failure, p.Reason, status(p.Status), passed), ", ")))
			continue
		}
		facts := nonEmpty(status(p.Status), size(p.Bytes), ms(p.Took), published(p.Published), cached(p.Cached), passed)
		if p.Via != "" {
			facts = nonEmpty("text from "+p.Via, published(p.Published))
		}
		if p.Hidden > 0 {
			facts = append(facts, fmt.Sprintf("%d hidden characters dropped", p.Hidden))
		}
		s.row(label, "[%s] %s%s", sourceNumber(p.N), orDash(p.Final, p.URL), aside(strings.Join(facts, ", ")))
	}
}

func viewClaims(s *sheet, l *turn.Lookup) {
	for i, c := range l.Summary {
		s.row(once(i == 0, "claims"), "%s %s", c.Cited(), c.Text)
		if c.Quote != "" && c.Quote != c.Text {
			s.row("", "    quote: %q", c.Quote)
		}
		for _, b := range c.Also {
			s.row("", "    quote of [%d]: %q", b.Source, b.Quote)
		}
		if len(c.Checks) > 0 {
			s.row("", "    checked: %s", strings.Join(c.Checks, ", "))
		}
	}
	for i, c := range l.Rejected {
		s.row(once(i == 0, "refused"), "%s%s", clean.Line(c.Text, 160), aside(c.Refused))
	}
	if l.By != "" {
		s.row("by", "%s", l.By)
	}
	for i, c := range l.Conflicts {
		a, b := c.Values[0], c.Values[1]
		s.row(once(i == 0, "conflict"), "%s: %s %q, %s %q", c.Of, a.Cited(), a.Value, b.Cited(), b.Value)
	}
	viewVerdict(s, l.Verdict)
}

func viewVerdict(s *sheet, v *turn.Verdict) {
	if v == nil {
		return
	}
	s.row("verdict", "%s (confidence %.2f)%s", v.Label, v.Confidence, ofStatement(v))
	for i, c := range v.For {
		viewEvidence(s, once(i == 0, "for"), c)
	}
	for i, c := range v.Against {
		viewEvidence(s, once(i == 0, "against"), c)
	}
}

// ofStatement names what was judged, which records of former times do not tell.
func ofStatement(v *turn.Verdict) string {
	if v.Statement == "" {
		return ""
	}
	return fmt.Sprintf(": %q", clean.Line(v.Statement, 200))
}

func viewEvidence(s *sheet, label string, c turn.Claim) {
	s.row(label, "[%s] %q%s", sourceNumber(c.Source), c.Quote, aside(strings.Join(c.Checks, ", ")))
	if c.URL != "" {
		s.row("", "    %s%s", c.URL, aside(published(c.Published)))
	}
}

func promptPage(t *turn.Trace) string {
	var s sheet
	for _, m := range t.Prompt {
		web := ""
		if m.Web {
			web = " · from the web"
		}
		s.line("── %s%s · %d tokens%s", m.Role, aside(m.Name), m.Tokens, web)
		s.line("%s\n", m.Text)
	}
	return s.String()
}

func replyPage(t *turn.Trace) string {
	var s sheet
	s.row("posts", "%s", orDash(strings.Join(t.ReplyIDs, ", ")))
	s.line("%s", orDash(t.Reply))
	return s.String()
}

// ViewList writes one line a turn.
func ViewList(list []trace.Summary) string {
	var s sheet
	for _, t := range list {
		s.line("%s  %s  %-9s %-10s %8s  %s: %s%s", t.ID, t.Began.UTC().Format("01-02 15:04"), t.Phase, orDash(string(t.Lookup)),
			ms(t.Took), t.Author, clean.Line(t.Question, 60), aside(t.Err))
	}
	return s.String()
}

func ms(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Millisecond:
		return "<1 ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

func published(at time.Time) string {
	if at.IsZero() {
		return "undated"
	}
	return "published " + day(at)
}

func status(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("status %d", code)
}

func size(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}

func cached(is bool) string {
	if is {
		return "cached"
	}
	return ""
}

func sourceNumber(n int) string {
	if n == 0 {
		return "read, not used"
	}
	return fmt.Sprint(n)
}

func ago(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d min ago", max(1, int(d.Minutes())))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}

func aside(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func once(first bool, label string) string {
	if first {
		return label
	}
	return ""
}

func orDash(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return "–"
}

func nonEmpty(values ...string) []string {
	var kept []string
	for _, v := range values {
		if v != "" {
			kept = append(kept, v)
		}
	}
	return kept
}
