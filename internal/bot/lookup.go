package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/websearch"
	"familiar/internal/web/clean"
	"familiar/internal/web/guard"

	"familiar/internal/reply"
	"familiar/internal/view"
	"github.com/oklog/ulid/v2"
)

// AnswerUnits limits an answer to a command, in UTF-16 units. Discord allows 2,000.
const AnswerUnits = 1900

// These are said of a lookup by command.
const (
	lookedInVain    sentence = "I looked and found nothing that answers it."
	lookedForInVain sentence = "I looked for %s and found nothing that answers it."
	webOffBecause   sentence = "The web is switched off here (%s)."
	offByChannel    sentence = "in this channel; the command lookup switches it on again"
	couldNotLook    sentence = "I could not look: %s."
	nothingToLookUp sentence = "There was nothing to look up."
	moreClaims      sentence = "(%d more: /context)"
	speaksFor       sentence = "For it:"
	speaksAgainst   sentence = "Against it:"
)

// LookupOrder is what a person wants to be looked up.
type LookupOrder struct {
	Question string        // empty: the picture of Target
	Target   *turn.Message // the message of another person that Question is from; nil: the person's own words
	Docs     string        // name of the only documentation site to search; empty: anywhere
	Intent   turn.Intent   // kind of question; empty: the words decide
	Site     string        // host of the only site to search; empty: anywhere
}

// LookUp looks up a message's question even if it does not seem to need it. With docs it searches only that documentation site. The lookup
// is recorded like a turn, since something leaves the machine. The error is the store's.
func (b *Bot) LookUp(ctx context.Context, m turn.Message, docs string) (*turn.Lookup, error) {
	t, err := b.LookUpFor(ctx, b.CurrentCast().Default, turn.Event{ID: m.ID, Message: m}, LookupOrder{Question: m.Text, Docs: docs})
	if err != nil {
		return nil, err
	}
	return t.Lookup(), nil
}

// LookUpFor carries out a person's order in a turn outside the lanes, and returns its record. The error is the store's.
func (b *Bot) LookUpFor(ctx context.Context, actor *Actor, e turn.Event, o LookupOrder) (*turn.Trace, error) {
	if e.Command != nil {
		e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: o.Question, At: time.Now()}
	}
	if o.Target != nil {
		e.Message.Mentions = o.Target.Mentions
	}
	prepare := func(r *turn.Request) {
		if o.Target != nil {
			r.Target = &turn.Message{ID: o.Target.ID, Author: o.Target.Author, At: o.Target.At}
		}
		r.Web.Docs, r.Web.Intent, r.Web.Site = o.Docs, o.Intent, o.Site
		if r.Web.Switch == turn.WebAuto {
			r.Web.Switch = turn.WebAlways
		}
	}
	return b.Aside(ctx, actor, e, prepare, func(t *turn.Trace) bool {
		l := turn.Lookup{State: turn.Disabled, Reason: offReason(t.Request.Web), Question: o.Question, Began: t.Began}
		seen := ""
		if o.Question == "" && t.Request.Web.Switch != turn.WebOff {
			words, excuse := b.see(ctx, actor, t, *o.Target)
			if excuse != "" {
				t.Reply = excuse.In(t.Request.Language)
				return len(t.Processed) > 0 // a model was asked
			}
			t.Request.Message.Text, seen = words, reply.SmallType+lookedUpPicture.In(t.Request.Language, words)+"\n"
		}
		if t.Request.Web.Switch != turn.WebOff { // else it does not matter whether there is anything to look up
			l = actor.Lookup.Lookup(ctx, t.Request)
		}
		t.Outcomes = append(t.Outcomes, LookupOutcome(actor.Lookup.Name(), &l, l.Took))
		t.Reply = reply.Head(seen+b.LookupAnswer(t.Request.Language, &l), AnswerUnits)
		return true
	})
}

// LookupOutcome returns the outcome of a provider that only looked something up.
func LookupOutcome(provider string, l *turn.Lookup, took time.Duration) turn.Outcome {
	o := turn.Outcome{Provider: provider, Status: turn.OK, Took: took, Contributions: []turn.Contribution{{Layer: turn.Content, Source: provider, Lookup: l}}}
	if l.State == turn.LookupFailed {
		o.Status = turn.Failed
	}
	return o
}

// LookupAnswer writes what was found, with its sources, in a language. It fits into one message of Discord.
func (b *Bot) LookupAnswer(language string, l *turn.Lookup) string {
	switch l.State {
	case turn.Found:
		return b.foundAnswer(language, l)
	case turn.Empty:
		if l.Query == "" {
			return lookedInVain.In(language)
		}
		return lookedForInVain.In(language, view.Queries(l.Query))
	case turn.Disabled:
		return webOffBecause.In(language, sentence(l.Reason).In(language))
	case turn.LookupFailed:
		words := failureWords(language, l)
		if l.Failure == turn.CodeUnreadable {
			_, words = unreadable(language, l)
		}
		return couldNotLook.In(language, words)
	}
	return nothingToLookUp.In(language)
}

