package recall

import (
	"context"
	"errors"
	"slices"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/embedding"
	"familiar/internal/memory"
	"familiar/internal/store"
)

const (
	maxNear      = 40          // messages near in meaning
	maxApart     = 8           // of them, messages that have none of the words
	apartContext = 1           // messages before and after each of those
	nearestLimit = time.Second // for finding them; a server's first question also reads its vectors, which takes a tenth of that
)

// meaning is the embedding of a message, which a goroutine computes. vector and sent may be read after done is closed. near belongs to
// the provider's goroutine.
type meaning struct {
	done   chan struct{}
	ctx    context.Context  // for requests to services
	vector embedding.Vector // empty: there is none
	sent   turn.Embedding   // for the record
	near   map[string]bool  // messages near in meaning that have none of the words
}

// readMeaning starts to embed a message. The caller must wait for the meaning. It is nil without a service or if no messages are looked
// for.
func (p *MemoryProvider) readMeaning(ctx context.Context, r turn.Request, q *query) *meaning {
	if p.Embeddings == nil || !p.looksBack(r, q) {
		return nil
	}
	m := &meaning{done: make(chan struct{}), ctx: ctx, sent: turn.Embedding{Host: p.Embeddings.Host(), Model: p.Embeddings.Model}}
	go func() {
		defer close(m.done)
		began := time.Now()
		var err error
		m.vector, err = p.Embeddings.Question(ctx, unaddressed(r))
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
	if failed, ok := errors.AsType[*api.Failure](err); ok {
		return failed.Code
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return turn.CodeTimeout
	}
	return turn.CodeInternal
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

// addNearest adds messages that have none of the words but a near meaning, with their neighbours. It returns the ids of all messages near
// in meaning, the nearest first.
func (p *MemoryProvider) addNearest(ctx context.Context, r turn.Request, m *meaning, stored []store.Message) ([]store.Message, []string) {
	if !m.wait() {
		return stored, nil
	}
	channels := []string{r.ChannelID}
	if r.GuildID != "" {
		channels = p.readable(ctx, r)
	}
	limited, cancel := context.WithTimeout(m.ctx, nearestLimit)
	defer cancel()
	found, err := p.Vectors.Nearest(limited, embedding.Nearest{GuildID: r.GuildID, Channels: channels, Model: p.Embeddings.Model, To: m.vector, Limit: maxNear,
		Except: append(slices.Clone(r.Burst), r.Message.ID)})
	if err != nil {
		m.sent.Failure = failure(err)
		return stored, nil
	}
	have := map[string]bool{}
	for _, s := range stored {
		have[s.ID] = true
	}
	m.near = map[string]bool{}
	var ids []string
	stored = slices.Clip(stored)
	for _, n := range found {
		ids = append(ids, n.ID)
		if !n.Apart || len(m.near) == maxApart {
			continue
		}
		m.near[n.ID] = true
		around, err := p.Store.Messages.Around(ctx, n.Message, apartContext, apartContext)
		if err != nil {
			around = []store.Message{n.Message}
		}
		for _, a := range around {
			if !have[a.ID] {
				have[a.ID] = true
				stored = append(stored, a)
			}
		}
	}
	return stored, ids
}

// nearestNotes returns the notes near in meaning, the nearest first.
func (p *MemoryProvider) nearestNotes(filter memory.ScopeFilter, m *meaning) []memory.Statement {
	if !m.wait() {
		return nil
	}
	limited, cancel := context.WithTimeout(m.ctx, nearestLimit)
	defer cancel()
	notes, err := p.Memories.Nearest(limited, filter, p.Embeddings.Model, m.vector, maxNotes)
	if err != nil {
		m.sent.Failure = failure(err)
		return nil
	}
	return slices.DeleteFunc(notes, func(of memory.Statement) bool { return of.Kind == memory.Person })
}
