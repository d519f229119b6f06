package websearch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/web/clean"
	"familiar/internal/web/guard"
)

// run is one lookup on its way. It belongs to one goroutine.
type run struct {
	p     *Provider
	req   turn.Request
	pol   Policy
	look  turn.Lookup
	plan  plan
	heard hearsay
	site  *Docs     // that the lookup is kept to; nil: none
	end   time.Time // when the result must be there
	now   time.Time
	step  time.Time // when the stage under way began
}

// margin is kept free at the end of a lookup, for writing the block.
const margin = 60 * time.Millisecond

// lookup does a whole lookup. The error is for the operator, and only what a program got wrong: everything else is
// a state of the lookup.
func (p *Provider) lookup(ctx context.Context, req turn.Request) (look turn.Lookup, err error) {
	r := &run{p: p, req: req, pol: p.Policy.withDefaults(), now: p.now(), step: time.Now()}
	r.look.Began = r.now
	began := r.step
	defer func() {
		if v := recover(); v != nil {
			r.fail("internal", "internal error")
			r.look.Block = stateLine(&r.look)
			err = fmt.Errorf("look up: panic: %v", v)
		}
		r.look.Took = time.Since(began)
		look = r.look
	}()
	r.end = r.step.Add(r.pol.Deadline)
	if !req.Deadline.IsZero() && req.Deadline.Before(r.end) {
		r.end = req.Deadline
	}
	if until, ok := ctx.Deadline(); ok && until.Before(r.end) {
		r.end = until
	}
	ctx, cancel := context.WithDeadline(ctx, r.end.Add(-min(margin, time.Until(r.end)/10)))
	defer cancel()

	if r.decide(ctx) && r.allowed() {
		r.reword(ctx)
		if r.allowed() {
			r.find(ctx)
		}
	}
	return
}

// done ends a stage and begins the next.
func (r *run) done(stage string) {
	now := time.Now()
	r.look.Stages = append(r.look.Stages, turn.Stage{Name: stage, Took: now.Sub(r.step)})
	r.step = now
}

func (r *run) fail(failure, reason string) {
	r.look.State, r.look.Failure, r.look.Reason = turn.LookupFailed, failure, reason
}

// decide says whether a lookup is needed, and records why.
func (r *run) decide(ctx context.Context) bool {
	names := r.names()
	r.plan = decide(r.req, names, r.pol)
	pl := &r.plan
	by := ""
	always := r.req.Web.Switch == turn.WebAlways
	if !always && len(pl.urls) == 0 && !r.off() {
		by = r.p.secondOpinion(ctx, pl)
	}
	r.look.Usage = pl.usage
	r.done("need")
	pl.compose(names, r.today())
	r.keep()
	r.done("query")

	needed, reason := r.needed(by)
	r.look.Score, r.look.Cues = pl.score, pl.cues
	r.look.Reason = reason
	if !needed {
		r.look.State = turn.NotNeeded
		return false
	}
	r.look.Cues = append(r.look.Cues, fmt.Sprintf("intent %s: %.2f", pl.intent, pl.sure))
	r.note()
	return true
}

// note records what the plan is to ask.
func (r *run) note() {
	pl := &r.plan
	r.look.Intent, r.look.Question, r.look.Scrubbed, r.look.Steps = pl.intent, pl.question, pl.scrubbed, pl.steps
}

// reword lets the side model word a follow-up better than the rules did, and plans anew if it does.
func (r *run) reword(ctx context.Context) {
	if r.p.Side == nil || !r.plan.leans {
		return
	}
	before, names := r.plan, r.names()
	if r.p.reword(ctx, &r.plan, r.req, names); r.plan.core != before.core {
		r.plan.topic = deniedTopic(r.plan.core, r.pol.DeniedTopics)
		r.plan.compose(names, r.today())
		r.keep()
	}
	r.look.Usage = r.plan.usage
	r.note()
	r.done("reword")
}

// today is the day that "today" means where the character lives.
func (r *run) today() time.Time {
	if r.p.Zone == nil {
		return r.now.UTC()
	}
	return r.now.In(r.p.Zone)
}

// names are those under which the bot is spoken to.
func (r *run) names() []string {
	names := []string{r.req.Character}
	for _, m := range r.req.Chain {
		if m.Own && m.Author.Name != "" {
			names = addOnce(names, m.Author.Name)
		}
	}
	if p := r.req.Parent; p != nil && p.Own {
		names = addOnce(names, p.Author.Name)
	}
	return names
}

// needed settles the decision, in the order of who has the say: a command, a word of the person, a URL typed, the
// side model, the score.
func (r *run) needed(by string) (bool, string) {
	pl := &r.plan
	switch {
	case r.req.Web.Switch == turn.WebAlways:
		pl.score = 1
		return true, "asked for by command"
	case pl.order == "dont":
		return false, "told not to search"
	case len(pl.urls) > 0 || len(pl.refused) > 0:
		pl.score = 1
		return true, "a page was named"
	case pl.order == "search":
		return true, "told to search"
	case len(pl.queries) == 0:
		return false, "nothing to search for"
	case pl.score >= threshold:
		return true, because("needs facts", pl.cues, by)
	case r.p.Eager && pl.asks && !pl.barred:
		return true, "a question, and no model to answer it"
	}
	return false, because("no need for facts", pl.cues, by)
}

