package websearch

import (
	"context"
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// session is the span of which a channel's lookups are counted: half hours by the clock, so that a count needs no
// more to be kept than its own number.
const session = 30 * time.Minute

// capped is the failure of a lookup that would be one too many.
const capped = "cap"

// granted takes one lookup of those that the channel and the person have left (L4). One that is refused is a lookup
// that failed, and says why.
func (r *run) granted(ctx context.Context) bool {
	if r.p.Store == nil {
		return true
	}
	half := r.now.UTC().Truncate(session)
	inChannel := quota{"channel", "lookups/channel/" + r.req.Character + "/" + r.req.ChannelID, half.Format("2006-01-02T15:04"), r.pol.PerSession}
	ofPerson := quota{"person", "lookups/person/" + r.req.Character + "/" + r.req.Message.Author.ID, half.Format(time.DateOnly), r.pol.PerDay}
	if !r.take(ctx, inChannel, fmt.Sprintf("the %d lookups that this channel has in half an hour are used up until %s UTC", inChannel.limit, half.Add(session).Format("15:04"))) {
		return false
	}
	if r.take(ctx, ofPerson, fmt.Sprintf("the %d lookups that a person has in a day are used up until midnight UTC", ofPerson.limit)) {
		return true
	}
	if inChannel.limit > 0 {
		_ = r.p.Store.ReturnQuota(ctx, inChannel.name, inChannel.period, 1) // one lookup less for half an hour is no harm
	}
	return false
}

type quota struct {
	of, name, period string
	limit            int // 0: none
}

// take takes one of q. What cannot be counted is not allowed.
func (r *run) take(ctx context.Context, q quota, used string) bool {
	if q.limit <= 0 {
		return true
	}
	got, err := r.p.Store.TakeQuota(ctx, q.name, q.period, 1, q.limit)
	switch {
	case err != nil:
		r.fail("internal", "the lookups could not be counted")
	case got == 0:
		r.fail(capped, used)
		r.look.Caps = append(r.look.Caps, turn.Cap{Of: q.of, Used: q.limit, Limit: q.limit})
	default:
		if n, err := r.p.Store.QuotaUsed(ctx, q.name, q.period); err == nil {
			r.look.Caps = append(r.look.Caps, turn.Cap{Of: q.of, Used: n, Limit: q.limit})
		}
		return true
	}
	r.look.Block = stateLine(&r.look)
	return false
}
