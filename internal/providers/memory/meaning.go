package memory

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/memory/ranking"
	"familiar/internal/store"
)

const (
	mostNear     = 40          // messages near in meaning that are one more list
	mostOfApart  = 8           // of them that are looked at though they have none of the words
	apartReach   = 1           // messages before and after them
	compareLimit = time.Second // for finding them; a server's first question also reads its vectors, a tenth of that
)

// meaning is the vector of a message, on its way.
type meaning struct {
	done   chan struct{}   // closed when the rest is known
	ctx    context.Context // in which the services are asked
	vector store.Vector    // empty: there is none
	sent   turn.Embedding  // for the record
	near   map[string]bool
}

// readMeaning has a message embedded meanwhile. The meaning must be waited for; nil: there is no service, or nothing to look for.
func (p *Provider) readMeaning(ctx context.Context, r turn.Request, q *ranking.Question) *meaning {
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

// failure is why there is no list of what is near in meaning.
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

// wait waits for the vector, which comes soon or not at all, and reports whether there is one.
func (m *meaning) wait() bool {
	if m == nil {
		return false
	}
	<-m.done
	return len(m.vector) > 0
}

// onRecord is a footnote: what was sent, and what became of it.
func (m *meaning) onRecord(source string) []turn.Contribution {
	if m == nil {
		return nil
	}
	<-m.done
	return []turn.Contribution{{Layer: turn.Content, Source: source + ":embedding", Embedding: &m.sent}}
}

// nearest adds to messages those that stand apart by their meaning, with what is around them, and returns the ids of all that are near.
func (p *Provider) nearest(ctx context.Context, r turn.Request, m *meaning, stored []store.Message) ([]store.Message, []string) {
	if !m.wait() {
		return stored, nil
	}
	channels := []string{r.ChannelID}
	if r.GuildID != "" {
		channels = p.readable(ctx, r)
	}
	within, cancel := context.WithTimeout(m.ctx, compareLimit)
	defer cancel()
	found, err := p.Store.Nearest(within, store.Nearest{GuildID: r.GuildID, Channels: channels, Model: p.Embeddings.Model, To: m.vector, Limit: mostNear,
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
		if !n.Apart || len(m.near) == mostOfApart {
			continue
		}
		m.near[n.ID] = true
		around, err := p.Store.Around(ctx, n.Message, apartReach, apartReach)
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

// chosen are the hits that may be quoted: those that hold enough of the words, and where something is asked those that stand apart by their
// meaning.
func chosen(r turn.Request, hits []ranking.Hit, m *meaning, fits func(h ranking.Hit, enough float64) bool) (found []ranking.Hit) {
	best := math.Inf(-1) // of those that hold the words
	for _, h := range hits {
		if len(found) == 2*mostQuoted {
			break
		}
		switch {
		case h.Score >= best-farBehind && fits(h, needed(r)):
			best = max(best, h.Score)
		case asks(r) && m != nil && m.near[h.ID] && fits(h, 0):
		default:
			continue
		}
		found = append(found, h)
	}
	return found
}

// nearNotes are what was noted and is near in meaning, the nearest first.
func (p *Provider) nearNotes(w store.Within, m *meaning) []store.Memory {
	if !m.wait() {
		return nil
	}
	within, cancel := context.WithTimeout(m.ctx, compareLimit)
	defer cancel()
	notes, err := p.Store.NearestMemories(within, w, p.Embeddings.Model, m.vector, mostNotes)
	if err != nil {
		m.sent.Failure = failure(err)
		return nil
	}
	return slices.DeleteFunc(notes, func(of store.Memory) bool { return of.Kind == store.MemoryPerson })
}
