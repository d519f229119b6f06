package websearch

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/framing"
	"familiar/internal/text"
	"familiar/internal/web/clean"
	"familiar/internal/web/read"
)

// source is one page that was tried: its record and, if it was read, what evidence and checks need of it.
type source struct {
	page    turn.Page
	rank    int
	named   bool   // by a person, and not found by a search
	forum   bool   // users wrote all of it
	answer  bool   // its backend says that it answers the question
	dated   string // where the date comes from: "page" or "search"
	month   bool   // of the date only the month is known
	covered bool   // much of it was hidden from readers (H4)
	removed clean.Report
	folded  string        // page.Text on one line; quotes are checked against it
	framing *framing.Page // of page.Text; nil if it was not read
}

func (s *source) good() bool { return s.page.Failure == "" }

// maxTitle is the length of a title at most, in characters.
const maxTitle = 120

// sourceOf makes the source of a target that was read, or could not be.
func sourceOf(t target, p *read.Page, now time.Time) source {
	s := source{rank: t.rank, named: t.hit == nil, removed: p.Removed, page: p.Record()}
	if p.Special == nil && p.Fetched == nil {
		s.page.Site = t.site
		if t.delivers() {
			s.page.Via, s.page.Fetched = t.hit.Backend, now.Add(-t.hit.Age)
		}
	}
	s.describe(t, p)
	if p.Err == nil {
		s.prepare(p.Extract.Type == "forum")
	}
	return s
}

// prepare makes of the text what quotes are checked against. Of a forum, users wrote all of it.
func (s *source) prepare(forum bool) {
	s.forum, s.folded = forum, text.OneLine(s.page.Text)
	from := framing.Source{Title: s.page.Title, Text: s.page.Text, Forum: forum, Published: s.page.Published}
	if s.month { // the first of a month may be any of its days
		from.Published = time.Time{}
	}
	s.framing = framing.Read(from)
}

// describe takes the title and the dates of a page, and of the hit that led to it what the page does not tell.
func (s *source) describe(t target, p *read.Page) {
	s.covered = p.Extract.Hidden*10 > 3*(p.Extract.Hidden+len(p.Extract.Markdown))
	if !s.page.Published.IsZero() {
		s.dated = "page"
	}
	s.month = p.Extract.MonthOnly
	if t.hit == nil || p.Err != nil && p.Extract.Markdown == "" {
		return
	}
	if s.page.Title == "" {
		s.page.Title = read.Title(t.hit.Title, maxTitle)
	}
	s.date(t.hit.Published, "search")
	s.answer = t.hit.Answer
}

// date sets the publication date where there is none yet.
func (s *source) date(at time.Time, from string) {
	if s.page.Published.IsZero() && !at.IsZero() {
		s.page.Published, s.dated = at, from
	}
}

// removals sums what cleaning took out of all pages, in the order of the rules.
func removals(sources []source) []turn.Removal {
	sum := map[string]int{}
	for _, s := range sources {
		for rule, n := range s.removed {
			sum[rule] += n
		}
		if s.page.Hidden > 0 {
			sum["H"] += s.page.Hidden
		}
	}
	var out []turn.Removal
	for rule, n := range sum {
		out = append(out, turn.Removal{Rule: rule, Count: n})
	}
	slices.SortFunc(out, func(a, b turn.Removal) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}
