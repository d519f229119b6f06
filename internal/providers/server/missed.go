package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory/telling"
	"familiar/internal/store"
)

const (
	usualAbsence   = 24 * time.Hour      // of who has never written in the channel
	longestAbsence = 14 * 24 * time.Hour // that is told of
	mostMissed     = 500                 // messages that are looked at, the newest
)

// missed returns the messages of the channel that matter most to the asker since they last wrote there, or in a span: those that
// were replied to, that mention the asker, that ask or answer, that say what others do not. They are in order of time.
func (r *run) missed(ctx context.Context) []hit {
	began := time.Now()
	if !r.readable[r.req.ChannelID] {
		r.asked("index", turn.CodeEmpty, "the channel may not be read", 0, began)
		return nil
	}
	from, until := r.q.Span.From, r.now
	if !r.q.Span.To.IsZero() {
		until = r.q.Span.To
	}
	if from.IsZero() {
		from = r.lastHere(ctx)
	}
	if earliest := r.now.Add(-longestAbsence); from.Before(earliest) {
		from = earliest
	}
	all, err := r.p.Store.Between(ctx, r.req.ChannelID, from, until, mostMissed)
	if err != nil {
		r.asked("index", turn.CodeInternal, err.Error(), 0, began)
		return nil
	}
	all = slices.DeleteFunc(all, func(m store.Message) bool {
		return m.ID == r.req.Message.ID || m.AuthorID == r.req.Reader.ID || strings.TrimSpace(m.Text) == ""
	})
	r.asked("index", status(len(all)), "since "+from.UTC().Format("2006-01-02 15:04 UTC"), len(all), began)
	hits := r.weigh(all)
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), b.At.Compare(a.At)) })
	hits = different(hits)
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	return hits
}

// lastHere returns when the asker last wrote in the channel.
func (r *run) lastHere(ctx context.Context) time.Time {
	before := r.now
	if at := r.req.Message.At; !at.IsZero() && at.Before(before) {
		before = at
	}
	last, err := r.p.Store.LastBy(ctx, r.req.GuildID, r.req.ChannelID, r.req.Reader.ID, before)
	if err != nil {
		return r.now.Add(-usualAbsence)
	}
	return last.At
}

// weigh scores messages by how much they tell the asker.
func (r *run) weigh(all []store.Message) []hit {
	hits, seen := make([]hit, len(all)), make([]turn.Message, len(all))
	for i, m := range all {
		seen[i] = r.asSeen(m)
		seen[i].Own = m.Own // another character's words are no person's
	}
	for i, score := range telling.Weigh(seen, r.req.Message.Author.Name) {
		hits[i] = hit{Message: r.asSeen(all[i]), score: score}
	}
	return hits
}
