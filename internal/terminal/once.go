package terminal

import (
	"context"
	"errors"
	"fmt"

	"familiar/internal/context/turn"
)

// Once is the door of one question: it keeps the reply.
type Once struct{ Text string }

// Post keeps a reply.
func (o *Once) Post(_ context.Context, p turn.Post) (string, error) {
	o.Text = Plain(p.Text)
	return "answer-" + p.Nonce, nil
}

// Edit replaces the reply.
func (o *Once) Edit(_ context.Context, e turn.Edit) error {
	if err := e.Validate(); err != nil {
		return fmt.Errorf("edit the answer: %w", err)
	}
	o.Text = Plain(e.Text)
	return nil
}

// Delete forgets the reply.
func (o *Once) Delete(context.Context, turn.Ref) error {
	o.Text = ""
	return nil
}

// React returns [errors.ErrUnsupported].
func (o *Once) React(context.Context, turn.Ref, string) error { return errors.ErrUnsupported }

// MayPost reports true.
func (o *Once) MayPost(string) bool { return true }

// OpenThread returns [errors.ErrUnsupported].
func (o *Once) OpenThread(context.Context, turn.Ref, string) (string, error) {
	return "", errors.ErrUnsupported
}

// Typing does nothing.
func (o *Once) Typing(context.Context, string) error { return nil }

// Respond does nothing: no command is asked.
func (o *Once) Respond(context.Context, turn.Command, turn.Answer) error { return nil }
