package bot

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"

	"github.com/oklog/ulid/v2"
)

// Check looks for what pages say of a message's statement, and judges by them whether it is true. It is recorded like a turn; the error is
// the store's. Addresses in the statement are left out: its author's own page does not check it.
func (b *Bot) Check(ctx context.Context, m turn.Message) (*turn.Lookup, error) {
	o := lookupOrder{question: guard.WithoutURLs(m.Text), intent: turn.IntentFactCheck}
	m.Text = o.question
	t, err := b.lookUpFor(ctx, b.cast().Default, turn.Event{ID: m.ID, Message: m}, o)
	if err != nil {
		return nil, err
	}
	return t.Lookup(), nil
}

// LookupsLeft reports whether the quotas let the author of a message look something up today.
func (b *Bot) LookupsLeft(ctx context.Context, m turn.Message) bool {
	scope, _ := b.spent(ctx, turn.Event{Message: m}, lookups)
	return scope == ""
}

// Record keeps what was done on the web for a message without a lookup of the character: a search, pages that were read. What was used
// counts for its author and channel. The error is the store's.
func (b *Bot) Record(ctx context.Context, m turn.Message, by string, l *turn.Lookup, v *turn.Verified) error {
	t := &turn.Trace{Began: l.Began, Took: time.Since(l.Began), Phase: turn.Answered, Model: NoModel, Verified: v}
	t.Request = turn.Request{ID: ulid.Make().String(), Character: b.cast().Default.Character.ID, ChannelID: m.ChannelID, Message: m,
		Web: turn.Web{Switch: turn.WebAlways}}
	l.Took = t.Took
	status := turn.OK
	if l.State == turn.LookupFailed {
		status = turn.Failed
	}
	t.Outcomes = []turn.Outcome{{Provider: by, Status: status, Took: t.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: by, Lookup: l}}}}
	b.count(ctx, t)
	return b.save(ctx, t)
}
