package websearch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/factcheck"
	"familiar/internal/question"
	"familiar/internal/question/past"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// run is one lookup in progress. It belongs to one goroutine.
type run struct {
	p        *Provider
	req      turn.Request
	pol      Policy
	look     turn.Lookup
	plan     question.Plan
	feedback feedback
	site     *Docs     // the site that the lookup is restricted to; nil: none
	unread   bool      // no page may be read
	end      time.Time // the result is due
	now      time.Time
	step     time.Time // the current stage began
}

// margin is the time reserved for writing the block.
const margin = 60 * time.Millisecond

// lookup does a whole lookup. The error is for the operator and reports only bugs. Everything else is a state of the
// lookup.
func (p *Provider) lookup(ctx context.Context, req turn.Request) (look turn.Lookup, err error) {
	r := &run{p: p, req: req, pol: p.Policy.withDefaults(), unread: p.Policy.Pages < 0, now: p.now(), step: time.Now()}
	r.look.Began = r.now
	began := r.step
	defer func() {
		if v := recover(); v != nil {
			r.fail(turn.CodeInternal, "internal error")
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

	if r.decide(ctx) && r.permitted() {
		r.reword(ctx)
		if r.permitted() {
			r.find(ctx)
		}
	}
	return
}

// endStage ends a stage and begins the next.
func (r *run) endStage(stage string) {
	now := time.Now()
	r.look.Stages = append(r.look.Stages, turn.Stage{Name: stage, Took: now.Sub(r.step)})
	r.step = now
}

func (r *run) fail(failure turn.Code, reason string) {
	r.look.State, r.look.Failure, r.look.Reason = turn.LookupFailed, failure, reason
}

// decide decides whether a lookup is needed, and records why.
func (r *run) decide(ctx context.Context) bool {
	names := r.names()
	r.plan = question.Decide(r.req, names, r.pol.DeniedTopics)
	pl := &r.plan
	by := ""
	always := r.req.Web.Switch == turn.WebAlways
	own, ofPast := "", r.p.Asked.Read(r.req, r.now)
	switch {
	case ofPast.Sure():
		own = aboutServer
	case !always && len(pl.URLs) == 0 && (past.AboutAsker(r.req.Message.Text, names) || past.AboutOwn(r.req.Message.Text, names)):
		own = aboutAsker
	}
	if own == "" && !always && len(pl.URLs) == 0 && pl.Order == question.NoOrder && (ofPast.Maybe || pl.Score >= question.DoubtFrom && pl.Score < sureNeed || ofPast.Owned != "") && r.p.Known != nil && r.p.Known(ctx, r.req) {
		own = aboutKnown
	}
	if own != "" {
		r.look.State, r.look.Reason, r.look.Need = turn.NotNeeded, own, own
		r.endStage("need")
		return false
	}
	if !always && len(pl.URLs) == 0 && !r.off() {
		by = r.p.secondOpinion(ctx, r.req.ChannelID, pl)
	}
	r.endStage("need")
	pl.Compose(names, r.today())
	r.chooseDocs()
	r.endStage("query")

	needed, reason := r.settle(by)
	r.look.Score, r.look.Cues = pl.Score, pl.Cues
	r.look.Reason, r.look.Need = reason, reason
	if !needed {
		r.look.State = turn.NotNeeded
		return false
	}
	r.recordPlan()
	return true
}

// aboutServer is the reason for not asking the web about a server's own past.
const aboutServer = "asks about this server's own past"

// aboutKnown is the reason for not asking the web what people here have said. sureNeed is the need from which the web is asked all the
// same.
const (
	aboutKnown = "what was said here before may answer it"
	sureNeed   = 0.8
)

// aboutAsker is the reason for not asking the web what is known of the person who asks.
const aboutAsker = "asks what is known of the person who asks"

// recordPlan records what will be asked.
func (r *run) recordPlan() {
	pl := &r.plan
	r.look.Intent, r.look.Intents = pl.Intent, pl.Intents
	r.look.Question, r.look.Scrubbed, r.look.Steps = pl.Question, pl.Scrubbed, pl.Steps
}

// reword lets the side model word a follow-up, and composes the queries again if it does.
func (r *run) reword(ctx context.Context) {
	if r.p.Side == nil || !r.plan.FollowUp {
		return
	}
	before, names := r.plan, r.names()
	if r.p.reword(ctx, &r.plan, r.req, names); r.plan.Core != before.Core {
		r.plan.Topic = question.DeniedTopic(r.plan.Core, r.pol.DeniedTopics)
		r.plan.Compose(names, r.today())
		r.chooseDocs()
	}
	r.recordPlan()
	r.endStage("reword")
}

// today returns the time where the character lives, which decides what "today" means.
func (r *run) today() time.Time {
	if r.p.Zone == nil {
		return r.now.UTC()
	}
	return r.now.In(r.p.Zone)
}

// names returns the names that people call the bot.
func (r *run) names() []string {
	names := slices.Clone(r.req.Names)
	for _, m := range r.req.Chain {
		if m.Own && m.Author.Name != "" {
			names = text.AddOnce(names, m.Author.Name)
		}
	}
	if p := r.req.Parent; p != nil && p.Own {
		names = text.AddOnce(names, p.Author.Name)
	}
	if called := question.Addressee(r.req.Message.Text, names); called != "" && r.req.GuildID == "" {
		names = append(names, called) // in a direct message, nobody else can be meant
	}
	return names
}

// settle decides in order of precedence: a command, the person's words, a typed URL, the side model, the score.
func (r *run) settle(by string) (bool, string) {
	pl := &r.plan
	switch {
	case r.req.Web.Switch == turn.WebAlways:
		return true, "asked for by command"
	case pl.Order == question.NoSearch:
		return false, "told not to search"
	case len(pl.URLs) > 0 || len(pl.Refused) > 0:
		return true, "a page was named"
	case pl.Order == question.Search:
		return true, "told to search"
	case len(pl.Queries) == 0:
		return false, "nothing to search for"
	case pl.Score >= question.Threshold:
		return true, because("needs facts", pl.Cues, by)
	case r.p.Eager && pl.Asks && !pl.Barred:
		return true, "a question, and no model to answer it"
	}
	return false, because("no need for facts", pl.Cues, by)
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

// permitted ends the lookup if the operator does not allow one or the mode has no room for it.
func (r *run) permitted() bool {
	var why turn.OffReason
	switch {
	case r.req.Web.Switch == turn.WebOff:
		why = r.req.Web.Reason
		if why.Words() == "" {
			why = turn.OffOperator
		}
	case r.pol.Off:
		why = turn.OffCharacter
	case r.plan.Topic != "":
		why = turn.OffTopic
	case r.room() == 0:
		why = turn.OffRoom
	case !r.req.Message.ByPerson(): // only a person's message may cause a search
		why = turn.OffNobody
	default:
		return true
	}
	r.look.State, r.look.Reason = turn.Disabled, why.Words()
	r.look.Block = stateLine(&r.look)
	return false
}

// room returns the content layer's budget in tokens, or -1 without a budget, as for a command.
func (r *run) room() int {
	if r.req.Budget.Layers == nil {
		return -1
	}
	return max(0, r.req.Budget.Layers[turn.Content])
}

// summarise selects quotes of the pages, with the side model if it answers in time, checks each one, and concludes.
func (r *run) summarise(ctx context.Context, sources []source, share time.Duration) {
	limit := evidence.Extended
	if r.p.Eager {
		limit = evidence.Brief
	}
	side, cancel := context.WithTimeout(ctx, share)
	selected := r.p.selectQuotes(side, r.req.ChannelID, r.plan.Question, r.plan.Language, sources)
	cancel()
	r.endStage("summarise")
	s := collect(sources, selected, &r.plan, limit)
	if r.plan.Intent == turn.IntentFactCheck && !r.plan.Outline {
		s.factCheck(r.plan.Question, sources)
	}
	r.endStage("verify")
	r.conclude(sources, s)
}

// conclude sets the state, writes the block and records everything.
func (r *run) conclude(sources []source, s summary) {
	l := &r.look
	l.Removed = removals(sources)
	l.Rejected = s.rejected
	good, tried := 0, len(sources)
	for i := range sources {
		if sources[i].good() && !sources[i].page.Snippet() {
			good++
		}
	}
	for _, p := range l.Pages {
		if p.Failure != turn.CodeSkipped {
			tried++
		}
	}
	switch {
	case len(s.claims) > 0:
		l.State, l.Failure, l.By, l.Unanswered = turn.Found, "", s.by, s.unanswered
		r.show(sources, s)
	case l.State == turn.LookupFailed && good == 0:
	case good == 0 && tried > 0:
		r.fail(turn.CodeUnreadable, "no page could be read")
	default:
		l.State, l.Failure = turn.Empty, ""
	}
	if r.pol.Explain {
		l.Dropped = s.droppedSentences(sources, len(l.Summary))
	}
	for i := range sources {
		l.Pages = append(l.Pages, sources[i].page)
	}
	if l.State != turn.Found {
		b := layout{seal: clean.NewSeal([]string{r.plan.Question}), question: r.plan.Question, now: r.now, pages: l.Pages}
		l.Block = b.writeState(stateLine(l))
	}
	r.endStage("block")
}

// show writes the block with as many of the best facts as fit. The limits are its size and the layer's budget.
func (r *run) show(sources []source, s summary) {
	l := &r.look
	pages := append([]turn.Page(nil), l.Pages...)
	texts := []string{r.plan.Question}
	for i := range sources {
		pages = append(pages, sources[i].page)
		texts = append(texts, sources[i].page.Text, sources[i].page.Title)
	}
	b := layout{seal: clean.NewSeal(texts), question: r.plan.Question, now: r.now, sources: sources, pages: pages, stale: l.Stale, reused: l.Reused, unanswered: l.Unanswered, verdict: s.verdict}
	write := func(n int) string {
		b.claims, b.numbered = numberSources(s.claims[:n], sources)
		s.numberVerdict(sources)
		b.newest = time.Time{}
		for _, src := range b.numbered {
			if src.Published.After(b.newest) {
				b.newest = src.Published
			}
		}
		return b.writeFound()
	}
	b.claims, _ = numberSources(s.claims, sources)
	b.conflicts = factcheck.FindConflicts(b.claims, textsByNumber(sources)) // of all claims, so that room is left for their lines
	room := r.room()
	n := fit(len(s.claims), func(n int) bool {
		text := write(n)
		return len(text) <= r.pol.BlockBytes && (room < 0 || r.p.count(text) <= room)
	})
	if n == 0 {
		r.fail(turn.CodeRoom, "found, but there is no room in the context for any of it")
		return
	}
	if n < len(s.claims) {
		b.claims, _ = numberSources(s.claims[:n], sources)
		b.conflicts = factcheck.FindConflicts(b.claims, textsByNumber(sources))
	}
	l.Block = write(n)
	l.Summary, l.Sources, l.Newest, l.Verdict, l.Conflicts = b.claims, b.numbered, b.newest, s.verdict, b.conflicts
}

// Lookups are counted for any half hour of a channel, and any 24 hours of a person.
const (
	session = 30 * time.Minute
	aDay    = 24 * time.Hour
)

// takeAllowance uses one of the lookups that the channel and the person have left (L4). If there is none, the lookup
// fails and says why. So it does if the lookups cannot be counted.
func (r *run) takeAllowance(ctx context.Context) bool {
	if r.p.Store == nil {
		return true
	}
	caps := []struct{ of, words string }{
		{"channel", "the %d lookups that this channel has in half an hour are used up"},
		{"person", "the %d lookups that a person has in a day are used up"},
	}
	allowances := []store.Allowance{
		{Name: "lookups/channel/" + r.req.Character + "/" + r.req.ChannelID, Span: session, Limit: r.pol.PerSession},
		{Name: "lookups/person/" + r.req.Character, Person: r.req.Message.Author.ID, Span: aDay, Limit: r.pol.PerDay},
	}
	got, err := r.p.Store.Quotas.TakeAllowances(ctx, r.now, allowances...)
	switch {
	case err != nil:
		r.fail(turn.CodeInternal, "the lookups could not be counted")
	case got.Refused >= 0:
		limit := allowances[got.Refused].Limit
		r.fail(turn.CodeCap, fmt.Sprintf(caps[got.Refused].words, limit)+"; the next is free "+freeWords(got.Free, r.now))
		r.look.Caps = append(r.look.Caps, turn.Cap{Of: caps[got.Refused].of, Used: limit, Limit: limit, Free: got.Free})
	default:
		for i, a := range allowances {
			if a.Limit > 0 {
				r.look.Caps = append(r.look.Caps, turn.Cap{Of: caps[i].of, Used: got.Used[i], Limit: a.Limit})
			}
		}
		return true
	}
	r.look.Block = stateLine(&r.look)
	return false
}

// freeWords says when the next lookup is free, as a wait and as a time that can be read later.
func freeWords(at, now time.Time) string {
	const up = time.Minute - 1
	return fmt.Sprintf("in %s, at %s UTC", since(at.Sub(now)+up), at.Add(up).UTC().Format("15:04"))
}
