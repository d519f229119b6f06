package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"familiar/internal/app"
	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/store/move"
	"familiar/internal/text"
	"familiar/internal/trace"
)

type backupCommand struct {
	File  string `arg:"" help:"The file that is written."`
	Force bool   `help:"Overwrite an existing file."`
}

// Run copies the database. A bot may have it open.
func (b backupCommand) Run(ctx context.Context, p *program, stop stopper) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(app.Resolve(p.dir, b.File)); !app.IsDir(dir) {
		return app.Problems{fmt.Sprintf("there is no directory %s; make it, or name another file", dir)}
	}
	return p.interruptible(stop, func() error {
		size, err := store.Backup(ctx, settings.Place(p.dir), app.Resolve(p.dir, b.File), b.Force, time.Now())
		if errors.Is(err, fs.ErrExist) {
			return app.Problems{fmt.Sprintf("%s is there already; choose another name, or write over it with --force", b.File)}
		}
		if err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		fmt.Fprintf(p.out, "Backed up: %s, %s, looked through and in order.\n", b.File, text.Size(size))
		return nil
	})
}

type restoreCommand struct {
	File string `arg:"" help:"A file that familiar backup has written."`
}

// Run replaces the database by a backup. No bot may have it open.
func (r restoreCommand) Run(ctx context.Context, p *program, stop stopper) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	return p.interruptible(stop, func() error {
		var again forgetAgain
		kept, err := store.Restore(ctx, settings.Place(p.dir), app.Resolve(p.dir, r.File), time.Now(), again.prepare)
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		fmt.Fprintf(p.out, "Restored: %s.\n", r.File)
		if kept != "" {
			fmt.Fprintf(p.out, "What was there before is kept in %s; delete it when all is well.\n", kept)
		}
		if again.n > 0 {
			fmt.Fprintf(p.out, "Forgotten again: %d, who asked for that after the backup was made.\n", again.n)
		}
		if again.unread != nil {
			fmt.Fprintf(p.err, "familiar: who was forgotten since the backup was made cannot be read from %s; familiar erase USER forgets them again: %v\n", kept, again.unread)
		}
		return nil
	})
}

// forgetAgain deletes from a backup the people who were forgotten after it was made. The present database knows them.
type forgetAgain struct {
	n      int   // people
	unread error // why they are not known: the database may be damaged
}

func (f *forgetAgain) prepare(ctx context.Context, staged, before string) error {
	if before == "" {
		return nil
	}
	said, err := store.ReadStandings(ctx, before)
	if err != nil {
		f.unread = err
		return nil
	}
	db, err := store.Open(ctx, staged)
	if err != nil {
		return err
	}
	memories := memory.New(db)
	if err = memories.Start(ctx); err == nil {
		f.n, err = (&forget.Forgetter{Traces: &trace.Store{DB: db}, Memories: memories}).Again(ctx, said)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("forget in it who was forgotten since it was made: %w", err)
	}
	return nil
}

type moveCommand struct {
	To string `required:"" placeholder:"PLACE" help:"Where to: postgres://user@host/name, an empty database, or a directory without a store. The password may be in PGPASSWORD or ~/.pgpass."`
}

// movedLines is after how many rows of a table the progress is told.
const movedLines = 100_000

// Run copies the store to another place, which no bot may use, nor may one use this store. If it is interrupted, another run goes on.
func (m moveCommand) Run(ctx context.Context, p *program, stop stopper) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	from, to := settings.Place(p.dir), m.To
	if !store.IsServer(to) {
		to = app.Resolve(p.dir, to)
	}
	return p.interruptible(stop, func() error {
		tables, rows := 0, int64(0)
		err := move.Store(ctx, from, to, func(t move.Table) {
			if t.All {
				tables, rows = tables+1, rows+t.Rows
			}
			if t.Rows > 0 && (t.All || t.Rows%movedLines == 0) {
				fmt.Fprintf(p.out, "%-18s %9d\n", t.Name, t.Rows)
			}
		})
		if err != nil {
			return fmt.Errorf("move: %w", err)
		}
		fmt.Fprintf(p.out, "Moved: %d rows of %d tables, read again there and the same. The words are indexed again at the next start.\n", rows, tables)
		setting := "Set FAMILIAR_DATABASE to that address"
		if !store.IsServer(to) {
			setting = "Unset FAMILIAR_DATABASE, and set FAMILIAR_DATA to that directory"
		}
		fmt.Fprintf(p.out, "%s. What was there before stays in %s; delete it when all is well.\n", setting, store.ShownPlace(from))
		return nil
	})
}
