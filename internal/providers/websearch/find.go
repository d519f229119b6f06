package websearch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/question"
	"familiar/internal/search"
	"familiar/internal/text"
	"familiar/internal/web/clean"
	"familiar/internal/web/read"
)

// find answers from an earlier lookup, or searches, reads, summarises and writes the block.
func (r *run) find(ctx context.Context) {
	share := time.Until(r.end) / 3
	switch {
	case r.site != nil:
		if r.takeAllowance(ctx) { // no reuse: a site's answers stay with those who may ask it
			r.findOnSite(ctx, share)
		}
		return
	case r.req.Web.Docs != "":
		r.fail(turn.CodeNotConfigured, "there is no site of documentation of that name")
		r.conclude(nil, summary{})
		return
	}
	targets := typedTargets(r.plan.URLs, r.pol)
	searches := len(targets) == 0 && len(r.plan.Refused) == 0 || r.plan.Order == question.Search && !r.plan.Outline || r.req.Web.Switch == turn.WebAlways && len(targets) == 0
	if r.req.Web.Site != "" {
		r.pol.PerDomain = r.pol.Pages
	}
	r.loadFeedback(ctx)
	fresh := searches && len(targets) == 0 && len(r.plan.Refused) == 0
	if fresh && len(r.plan.Queries) == 0 {
		r.fail(turn.CodeNothingToAsk, "nothing that may leave was left to ask for")
		r.conclude(nil, summary{})
		return
	}
	if fresh && r.reuse(ctx, share) || !r.takeAllowance(ctx) {
		return
	}
	r.refuseTyped()
	var refused []turn.Page
	if searches {
		if len(r.plan.Queries) > 0 {
			r.req.At(turn.Searching, len(r.plan.Queries))
			r.search(ctx, share)
		}
		r.look.Hits = rank(r.look.Hits, r.plan.Intent, r.pol, r.feedback)
		var found []target
		found, refused = choose(r.look.Hits, r.plan.Intent, r.pol)
		targets = append(targets, found...)
		targets = targets[:min(len(targets), r.pol.Pages)]
		r.look.Pages = append(r.look.Pages, refused...)
	}
	r.endStage("search")
	if !r.unread {
		r.req.At(turn.Reading, len(targets))
	}
	sources := r.read(ctx, targets, share)
	r.endStage("read")
	if len(sources) == 0 {
		r.conclude(sources, summary{})
		return
	}
	r.req.At(turn.Checking, len(sources))
	r.summarise(ctx, sources, share)
	if fresh {
		r.remember(refused, sources)
	}
}

// reuse answers from the pages of an earlier lookup, and reports whether they answer.
func (r *run) reuse(ctx context.Context, share time.Duration) bool {
	before := r.look
	sources, ok := r.recall()
	if !ok {
		return false
	}
	r.endStage("recall")
	if r.summarise(ctx, sources, share); r.look.State == turn.Found {
		return true
	}
	before.Stages = r.look.Stages
	r.look = before
	return false
}

// refuseTyped records typed texts that look like URLs but are refused.
func (r *run) refuseTyped() {
	for _, raw := range r.plan.Refused {
		page := turn.Page{URL: clean.Line(raw, 200), Site: "the address given", Failure: turn.CodeBlockedURL, Reason: turn.CodeInvalidTarget}
		if _, err := clean.ParseURL(raw); err != nil {
			if e, ok := errors.AsType[*clean.Refusal](err); ok {
				page.Failure, page.Reason = e.Code, e.Reason
			}
		}
		r.look.Pages = append(r.look.Pages, page)
	}
}

// search asks the search services. The second query is asked only if the first finds nothing. It accepts results of any
// age, since an old result with its date is better than none.
func (r *run) search(ctx context.Context, share time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	if r.p.Search == nil {
		r.fail(turn.CodeNotConfigured, "no search service is set up")
		return
	}
	queries := r.plan.Queries
	if len(queries) == 1 && r.plan.Fresh != "" {
		queries = []string{queries[0], queries[0]}
	}
	for i, text := range queries[:min(len(queries), r.pol.Queries)] {
		if i > 0 {
			r.look.Query += "\n"
		}
		r.look.Query += text
		q := search.Query{Text: text, Intent: r.plan.Intent, Language: r.plan.Language, Caller: r.req.Character, PerMinute: r.pol.PerMinute, NoCache: r.plan.Refresh, Depth: r.pol.Depth, Backends: r.pol.Backends}
		if trusted, some := r.pol.trust(r.plan.Intent); some && trusted.Only {
			q.Include = trusted.Sites
		}
		switch {
		case r.site != nil:
			q.Include = []string{r.site.Site.Host()}
		case r.req.Web.Site != "":
			q.Include = []string{r.req.Web.Site}
		}
		if i == 0 {
			q.Fresh = r.plan.Fresh
		}
		res := r.keepToSite(r.p.Search.Search(ctx, q))
		for _, a := range res.Asked {
			a.Query = i + 1
			r.look.Asked = append(r.look.Asked, a)
		}
		r.look.Hits, r.look.Cached, r.look.Stale = cleanHits(res.Hits), res.Cached, res.Stale
		if res.State == turn.LookupFailed && slices.ContainsFunc(res.Asked, func(a turn.Asked) bool { return a.Status == turn.CodeCap }) {
			res.Failure = turn.CodeCap // the limit stopped the search, whatever failed before
		}
		r.look.State, r.look.Failure, r.look.Reason = res.State, res.Failure, r.reason(res)
		if res.State != turn.Empty {
			return
		}
	}
}

