package main

import (
	"context"
	"fmt"
	"strings"

	"familiar/internal/app"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/view"
	"familiar/internal/web/clean"
)

type traceCommand struct {
	ID     string `arg:"" optional:"" help:"A turn's id or the beginning of one, or the id of a message."`
	All    bool   `help:"Print the whole record except the prompt."`
	Prompt bool   `help:"Print what the model was sent."`
	JSON   bool   `name:"json" help:"Print JSON."`
	Count  int    `short:"n" default:"20" help:"How many turns to list."`
}

// Run works beside a running bot: it only reads the store.
func (c traceCommand) Run(ctx context.Context, p *program) error {
	if c.Count < 1 {
		return app.Problems{"-n: it must be 1 or more"}
	}
	return withStore(ctx, p, store.Look, func(db *store.DB) (string, error) {
		text, err := c.text(ctx, &trace.Store{DB: db})
		return strings.TrimRight(text, "\n"), err
	})
}

func (c traceCommand) text(ctx context.Context, traces *trace.Store) (string, error) {
	if c.ID == "" {
		return c.list(ctx, traces)
	}
	t, err := app.FindTurn(ctx, traces, c.ID)
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

type replayCommand struct {
	ID        string `arg:"" help:"A turn's id or the beginning of one, or the id of a message."`
	Live      bool   `help:"Ask the search services, the pages and the models again, too."`
	Answer    bool   `help:"Ask the model again about what was found then."`
	Model     string `placeholder:"NAME" help:"Ask this model of the server instead of the configured one."`
	Character string `placeholder:"ID" help:"Let another character take it."`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// Run takes a turn again. It works beside a running bot, and writes nothing.
func (c replayCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		settings, err := app.ReadConfig(p.env, p.dir)
		if err != nil {
			return err
		}
		done, err := app.Replay(ctx, p.process(), app.Again{Turn: c.ID, Character: c.Character, Model: c.Model, Answer: c.Answer, Live: c.Live})
		if err != nil {
			return err
		}
		found := view.Compare(done.Then, done.Now)
		found.Notes = done.Notes
		report := found.Text(done.Then, c.Live)
		if c.JSON {
			if report, err = asJSON(found); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintln(p.out, settings.Redactor().String(report))
		return err
	})
}

type feedbackCommand struct {
	Forget string `placeholder:"DOMAIN" help:"Delete what was said about a domain."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run works beside a running bot.
func (f feedbackCommand) Run(ctx context.Context, p *program) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	openStore := store.Look
	if f.Forget != "" {
		openStore = func(ctx context.Context, dir string) (*store.DB, error) {
			db, _, err := app.OpenShared(ctx, p.process(), dir)
			return db, err
		}
	}
	return withStore(ctx, p, openStore, func(db *store.DB) (string, error) { return f.text(ctx, db, settings.Get("FAMILIAR_CHARACTER")) })
}

func (f feedbackCommand) text(ctx context.Context, db *store.DB, character string) (string, error) {
	if f.Forget != "" {
		host, err := clean.Host(f.Forget)
		if err != nil {
			return "", app.Problems{fmt.Sprintf("--forget: %q is no domain; write it as in example.org", f.Forget)}
		}
		n, err := db.Ratings.ForgetFeedback(ctx, character, clean.Registrable(host), "", "")
		return fmt.Sprintf("Forgotten: %d.", n), err
	}
	all, err := db.Ratings.Feedback(ctx, character)
	if err != nil {
		return "", err
	}
	if f.JSON {
		return asJSON(all)
	}
	opinions, err := db.Ratings.Opinions(ctx)
	return view.Feedback(all) + view.Opinions(opinions), err
}

type changesCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
	Last int  `default:"50" help:"How many, the newest first."`
}

// Run works beside a running bot: it only reads the store.
func (c changesCommand) Run(ctx context.Context, p *program) error {
	return withStore(ctx, p, store.Look, func(db *store.DB) (string, error) {
		all, err := db.Changes.All(ctx, c.Last)
		if err != nil {
			return "", err
		}
		if c.JSON {
			return asJSON(all)
		}
		return view.Changes(all), nil
	})
}
