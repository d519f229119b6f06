package bot

import (
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
	"familiar/internal/web/clean"
)

// ExplainLookup writes a lookup as its decisions, one after the other: what was decided, and what for.
func ExplainLookup(l *turn.Lookup) string {
	var s sheet
	s.row("state", "%s%s", l.State, aside(string(l.Failure)))
	if l.Reason != l.Need {
		s.row("why", "%s", l.Reason)
	}
	s.line("")
	explainNeed(&s, l)
	explainWording(&s, l)
	explainAllowance(&s, l)
	explainSearch(&s, l)
	explainReading(&s, l)
	explainFacts(&s, l)
	s.line("\nWhat the model is shown")
	s.line("%s", orDash(l.Block))
	return s.String()
}

func explainNeed(s *sheet, l *turn.Lookup) {
	s.line("Is it needed?")
	s.row("why", "%s", orDash(l.Need))
	s.row("score", "%.2f; by itself looked up from %.2f, and between %.2f and %.2f a side model is asked", l.Score, need.Threshold, need.DoubtFrom, need.DoubtTo)
	for i, cue := range l.Cues {
		s.row(once(i == 0, "cues"), "%s", cue)
	}
	s.row("intent", "%s", orDash(intents(l)))
}

func explainWording(s *sheet, l *turn.Lookup) {
	s.line("\nWhat is asked?")
	s.row("question", "%q", l.Question)
	for _, step := range l.Steps {
		s.row(step.By, "%s", clean.Line(step.Text, 300))
	}
	if len(l.Scrubbed) > 0 {
		s.row("kept in", "%s", strings.Join(l.Scrubbed, ", "))
	}
	query := "nothing left this machine for a search"
	if l.Query != "" {
		query = quoted(l.Query)
	}
	s.row("query", "%s", query)
}

func explainAllowance(s *sheet, l *turn.Lookup) {
	s.line("\nMay it be asked, and must it?")
	for _, c := range l.Caps {
		s.row("cap", "%s: lookup %d of %d", c.Of, c.Used, c.Limit)
	}
	if len(l.Caps) == 0 {
		s.row("cap", "none counted")
	}
	switch r := l.Reused; {
	case r != nil:
		s.row("reuse", "%q was asked %s ago in turn %s, and is as good as this", r.Query, r.Age.Round(time.Second), r.Turn)
	case l.Query == "":
		s.row("reuse", "nothing was to be asked")
	default:
		s.row("reuse", "no like question was answered shortly before")
	}
}

func explainSearch(s *sheet, l *turn.Lookup) {
	s.line("\nWhat was found?")
	viewAsked(s, l)
	for i, h := range l.Hits {
		s.row(fmt.Sprintf("%d.", i+1), "%s", clean.Line(h.Title, 80))
		s.row("", "%s", h.URL)
		others := ""
		if len(h.Also) > 0 {
			others = ", also " + strings.Join(h.Also, ", ")
		}
		s.row("", "%s #%d%s, score %.3f%s", h.Backend, h.Rank, others, h.Score, aside(h.Why))
	}
}

func explainReading(s *sheet, l *turn.Lookup) {
	s.line("\nWhat was read?")
	viewPages(s, l)
	for _, r := range l.Removed {
		s.row("removed", "rule %s ×%d", r.Rule, r.Count)
	}
}

func explainFacts(s *sheet, l *turn.Lookup) {
	s.line("\nWhat of it is told?")
	viewClaims(s, l)
	if len(l.Summary)+len(l.Rejected) == 0 {
		s.row("claims", "none")
	}
	for i, d := range l.Dropped {
		page := d.URL
		if d.Source > 0 {
			page = fmt.Sprintf("[%d]", d.Source)
		}
		s.row(once(i == 0, "not told"), "%s %s", page, clean.Line(d.Text, 160))
		s.row("", "    score %.1f: %s", d.Score, d.Why)
	}
	var stages []string
	for _, st := range l.Stages {
		stages = append(stages, st.Name+" "+ms(st.Took))
	}
	s.row("took", "%s%s", ms(l.Took), aside(strings.Join(stages, ", ")))
}
