package server

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory/telling"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	mostFound = 60 // messages of one search
	enough    = 5  // messages that hold all words
	mostHits  = 8  // that are told
	// pauseAfter is how long Discord's search is left alone after it has failed.
	pauseAfter = 5 * time.Minute
	// mostNamed is how many channels are named to Discord's search: an address of 100 is 3 KB long.
	mostNamed = 100
	// near is how far from a message what belongs to it stands at most.
	near = 10 * time.Minute
)

// hit is a message that was found.
type hit struct {
	turn.Message
	before, after *turn.Message // what stands around it, where that is near
	score         float64
	note          string // what it is, where that is not plain: "pinned"
	url           string // empty: the message's
}

// search finds messages that are asked about: in the messages that are kept, and with Discord's own search.
func (r *run) search(ctx context.Context) []hit {
	channels := r.channels()
	authors, known := r.authors(ctx)
	bare := len(r.q.Words) == 0 && len(authors) == 0 && len(r.q.Channels) == 0 && !r.q.Here && r.q.Span.From.IsZero()
	if len(channels) == 0 || !known || bare {
		return nil
	}
	q := store.Query{GuildID: r.req.GuildID, Channels: channels, Authors: authors, Language: r.language(), From: r.q.Span.From, To: r.q.Span.To, Limit: mostFound}
	all := map[string]turn.Message{}
	began := time.Now()
	n, err := r.index(ctx, q, all)
	if err != nil {
		r.asked("index", turn.CodeInternal, err.Error(), n, began)
	} else {
		r.asked("index", status(n), "", n, began)
	}
	r.askDiscord(ctx, q, all)
	return r.best(ctx, all)
}

// authors are the ids of those whose words are wanted. known is false where a name is nobody's.
func (r *run) authors(ctx context.Context) (ids []string, known bool) {
	if r.q.ByAsker {
		ids = append(ids, r.req.Reader.ID)
	}
	if r.q.ByBot {
		ids = append(ids, r.req.Character, "") // nobody: what was kept before there were several characters
	}
	if len(r.q.People) == 0 {
		return ids, true
	}
	people, err := r.p.Store.Authors(ctx, r.req.GuildID)
	if err != nil {
		return nil, false
	}
	for _, p := range people {
		if slices.Contains(r.q.People, p.Name) {
			ids = append(ids, p.ID)
		}
	}
	return ids, len(ids) > 0
}

// index searches the messages that are kept: first for all words, then for words that begin so, then for each.
func (r *run) index(ctx context.Context, q store.Query, all map[string]turn.Message) (n int, err error) {
	add := func(words string, begin bool) {
		if err != nil {
			return
		}
		q.Words, q.Begin = words, begin
		var found []store.Message
		found, err = r.p.Store.Search(ctx, q)
		for _, m := range found {
			all[m.ID] = r.asSeen(m)
		}
	}
	together := strings.Join(r.q.Words, " ")
	add(together, false)
	if together != "" && len(all) < enough {
		add(together, true)
	}
	if len(r.q.Words) > 1 && len(all) < enough {
		for _, w := range r.q.Words {
			add(w, false)
		}
	}
	return len(all), err
}

// asSeen is a message that is kept as the character sees it: what another one wrote is not its own.
func (r *run) asSeen(m store.Message) turn.Message {
	other := m.OfAnother(r.req.Character)
	return turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName, Machine: other}, Text: m.Text, At: m.At, ReplyTo: m.ReplyTo, Own: m.Own && !other,
	}
}

// askDiscord asks Discord's own search, which knows what was written before the bot came. What it returns passes the same check; where
// it refuses, or is not ready, what is kept must do.
func (r *run) askDiscord(ctx context.Context, q store.Query, all map[string]turn.Message) {
	const source = "discord"
	began := time.Now()
	switch until := r.p.Servers.pause(r.req.GuildID, time.Time{}); {
	case r.p.Own:
		return
	case began.Before(until):
		r.asked(source, turn.CodeSkipped, "it failed a short while ago", 0, began)
		return
	}
	search := turn.MessageSearch{Words: strings.Join(r.q.Words, " "), Authors: slices.DeleteFunc(slices.Clone(q.Authors), func(id string) bool { return id == "" || id == r.req.Character }), From: q.From, To: q.To}
	if len(q.Channels) <= mostNamed { // else Discord searches all, and what may not be read is left out below
		search.Channels = q.Channels
	}
	r.look.Query = search.Words
	found, err := r.p.Servers.Platform.SearchMessages(ctx, r.req.GuildID, search)
	if err != nil {
		r.p.Servers.pause(r.req.GuildID, began.Add(pauseAfter))
		r.asked(source, turn.CodeUpstream, err.Error(), 0, began)
		return
	}
	n := 0
	for _, m := range found {
		if slices.Contains(q.Channels, m.ChannelID) && (len(q.Authors) == 0 || slices.Contains(q.Authors, m.Author.ID)) && r.mayQuote(ctx, m) {
			n++
			if _, kept := all[m.ID]; !kept {
				all[m.ID] = m
			}
		}
	}
	r.asked(source, status(n), "", n, began)
}

