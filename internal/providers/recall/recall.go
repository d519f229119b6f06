// Package recall offers a turn what the bot remembers and what was said before.
//
// recall.go has what the first two of its providers share. It has [MemoryProvider], which says for each message what is remembered about it:
//
//  1. query.go reads what the message asks of the past. search.go embeds it meanwhile.
//  2. find.go takes candidates from the store: statements about people, notes, and older messages.
//  3. rank.go chooses those that would answer best, without a model. corpus.go counts words for it. lore.go cuts the character's lore into
//     passages, and ranks them too.
//  4. The filter in query.go lets the side model remove what does not bear on the message.
//  5. tell.go writes the best into the prompt, messages as quotations.
//
// server.go has [ServerProvider], which answers questions about what was said in the server. search.go searches for it.
//
// history.go has [HistoryProvider], which offers the conversation so far. It has the parent of a reply and its chain, and the channel's last
// messages. A summary has the messages before those (summary.go).
//
// Summaries are made in the background (summarise.go). A turn uses the one that exists. A summary has a few sentences with the messages
// that are their sources. A side model writes the sentences, and messages must support each of them. Without a side model, a summary quotes
// the most important messages. A new summary keeps old sentences unchanged and adds new ones. When a message that it covers is deleted or
// edited, the store deletes the summary. No summary contains the bot's own messages, because they may repeat web pages.
//
// The first two read only what the asker, and everyone else who sees the answer, may read at that moment. What people wrote is data: it is
// marked and is between tags, and the prompt says not to obey it.
package recall

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/question/past"
	"familiar/internal/store"
	"familiar/internal/text"
)

// Past is where MemoryProvider and ServerProvider read what was said before. Its fields are set before first use and not changed after.
type Past struct {
	Store    *store.DB
	Memories *memory.Store
	Servers  *Servers         // nil: there are none, as at a terminal
	Off      bool             // older messages are neither recalled nor searched; statements and lore still are
	Zone     *time.Location   // of the times in blocks and of days such as "yesterday"; nil: UTC
	Count    func(string) int // returns the tokens of a text; nil: an estimate that is too high
	Now      func() time.Time // nil: time.Now
	Asked    past.Reader      // reads what messages ask of their server, for this and other providers of a turn
}

// Platform is the chat service, Discord. Package discord documents the methods.
type Platform interface {
	// Readable reports which of the named channels, or of all if none is named, a person may read now. If audience names a channel,
	// everyone who can read that channel must be able to read them too.
	Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool
	Channels(guildID string) []turn.Channel
	Locale(guildID string) string // BCP 47 tag of the server's language; empty: unknown
	SearchMessages(ctx context.Context, guildID string, q turn.MessageSearch) ([]turn.Message, error)
	Pins(ctx context.Context, guildID, channelID string) ([]turn.Message, error)
	Linked(ctx context.Context, guildID, channelID, messageID string) (turn.Message, error)
}

// Servers are the servers that the bot is in. All its characters share them.
type Servers struct {
	Platform Platform // set before first use and not changed after

	mu     sync.Mutex
	paused map[string]time.Time // by server: when Discord's search may be asked again; guarded by mu
}

// Readable asks the platform. Nothing is readable without one.
func (s *Servers) Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool {
	if s == nil || s.Platform == nil {
		return nil
	}
	return s.Platform.Readable(ctx, guildID, who, audience, channels...)
}

func (p *Past) now() time.Time { return text.ZonedNow(p.Now, p.Zone) }

// count returns the tokens of a text. Without a counter the estimate is high, because a block that is too large is dropped whole.
func (p *Past) count(s string) int {
	if p.Count == nil {
		return len(s)/2 + 1
	}
	return p.Count(s)
}

// MemoryProvider is the context provider "memory". Its exported fields are set before first use and not changed after.
type MemoryProvider struct {
	*Past
	Lore       *Library         // the character's; nil: none
	Answers    *Library         // to questions about the program, which no model answers; nil: none
	Side       *llm.Client      // may remove what was found; nil: nothing is removed
	Window     int              // messages of the channel that the conversation shows; 0: 20
	Unread     bool             // no model reads the conversation, so that its last messages are offered too
	Embeddings *memory.Embedder // nil: messages are found by their words alone
	Vectors    *memory.Vectors  // that Embeddings made; unused without it
}

// Name returns "memory".
func (p *MemoryProvider) Name() string { return "memory" }

// Contribute offers statements about the asker and the people named, and notes. It also offers passages of lore, and older messages that
// may answer. A question about the server is left to [ServerProvider]: then no messages are offered.
func (p *MemoryProvider) Contribute(ctx context.Context, r turn.Request) ([]turn.Contribution, error) {
	services, cancel := withServiceLimit(ctx)
	defer cancel()
	q := p.ask(r)
	m := p.embed(services, q)
	found, err := p.find(ctx, q, m)
	best := p.rank(q, found)
	filtered := p.filter(services, q, &best)
	return append(p.tell(q, best), slices.Concat(filtered, p.aboutProgram(q), m.record(p.Name()))...), err
}

// knownShare is the share of a question's words, by weight. A statement or a message must have it to answer the question by itself.
const knownShare = 0.6

// Knows reports whether something may answer a question. It is a statement that is remembered, what a person wrote before, or what is
// bundled.
func (p *MemoryProvider) Knows(ctx context.Context, r turn.Request) bool {
	q := p.ask(r)
	if len(q.terms) == 0 || !q.asksFor {
		return false
	}
	if q.speaksToBot() && len(p.aboutProgram(q)) > 0 {
		return true
	}
	found, _ := p.find(ctx, q, nil) // what was found before an error may do
	best := p.rank(q, found)
	answers := func(s statement) bool { return s.share >= knownShare }
	for _, about := range best.people {
		if slices.ContainsFunc(about.statements, answers) {
			return true
		}
	}
	return slices.ContainsFunc(best.notes[:min(len(best.notes), maxNotes)], answers) || slices.ContainsFunc(best.ranked, func(h Hit) bool {
		return h.Share >= knownShare && !h.Own && !h.Author.Machine && !strings.ContainsAny(h.Text, "?？")
	})
}

const (
	serviceLimit = 2 * time.Second        // for the embedding, the comparison of vectors and the filter together
	spareTime    = 300 * time.Millisecond // of the turn, to offer what was found without them
)

// withServiceLimit returns the context of requests to services. It ends before ctx does, so that a slow service costs only what it adds.
func withServiceLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	end := time.Now().Add(serviceLimit)
	if d, ok := ctx.Deadline(); ok && d.Add(-spareTime).Before(end) {
		end = d.Add(-spareTime)
	}
	return context.WithDeadline(ctx, end)
}