// reason returns the reason for the lookup, or of its failure.
func (r *run) reason(res search.Result) string {
	switch {
	case res.State != turn.LookupFailed:
		return r.look.Reason
	case res.Failure == turn.CodeCap:
		r.look.Caps = append(r.look.Caps, turn.Cap{Of: "minute", Used: r.pol.PerMinute, Limit: r.pol.PerMinute})
		return fmt.Sprintf("the %d searches that I have in a minute, in all channels together, are used up; the next is free in a few seconds", r.pol.PerMinute)
	}
	return res.Reason
}

// cleanHits cleans the titles and snippets of hits.
func cleanHits(hits []turn.Hit) []turn.Hit {
	for i := range hits {
		hits[i].Title = clean.Line(hits[i].Title, maxTitle)
		hits[i].Snippet = clean.Line(hits[i].Snippet, 500)
	}
	return hits
}

// read reads the targets. If no page could be read, it uses the snippets.
func (r *run) read(ctx context.Context, targets []target, share time.Duration) []source {
	if len(targets) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	requests := make([]read.Request, len(targets))
	for i, t := range targets {
		requests[i] = r.request(t)
	}
	sources := make([]source, len(targets))
	for i, p := range r.p.Reader.Many(ctx, requests) {
		sources[i] = sourceOf(targets[i], p, r.now)
	}
	markTwins(sources)
	for i := range sources {
		if sources[i].good() {
			return sources
		}
	}
	return append(sources, r.snippets(ctx, targets)...)
}

// request returns the request for a target's page.
func (r *run) request(t target) read.Request {
	q := read.Request{URL: t.url + t.anchor, Elsewhere: t.elsewhere, Language: r.plan.Language, Domains: r.pol.Domains, Human: t.hit == nil, Closed: r.unread}
	if r.site != nil {
		q.Site = r.site.Site
	}
	if t.delivers() {
		q.Delivered, q.Short = t.hit.Text, true
	}
	return q
}

// markTwins skips pages that are the same as a better ranked one.
func markTwins(sources []source) {
	seen := map[string]bool{}
	for i := range sources {
		s := &sources[i]
		if !s.good() {
			continue
		}
		if seen[s.page.SHA256] || s.page.Final != "" && seen[s.page.Final] {
			s.page.Failure, s.page.Reason = turn.CodeSkipped, turn.CodeDuplicate
		}
		seen[s.page.SHA256], seen[s.page.Final] = true, true
	}
}

// source is a page that was tried: its record and, if it was read, what the checks need.
type source struct {
	page    turn.Page
	rank    int
	named   bool   // a person named it; no search found it
	forum   bool   // written by users
	answer  bool   // the search service says that it answers the question
	dated   string // the origin of the date: "page" or "search"
	month   bool   // only the month of the date is known
	covered bool   // much of it was hidden from readers (H4)
	removed clean.Report
	folded  string           // page.Text on one line, which quotes are checked against
	framing *evidence.Layout // of page.Text; nil if it was not read
}

func (s *source) good() bool { return s.page.Failure == "" }

// maxTitle is the length of a title, in characters.
const maxTitle = 120

// sourceOf makes a source of a target and what came of reading it.
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

// prepare sets what quotes are checked against. forum says that users wrote the whole page.
func (s *source) prepare(forum bool) {
	s.forum, s.folded = forum, text.OneLine(s.page.Text)
	from := evidence.Source{Title: s.page.Title, Text: s.page.Text, Forum: forum, Published: s.page.Published}
	if s.month { // it may be any day of the month
		from.Published = time.Time{}
	}
	s.framing = evidence.ParseLayout(from)
}

// describe sets the title and dates of a page, from its hit if the page does not have them.
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

// date sets the publication date if there is none.
func (s *source) date(at time.Time, from string) {
	if s.page.Published.IsZero() && !at.IsZero() {
		s.page.Published, s.dated = at, from
	}
}

// removals sums what cleaning removed from all pages, in the order of the rules.
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
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return strings.Compare(a.Rule, b.Rule) < 0
	})
	return out
}
