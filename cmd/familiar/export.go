package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// exportFormat is the format of an export. doc/data.md describes it.
const exportFormat = "familiar export 1"

// exportLine is a line of an export.
type exportLine struct {
	Kind string `json:"kind"`
	Data any    `json:"data"`
}

// exportHead is the data of the first line, of kind "export".
type exportHead struct {
	Format string    `json:"format"`
	Made   time.Time `json:"made"`
	By     string    `json:"by"`
	Kinds  []string  `json:"kinds"`
}

// exportEnd is the data of the last line, of kind "end". An export without it is incomplete.
type exportEnd struct {
	Lines int `json:"lines"` // between the first and the last
}

// Kinds that have a package of their own.
const (
	turnsKind    = "turns"
	memoriesKind = "memories"
)

// data writes everything that is kept as lines of JSON. It works beside a running bot.
func (e exportCommand) data(ctx context.Context, p *program, stop stopper) error {
	kinds, since, err := e.wanted()
	if err != nil {
		return err
	}
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	return p.interruptible(stop, func() error {
		db, err := store.Look(ctx, settings.Place(p.dir))
		if err != nil {
			return err
		}
		x := &exporter{kinds: kinds, since: since, db: db, hide: settings.Redactor().String}
		if e.File == "" {
			err = x.write(ctx, p.out)
		} else {
			err = x.writeFile(ctx, app.Resolve(p.dir, e.File), e.Force)
		}
		return errors.Join(err, db.Close())
	})
}

func (e exportCommand) wanted() (kinds []string, since time.Time, err error) {
	all := slices.Insert(append([]string{turnsKind}, forget.DumpKinds()...), 2, memoriesKind)
	for _, k := range e.Only {
		if !slices.Contains(all, k) {
			return nil, since, app.Problems{fmt.Sprintf("--only: there is no kind %q; there are %s", k, strings.Join(all, ", "))}
		}
	}
	if len(e.Only) > 0 {
		all = slices.DeleteFunc(all, func(k string) bool { return !slices.Contains(e.Only, k) })
	}
	if e.Since != "" {
		if since, err = time.ParseInLocation(time.DateOnly, e.Since, time.Local); err != nil {
			return nil, since, app.Problems{fmt.Sprintf("--since: %q is no day such as 2026-11-22", e.Since)}
		}
	}
	return all, since, nil
}

// exporter writes an export line by line.
type exporter struct {
	kinds []string
	since time.Time
	db    *store.DB
	hide  func(string) string

	out   *bufio.Writer
	lines int
}

// writeFile writes a file that gets its name only when it is complete.
func (x *exporter) writeFile(ctx context.Context, name string, replace bool) error {
	if _, err := os.Lstat(name); err == nil && !replace {
		return app.Problems{fmt.Sprintf("%s is there already; choose another name, or write over it with --force", name)}
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.partial") // readable for its owner only
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer os.Remove(f.Name())
	if err := errors.Join(x.write(ctx, f), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return os.Rename(f.Name(), name)
}

func (x *exporter) write(ctx context.Context, to io.Writer) error {
	x.out = bufio.NewWriter(to)
	err := x.line("export", exportHead{exportFormat, time.Now().UTC().Truncate(time.Second), "familiar " + version(), x.kinds})
	x.lines = 0
	for _, kind := range x.kinds {
		if err != nil {
			return err
		}
		row := func(row map[string]any) error { return x.line(kind, row) }
		switch kind {
		case turnsKind:
			err = (&trace.Store{DB: x.db}).Each(ctx, x.since, func(t *turn.Trace) error { return x.line(kind, t) })
		case memoriesKind:
			err = x.memories(ctx, row)
		default:
			err = forget.Dump(ctx, x.db, kind, x.since, row)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(x.line("end", exportEnd{x.lines}), x.out.Flush())
}

// memories calls do with each statement that was learned since the time asked for, by column.
func (x *exporter) memories(ctx context.Context, do func(map[string]any) error) error {
	all, err := memory.New(x.db).Export(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.LearnedAt.Before(x.since) {
			continue
		}
		err := do(map[string]any{
			"id": m.ID, "kind": m.Kind, "scope": m.Scope.Kind, "scope_id": m.Scope.ID, "subject": m.Subject, "text": m.Text, "sources": m.Sources, "turn_id": m.TraceID,
			"by_id": m.By, "said_at": m.SaidAt, "learned_at": m.LearnedAt, "supersedes": m.Supersedes, "superseded": m.Superseded, "pinned": m.Pinned,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// line writes a line without secrets.
func (x *exporter) line(kind string, data any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(exportLine{kind, data}); err != nil {
		return err
	}
	x.lines++
	_, err := x.out.WriteString(x.hide(b.String()))
	return err
}
