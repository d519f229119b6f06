package memory

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
)

// Limits of background work. One request runs at a time.
const (
	embedEvery  = 5 * time.Second // between checks for new messages
	fullPass    = time.Hour       // between checks of older messages, which may have been edited or missed
	pause       = 250 * time.Millisecond
	embedRetry  = 2 * time.Second
	longestWait = 10 * time.Minute
	mostBacklog = 100_000 // newest messages that a full pass checks
	mostNew     = 1000    // messages that other passes check
)

// Indexer embeds all stored messages and memories, newest first, and again after the model has changed. Set its fields
// before Run.
//
// The store records what has a vector, so that the next process continues where this one ended.
type Indexer struct {
	Vectors *Vectors
	Service *Embedder
	Log     *slog.Logger
	Every   time.Duration // between checks for new messages; 0: 5 s

	wait    time.Duration // before the next attempt after a failure
	refused turn.Code     // the last code logged; empty if the service works
}

// Run works until ctx is done.
func (x *Indexer) Run(ctx context.Context) {
	if x.Every <= 0 {
		x.Every = embedEvery
	}
	var full time.Time
	for ctx.Err() == nil {
		most := mostNew
		if now := time.Now(); full.IsZero() || now.Sub(full) >= fullPass {
			most, full = mostBacklog, now
		}
		if err := x.pass(ctx, most); err != nil && ctx.Err() == nil {
			x.Log.Error("embed messages and memories", "err", err)
		}
		sleep(ctx, x.Every)
	}
}

// pass embeds the memories and messages without a vector, newest messages first.
func (x *Indexer) pass(ctx context.Context, most int) error {
	for {
		all, err := x.Vectors.MissingMemories(ctx, x.Service.Model, maxTexts)
		if err != nil {
			return err
		}
		if kept, err := x.keep(ctx, all); err != nil {
			return err
		} else if kept < maxTexts { // so that it ends although new ones arrive
			break
		}
	}
	var waiting []Unembedded
	for next, seen := int64(0), 0; ; {
		all, following, err := x.Vectors.MissingMessages(ctx, x.Service.Model, next)
		if err != nil {
			return err
		}
		next, seen, waiting = following, seen+pageSize, append(waiting, all...)
		last := next == 0 || seen >= most
		for len(waiting) >= maxTexts || last && len(waiting) > 0 {
			batch := waiting[:min(len(waiting), maxTexts)]
			if _, err := x.keep(ctx, batch); err != nil {
				return err
			}
			waiting = waiting[len(batch):]
		}
		if last {
			break
		}
	}
	if most < mostBacklog {
		return nil
	}
	n, err := x.Vectors.DeleteOthers(ctx, x.Service.Model) // older than all checked messages
	if n > 0 {
		x.Log.Info("deleted vectors of another model", "messages", n)
	}
	return err
}

// keep embeds a batch, retrying until it succeeds, and stores the vectors.
func (x *Indexer) keep(ctx context.Context, batch []Unembedded) (kept int, err error) {
	if len(batch) == 0 {
		return 0, ctx.Err()
	}
	texts := make([]string, len(batch))
	for i, u := range batch {
		texts[i] = u.Text
	}
	for {
		vectors, err := x.Service.Batch(ctx, texts)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		switch {
		case err == nil:
			x.answered()
			made := make([]Embedded, len(batch))
			for i, u := range batch {
				made[i] = Embedded{Unembedded: u, Vector: vectors[i]}
			}
			n, err := x.Vectors.Save(ctx, x.Service.Model, made...)
			sleep(ctx, pause)
			return n, err
		case dislikes(err) && len(batch) > 1: // perhaps one of the texts is too long
			n, err := x.keep(ctx, batch[:len(batch)/2])
			if err != nil {
				return n, err
			}
			m, err := x.keep(ctx, batch[len(batch)/2:])
			return n + m, err
		case dislikes(err) && x.answers(ctx): // this text is to blame: do not try it again
			return x.Vectors.Save(ctx, x.Service.Model, Embedded{Unembedded: batch[0]})
		}
		x.failed(ctx, err)
	}
}

// dislikes reports whether a service rejected the texts rather than failed.
func dislikes(err error) bool {
	code := CodeOf(err)
	return code == turn.CodeRejected || code == turn.CodeTooLarge
}

// answers reports whether a service embeds anything.
func (x *Indexer) answers(ctx context.Context) bool {
	_, err := x.Service.Batch(ctx, []string{"hello"})
	return err == nil
}

// answered records that the service works.
func (x *Indexer) answered() {
	if x.refused != "" {
		x.Log.Info("the embeddings are made again", "host", x.Service.Host())
	}
	x.wait, x.refused = 0, ""
}

// failed waits after a failure, twice as long each time, or as long as the service asks.
func (x *Indexer) failed(ctx context.Context, err error) {
	if code := CodeOf(err); code != x.refused {
		x.refused = code
		x.Log.Warn("no embeddings; messages written meanwhile follow later: check EMBED_BASE_URL, EMBED_API_KEY and EMBED_MODEL", "host", x.Service.Host(), "err", err)
	}
	x.wait = min(max(embedRetry, 2*x.wait), longestWait)
	wait := x.wait
	if refusal, ok := errors.AsType[*api.Failure](err); ok {
		wait = min(max(wait, refusal.RetryAfter), longestWait)
	}
	sleep(ctx, wait)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