// foundAnswer writes as many whole claims as fit together with their sources.
func (b *Bot) foundAnswer(language string, l *turn.Lookup) string {
	text, _ := reply.RulesFor(turn.Request{}, l, b.Redact).Guard(quotes(language, l))
	claims := strings.Split(text, "\n")
	for n := len(claims); ; n-- {
		body := strings.Join(claims[:n], "\n")
		lines := sourceNotes(language, l, body, b.Redact)
		if slices.ContainsFunc(l.Pages, turn.Page.Snippet) {
			lines = append([]string{reply.SmallType + onlySnippets.In(language)}, lines...)
		}
		if l.Unanswered {
			lines = append([]string{reply.SmallType + onlyOutline.In(language)}, lines...)
		}
		tail := "\n\n" + strings.Join(lines, "\n")
		if n < len(claims) {
			tail = "\n" + moreClaims.In(language, len(claims)-n) + tail
		}
		room := AnswerUnits - reply.Units(tail)
		if n > 1 && reply.Units(body) > room {
			continue
		}
		if reply.Units(body) > room { // a single claim that is too long
			body = reply.Head(body, room-1) + "…"
		}
		return reply.Head(body+tail, AnswerUnits)
	}
}

// quotes writes the quotes of a lookup. After a fact check they are grouped by side.
func quotes(language string, l *turn.Lookup) string {
	if l.Verdict == nil || len(l.Verdict.For)+len(l.Verdict.Against) == 0 {
		return extracts(language, l)
	}
	lines := []string{verdict(language, l.Verdict)}
	for _, side := range []struct {
		heading sentence
		claims  []turn.Claim
	}{{speaksFor, l.Verdict.For}, {speaksAgainst, l.Verdict.Against}} {
		if len(side.claims) == 0 {
			lines = append(lines, side.heading.In(language)+" –")
			continue
		}
		lines = append(lines, side.heading.In(language))
		for _, c := range side.claims {
			line := "- “" + clean.Unreferenced(strings.TrimSpace(c.Quote)) + "”" + framed(language, c)
			if c.Source > 0 {
				line += " " + c.Cited()
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// offReason returns who switched the web off, in English, for the record.
func offReason(w turn.Web) string {
	if w.Reason == turn.OffChannel {
		return string(offByChannel)
	}
	return websearch.OffWords(w.Reason)
}

// Aside takes a turn outside the lanes, for a command. Nothing waits for it and nothing is posted. prepare may change the request before it
// is recorded. look fills in the record, and reports whether the turn counts as used. The error is the store's, or a [*Refused].
func (b *Bot) Aside(ctx context.Context, actor *Actor, e turn.Event, prepare func(*turn.Request), look func(*turn.Trace) (counts bool)) (*turn.Trace, error) {
	asked := e.Command != nil // else the operator's own program asks
	p, no := b.gate(ctx, e, actor, passage{rated: asked, further: !asked})
	if no != nil {
		return nil, &Refused{no.why}
	}
	defer p.giveBack()
	t := &turn.Trace{Began: time.Now(), Phase: turn.Begun, Model: NoModel}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e, pass: p}})
	t.Request.Chain, t.Request.Parent, t.Request.Addressed = nil, nil, turn.ByDirect
	prepare(&t.Request)
	if err := b.save(ctx, t); err != nil {
		return nil, err
	}
	counts := look(t)
	t.Phase, t.Took = turn.Answered, time.Since(t.Began)
	if counts {
		b.count(ctx, t)
	}
	return t, b.save(ctx, t)
}

// Check searches for what pages say about a message's statement, and judges by them whether it is true. Addresses in the statement are left
// out: its author's own page does not check it. It is recorded like a turn. The error is the store's.
func (b *Bot) Check(ctx context.Context, m turn.Message) (*turn.Lookup, error) {
	o := LookupOrder{Question: guard.WithoutURLs(m.Text), Intent: turn.IntentFactCheck}
	m.Text = o.Question
	t, err := b.LookUpFor(ctx, b.CurrentCast().Default, turn.Event{ID: m.ID, Message: m}, o)
	if err != nil {
		return nil, err
	}
	return t.Lookup(), nil
}

// LookupsLeft reports whether the quotas leave the author of a message a lookup today.
func (b *Bot) LookupsLeft(ctx context.Context, m turn.Message) bool {
	return b.holdLookup(ctx, nil, Party(turn.Event{Message: m}))
}

// Record saves what was done on the web for a message without a lookup by the character: a search, or pages that were read. It counts for
// the author and channel. The error is the store's.
func (b *Bot) Record(ctx context.Context, m turn.Message, by string, l *turn.Lookup, v *turn.Verified) error {
	t := &turn.Trace{Began: l.Began, Took: time.Since(l.Began), Phase: turn.Answered, Model: NoModel, Verified: v}
	t.Request = turn.Request{ID: ulid.Make().String(), Character: b.CurrentCast().Default.Character.ID, ChannelID: m.ChannelID, Message: m,
		Web: turn.Web{Switch: turn.WebAlways}}
	l.Took = t.Took
	t.Outcomes = []turn.Outcome{LookupOutcome(by, l, t.Took)}
	b.count(ctx, t)
	return b.save(ctx, t)
}
