package app

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory/order"
	"familiar/internal/question"
)

// warmLimit is how long warm may take.
const warmLimit = 10 * time.Second

// warm does what the first turn would otherwise wait for. It makes the tables of words, prepares the statements that a prompt needs, and opens
// a connection to the model. Nobody sees its prompt, and nothing of it is kept.
func (a *App) warm(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, warmLimit)
	defer done()
	actor := a.cast.get().Default
	limits := actor.Modes[turn.Text]
	req := turn.Request{
		Character: actor.ID, ChannelID: "0", Mode: turn.Text, Addressed: turn.ByDirect,
		Message: turn.Message{ID: "0", ChannelID: "0", Text: "Good morning, how are you?", At: time.Now()},
		Budget:  turn.Budget{Total: limits.Total, Layers: limits.Layers}, Deadline: time.Now().Add(warmLimit),
	}
	question.Decide(req, nil, nil)
	question.Assess("Buongiorno, come va?", nil) // the tables that English does not need
	order.Parse(req.Message.Text+" Remember that it rains.", []string{actor.Name})
	actor.Builder.Build(ctx, req)
	if actor.Model != nil {
		_, _ = actor.Model.Models(ctx) // a turn says what is wrong with a model
	}
}
