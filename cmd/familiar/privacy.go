package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"familiar/internal/store"
	"familiar/internal/trace"
)

// eraseCommand forgets a person, as /privacy forget does.
type eraseCommand struct {
	User   string `arg:"" help:"The person's id on Discord."`
	DryRun bool   `help:"Say what would be deleted, and delete nothing."`
}

// eraseWithin is how long a process that owns the store is waited for.
const eraseWithin = 5 * time.Minute

// Run counts without owning the store. To delete it owns it, or has the process do it that owns it, which knows what it has in memory.
func (e eraseCommand) Run(ctx context.Context, p *program) error {
	if e.DryRun {
		return withTraces(ctx, p, e.User, store.Look, func(traces *trace.Store) error {
			counts, err := traces.Survey(ctx, e.User)
			for _, kind := range store.DataKinds() {
				fmt.Fprintf(p.out, "%-10s %d\n", kind, counts[kind])
			}
			return err
		})
	}
	c, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	cache, err := c.webCache(p.dir) // a place that cannot be used is told of before anything is deleted
	if err != nil {
		return err
	}
	at := time.Now()
	err = withTraces(ctx, p, e.User, store.Open, func(traces *trace.Store) error {
		erased, err := traces.Erase(ctx, e.User, true, at)
		if err == nil {
			err = cache.clear()
		}
		return e.report(p, erased, err)
	})
	inUse, ok := errors.AsType[*store.Error](err)
	if !ok || inUse.Kind != store.InUse {
		return err
	}
	return withTraces(ctx, p, e.User, store.Beside, func(traces *trace.Store) error {
		fmt.Fprintf(p.err, "familiar: process %d has the data open and is asked to forget them\n", inUse.PID)
		ctx, cancel := context.WithTimeout(ctx, eraseWithin)
		defer cancel()
		erased, err := traces.AskToErase(ctx, e.User, at)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("process %d has not done so within %v: stop it and try again; or leave it, and it does so when it starts again at the latest", inUse.PID, eraseWithin)
		}
		return e.report(p, erased, err)
	})
}

// report says how much there was, and how much is left.
func (e eraseCommand) report(p *program, erased trace.Erased, err error) error {
	if err != nil {
		return err
	}
	for _, kind := range store.DataKinds() {
		fmt.Fprintf(p.out, "%-10s %d → %d\n", kind, erased.Before[kind], erased.After[kind])
	}
	if n := erased.Left(); n > 0 {
		return fmt.Errorf("%d rows are left; try again", n)
	}
	return nil
}

// privacyCommand is about what is kept of people.
type privacyCommand struct {
	Export privacyExport `cmd:"" help:"Write all that is kept of a person into a file, as JSON."`
}

type privacyExport struct {
	User string `arg:"" help:"The person's id on Discord."`
	File string `arg:"" help:"The file, which must not be there yet."`
}

// Run reads without owning the store, so that it works beside a running bot.
func (x privacyExport) Run(ctx context.Context, p *program) error {
	return withTraces(ctx, p, x.User, store.Look, func(traces *trace.Store) error {
		data, err := traces.Export(ctx, x.User)
		if err != nil {
			return err
		}
		content, err := json.MarshalIndent(data, "", "  ")
		if err != nil {
			return err
		}
		f, err := os.OpenFile(resolve(p.dir, x.File), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("write what is kept: %w", err)
		}
		_, err = f.Write(append(content, '\n'))
		return errors.Join(err, f.Close())
	})
}

// withTraces opens the store for something about a person.
func withTraces(ctx context.Context, p *program, user string, openStore func(context.Context, string) (*store.DB, error), do func(*trace.Store) error) error {
	if strings.Trim(user, "0123456789") != "" || user == "" {
		return problems{fmt.Sprintf("%q is no id of a person: in Discord, switch on developer mode, and copy it from the menu of their name", user)}
	}
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	db, err := openStore(ctx, resolve(p.dir, settings.get("FAMILIAR_DATA")))
	if err != nil {
		return err
	}
	return errors.Join(do(&trace.Store{DB: db, Redact: settings.redactor().String}), db.Close())
}
