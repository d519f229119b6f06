package main

import (
	"context"

	"familiar/internal/bot/view"
	"familiar/internal/store"
)

type changesCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
	Last int  `default:"50" help:"How many, the newest first."`
}

// Run lists without owning the store, so that it works beside a running bot.
func (c changesCommand) Run(ctx context.Context, p *program) error {
	return withStore(ctx, p, store.Look, func(db *store.DB) (string, error) {
		all, err := db.AllChanges(ctx, c.Last)
		if err != nil {
			return "", err
		}
		if c.JSON {
			return asJSON(all)
		}
		return view.Changes(all), nil
	})
}
