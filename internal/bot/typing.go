package bot

import (
	"context"
	"time"
)

const (
	typingAfter = 150 * time.Millisecond // a quicker reply needs no sign of it
	typingEvery = 8 * time.Second        // Discord shows it for ten
)

// typing shows that the bot is busy, until the reply is about to appear.
type typing struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (b *Bot) typing(ctx context.Context, channelID string) *typing {
	ctx, cancel := context.WithCancel(ctx)
	t := &typing{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for wait := typingAfter; ; wait = typingEvery {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if err := b.Door.Typing(ctx, channelID); err != nil && ctx.Err() == nil {
				b.Log.Debug("show typing", "err", b.Redact.String(err.Error()))
			}
		}
	}()
	return t
}

// stop returns when no sign of typing can follow.
func (t *typing) stop() {
	t.cancel()
	<-t.done
}
