package main

import (
	"context"
	"fmt"

	"familiar/internal/bot/view"
	"familiar/internal/store"
	"familiar/internal/web/guard"
)

type feedbackCommand struct {
	Forget string `placeholder:"DOMAIN" help:"Forget what was said of a domain."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run works beside a running bot.
func (f feedbackCommand) Run(ctx context.Context, p *program) error {
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	openStore := store.Look
	if f.Forget != "" {
		openStore = func(ctx context.Context, dir string) (*store.DB, error) {
			db, _, err := openShared(ctx, p, dir)
			return db, err
		}
	}
	return withStore(ctx, p, openStore, func(db *store.DB) (string, error) { return f.text(ctx, db, settings.get("FAMILIAR_CHARACTER")) })
}

func (f feedbackCommand) text(ctx context.Context, db *store.DB, character string) (string, error) {
	if f.Forget != "" {
		host, err := guard.Host(f.Forget)
		if err != nil {
			return "", problems{fmt.Sprintf("--forget: %q is no domain; write it as in example.org", f.Forget)}
		}
		n, err := db.ForgetFeedback(ctx, character, guard.Registrable(host), "", "")
		return fmt.Sprintf("Forgotten: %d.", n), err
	}
	all, err := db.Feedback(ctx, character)
	if err != nil {
		return "", err
	}
	if f.JSON {
		return asJSON(all)
	}
	opinions, err := db.Opinions(ctx, "")
	return view.Feedback(all) + view.Opinions(opinions), err
}
