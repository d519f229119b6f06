package bot

import (
	"context"
	"errors"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/providers/websearch"
	"familiar/internal/reply"
	"familiar/internal/web/clean"
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
	return b.Aside(ctx, actor, e, prepare, func(ctx context.Context, t *turn.Trace) bool {
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
		t.Outcomes = append(t.Outcomes, turn.LookupOutcome(actor.Lookup.Name(), &l, l.Took))
		t.Reply = reply.Head(seen+reply.LookupAnswer(t.Request.Language, &l, b.Redact), reply.AnswerUnits)
		return true
	})
}

const offByChannel sentence = "in this channel; the command lookup switches it on again"

// offReason returns who switched the web off, in English, for the record.
func offReason(w turn.Web) string {
	if w.Reason == turn.OffChannel {
		return string(offByChannel)
	}
	return websearch.OffWords(w.Reason)
}

// Aside takes a turn outside the lanes, for a command. Nothing waits for it and nothing is posted. prepare may change the request before it
// is recorded. look fills in the record, and reports whether the turn counts as used. The error is the store's, or a [*gate.Refusal].
func (b *Bot) Aside(ctx context.Context, actor *Actor, e turn.Event, prepare func(*turn.Request), look func(context.Context, *turn.Trace) (counts bool)) (*turn.Trace, error) {
	p, no := b.Gate.Pass(ctx, e, gate.Passage{Tokens: actor.promptTokens(), Rated: e.Command != nil}) // else the operator's own program asks
	if no != nil {
		return nil, no
	}
	defer p.GiveBack()
	t := &turn.Trace{Began: b.now(), Phase: turn.Begun, Model: NoModel}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e, pass: p}})
	t.Request.Chain, t.Request.Parent, t.Request.Addressed = nil, nil, turn.ByDirect
	prepare(&t.Request)
	if err := b.saveWith(ctx, t, noMore); err != nil { // the process that got the command answers it
		return nil, err
	}
	ctx, calls := llm.Collect(ctx, b.Redact.String)
	counts := look(ctx, t)
	t.Calls = calls.Close()
	t.Phase, t.Took = turn.Answered, b.now().Sub(t.Began)
	if !counts {
		return t, b.saveWith(ctx, t, noMore)
	}
	return t, b.saveWith(ctx, t, b.Gate.Counted(t, p))
}

// Check searches for what pages say about a message's statement, and judges by them whether it is true. Addresses in the statement are left
// out: its author's own page does not check it. It is recorded like a turn. The error is the store's.
func (b *Bot) Check(ctx context.Context, m turn.Message) (*turn.Lookup, error) {
	o := LookupOrder{Question: clean.WithoutURLs(m.Text), Intent: turn.IntentFactCheck}
	m.Text = o.Question
	t, err := b.LookUpFor(ctx, b.CurrentCast().Default, turn.Event{ID: m.ID, Message: m}, o)
	if err != nil {
		return nil, err
	}
	return t.Lookup(), nil
}

// OnWeb does something on the web that is no lookup by the character: a search, or pages to read. It passes the gate and is recorded like a turn.
// look is told why the web may not be searched, or "". The error is look's, the store's, or a [*gate.Refusal].
func (b *Bot) OnWeb(ctx context.Context, m turn.Message, by string, look func(ctx context.Context, off turn.OffReason) (*turn.Lookup, *turn.Verified, error)) (err error) {
	_, no := b.Aside(ctx, b.CurrentCast().Default, turn.Event{ID: m.ID, Message: m}, func(*turn.Request) {}, func(ctx context.Context, t *turn.Trace) bool {
		var l *turn.Lookup
		if l, t.Verified, err = look(ctx, t.Request.Web.Reason); l == nil {
			return false
		}
		l.Took = time.Since(l.Began)
		t.Outcomes = []turn.Outcome{turn.LookupOutcome(by, l, l.Took)}
		return true
	})
	return errors.Join(err, no)
}
