package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"familiar/internal/app"
	"familiar/internal/command"
	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// eraseCommand forgets a person, as /privacy forget does.
type eraseCommand struct {
	User   string `arg:"" help:"The person's id on Discord."`
	DryRun bool   `help:"Say what would be deleted, and delete nothing."`
	Yes    bool   `short:"y" help:"Delete without asking."`
}

// eraseWithin is how long to wait for a process that owns the store.
const eraseWithin = 5 * time.Minute

// Run counts without owning the store. Deletion needs its owner: this process, or the one that runs and also deletes what it has in memory.
func (e eraseCommand) Run(ctx context.Context, p *program, stop stopper) error {
	if !e.DryRun && !e.Yes && !p.interactive {
		return app.Problems{"nothing was deleted: what is erased does not come back; add --yes to erase, or --dry-run to count"}
	}
	if e.DryRun || !e.Yes {
		if err := e.survey(ctx, p); err != nil || e.DryRun {
			return err
		}
		sure := false
		err := p.leaving(stop, func() (err error) {
			sure, err = doctor.Confirm(ctx, p.in, p.out, "Delete all of it, for good?")
			return err
		})
		if err != nil || !sure {
			return err
		}
	}
	return e.erase(ctx, p)
}

// survey prints how much there is.
func (e eraseCommand) survey(ctx context.Context, p *program) error {
	return withForgetter(ctx, p, e.User, store.Look, func(f *forget.Forgetter) error {
		counts, err := f.Survey(ctx, e.User)
		for _, kind := range forget.Kinds() {
			fmt.Fprintf(p.out, "%-10s %d\n", kind, counts[kind])
		}
		return err
	})
}

func (e eraseCommand) erase(ctx context.Context, p *program) error {
	c, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	cache, err := c.WebCache(p.dir) // an unusable cache is reported before anything is deleted
	if err != nil {
		return err
	}
	at := time.Now()
	err = withForgetter(ctx, p, e.User, store.Open, func(f *forget.Forgetter) error {
		f.Caches = cache.Clear
		if err := f.Memories.Start(ctx); err != nil {
			return err
		}
		erased, err := f.Person(ctx, e.User, true, at)
		return e.report(p, erased, err)
	})
	inUse, ok := errors.AsType[*store.Error](err)
	if !ok || inUse.Kind != store.InUse {
		return err
	}
	return withForgetter(ctx, p, e.User, store.Beside, func(f *forget.Forgetter) error {
		fmt.Fprintf(p.err, "familiar: process %d has the data open and is asked to forget them\n", inUse.PID)
		ctx, cancel := context.WithTimeout(ctx, eraseWithin)
		defer cancel()
		erased, err := f.Ask(ctx, e.User, at)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("process %d did not erase the data within %v: stop it and try again; otherwise it erases the data at its next start", inUse.PID, eraseWithin)
		}
		return e.report(p, erased, err)
	})
}

// report prints how much there was and how much is left.
func (e eraseCommand) report(p *program, erased forget.Erased, err error) error {
	if err != nil {
		return err
	}
	for _, kind := range forget.Kinds() {
		fmt.Fprintf(p.out, "%-10s %d → %d\n", kind, erased.Before[kind], erased.After[kind])
	}
	if n := erased.Left(); n > 0 {
		return fmt.Errorf("%d rows are left; try again", n)
	}
	return nil
}

// privacyCommand shows what is kept about people.
type privacyCommand struct {
	Export privacyExport `cmd:"" help:"Write everything that is kept about a person into a file, as JSON."`
}

type privacyExport struct {
	User string `arg:"" help:"The person's id on Discord."`
	File string `arg:"" help:"The new file."`
}

// Run reads without owning the store, so that it works beside a running bot.
func (x privacyExport) Run(ctx context.Context, p *program) error {
	return withForgetter(ctx, p, x.User, store.Look, func(f *forget.Forgetter) error {
		data, err := f.Export(ctx, x.User)
		if err != nil {
			return err
		}
		content, err := json.MarshalIndent(data, "", "  ")
		if err != nil {
			return err
		}
		file, err := os.OpenFile(app.Resolve(p.dir, x.File), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("write export: %w", err)
		}
		_, err = file.Write(append(content, '\n'))
		return errors.Join(err, file.Close())
	})
}

// isPerson reports whether text is the id of a person. It is one on Discord, at a terminal, or of a client of familiar mcp.
func isPerson(text string) bool {
	if local, is := strings.CutPrefix(text, turn.TerminalPrefix); is {
		return local != ""
	}
	return text == command.ToolPerson || text != "" && strings.Trim(text, "0123456789") == ""
}

// withForgetter opens the store to read or delete a person's data.
func withForgetter(ctx context.Context, p *program, user string, openStore func(context.Context, string) (*store.DB, error), do func(*forget.Forgetter) error) error {
	if !isPerson(user) {
		return app.Problems{fmt.Sprintf("%q is no id of a person: in Discord, switch on developer mode, and copy it from the menu of their name; at a terminal it is %syou, and for familiar mcp it is %s", user, turn.TerminalPrefix, command.ToolPerson)}
	}
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	db, err := openStore(ctx, settings.Place(p.dir))
	if err != nil {
		return err
	}
	f := &forget.Forgetter{Traces: &trace.Store{DB: db, Redact: settings.Redactor().String}, Memories: memory.New(db)}
	return errors.Join(do(f), db.Close())
}
