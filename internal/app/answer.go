package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/terminal"
)

// Answer answers one question through the same lanes, providers and guard as a channel's. The channel is the question's own and has no
// history. If ctx ends first, the answer is cut short.
func (a *App) Answer(ctx context.Context, user, question string) (answer string, t *turn.Trace, err error) {
	door := &terminal.Once{}
	b := a.Uncapped().Bot(door, bot.Pace{Close: true, First: time.Hour}) // one post, when the answer is complete
	b.OperatorOnly = true
	asked := (&terminal.Door{User: user}).Message(question)
	asked.Message.ChannelID = "ask-" + asked.Message.ID
	defer context.AfterFunc(ctx, func() { b.Stop(asked.Message.ChannelID, "") })()
	events := make(chan []turn.Event, 1)
	events <- []turn.Event{asked}
	close(events)
	b.Run(ctx, events)

	if t, err = a.Traces.ByMessage(context.WithoutCancel(ctx), asked.Message.ID); err != nil {
		return "", nil, fmt.Errorf("find the record of the turn: %w", err)
	}
	return door.Text, t, nil
}

// answerOnce answers a question for the doctor. Its store is a new one that is deleted with all that the turn wrote.
func answerOnce(ctx context.Context, p *Process, question string) (t *turn.Trace, err error) {
	dir, err := os.MkdirTemp("", "familiar-doctor-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for a turn: %w", err)
	}
	defer os.RemoveAll(dir)
	quiet := *p
	quiet.Log, quiet.Err = "", io.Discard
	a, err := configure(&quiet)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	a.Config.put("FAMILIAR_WEB_CACHE", "")
	a.Config.put("FAMILIAR_DATA", dir)
	for _, open := range []func(context.Context, *Process) error{a.openModels, a.openStore, a.openReader, a.openEngine, a.openActor} {
		if err := open(ctx, &quiet); err != nil {
			return nil, err
		}
	}
	_, t, err = a.Answer(ctx, "doctor", question)
	return t, err
}
