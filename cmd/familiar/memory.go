package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/app"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/view"
)

// memoryCommand lists, exports and changes the bot's memory. Listing and exporting work beside a running bot; changes need the store for
// themselves.
type memoryCommand struct {
	Show   memoryShow   `cmd:"" default:"withargs" help:"List what is remembered, the newest last."`
	Search memorySearch `cmd:"" help:"List what is remembered and holds all of some words."`
	Forget memoryForget `cmd:"" help:"Delete statements, with those that they replaced."`
	Counts memoryCounts `cmd:"" help:"Show what happened to the side model's proposals, and which channels wait to be read."`
	Export memoryExport `cmd:"" help:"Write everything that is remembered as Markdown, one file for each statement."`
	Import memoryImport `cmd:"" help:"Read such files: statements with a known id are replaced, others are new."`
}

type memoryShow struct {
	JSON    bool `name:"json" help:"Print JSON."`
	History bool `help:"Also list what was replaced."`
}

func (m memoryShow) Run(ctx context.Context, p *program) error {
	return m.list(ctx, p, func(memory.Statement) bool { return true })
}

type memorySearch struct {
	memoryShow
	Words []string `arg:"" help:"Words that must all be in the statement or in its subject."`
}

func (m memorySearch) Run(ctx context.Context, p *program) error {
	return m.list(ctx, p, func(one memory.Statement) bool {
		held := text.Fold(strings.Join([]string{one.Text, one.Subject, one.By, one.Scope.ID}, "\n"))
		return !slices.ContainsFunc(m.Words, func(w string) bool { return !strings.Contains(held, text.Fold(w)) })
	})
}

// list prints the statements that keep accepts.
func (m memoryShow) list(ctx context.Context, p *program, keep func(memory.Statement) bool) error {
	return withStore(ctx, p, store.Look, func(db *store.DB) (string, error) {
		all, err := memory.New(db).Export(ctx)
		if err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(one memory.Statement) bool { return one.Superseded && !m.History || !keep(one) })
		if m.JSON {
			return asJSON(all)
		}
		return view.Memories(all), nil
	})
}

type memoryCounts struct{}

func (memoryCounts) Run(ctx context.Context, p *program) error {
	return withStore(ctx, p, store.Look, func(db *store.DB) (string, error) {
		counts, err := db.Tallies.All(ctx)
		if err != nil {
			return "", err
		}
		waiting, err := memory.New(db).Watermarks(ctx)
		return view.Learning(counts, waiting), err
	})
}

type memoryForget struct {
	ID []int64 `arg:"" help:"Numbers, as show lists them."`
}

func (m memoryForget) Run(ctx context.Context, p *program) error {
	return changeMemory(ctx, p, func(memories *memory.Store) (string, error) {
		for i, id := range m.ID {
			err := memories.Erase(ctx, id)
			if errors.Is(err, store.ErrNotFound) {
				err = app.Problems{fmt.Sprintf("there is no statement %d; forgotten before it: %d", id, i)}
			}
			if err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("Forgotten: %d.", len(m.ID)), nil
	})
}

type memoryExport struct {
	Dir string `arg:"" help:"A directory that is new or empty."`
}

func (m memoryExport) Run(ctx context.Context, p *program) error {
	return withStore(ctx, p, store.Look, func(db *store.DB) (string, error) {
		all, err := memory.New(db).Export(ctx)
		if err == nil {
			err = writeArchive(app.Resolve(p.dir, m.Dir), all)
		}
		return fmt.Sprintf("Written: %d.", len(all)), err
	})
}

type memoryImport struct {
	Dir string `arg:"" help:"A directory with such files."`
}

func (m memoryImport) Run(ctx context.Context, p *program) error {
	return changeMemory(ctx, p, func(memories *memory.Store) (string, error) {
		all, err := readArchive(app.Resolve(p.dir, m.Dir))
		if err != nil {
			return "", err
		}
		n, err := memories.Import(ctx, all)
		said := fmt.Sprintf("Added: %d. Replaced: %d. Known already: %d.", n.Added, n.Replaced, n.Merged)
		if n.LeftOut > 0 {
			said += fmt.Sprintf(" Left out: %d, about people who have not agreed that anything is learned about them, or history of nothing.", n.LeftOut)
		}
		return said, err
	})
}

// changeMemory opens the memory for writing, and prints what f returns.
func changeMemory(ctx context.Context, p *program, f func(*memory.Store) (string, error)) error {
	return withStore(ctx, p, store.Open, func(db *store.DB) (string, error) {
		memories := memory.New(db)
		if err := memories.Start(ctx); err != nil {
			return "", err
		}
		return f(memories)
	})
}

// withStore opens the store, and prints what f returns.
func withStore(ctx context.Context, p *program, open func(context.Context, string) (*store.DB, error), f func(*store.DB) (string, error)) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	db, err := open(ctx, settings.Place(p.dir))
	if err != nil {
		return err
	}
	said, err := f(db)
	if err == nil {
		_, err = fmt.Fprintln(p.out, settings.Redactor().String(said))
	}
	return errors.Join(err, db.Close())
}
