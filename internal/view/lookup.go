package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/web/clean"
)

func lookupSummary(l *turn.Lookup) string {
	read, tried := 0, 0
	for _, p := range l.Pages {
		if p.Snippet() { // its page is another entry
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
		text += ", the search failed, these are results from " + Ago(l.Stale)
	}
	if r := l.Reused; r != nil {
		text += ", read " + Ago(r.Age) + " for a similar question"
	}
	return text + inParens(l.Reason)
}

// intents lists the intents of a lookup with their confidence: "news 0.71, person 0.22". Some lookups have an intent without a confidence.
func intents(l *turn.Lookup) string {
	var all []string
	for _, in := range l.Intents {
		all = append(all, fmt.Sprintf("%s %.2f", in.Name, in.Confidence))
	}
	return cmp.Or(strings.Join(all, ", "), string(l.Intent))
}

// Lookup writes what a lookup searched for, read and found.
func Lookup(l *turn.Lookup) string {
	var all strings.Builder
	for _, s := range lookup(l) {
		all.WriteString(s.Text)
	}
	return Visible(all.String())
}

func lookup(l *turn.Lookup) []turn.Section {
	write := func(parts ...func(*writer, *turn.Lookup)) string {
		var w writer
		for _, part := range parts {
			part(&w, l)
		}
		return w.String()
	}
	return sections(Decision, write(viewDecision, viewTimes), Search, write(viewAsked, viewHits), Reading, write(viewPages, viewRemoved), Claims, write(viewClaims))
}

func viewDecision(w *writer, l *turn.Lookup) {
	w.row("state", "%s%s", l.State, inParens(string(l.Failure)))
	why := orDash(l.Reason)
	if l.State == turn.Disabled {
		why = "switched off: " + why
	}
	w.row("why", "%s (score %.2f)", why, l.Score)
	if len(l.Cues) > 0 {
		w.row("cues", "%s", strings.Join(l.Cues, ", "))
	}
	if l.Intent != "" {
		w.row("intent", "%s", intents(l))
	}
	if l.Question != "" {
		w.row("question", "%s", quoted(l.Question))
	}
	if l.Query != "" {
		w.row("query", "%s", l.Queries())
	}
	for i, step := range l.Steps {
		w.item(i, "worded", "%s: %s", step.By, clean.Line(step.Text, 300))
	}
	if len(l.Scrubbed) > 0 {
		w.row("kept in", "%s", strings.Join(l.Scrubbed, ", "))
	}
	for i, c := range l.Caps {
		w.item(i, "caps", "%s: %d of %d", c.Of, c.Used, c.Limit)
	}
	if r := l.Reused; r != nil {
		w.row("cached", "what turn %s found for %s, %s ago", r.Turn, quoted(r.Query), r.Age.Round(time.Second))
	}
}

func viewRemoved(w *writer, l *turn.Lookup) {
	for i, r := range l.Removed {
		w.item(i, "removed", "rule %s ×%d", r.Rule, r.Count)
	}
}

func viewTimes(w *writer, l *turn.Lookup) {
	var stages []string
	for _, s := range l.Stages {
		stages = append(stages, s.Name+" "+ms(s.Took))
	}
	w.row("took", "%s%s", ms(l.Took), inParens(strings.Join(stages, ", ")))
}

// viewAsked writes each backend's part in the search, with its query if there were several.
func viewAsked(w *writer, l *turn.Lookup) {
	several := strings.Contains(l.Query, "\n")
	for i, a := range l.Asked {
		hits := fmt.Sprintf("%d hits", a.Hits)
		if a.Stale > 0 {
			hits += " from " + Ago(a.Stale)
		}
		which := ""
		if several && a.Query > 0 {
			which = fmt.Sprintf("query %d: ", a.Query)
		}
		w.item(i, "asked", "%s%s %s, %s, %s%s", which, a.Backend, a.Status, hits, ms(a.Took), inParens(a.Detail))
	}
}

func viewHits(w *writer, l *turn.Lookup) {
	for i, h := range l.Hits {
		w.item(i, "hits", "%s #%d %s", h.Backend, h.Rank, clean.Line(h.Title, 80))
		w.row("", "   %s%s", h.URL, inParens(h.Why))
	}
}

func viewPages(w *writer, l *turn.Lookup) {
	for i, p := range l.Pages {
		passed := ""
		if p.Passed != "" {
			passed = "reader " + p.Passed
		}
		if p.Failure != "" {
			w.item(i, "pages", "✗ not read: %s%s", p.URL, inParens(strings.Join(nonEmpty(string(p.Failure), string(p.Reason), status(p.Status), passed), ", ")))
			continue
		}
		facts := nonEmpty(status(p.Status), size(p.Bytes), ms(p.Took), published(p.Published), cached(p.Cached), passed)
		if p.Via != "" {
			facts = nonEmpty("text from "+p.Via, published(p.Published))
		}
		if p.Hidden > 0 {
			facts = append(facts, fmt.Sprintf("%d hidden characters dropped", p.Hidden))
		}
		if p.Doubtful > 0 {
			facts = append(facts, fmt.Sprintf("%d of them in doubt", p.Doubtful))
		}
		w.item(i, "pages", "✓ [%s] %s%s", sourceNumber(p.N), orDash(p.Final, p.URL), inParens(strings.Join(facts, ", ")))
	}
}

func viewClaims(w *writer, l *turn.Lookup) {
	for i, c := range l.Summary {
		w.item(i, "claims", "%s %s", c.Cited(), c.Text)
		if c.Quote != "" && c.Quote != strings.Trim(c.Text, "…") {
			w.row("", "    quote: %s", quoted(c.Quote))
		}
		if len(c.Framing.Path) > 0 {
			w.row("", "    below: %s", strings.Join(c.Framing.Path, " › "))
		}
		if note := c.Framing.Note(quoted, fmt.Sprintf); note != "" {
			w.row("", "    framing: %s", note)
		}
		for _, b := range c.Also {
			w.row("", "    quote of [%d]: %s", b.Source, quoted(b.Quote))
		}
		if len(c.Checks) > 0 {
			w.row("", "    checked: %s", strings.Join(c.Checks, ", "))
		}
	}
	for i, c := range l.Rejected {
		w.item(i, "refused", "%s%s", clean.Line(c.Text, 160), inParens(c.Refused))
	}
	if l.By != "" {
		w.row("by", "%s", l.By)
	}
	for i, c := range l.Conflicts {
		a, b := c.Values[0], c.Values[1]
		w.item(i, "conflict", "%s: %s %s, %s %s", c.Of, a.Cited(), quoted(a.Value), b.Cited(), quoted(b.Value))
	}
	viewVerdict(w, l.Verdict)
}

func viewVerdict(w *writer, v *turn.Verdict) {
	if v == nil {
		return
	}
	w.row("verdict", "%s (confidence %.2f)%s", v.Label, v.Confidence, ofStatement(v))
	viewEvidence(w, "for", v.For)
	viewEvidence(w, "against", v.Against)
}

// ofStatement returns the statement that was checked. Old records lack it.
func ofStatement(v *turn.Verdict) string {
	if v.Statement == "" {
		return ""
	}
	return fmt.Sprintf(": %s", quoted(clean.Line(v.Statement, 200)))
}

func viewEvidence(w *writer, label string, claims []turn.Claim) {
	for i, c := range claims {
		w.item(i, label, "[%s] %s%s", sourceNumber(c.Source), quoted(c.Quote), inParens(strings.Join(c.Checks, ", ")))
		if c.URL != "" {
			w.row("", "    %s%s", c.URL, inParens(published(c.Published)))
		}
	}
}

// Explain writes a lookup as a sequence of decisions with their reasons.
func Explain(l *turn.Lookup) string {
	var w writer
	w.row("state", "%s%s", l.State, inParens(string(l.Failure)))
	if l.Reason != l.Need {
		w.row("why", "%s", l.Reason)
	}
	w.line("")
	explainNeed(&w, l)
	explainWording(&w, l)
	explainAllowance(&w, l)
	explainSearch(&w, l)
	explainReading(&w, l)
	explainFacts(&w, l)
	w.line("\nWhat the model is shown")
	w.line("%s", orDash(l.Block))
	return w.String()
}

func explainNeed(w *writer, l *turn.Lookup) {
	w.line("Is it needed?")
	w.row("why", "%s", orDash(l.Need))
	w.row("score", "%.2f; looked up from %.2f; from %.2f to %.2f a side model decides", l.Score, question.Threshold, question.DoubtFrom, question.DoubtTo)
	for i, cue := range l.Cues {
		w.item(i, "cues", "%s", cue)
	}
	w.row("intent", "%s", orDash(intents(l)))
}

func explainWording(w *writer, l *turn.Lookup) {
	w.line("\nWhat is searched for?")
	w.row("question", "%s", quoted(l.Question))
	for _, step := range l.Steps {
		w.row(step.By, "%s", clean.Line(step.Text, 300))
	}
	if len(l.Scrubbed) > 0 {
		w.row("kept in", "%s", strings.Join(l.Scrubbed, ", "))
	}
	query := "no query left this machine"
	if l.Query != "" {
		query = l.Queries()
	}
	w.row("query", "%s", query)
}

func explainAllowance(w *writer, l *turn.Lookup) {
	w.line("\nIs the search allowed, and is it necessary?")
	for _, c := range l.Caps {
		w.row("cap", "%s: lookup %d of %d", c.Of, c.Used, c.Limit)
	}
	if len(l.Caps) == 0 {
		w.row("cap", "no limit applies")
	}
	switch r := l.Reused; {
	case r != nil:
		w.row("reuse", "%s was asked %s ago in turn %s, and its answer is reused", quoted(r.Query), r.Age.Round(time.Second), r.Turn)
	case l.Query == "":
		w.row("reuse", "there is no query")
	default:
		w.row("reuse", "no similar question was answered recently")
	}
}

func explainSearch(w *writer, l *turn.Lookup) {
	w.line("\nWhat was found?")
	viewAsked(w, l)
	for i, h := range l.Hits {
		w.row(fmt.Sprintf("%d.", i+1), "%s", clean.Line(h.Title, 80))
		w.row("", "%s", h.URL)
		others := ""
		if len(h.Also) > 0 {
			others = ", also " + strings.Join(h.Also, ", ")
		}
		w.row("", "%s #%d%s, score %.3f%s", h.Backend, h.Rank, others, h.Score, inParens(h.Why))
	}
}

func explainReading(w *writer, l *turn.Lookup) {
	w.line("\nWhat was read?")
	viewPages(w, l)
	for _, r := range l.Removed {
		w.row("removed", "rule %s ×%d", r.Rule, r.Count)
	}
}

func explainFacts(w *writer, l *turn.Lookup) {
	w.line("\nWhat is quoted?")
	viewClaims(w, l)
	if len(l.Summary)+len(l.Rejected) == 0 {
		w.row("claims", "none")
	}
	for i, d := range l.Dropped {
		page := d.URL
		if d.Source > 0 {
			page = fmt.Sprintf("[%d]", d.Source)
		}
		w.item(i, "left out", "%s %s", page, clean.Line(d.Text, 160))
		w.row("", "    score %.1f: %s", d.Score, d.Why)
	}
	viewTimes(w, l)
}

// Searched is the result of a search.
type Searched struct {
	State   turn.State    `json:"state"`
	Failure turn.Code     `json:"failure,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Cached  bool          `json:"cached,omitempty"`
	Stale   time.Duration `json:"stale,omitempty"`
	Took    time.Duration `json:"took"`
	Hits    []Pictured    `json:"hits"`
	Asked   []turn.Asked  `json:"asked"`
}

// Pictured is a hit with what is known of its thumbnail.
type Pictured struct {
	turn.Hit
	Picture *Picture `json:"picture,omitempty"`
}

// Picture is a thumbnail as the guarded fetcher found it.
type Picture struct {
	Type  string `json:"type,omitempty"` // "image/png", "image/jpeg", "image/webp" or "image/gif"
	Bytes int    `json:"bytes,omitempty"`
	Error string `json:"error,omitempty"` // why it is not shown, as a code for pages
}

func (i *Picture) String() string {
	if i.Error != "" {
		return "not shown: " + i.Error
	}
	return fmt.Sprintf("%s, %d KiB", i.Type, (i.Bytes+1023)/1024)
}

// String lists the hits, best first, and then the services that were asked.
func (s *Searched) String() string {
	var b writer
	for i, hit := range s.Hits {
		fmt.Fprintf(&b, "%2d  %s\n    %s\n    %s\n", i+1, clean.Line(hit.Title, 120), line(hit.URL), provenance(hit.Hit))
		if hit.Snippet != "" {
			fmt.Fprintf(&b, "    %s\n", clean.Line(hit.Snippet, 300))
		}
		if hit.Media != "" {
			fmt.Fprintf(&b, "    media      %s\n", line(hit.Media))
		}
		if hit.Thumbnail != "" {
			fmt.Fprintf(&b, "    thumbnail  %s", line(hit.Thumbnail))
			if hit.Picture != nil {
				fmt.Fprintf(&b, " (%s)", hit.Picture)
			}
			b.WriteByte('\n')
		}
	}
	if len(s.Hits) > 0 {
		b.WriteByte('\n')
	}
	state := string(s.State)
	switch {
	case s.Stale > 0:
		state += fmt.Sprintf(", from %s ago, as nobody could look (%s)", s.Stale.Round(time.Second), s.Reason)
	case s.Reason != "":
		state += " (" + s.Reason + ")"
	}
	b.row("state", "%s, %d hits in %s", state, len(s.Hits), Exact(s.Took))
	for i, a := range s.Asked {
		text := fmt.Sprintf("%s %s, %d hits, %s", a.Backend, a.Status, a.Hits, Exact(a.Took))
		if a.Detail != "" {
			text += " (" + a.Detail + ")"
		}
		b.item(i, "asked", "%s", text)
	}
	return b.String()
}

// provenance says which services found a page and at which rank, with its score and date.
func provenance(hit turn.Hit) string {
	text := fmt.Sprintf("%s #%d", hit.Backend, hit.Rank)
	if len(hit.Also) > 0 {
		text += ", also " + strings.Join(hit.Also, ", ")
	}
	text += fmt.Sprintf(" · score %.4f · ", hit.Score)
	if hit.Published.IsZero() {
		return text + "undated"
	}
	return text + hit.Published.UTC().Format(time.DateOnly)
}
