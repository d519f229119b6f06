package main

import (
	"context"
	"fmt"

	"familiar/internal/search"
	"familiar/internal/search/backends"
	"familiar/internal/web/read"
)

// openEngine makes the search engine.
func (a *app) openEngine(_ context.Context, p *program) (err error) {
	if a.backends, err = a.openBackends(p.far.backends); err != nil {
		return problems{err.Error()}
	}
	a.engine = &search.Engine{
		Backends: a.backends.On, Profiles: a.backends.Profiles, Read: a.read,
		Grace: p.far.patience, Brief: p.far.patience, // 0: its own
	}
	if a.store != nil {
		a.engine.Ledger = a.store
	}
	if a.cache.dir != "" {
		if a.engine.Disk, err = search.OpenDisk(a.cache.answers, a.backends.Setup, a.cache.answerBytes); err != nil {
			return fmt.Errorf("open the cache of searches: %w", err)
		}
	}
	return nil
}

// needWeb refuses a command that is about the web where it is off.
func (a *app) needWeb() error {
	if a.config.get("FAMILIAR_WEB") == "off" {
		return problems{"FAMILIAR_WEB is off: nothing is searched for, and no page is read"}
	}
	return nil
}

// openBackends opens the search backends that the operator chose. base has other addresses, by backend.
func (a *app) openBackends(base map[string]string) (*backends.Set, error) {
	return backends.Open(backends.Config{
		SearXNG: a.config.get("SEARXNG_URL"), Depth: a.config.get("SEARXNG_DEPTH"), Keys: a.config.searchKeys(),
		Only: a.config.list("FAMILIAR_SEARCH"), Off: a.config.list("FAMILIAR_SEARCH_OFF"), Limits: a.config.list("FAMILIAR_SEARCH_LIMITS"),
		Client: a.client, UserAgent: a.agent, Base: base,
	})
}

// read reads a page for a search in the advanced depth, as a lookup of the character does later.
func (a *app) read(ctx context.Context, character, address string) (search.Page, error) {
	domains := a.domains
	if actor := a.cast.actor(character); actor != nil {
		domains = actor.Lookup.Policy.Domains
	}
	p := a.reader.Read(ctx, read.Request{URL: address, Domains: domains})
	if p.Err != nil {
		return search.Page{}, p.Err
	}
	return search.Page{Title: p.Extract.Title, Text: p.Extract.Markdown, Published: p.Extract.Published}, nil
}