func because(verdict string, cues []string, by string) string {
	if by != "" {
		return verdict + ", says " + by
	}
	if len(cues) == 0 {
		return verdict
	}
	return verdict + " (" + cues[0] + ")"
}

// off reports whether the web may not be asked in this turn.
func (r *run) off() bool { return r.pol.Off || r.req.Web.Switch == turn.WebOff }

// allowed ends the lookup where the operator does not want one or the mode has no room for it.
func (r *run) allowed() bool {
	code := ""
	switch {
	case r.req.Web.Switch == turn.WebOff:
		code = r.req.Web.Reason
		if offWords[code] == "" {
			code = "operator"
		}
	case r.pol.Off:
		code = "character"
	case r.plan.topic != "":
		code = "topic"
	case r.room() == 0:
		code = "room"
	case r.req.Message.Own: // no search without a person's turn before it
		code = "nobody"
	default:
		return true
	}
	r.look.State, r.look.Reason = turn.Disabled, offWords[code]
	r.look.Block = stateLine(&r.look)
	return false
}

// room is the content layer's budget in tokens; -1 where there is no budget, as for a command.
func (r *run) room() int {
	if r.req.Budget.Layers == nil {
		return -1
	}
	return max(0, r.req.Budget.Layers[turn.Content])
}

// find searches, reads, summarises and writes the block; or takes what an earlier lookup has read.
func (r *run) find(ctx context.Context) {
	share := time.Until(r.end) / 3
	switch {
	case r.site != nil:
		if r.granted(ctx) { // and never from memory: what a site says stays with those who may ask it
			r.consult(ctx, share)
		}
		return
	case r.req.Web.Docs != "":
		r.fail(search.NotConfigured, "there is no site of documentation of that name")
		r.conclude(nil, summary{})
		return
	}
	targets := typedTargets(r.plan.urls, r.pol)
	searches := len(targets) == 0 && len(r.plan.refused) == 0 || r.plan.order == "search" || r.req.Web.Switch == turn.WebAlways && len(targets) == 0
	r.listen(ctx)
	fresh := searches && len(targets) == 0 && len(r.plan.refused) == 0
	if fresh && r.again(ctx, share) || !r.granted(ctx) {
		return
	}
	r.refuseTyped()
	var refused []turn.Page
	if searches {
		if len(r.plan.queries) > 0 {
			r.search(ctx, share)
		}
		r.look.Hits = rank(r.look.Hits, r.plan.intent, r.pol, r.heard)
		var found []target
		found, refused = choose(r.look.Hits, r.plan.intent, r.pol)
		targets = append(targets, found...)
		targets = targets[:min(len(targets), r.pol.Pages)]
		r.look.Pages = append(r.look.Pages, refused...)
	}
	r.done("search")
	sheets := r.read(ctx, targets, share)
	r.done("read")
	if len(sheets) == 0 {
		r.conclude(sheets, summary{})
		return
	}
	r.summarise(ctx, sheets, share)
	if fresh {
		r.remember(refused, sheets)
	}
}

// again answers from what an earlier lookup has read, and reports whether that answers it.
func (r *run) again(ctx context.Context, share time.Duration) bool {
	before := r.look
	sheets, ok := r.recall()
	if !ok {
		return false
	}
	r.done("recall")
	if r.summarise(ctx, sheets, share); r.look.State == turn.Found {
		return true
	}
	before.Usage, before.Stages = r.look.Usage, r.look.Stages
	r.look = before
	return false
}

// refuseTyped records what a person typed as a URL and the rules refuse.
func (r *run) refuseTyped() {
	for _, raw := range r.plan.refused {
		page := turn.Page{URL: clean.Line(raw, 200), Site: "the address given", Failure: "blocked_url", Reason: "invalid_target"}
		if _, err := guard.Parse(raw); err != nil {
			if e, ok := errors.AsType[*guard.Error](err); ok {
				page.Failure, page.Reason = e.Code, e.Reason
			}
		}
		r.look.Pages = append(r.look.Pages, page)
	}
}

// search asks the search services: the second query only where the first found nothing.
func (r *run) search(ctx context.Context, share time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	if r.p.Search == nil {
		r.fail(search.NotConfigured, "no search service is set up")
		return
	}
	for i, text := range r.plan.queries[:min(len(r.plan.queries), r.pol.Queries)] {
		if i > 0 {
			r.look.Query += "\n"
		}
		r.look.Query += text
		q := search.Query{Text: text, Intent: r.plan.intent, Language: r.plan.language, For: r.req.Character, Depth: r.pol.Depth, Backends: r.pol.Backends}
		if trusted, some := r.pol.trust(r.plan.intent); some && trusted.Only {
			q.Include = trusted.Sites
		}
		if r.site != nil {
			q.Include = []string{r.site.Site.Host()}
		}
		if i == 0 { // what is not new enough is better than nothing: it carries its date
			q.Fresh = r.plan.fresh
		}
		res := r.inSite(r.p.Search.Search(ctx, q))
		r.look.Asked = append(r.look.Asked, res.Asked...)
		r.look.Hits, r.look.Cached, r.look.Stale = cleanHits(res.Hits), res.Cached, res.Stale
		r.look.State, r.look.Failure, r.look.Reason = res.State, res.Failure, r.reason(res)
		if res.State != turn.Empty {
			return
		}
	}
}

