package main

import (
	"context"
	"fmt"

	"familiar/internal/search"
	"familiar/internal/search/backends"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/web/read"
)

// openSearcher is open for a command that asks search services: it has no model and answers nothing.
func openSearcher(ctx context.Context, p *program) (*house, error) {
	h, err := configure(p)
	if err != nil {
		return nil, err
	}
	if h.config.get("FAMILIAR_WEB") == "off" {
		return nil, problems{"FAMILIAR_WEB is off: nothing is searched for"}
	}
	if h.store, err = store.Open(ctx, resolve(p.dir, h.config.get("FAMILIAR_DATA"))); err != nil {
		return nil, err
	}
	h.traces = &trace.Store{DB: h.store, Redact: h.redact.String}
	if err = h.openFetcher(p); err == nil {
		err = h.openEngine(p, h.store)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// openEngine makes the search engine. ledger keeps the limits of days and months; nil: nobody does.
func (h *house) openEngine(p *program, ledger search.Ledger) error {
	set, err := h.openBackends(p.far.backends)
	if err != nil {
		return problems{err.Error()}
	}
	h.backends = set
	h.engine = &search.Engine{
		Backends: set.On, Profiles: set.Profiles, Ledger: ledger, Read: h.read,
		Grace: p.far.patience, Brief: p.far.patience, // 0: its own
	}
	if h.cache.dir != "" {
		if h.engine.Disk, err = search.OpenDisk(h.cache.answers, set.Setup, h.cache.answerBytes); err != nil {
			return fmt.Errorf("open the cache of searches: %w", err)
		}
	}
	return nil
}

// openBackends opens the search backends that the operator chose. base has other addresses, by backend.
func (h *house) openBackends(base map[string]string) (*backends.Set, error) {
	return backends.Open(backends.Config{
		SearXNG: h.config.get("SEARXNG_URL"), Depth: h.config.get("SEARXNG_DEPTH"), Keys: h.config.searchKeys(),
		Only: h.config.list("FAMILIAR_SEARCH"), Off: h.config.list("FAMILIAR_SEARCH_OFF"), Limits: h.config.list("FAMILIAR_SEARCH_LIMITS"),
		Client: h.client, UserAgent: h.agent, Base: base,
	})
}

// read reads a page for a search in the advanced depth, as a lookup does later.
func (h *house) read(ctx context.Context, address string) (search.Page, error) {
	p := h.reader.Read(ctx, read.Request{URL: address, Domains: h.domains})
	if p.Err != nil {
		return search.Page{}, p.Err
	}
	return search.Page{Title: p.Extract.Title, Text: p.Extract.Markdown, Published: p.Extract.Published}, nil
}
