package websearch

import (
	"context"
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// The spans of time of which lookups are counted: any half hour of a channel, and any 24 hours of a person.
const (
	session = 30 * time.Minute
	aDay    = 24 * time.Hour
)

// takeAllowance takes one lookup of those that the channel and the person have left (L4). One that is refused is a lookup
// that failed, and says why. What cannot be counted is not allowed.
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
	got, err := r.p.Store.Take(ctx, r.now, allowances...)
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

// freeWords say when something is free: how long one waits, and a time that still tells when it is read later.
func freeWords(at, now time.Time) string {
	const up = time.Minute - 1
	return fmt.Sprintf("in %s, at %s UTC", since(at.Sub(now)+up), at.Add(up).UTC().Format("15:04"))
}
