package terminal

import (
	"context"
	"fmt"

	"familiar/internal/context/turn"
)

// Once is the door of one question: it keeps the reply.
type Once struct {
	lacks
	Text string
}

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

// Respond does nothing: no command is asked.
func (o *Once) Respond(context.Context, turn.Command, turn.Answer) error { return nil }
