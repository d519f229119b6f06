package recall

import (
	"context"
	"errors"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/embedding"
)

const (
	maxNear      = 40          // messages near in meaning
	maxApart     = 8           // of them, messages that have none of the words
	apartContext = 1           // messages before and after each of those
	nearestLimit = time.Second // for finding them; a server's first question also reads its vectors, which takes a tenth of that
)

// meaning is the embedding of a message, which a goroutine computes. vector and sent may be read after done is closed.
type meaning struct {
	done   chan struct{}
	ctx    context.Context  // for requests to services
	vector embedding.Vector // empty: there is none
	sent   turn.Embedding   // for the record
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
