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

// Run counts without owning the store, so that it works beside a running bot. To delete it must own it.
func (e eraseCommand) Run(ctx context.Context, p *program) error {
	return withTraces(ctx, p, e.User, !e.DryRun, func(traces *trace.Store) error {
		if e.DryRun {
			counts, err := traces.Survey(ctx, e.User)
			for _, kind := range store.DataKinds() {
				fmt.Fprintf(p.out, "%-10s %d\n", kind, counts[kind])
			}
			return err
		}
		erased, err := traces.Erase(ctx, e.User, true, time.Now())
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
	})
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
	return withTraces(ctx, p, x.User, false, func(traces *trace.Store) error {
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
func withTraces(ctx context.Context, p *program, user string, own bool, do func(*trace.Store) error) error {
	if strings.Trim(user, "0123456789") != "" || user == "" {
		return problems{fmt.Sprintf("%q is no id of a person: in Discord, switch on developer mode, and copy it from the menu of their name", user)}
	}
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	openStore := store.Look
	if own {
		openStore = store.Open
	}
	db, err := openStore(ctx, resolve(p.dir, settings.get("FAMILIAR_DATA")))
	if err != nil {
		return err
	}
	return errors.Join(do(&trace.Store{DB: db, Redact: settings.redactor().String}), db.Close())
}