// reason keeps the reason for the lookup, unless the search failed.
func (r *run) reason(res search.Result) string {
	if res.State == turn.LookupFailed {
		return res.Reason
	}
	return r.look.Reason
}

// cleanHits cleans what a hit says about its page.
func cleanHits(hits []turn.Hit) []turn.Hit {
	for i := range hits {
		hits[i].Title = clean.Line(hits[i].Title, maxTitle)
		hits[i].Snippet = clean.Line(hits[i].Snippet, 500)
	}
	return hits
}

// read reads the targets, and falls back on snippets where no page could be read.
func (r *run) read(ctx context.Context, targets []target, share time.Duration) []sheet {
	if len(targets) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	for i := range targets {
		targets[i].language = r.plan.language
	}
	sheets := r.p.read(ctx, targets, r.pol)
	markTwins(sheets)
	for i := range sheets {
		if sheets[i].good() {
			return sheets
		}
	}
	return append(sheets, r.p.snippets(targets)...)
}

// markTwins leaves out pages that turned out to be the same as a better ranked one.
func markTwins(sheets []sheet) {
	seen := map[string]bool{}
	for i := range sheets {
		s := &sheets[i]
		if !s.good() {
			continue
		}
		if seen[s.page.SHA256] || s.page.Final != "" && seen[s.page.Final] {
			s.page.Failure, s.page.Reason = "skipped", "duplicate"
		}
		seen[s.page.SHA256], seen[s.page.Final] = true, true
	}
}

// summarise has the pages summed up, by the side model if it comes in time, checks every fact, and concludes.
func (r *run) summarise(ctx context.Context, sheets []sheet, share time.Duration) {
	limit := extended
	if r.p.Eager {
		limit = brief
	}
	side, cancel := context.WithTimeout(ctx, share)
	taken := r.p.takeNotes(side, r.plan.question, r.plan.language, sheets)
	cancel()
	r.done("summarise")
	s := judge(sheets, taken, &r.plan, limit)
	if r.plan.intent == factCheck {
		s.check(r.plan.question, sheets)
	}
	r.done("verify")
	r.conclude(sheets, s)
}

// conclude settles the state, writes the block and records all of it.
func (r *run) conclude(sheets []sheet, s summary) {
	l := &r.look
	l.Removed = removals(sheets)
	l.Rejected, l.Usage = s.rejected, addUsage(l.Usage, s.usage)
	good, tried := 0, len(sheets)
	for i := range sheets {
		if sheets[i].good() {
			good++
		}
	}
	for _, p := range l.Pages {
		if p.Failure != "skipped" {
			tried++
		}
	}
	switch {
	case len(s.claims) > 0:
		l.State, l.Failure, l.By = turn.Found, "", s.by
		r.show(sheets, s)
	case l.State == turn.LookupFailed && good == 0:
	case good == 0 && tried > 0:
		r.fail("unreadable", "no page could be read")
	default:
		l.State, l.Failure = turn.Empty, ""
	}
	if r.pol.Explain {
		l.Dropped = s.droppedSentences(sheets, len(l.Summary))
	}
	for i := range sheets {
		l.Pages = append(l.Pages, sheets[i].page)
	}
	if l.State != turn.Found {
		b := layout{seal: newSeal([]string{r.plan.question}), question: r.plan.question, now: r.now, pages: l.Pages}
		l.Block = b.missing(stateLine(l))
	}
	r.done("block")
}

// show writes the block with as many of the best facts as fit into the byte cap and the layer's budget.
func (r *run) show(sheets []sheet, s summary) {
	l := &r.look
	pages := append([]turn.Page(nil), l.Pages...)
	texts := []string{r.plan.question}
	for i := range sheets {
		pages = append(pages, sheets[i].page)
		texts = append(texts, sheets[i].page.Text, sheets[i].page.Title)
	}
	b := layout{seal: newSeal(texts), question: r.plan.question, now: r.now, sheets: sheets, pages: pages, stale: l.Stale, verdict: s.verdict}
	write := func(n int) string {
		b.claims, b.sources = number(s.claims[:n], sheets)
		s.numberVerdict(sheets)
		b.newest = time.Time{}
		for _, src := range b.sources {
			if src.Published.After(b.newest) {
				b.newest = src.Published
			}
		}
		return b.found()
	}
	room := r.room()
	n := fit(len(s.claims), func(n int) bool {
		text := write(n)
		return len(text) <= r.pol.BlockBytes && (room < 0 || r.p.count(text) <= room)
	})
	if n == 0 {
		l.Reason = "found, but there is no room in the context for any of it"
		return
	}
	l.Block = write(n)
	l.Summary, l.Sources, l.Newest, l.Verdict = b.claims, b.sources, b.newest, s.verdict
}