// mayQuote reports whether a message that Discord has may stand in a record: its author has not opted out, nor was forgotten since.
func (r *run) mayQuote(ctx context.Context, m turn.Message) bool {
	s, err := r.p.Store.Standing(ctx, m.Author.ID)
	return err == nil && s.Keeps(m.At)
}

// pause returns until when a server's own search is left alone, which is set unless until is zero.
func (s *Servers) pause(guildID string, until time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused == nil || len(s.paused) > 1000 {
		s.paused = map[string]time.Time{}
	}
	if !until.IsZero() {
		s.paused[guildID] = until
	}
	return s.paused[guildID]
}

// best returns the messages that answer best, with what stands around them: by the words that they hold, the rarer the more, and of
// those that are alike the newer.
func (r *run) best(ctx context.Context, all map[string]turn.Message) []hit {
	var hits []hit
	holds := map[string][]bool{} // by message, which of the words
	in := make([]int, len(r.q.Words))
	for _, m := range all {
		if m.ID == r.req.Message.ID || slices.Contains(r.req.Burst, m.ID) || strings.TrimSpace(m.Text) == "" ||
			r.q.Address && len(telling.Addresses(m)) == 0 {
			continue
		}
		h := r.held(m.Text)
		for i, held := range h {
			if held {
				in[i]++
			}
		}
		holds[m.ID] = h
		hits = append(hits, hit{Message: m})
	}
	for i := range hits {
		h := &hits[i]
		for w, held := range holds[h.ID] {
			if held {
				h.score += 1 + text.IDF(in[w], len(hits))
			}
		}
		if len(r.q.Words) > 0 && h.score == 0 {
			continue
		}
		h.score += 1 / (1 + math.Max(0, r.now.Sub(h.At).Hours())/(24*30))
		if h.Own && !r.q.ByBot || strings.HasSuffix(strings.TrimSpace(h.Text), "?") { // what was asked is no answer
			h.score /= 2
		}
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return h.score == 0 })
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.At.Compare(a.At), strings.Compare(a.ID, b.ID))
	})
	hits = different(hits)
	for i := range hits {
		r.surround(ctx, &hits[i])
	}
	return hits
}

// held reports which of the words that are asked for a text holds, in any form.
func (r *run) held(s string) []bool {
	folded := text.Fold(s)
	stems := map[string]bool{}
	language := r.language()
	for _, t := range text.Terms(s, language) {
		stems[t] = true
	}
	all := make([]bool, len(r.q.Words))
	for i, w := range r.q.Words {
		all[i] = strings.Contains(folded, text.Fold(w)) || stems[text.Stem(text.Fold(w), language)]
	}
	return all
}

// language is that of the question, empty where that is not clear.
func (r *run) language() string {
	return text.Language(r.req.Message.Text, text.Words(r.req.Message.Text))
}

// different leaves out what says the same as a better hit, and all but the best.
func different(hits []hit) (kept []hit) {
	for _, h := range hits {
		terms := text.Unique(text.Terms(h.Text, ""))
		same := slices.ContainsFunc(kept, func(k hit) bool { return text.Jaccard(terms, text.Unique(text.Terms(k.Text, ""))) > 0.8 })
		if !same && len(kept) < mostHits {
			kept = append(kept, h)
		}
	}
	return kept
}

// surround finds what stands directly around a message.
func (r *run) surround(ctx context.Context, h *hit) {
	around, err := r.p.Store.Around(ctx, store.Message{ID: h.ID, ChannelID: h.ChannelID, At: h.At}, 1, 1)
	if err != nil {
		return
	}
	at := slices.IndexFunc(around, func(m store.Message) bool { return m.ID == h.ID })
	if at > 0 && h.At.Sub(around[at-1].At) < near {
		before := r.asSeen(around[at-1])
		h.before = &before
	}
	if at >= 0 && at+1 < len(around) && around[at+1].At.Sub(h.At) < near && around[at+1].ID != r.req.Message.ID {
		after := r.asSeen(around[at+1])
		h.after = &after
	}
}
