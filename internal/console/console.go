// Package console is the operator's web pages: turns as they run and as they were, what was looked up, what is remembered, who the
// characters are, and what all of it costs.
//
// Pages are written on the server, by html/template from templates/, and can be read without JavaScript; what there is of it
// (static/console.js) makes them live. Everything is embedded and nothing is loaded from another host. A page's way:
//
//   - serve.go listens; guard.go lets in who may come (Host, origin, token) and sets the headers; login.go is the token's form.
//   - render.go fills a template and takes secrets out of what came of it.
//   - A file for each page: now.go, turn.go with timeline.go, search.go, lookups.go, sources.go with trust.go, backends.go, memory.go, characters.go,
//     usage.go, doctor.go. What a page changes it changes by a POST of a form, and asks first, on a page, before it deletes anything.
//   - feed.go gathers how far turns have come, and live.go sends it to the pages that are open.
//
// It reads records and memory from their stores, and all else through the functions of [Config]: whoever wires it decides what there is.
package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"familiar/internal/doctor"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// Config is what a console is made of. Store, Traces and Feed are required; a function that is nil has no part of the pages.
type Config struct {
	Store   *store.DB
	Traces  *trace.Store
	Feed    *Feed
	Redact  func(string) string // takes secrets out of pages
	Log     *slog.Logger        // nil: nothing is logged
	Version string
	Zone    *time.Location // in which times are shown; nil: UTC

	Token string   // without which nobody is let in; empty: everybody is who reaches the address
	Hosts []string // names by which it is reached, beside those of loopback

	Gateway  func() Gateway
	Lanes    func() []Lane
	Quotas   func(context.Context) ([]Quota, error)
	Channel  func(id string) string // its name, or empty
	Backends func(context.Context) ([]Backend, error)
	Trust    func() []Trust
	Shelf    *Shelf
	Doctor   func(context.Context, doctor.Progress) []doctor.Finding // returns in good time, also where nobody answers

	Telemetry http.Handler // /metrics, /healthz, /readyz and /debug/pprof/; nil: there is nothing of that
}

// Console serves the pages. Make it with [New].
type Console struct {
	Config
	read   func() (*templates, error) // once, when the first page is opened: they take memory
	cross  *http.CrossOriginProtection
	locks  attempts
	checks diagnosis
}

// New makes a console.
func New(c Config) (*Console, error) {
	if c.Store == nil || c.Traces == nil || c.Feed == nil {
		return nil, errors.New("make the console: it needs a store, the records and a feed")
	}
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	k := &Console{Config: c, cross: http.NewCrossOriginProtection()}
	k.read = sync.OnceValues(k.parse)
	return k, nil
}

// Handler serves the pages to whoever may see them.
func (k *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", k.now)
	mux.HandleFunc("GET /live", k.live)
	mux.HandleFunc("GET /turns", k.search)
	mux.HandleFunc("GET /turn/{id}", k.turn)
	mux.HandleFunc("GET /lookups", k.lookups)
	mux.HandleFunc("GET /sources", k.sources)
	mux.HandleFunc("GET /sources/forget", k.askForgetSource)
	mux.HandleFunc("POST /sources/forget", k.forgetSource)
	mux.HandleFunc("GET /backends", k.backends)
	mux.HandleFunc("GET /memory", k.memory)
	mux.HandleFunc("GET /memory/{id}", k.statement)
	mux.HandleFunc("POST /memory/{id}", k.correct)
	mux.HandleFunc("GET /memory/{id}/delete", k.askDelete)
	mux.HandleFunc("POST /memory/{id}/delete", k.delete)
	mux.HandleFunc("GET /usage", k.usage)
	if k.Shelf != nil {
		mux.HandleFunc("GET /sources/{id}", k.trust)
		mux.HandleFunc("POST /sources/{id}", k.saveTrust)
		mux.HandleFunc("GET /characters", k.characters)
		mux.HandleFunc("GET /characters/{id}", k.edit)
		mux.HandleFunc("POST /characters/{id}", k.saveFile)
		mux.HandleFunc("POST /characters/{id}/check", k.checkFile)
	}
	if k.Doctor != nil {
		mux.HandleFunc("GET /doctor", k.doctor)
		mux.HandleFunc("POST /doctor", k.examine)
	}
	if k.Telemetry != nil {
		for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/"} {
			mux.Handle("GET "+path, k.Telemetry)
		}
	}
	mux.HandleFunc("POST /theme", k.theme)
	mux.HandleFunc("GET /login", k.login)
	mux.HandleFunc("POST /login", k.enter)
	mux.HandleFunc("POST /logout", k.leave)
	mux.HandleFunc("GET /static/{name}", k.static)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		k.fail(w, r, http.StatusNotFound, "There is no such page.")
	})
	return k.guarded(mux)
}
