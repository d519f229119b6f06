package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
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

// weigh scores messages by how much they matter.
func (r *run) weigh(all []store.Message) []hit {
	replies, in := map[string]int{}, map[string]int{}
	terms := make([][]string, len(all))
	for i, m := range all {
		replies[m.ReplyTo]++
		terms[i] = text.Unique(text.Terms(m.Text, ""))
		for _, t := range terms[i] {
			in[t]++
		}
	}
	asked := map[string]bool{} // questions that somebody answered
	for _, m := range all {
		asked[m.ReplyTo] = m.ReplyTo != ""
	}
	hits := make([]hit, 0, len(all))
	name := "@" + strings.ToLower(r.req.Message.Author.Name)
	for i, m := range all {
		h := hit{Message: r.asSeen(m)}
		for _, t := range terms[i] {
			h.score += text.IDF(in[t], len(all))
		}
		h.score = min(h.score, 40) / 10
		h.score += 1.5 * float64(min(replies[m.ID], 4))
		if question := strings.ContainsAny(m.Text, "?？؟"); question && asked[m.ID] {
			h.score++
		}
		if m.ReplyTo != "" {
			h.score += 0.5
		}
		if name != "@" && strings.Contains(strings.ToLower(m.Text), name) {
			h.score += 4
		}
		if len(addresses(h.Message)) > 0 {
			h.score += 0.5
		}
		if m.Own {
			h.score /= 3
		}
		hits = append(hits, h)
	}
	return hits
}
