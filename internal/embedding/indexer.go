package embedding

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Bounds of what is embedded in the background. One request runs at a time.
const (
	every       = 5 * time.Second // new messages are looked for
	fullPass    = time.Hour       // … and older ones, which were edited, or written while the service was away
	pause       = 250 * time.Millisecond
	firstRetry  = 2 * time.Second
	longestWait = 10 * time.Minute
	mostBacklog = 100_000 // messages, the newest, that are looked at: a little more are embedded
	mostNew     = 1000    // of a pass for new ones
)

// Indexer has all that is kept embedded, the newest first, and anew when the model is another. Its fields are set before Run.
//
// What has its vector stands in the store: where a process ended, the next goes on.
type Indexer struct {
	Store   *store.DB
	Service *Service
	Log     *slog.Logger
	Every   time.Duration // new messages are looked for; 0: 5 s

	wait    time.Duration // before the next try, after failures
	refused turn.Code     // what was logged last; empty: it answers
}

// Run works until ctx is done.
func (x *Indexer) Run(ctx context.Context) {
	if x.Every <= 0 {
		x.Every = every
	}
	var full time.Time
	for ctx.Err() == nil {
		most := mostNew
		if now := time.Now(); full.IsZero() || now.Sub(full) >= fullPass {
			most, full = mostBacklog, now
		}
		if err := x.pass(ctx, most); err != nil && ctx.Err() == nil {
			x.Log.Error("embed what is kept", "err", err)
		}
		sleep(ctx, x.Every)
	}
}

// pass embeds what has no vector of the messages, the newest first, and of the statements of memory.
func (x *Indexer) pass(ctx context.Context, most int) error {
	for {
		all, err := x.Store.UnembeddedMemories(ctx, x.Service.Model, MaxTexts)
		if err != nil {
			return err
		}
		if kept, err := x.keep(ctx, all); err != nil {
			return err
		} else if kept < MaxTexts { // so that it ends, whatever is kept meanwhile
			break
		}
	}
	var waiting []store.Unembedded
	for next, seen := int64(0), 0; ; {
		all, following, err := x.Store.UnembeddedMessages(ctx, x.Service.Model, next)
		if err != nil {
			return err
		}
		next, seen, waiting = following, seen+store.EmbedPage, append(waiting, all...)
		last := next == 0 || seen >= most
		for len(waiting) >= MaxTexts || last && len(waiting) > 0 {
			batch := waiting[:min(len(waiting), MaxTexts)]
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
	n, err := x.Store.DropVectors(ctx, x.Service.Model) // older than all that were looked at
	if n > 0 {
		x.Log.Info("deleted vectors of another model", "messages", n)
	}
	return err
}

// keep embeds a batch, however often it has to try, and keeps the vectors.
func (x *Indexer) keep(ctx context.Context, batch []store.Unembedded) (kept int, err error) {
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
			made := make([]store.Embedded, len(batch))
			for i, u := range batch {
				made[i] = store.Embedded{Unembedded: u, Vector: vectors[i]}
			}
			n, err := x.Store.KeepVectors(ctx, x.Service.Model, made...)
			sleep(ctx, pause)
			return n, err
		case dislikes(err) && len(batch) > 1: // one of the texts, maybe: too long, for example
			n, err := x.keep(ctx, batch[:len(batch)/2])
			if err != nil {
				return n, err
			}
			m, err := x.keep(ctx, batch[len(batch)/2:])
			return n + m, err
		case dislikes(err) && x.answers(ctx): // this very text: it is not tried again
			return x.Store.KeepVectors(ctx, x.Service.Model, store.Embedded{Unembedded: batch[0]})
		}
		x.failed(ctx, err)
	}
}

// dislikes reports whether a service refuses what was sent, rather than to answer at all.
func dislikes(err error) bool {
	code := codeOf(err)
	return code == turn.CodeRejected || code == turn.CodeTooLarge
}

// answers reports whether a service embeds anything.
func (x *Indexer) answers(ctx context.Context) bool {
	_, err := x.Service.Batch(ctx, []string{"hello"})
	return err == nil
}

// answered notes that the service answers.
func (x *Indexer) answered() {
	if x.refused != "" {
		x.Log.Info("the embeddings are made again", "host", x.Service.Host())
	}
	x.wait, x.refused = 0, ""
}

// failed waits after a failure, each time twice as long, or as long as the service says.
func (x *Indexer) failed(ctx context.Context, err error) {
	if code := codeOf(err); code != x.refused {
		x.refused = code
		x.Log.Warn("no embeddings; what is written meanwhile follows: check EMBED_BASE_URL, EMBED_API_KEY and EMBED_MODEL", "host", x.Service.Host(), "err", err)
	}
	x.wait = min(max(firstRetry, 2*x.wait), longestWait)
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
