package main

import (
	"context"
	"errors"
	"fmt"

	"familiar/internal/search"
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
	choice, limits, err := h.searchChoice(p.far.backends)
	if err != nil {
		return problems{err.Error()}
	}
	h.backend, h.off = search.Backends(choice), search.Off(choice)
	h.engine = &search.Engine{Backends: h.backend, Ledger: ledger, Limits: limits, Read: h.read}
	if h.cache.dir != "" {
		if h.engine.Disk, err = search.OpenDisk(choice, h.cache.answers, h.cache.answerBytes); err != nil {
			return fmt.Errorf("open the cache of searches: %w", err)
		}
	}
	return nil
}

// searchChoice is what the operator chose of the search, checked. base has other addresses, by backend.
func (h *house) searchChoice(base map[string]string) (search.Config, map[string]search.Limit, error) {
	choice := search.Config{
		SearXNG: h.config.get("SEARXNG_URL"), Depth: h.config.get("SEARXNG_DEPTH"), Keys: h.config.searchKeys(),
		Only: h.config.list("FAMILIAR_SEARCH"), Off: h.config.list("FAMILIAR_SEARCH_OFF"),
		Client: h.client, UserAgent: h.agent, Base: base,
	}
	limits, err := search.ParseLimits(h.config.list("FAMILIAR_SEARCH_LIMITS"))
	return choice, limits, errors.Join(choice.Check(), err)
}

// read reads a page for a search in the advanced depth, as a lookup does later.
func (h *house) read(ctx context.Context, address string) (search.Page, error) {
	p := h.reader.Read(ctx, read.Request{URL: address, Domains: h.domains})
	if p.Err != nil {
		return search.Page{}, p.Err
	}
	return search.Page{Title: p.Extract.Title, Text: p.Extract.Markdown, Published: p.Extract.Published}, nil
}
