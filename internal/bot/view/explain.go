package view

import (
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
	"familiar/internal/web/clean"
)

// Explain writes a lookup as its decisions, one after the other, with their reasons.
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
	w.row("score", "%.2f; by itself looked up from %.2f, and between %.2f and %.2f a side model is asked", l.Score, need.Threshold, need.DoubtFrom, need.DoubtTo)
	for i, cue := range l.Cues {
		w.item(i, "cues", "%s", cue)
	}
	w.row("intent", "%s", orDash(intents(l)))
}

func explainWording(w *writer, l *turn.Lookup) {
	w.line("\nWhat is asked?")
	w.row("question", "%q", l.Question)
	for _, step := range l.Steps {
		w.row(step.By, "%s", clean.Line(step.Text, 300))
	}
	if len(l.Scrubbed) > 0 {
		w.row("kept in", "%s", strings.Join(l.Scrubbed, ", "))
	}
	query := "nothing left this machine for a search"
	if l.Query != "" {
		query = Queries(l.Query)
	}
	w.row("query", "%s", query)
}

func explainAllowance(w *writer, l *turn.Lookup) {
	w.line("\nMay it be asked, and must it?")
	for _, c := range l.Caps {
		w.row("cap", "%s: lookup %d of %d", c.Of, c.Used, c.Limit)
	}
	if len(l.Caps) == 0 {
		w.row("cap", "none counted")
	}
	switch r := l.Reused; {
	case r != nil:
		w.row("reuse", "%q was asked %s ago in turn %s, and is as good as this", r.Query, r.Age.Round(time.Second), r.Turn)
	case l.Query == "":
		w.row("reuse", "nothing was to be asked")
	default:
		w.row("reuse", "no like question was answered shortly before")
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
	w.line("\nWhat of it is told?")
	viewClaims(w, l)
	if len(l.Summary)+len(l.Rejected) == 0 {
		w.row("claims", "none")
	}
	for i, d := range l.Dropped {
		page := d.URL
		if d.Source > 0 {
			page = fmt.Sprintf("[%d]", d.Source)
		}
		w.item(i, "not told", "%s %s", page, clean.Line(d.Text, 160))
		w.row("", "    score %.1f: %s", d.Score, d.Why)
	}
	viewTimes(w, l)
}
