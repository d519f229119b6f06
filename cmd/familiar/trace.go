package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"familiar/internal/bot/view"
	"familiar/internal/store"
	"familiar/internal/trace"
)

type traceCommand struct {
	ID     string `arg:"" optional:"" help:"A turn's id or the beginning of one, or the id of a message."`
	All    bool   `help:"Print all of the record but the prompt."`
	Prompt bool   `help:"Print what the model was sent."`
	JSON   bool   `name:"json" help:"Print JSON."`
	Count  int    `short:"n" default:"20" help:"How many turns to list."`
}

// Run reads the store without owning it, so that it works beside a running bot.
func (c traceCommand) Run(ctx context.Context, p *program) error {
	if c.Count < 1 {
		return problems{"-n: it must be 1 or more"}
	}
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	db, err := store.Look(ctx, resolve(p.dir, settings.get("FAMILIAR_DATA")))
	if err != nil {
		return err
	}
	hide := settings.redactor().String
	text, err := c.text(ctx, &trace.Store{DB: db})
	if err == nil {
		_, err = fmt.Fprintln(p.out, strings.TrimRight(hide(text), "\n"))
	}
	return errors.Join(err, db.Close())
}

func (c traceCommand) text(ctx context.Context, traces *trace.Store) (string, error) {
	if c.ID == "" {
		return c.list(ctx, traces)
	}
	t, err := traces.Get(ctx, c.ID)
	if errors.Is(err, store.ErrNotFound) {
		t, err = traces.ByMessage(ctx, c.ID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("there is no turn and no message %q; familiar trace lists the turns, of whose ids it takes at least four characters", c.ID)
	}
	if err != nil {
		return "", err
	}
	if c.JSON {
		return asJSON(t)
	}
	switch {
	case c.All && c.Prompt:
		return view.Whole(t) + "\n" + view.Sent(t), nil
	case c.All:
		return view.Whole(t), nil
	case c.Prompt:
		return view.Sent(t), nil
	}
	return view.Story(t), nil
}

func (c traceCommand) list(ctx context.Context, traces *trace.Store) (string, error) {
	list, err := traces.Recent(ctx, "", c.Count)
	if err != nil {
		return "", err
	}
	if c.JSON {
		return asJSON(list)
	}
	if len(list) == 0 {
		return "No turn has been recorded yet.", nil
	}
	return view.List(list), nil
}
