package bot

import (
	"context"
	"errors"
	"time"
)

const (
	stopPatience = 15 * time.Second // after the bot is asked to stop, an answer that is not complete is cut
	stopLimit    = 22 * time.Second // then nothing is posted any more: what is missing waits for the next start
)

var (
	errStopping = errors.New("the bot was asked to stop, and the model had not ended in time")
	errLeft     = errors.New("the bot has stopped")
)

// stop is how a bot comes to its end, step by step.
type stop struct {
	stopping chan struct{}   // closed when the bot is asked to stop: no turn begins any more
	cut      context.Context // done stopPatience later, with errStopping
	left     context.Context // done stopLimit after the first, with errLeft
}

// onStop makes the steps, and returns what begins them.
func (b *Bot) onStop() (begin func()) {
	cut, endAnswers := context.WithCancelCause(context.Background())
	left, endPosts := context.WithCancelCause(context.Background())
	b.stop = stop{stopping: make(chan struct{}), cut: cut, left: left}
	return func() {
		close(b.stopping)
		time.AfterFunc(stopPatience, func() { endAnswers(errStopping) })
		time.AfterFunc(stopLimit, func() { endPosts(errLeft) })
	}
}

// until returns a context that ends with ctx, and with end, which may be nil.
func until(ctx, end context.Context) (context.Context, context.CancelFunc) {
	if end == nil {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(end, func() { cancel(context.Cause(end)) })
	return ctx, func() {
		release()
		cancel(nil)
	}
}
