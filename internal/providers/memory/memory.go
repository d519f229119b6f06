// Package memory tells a turn what the bot remembers.
//
//   - statements.go: what those who speak, and those who are named, told of themselves before, and what was noted.
//   - passages.go: what the character's lore says.
//   - recall.go: what was written before, beyond the messages that the conversation shows, ranked by how well it answers.
//   - meaning.go: the same by meaning, where the operator named a server that makes vectors of texts: one more list.
//   - block.go: the best of it as quotations.
//   - filter.go: the side model may leave out some of it.
//
// It reads what the asker, and all who see the answer, may read at that moment. A question about what was said in the server is package
// server's: then nothing is recalled here.
package memory

import (
	"context"
	"time"

	"familiar/internal/character/lore"
	"familiar/internal/context/turn"
	"familiar/internal/embedding"
	"familiar/internal/llm"
	"familiar/internal/lookup/recall"
	"familiar/internal/memory"
	"familiar/internal/memory/ranking"
	"familiar/internal/store"
	"familiar/internal/text/calendar"
)

// Provider is the context provider. Its exported fields are set before first use and not changed after.
type Provider struct {
	Store  *store.DB
	Rooms  memory.Rooms   // nil: there are no servers
	Lore   *lore.Library  // the character's; nil: none
	Side   *llm.Client    // that may leave out what was found; nil: all stays
	Off    bool           // no messages are recalled; statements and lore are
	Window int            // messages of the channel that the conversation shows; 0: 20
	Zone   *time.Location // in which times are told, and "yesterday" is a day; nil: UTC
	Now    func() time.Time
	Count  func(string) int // tokens of a text; nil: a cautious estimate

	Embeddings *embedding.Service // nil: words alone decide what is recalled
}

// Name returns "memory".
func (p *Provider) Name() string { return "memory" }

// Contribute tells what is remembered of who asks and who is named, in the words in which it was said, what was noted, what the
// character's lore says, and what was written before that may answer the message.
func (p *Provider) Contribute(ctx context.Context, r turn.Request) (all []turn.Contribution, err error) {
	q := ranking.Read(unaddressed(r), r.Reader.ID, r.People, p.now())
	besides, cancel := besides(ctx)
	defer cancel()
	m := p.readMeaning(besides, r, q)
	found := material{passages: p.passages(r, q)}
	if p.Store.Remembers(r.GuildID) {
		w := p.within(ctx, r)
		all, err = p.people(ctx, r, q, w)
		if err == nil {
			found.statements, err = p.statements(ctx, r, q, w, m)
		}
	}
	if err == nil && p.looksBack(r, q) {
		found.messages, err = p.messages(ctx, r, q, m)
	}
	filtered := p.filter(besides, r, &found)
	all = append(all, p.tellStatements(found.statements)...)
	for _, c := range []*turn.Contribution{p.tellLore(found.passages), p.quote(r, found.messages), filtered} {
		if c != nil {
			all = append(all, *c)
		}
	}
	return append(all, m.onRecord(p.Name())...), err
}

const (
	besidesTime = 2 * time.Second        // for what services add: vectors, comparing them, and the filter, together
	spareTime   = 300 * time.Millisecond // of the turn's, for what is told without them
)

// besides is the time that services have together. It ends before ctx does, so that what needs none of them is told however slow they are.
func besides(ctx context.Context) (context.Context, context.CancelFunc) {
	end := time.Now().Add(besidesTime)
	if d, ok := ctx.Deadline(); ok && d.Add(-spareTime).Before(end) {
		end = d.Add(-spareTime)
	}
	return context.WithDeadline(ctx, end)
}

// looksBack reports whether it is looked for what was written before.
func (p *Provider) looksBack(r turn.Request, q *ranking.Question) bool {
	return !p.Off && worthIt(r, q) && !recall.Read(r, p.now()).Asks()
}

func (p *Provider) now() time.Time { return calendar.Now(p.Now, p.Zone) }
