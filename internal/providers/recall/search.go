package recall

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	maxFound          = 60               // messages of one search
	enough            = 5                // messages after which a search is not widened
	maxHits           = 8                // messages in an answer
	pauseAfterFailure = 5 * time.Minute  // of Discord's search
	maxChannelsParam  = 100              // channels in a request to Discord's search: the URL is then 3 KB long
	neighbourGap      = 10 * time.Minute // between a message and its neighbours, at most
)

// hit is a message that was found.
type hit struct {
	turn.Message
	before, after *turn.Message // its neighbours, if they are close in time
	score         float64
	note          string // its kind, if it is not a usual message, such as "pinned"
	url           string // empty: the message's
}

// search finds the messages that the question is about, in the store and with Discord's own search.
func (r *run) search(ctx context.Context) []hit {
	authors, known := r.authors(ctx)
	bare := len(r.q.Words) == 0 && len(authors) == 0 && len(r.q.Channels) == 0 && !r.q.Here && r.q.Span.From.IsZero()
	if !known || bare {
		return nil
	}
	all := map[string]turn.Message{}
	if r.direct() && len(r.q.Channels) == 0 {
		r.searchConversation(ctx, authors, all)
	}
	for _, server := range r.servers {
		r.searchServer(ctx, server, authors, all)
	}
	return r.best(ctx, all)
}

// searchConversation searches the last messages of a direct message. No index has them.
func (r *run) searchConversation(ctx context.Context, authors []string, all map[string]turn.Message) {
	began := time.Now()
	recent, err := r.p.Store.Messages.Recent(ctx, r.req.ChannelID, maxDirect)
	if err != nil {
		r.asked("conversation", turn.CodeInternal, err.Error(), 0, began)
		return
	}
	n := 0
	for _, m := range recent {
		if seen := m.SeenBy(r.req.Character); r.mayTell(m) && (len(authors) == 0 || slices.Contains(authors, m.AuthorID)) && (len(r.q.Words) == 0 || slices.Contains(r.held(m.Text), true)) {
			n, all[m.ID] = n+1, seen
		}
	}
	r.asked("conversation", status(n), "", n, began)
}

// searchServer searches the channels of a server that the question is about.
func (r *run) searchServer(ctx context.Context, server string, authors []string, all map[string]turn.Message) {
	channels := r.channels(server)
	if len(channels) == 0 {
		return
	}
	began := time.Now()
	q := store.Query{GuildID: server, Channels: channels, Authors: authors, Language: r.language(), From: r.q.Span.From, To: r.q.Span.To, Limit: maxFound}
	n, err := r.index(ctx, q, all)
	if err != nil {
		r.asked("index", turn.CodeInternal, err.Error(), n, began)
	} else {
		r.asked("index", status(n), "", n, began)
	}
	r.askDiscord(ctx, q, all)
}

// authors returns the ids of the authors that the question names. known is false if it names people and none of them is a member.
func (r *run) authors(ctx context.Context) (ids []string, known bool) {
	if r.q.ByAsker {
		ids = append(ids, r.req.Reader.ID)
	}
	if r.q.ByBot {
		ids = append(ids, r.req.Character, "") // messages without an id are from the time when there was one character
	}
	if len(r.q.People) == 0 {
		return ids, true
	}
	for _, server := range r.servers {
		people, err := r.p.Store.People.List(ctx, server)
		if err != nil {
			return nil, false
		}
		for _, p := range people {
			if slices.Contains(r.q.People, p.Name) {
				ids = text.AddOnce(ids, p.ID)
			}
		}
	}
	return ids, len(ids) > 0
}

