package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/reply"
)

// Door is how a bot reaches people. A door that lacks what a method is for returns [errors.ErrUnsupported].
type Door interface {
	// Post posts a new message and returns its id. A repeated nonce must not post twice.
	Post(ctx context.Context, p turn.Post) (id string, err error)
	// Edit replaces the text and the buttons of a message. An edit without a text is a [turn.ErrIncomplete].
	Edit(ctx context.Context, e turn.Edit) error
	// Delete deletes a message. A reference without an id is a [turn.ErrIncomplete], as in the methods below.
	Delete(ctx context.Context, r turn.Ref) error
	// React puts the bot's reaction under a message, which may be anybody's.
	React(ctx context.Context, r turn.Ref, emoji string) error
	// OpenThread opens a thread on a message and returns the thread's id. The name has 1 to 100 characters.
	OpenThread(ctx context.Context, r turn.Ref, name string) (id string, err error)
	// MayPost reports whether the bot may post in a channel, as far as the door knows without asking anybody.
	MayPost(channelID string) bool
	// Typing shows for a few seconds that the bot is busy.
	Typing(ctx context.Context, channelID string) error
	// Respond answers a command. Only the person who gave it sees the answer. A second answer replaces the first.
	Respond(ctx context.Context, c turn.Command, a turn.Answer) error
}

// sendPost posts a message, and retries if asked to. The nonce keeps a post whose answer got lost from being posted twice.
func (b *Bot) sendPost(ctx context.Context, p turn.Post, retry bool) (id string, err error) {
	err = b.send(ctx, retry, func(ctx context.Context) (err error) {
		id, err = b.Door.Post(ctx, p)
		return err
	})
	return id, err
}

func (b *Bot) sendEdit(ctx context.Context, e turn.Edit, retry bool) error {
	return b.send(ctx, retry, func(ctx context.Context) error { return b.Door.Edit(ctx, e) })
}

func (b *Bot) sendDelete(ctx context.Context, r turn.Ref) error {
	return b.send(ctx, true, func(ctx context.Context) error { return b.Door.Delete(ctx, r) })
}

func (b *Bot) sendReaction(ctx context.Context, r turn.Ref, emoji string, retry bool) error {
	return b.send(ctx, retry, func(ctx context.Context) error { return b.Door.React(ctx, r, emoji) })
}

func (b *Bot) sendThread(ctx context.Context, r turn.Ref, name string) (id string, err error) {
	err = b.send(ctx, true, func(ctx context.Context) (err error) {
		id, err = b.Door.OpenThread(ctx, r, name)
		return err
	})
	return id, err
}

const (
	firstRetry = 500 * time.Millisecond // before a call of the door is repeated; doubles
	lastRetry  = 5 * time.Second
)

// send makes one call of the door. With retry it repeats the call while the failure may be temporary. It sends nothing once the
// bot has left.
func (b *Bot) send(ctx context.Context, retry bool, call func(context.Context) error) (err error) {
	ctx, cancel := until(ctx, b.left)
	defer cancel()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errLeft) {
			err = fmt.Errorf("%w: %w", errLeft, err)
		}
	}()
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err = call(ctx)
		if err == nil || !retry || !Temporary(err) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// units returns how long a post may be, in UTF-16 units, or 0 for no limit. It leaves room for a persona's name before the text.
func (b *Bot) units(p *turn.Persona) int {
	if p == nil || b.Pace.Label == nil {
		return b.Pace.Units
	}
	return b.Pace.Units - reply.Units(b.Pace.Label(p.Name))
}

// split splits a text into posts.
func (b *Bot) split(text string, p *turn.Persona) []string {
	if units := b.units(p); units > 0 {
		return reply.Split(text, units)
	}
	return []string{text}
}

// Temporary reports whether the same call may succeed later.
func Temporary(err error) bool {
	switch rest.KindOf(err) {
	case rest.Unavailable, rest.RateLimited:
		return true
	case "":
		lasting := []error{context.Canceled, context.DeadlineExceeded, errors.ErrUnsupported, turn.ErrIncomplete}
		return !slices.ContainsFunc(lasting, func(one error) bool { return errors.Is(err, one) })
	}
	return false
}

// unsent reports whether a post failed for a reason that passes, so that it may be sent later.
func unsent(err error) bool {
	return err != nil && (Temporary(err) || elsewhere(err) || rest.KindOf(err) == rest.Unauthorized || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errLeft))
}

// nonce returns an id for the nth post that answers an event. It is the same when another process sends the post again. Discord takes 25
// characters.
func nonce(event string, n int) string {
	id := event
	if len(id) > 20 {
		sum := sha256.Sum256([]byte(event))
		id = hex.EncodeToString(sum[:10])
	}
	return fmt.Sprintf("%s-%d", id, n)
}

const (
	typingAfter = 150 * time.Millisecond // a quicker reply needs no sign
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

// stop ends it. When stop returns, no sign of typing can follow.
func (t *typing) stop() {
	t.cancel()
	<-t.done
}
