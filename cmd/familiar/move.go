package main

import (
	"context"
	"fmt"

	"familiar/internal/app"
	"familiar/internal/store"
	"familiar/internal/store/move"
)

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