// index searches the stored messages: for all words, then for words that begin with them, then for each word.
func (r *run) index(ctx context.Context, q store.Query, all map[string]turn.Message) (n int, err error) {
	add := func(words string, begin bool) {
		if err != nil {
			return
		}
		q.Words, q.Begin = words, begin
		var found []store.Message
		found, err = r.p.Store.Messages.Search(ctx, q)
		for _, m := range found {
			all[m.ID] = m.SeenBy(r.req.Character)
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

// askDiscord asks Discord's own search, which also finds messages from before the bot joined. The results pass the same checks. If the
// search fails, the stored messages must suffice.
func (r *run) askDiscord(ctx context.Context, q store.Query, all map[string]turn.Message) {
	const source = "discord"
	began := time.Now()
	switch until := r.p.Servers.pause(q.GuildID, time.Time{}); {
	case r.p.Own, r.q.Maybe: // most of what only may ask is about something else
		return
	case began.Before(until):
		r.asked(source, turn.CodeSkipped, "it failed recently", 0, began)
		return
	}
	search := turn.MessageSearch{Words: strings.Join(r.q.Words, " "), Authors: slices.DeleteFunc(slices.Clone(q.Authors), func(id string) bool { return id == "" || id == r.req.Character }), From: q.From, To: q.To}
	if len(q.Channels) <= maxChannelsParam { // otherwise Discord searches all channels, and the check below drops the others
		search.Channels = q.Channels
	}
	r.look.Query = search.Words
	found, err := r.p.Servers.Platform.SearchMessages(ctx, q.GuildID, search)
	if err != nil {
		r.p.Servers.pause(q.GuildID, began.Add(pauseAfterFailure))
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

// mayQuote reports whether a message from Discord may be quoted and recorded. Its author has neither opted out nor been forgotten since.
func (r *run) mayQuote(ctx context.Context, m turn.Message) bool {
	s, err := r.p.Store.Privacy.Standing(ctx, m.Author.ID)
	return err == nil && s.Keeps(m.At)
}

// pause returns the time until which Discord's search of a server is paused. It first sets that time unless until is zero.
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

// best returns the best messages with their neighbours. A message scores by the words that it has. Rare words score more, and so do newer
// messages.
func (r *run) best(ctx context.Context, all map[string]turn.Message) []hit {
	var hits []hit
	holds := map[string][]bool{} // by message: which of the words it has
	in := make([]int, len(r.q.Words))
	for _, m := range all {
		if m.ID == r.req.Message.ID || slices.Contains(r.req.Burst, m.ID) || strings.TrimSpace(m.Text) == "" ||
			r.q.Address && len(evidence.PostedLinks(m)) == 0 {
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
		if h.Own && !r.q.ByBot || strings.HasSuffix(strings.TrimSpace(h.Text), "?") { // a question is not an answer
			h.score /= 2
		}
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return h.score == 0 })
	sort.Slice(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		return cmp.Or(cmp.Compare(b.score, a.score), b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) < 0
	})
	hits = different(hits)
	for i := range hits {
		r.surround(ctx, &hits[i])
	}
	return hits
}

// held reports which of the question's words a text has, in any form.
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

// language returns the language of the question, or "" if it is unclear.
func (r *run) language() string {
	return text.MessageLanguage(r.req.Message.Text)
}

// different returns the best hits without those that repeat a better one.
func different(hits []hit) (kept []hit) {
	for _, h := range hits {
		terms := text.Unique(text.Terms(h.Text, ""))
		same := slices.ContainsFunc(kept, func(k hit) bool { return text.Jaccard(terms, text.Unique(text.Terms(k.Text, ""))) > 0.8 })
		if !same && len(kept) < maxHits {
			kept = append(kept, h)
		}
	}
	return kept
}

// surround finds the messages directly before and after a hit.
func (r *run) surround(ctx context.Context, h *hit) {
	around, err := r.p.Store.Messages.Around(ctx, store.Message{ID: h.ID, ChannelID: h.ChannelID, At: h.At}, 1, 1)
	if err != nil {
		return
	}
	at := slices.IndexFunc(around, func(m store.Message) bool { return m.ID == h.ID })
	if at > 0 && h.At.Sub(around[at-1].At) < neighbourGap {
		before := around[at-1].SeenBy(r.req.Character)
		h.before = &before
	}
	if at >= 0 && at+1 < len(around) && around[at+1].At.Sub(h.At) < neighbourGap && around[at+1].ID != r.req.Message.ID {
		after := around[at+1].SeenBy(r.req.Character)
		h.after = &after
	}
}

const (
	maxNear      = 40          // messages near in meaning
	maxApart     = 8           // of them, messages that have none of the words
	apartContext = 1           // messages before and after each of those
	nearestLimit = time.Second // for finding them; a server's first question also reads its vectors, which takes a tenth of that
)

// meaning is the embedding of a message, which a goroutine computes. vector and sent may be read after done is closed.
type meaning struct {
	done   chan struct{}
	ctx    context.Context // for requests to services
	vector memory.Vector   // empty: there is none
	sent   turn.Embedding  // for the record
}

// embed starts to embed a message. The caller must wait for the meaning. It is nil without a service or if no messages are looked for.
func (p *MemoryProvider) embed(ctx context.Context, q *asked) *meaning {
	if p.Embeddings == nil || !q.looksBack {
		return nil
	}
	m := &meaning{done: make(chan struct{}), ctx: ctx, sent: turn.Embedding{Host: p.Embeddings.Host(), Model: p.Embeddings.Model}}
	go func() {
		defer close(m.done)
		began := time.Now()
		var err error
		m.vector, err = p.Embeddings.Question(ctx, q.text)
		m.sent.Took = time.Since(began)
		m.sent.Failure = failure(err)
	}()
	return m
}

// failure returns the code of an error of a service or of a comparison of vectors.
func failure(err error) turn.Code {
	if err == nil {
		return ""
	}
	code := memory.CodeOf(err)
	if code == turn.CodeInternal && errors.Is(err, context.DeadlineExceeded) {
		return turn.CodeTimeout
	}
	return code
}

// wait waits until the embedding has ended and reports whether there is a vector.
func (m *meaning) wait() bool {
	if m == nil {
		return false
	}
	<-m.done
	return len(m.vector) > 0
}

// record returns a contribution without a text: what was sent to the service, and its result.
func (m *meaning) record(source string) []turn.Contribution {
	if m == nil {
		return nil
	}
	<-m.done
	return []turn.Contribution{{Layer: turn.Content, Source: source + ":embedding", Embedding: &m.sent}}
}
