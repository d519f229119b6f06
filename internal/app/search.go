package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/cache"
	"familiar/internal/command"
	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/search"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/web/read"
)

func (a *App) openEngine(_ context.Context, p *Process) (err error) {
	if a.Backends, err = a.openBackends(p.Far.Backends); err != nil {
		return Problems{err.Error()}
	}
	a.Engine = &search.Engine{
		Backends: a.Backends.On, Profiles: a.Backends.Profiles, Read: a.Read,
		Grace: p.Far.Patience, Brief: p.Far.Patience, // 0: the engine's own
	}
	if a.Store != nil {
		a.Engine.Ledger = a.Store.Quotas
	}
	if a.cache.dir != "" {
		if a.Engine.Disk, err = search.OpenDisk(a.cache.answers, a.Backends.Setup, a.cache.answerBytes); err != nil {
			return fmt.Errorf("open the cache of searches: %w", err)
		}
	}
	return nil
}

// NeedWeb returns an error if the web is off.
func (a *App) NeedWeb() error {
	if a.Config.Get("FAMILIAR_WEB") == "off" {
		return Problems{"FAMILIAR_WEB is off: nothing is searched for, and no page is read"}
	}
	return nil
}

// openBackends opens the search backends that the operator chose. base replaces the addresses of some, by name.
func (a *App) openBackends(base map[string]string) (*backend.Set, error) {
	return backend.Open(backend.Config{
		SearXNG: a.Config.Get("SEARXNG_URL"), Depth: a.Config.Get("SEARXNG_DEPTH"), Keys: a.Config.searchKeys(),
		Only: a.Config.list("FAMILIAR_SEARCH"), Off: a.Config.list("FAMILIAR_SEARCH_OFF"), Limits: a.Config.list("FAMILIAR_SEARCH_LIMITS"),
		Client: a.client, UserAgent: a.agent, Base: base,
	})
}

// Read reads a page for a search in the advanced depth, by the rules of the character's lookups.
func (a *App) Read(ctx context.Context, character, address string) (search.Page, error) {
	domains := a.Domains
	if actor := a.cast.actor(character); actor != nil {
		domains = actor.Lookup.Policy.Domains
	}
	p := a.Reader.Read(ctx, read.Request{URL: address, Domains: domains})
	if p.Err != nil {
		return search.Page{}, p.Err
	}
	return search.Page{Title: p.Extract.Title, Text: p.Extract.Markdown, Published: p.Extract.Published}, nil
}

// CheckSearch returns what is wrong with the settings of the search.
func CheckSearch(c *Config) error {
	if address := c.Get("SEARXNG_URL"); address != "" && checkURL(address) != nil {
		return nil // it was reported already
	}
	a := &App{Config: c, Redact: c.Redactor()}
	if _, err := a.openBackends(nil); err != nil {
		return errors.New(a.Redact.String(err.Error()))
	}
	return nil
}

// Tools returns the lookup engine as a server for other programs. It opens the program while calls use it.
func (a *App) Tools(p *Process, user string) command.ToolServer {
	again := *p
	again.Environ = nil // misspelt variables were reported already
	return command.ToolServer{
		PerMinute: a.Config.Count("FAMILIAR_TURNS_PER_MINUTE"), Version: p.Version, Log: a.Log, Err: p.Err,
		Open: func(ctx context.Context) (*command.ToolEngine, error) {
			a, err := Open(ctx, &again, ToAnswer)
			if err != nil {
				return nil, err
			}
			return a.tools(user), nil
		},
	}
}

func (a *App) tools(user string) *command.ToolEngine {
	quotas, _ := gate.ParseQuotas(a.Config.Get("FAMILIAR_QUOTAS")) // it was checked
	all := &gate.Gate{Store: a.Store, Quotas: quotas, Log: a.Log}  // for all calls, which share what is left
	return &command.ToolEngine{
		Bot: func() *bot.Bot {
			b := a.Bot(nil, bot.Pace{})
			b.Gate = all
			return b
		},
		Lookups: a.Actor.Lookup.Policy.PerMinute, Verifier: a.Actor.Verifier, Search: a.Engine, Reader: a.Reader, Domains: a.Domains,
		User: user, Redact: a.Redact.String, Log: a.Log, Close: a.Close,
	}
}

// ListBackends returns every search backend: how it is configured, and how it does by the records and the engine. probe asks each one that is
// on.
func (a *App) ListBackends(ctx context.Context, probe bool) ([]backend.Status, error) {
	list := a.Backends.List()
	if probe {
		backend.Probe(ctx, a.Engine, list)
	}
	past, err := a.past(ctx)
	if err != nil {
		return nil, err
	}
	backend.Learn(list, past, a.Engine.Health(ctx))
	return list, nil
}

// pastTurns is how many records are read for the past of the backends.
const pastTurns = 200

// past reads what the last lookups say of their backends.
func (a *App) past(ctx context.Context) (backend.Past, error) {
	past := backend.Past{}
	if a.Traces == nil {
		return past, nil
	}
	list, err := a.Traces.Recent(ctx, "", pastTurns)
	if err != nil {
		return nil, err
	}
	for _, s := range list { // newest first
		if s.Lookup == "" || s.Lookup == turn.NotNeeded || s.Lookup == turn.Disabled {
			continue
		}
		t, err := a.Traces.Get(ctx, s.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, asked := range t.Lookup().Asked {
			past.Add(asked, t.Began)
		}
	}
	return past, nil
}

// pastLife is how long the console shows the same past of the backends: reading it takes many records.
const pastLife = time.Minute

// backendList lists the backends for the console.
type backendList struct {
	app  *App
	mu   sync.Mutex
	past backend.Past // guarded by mu
	at   time.Time    // guarded by mu
}

func (b *backendList) get(ctx context.Context) ([]backend.Status, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.at) > pastLife {
		past, err := b.app.past(ctx)
		if err != nil {
			return nil, err
		}
		b.past, b.at = past, time.Now()
	}
	list := b.app.Backends.List()
	backend.Learn(list, b.past, b.app.Engine.Health(ctx))
	return list, nil
}

// webCache is the directory that keeps pages and the answers of search backends after the program ends.
type webCache struct {
	dir                    string // empty: nowhere
	pages, answers         string // in dir
	pageBytes, answerBytes int64
}

// answerShare is the part of the cache for answers, one in so many. Most answers are smaller than ten kilobytes.
const answerShare = 8

// WebCache reads FAMILIAR_WEB_CACHE and FAMILIAR_WEB_CACHE_MB. A directory that others may write to is refused.
func (c *Config) WebCache(dir string) (webCache, error) {
	if c.Get("FAMILIAR_WEB_CACHE") == "" {
		return webCache{}, nil
	}
	size := int64(c.Count("FAMILIAR_WEB_CACHE_MB")) << 20
	whole := Resolve(dir, c.Get("FAMILIAR_WEB_CACHE"))
	w := webCache{
		dir: whole, pages: filepath.Join(whole, "pages"), answers: filepath.Join(whole, "searches"),
		pageBytes: size - size/answerShare, answerBytes: size / answerShare,
	}
	for _, place := range []string{w.dir, w.pages, w.answers} {
		if err := cache.CheckDir(place); err != nil {
			return webCache{}, fmt.Errorf("FAMILIAR_WEB_CACHE: %w", err)
		}
	}
	return w, nil
}

// Clear deletes everything: it is not known for whose questions it was fetched.
func (w webCache) Clear() error {
	if w.dir == "" {
		return nil
	}
	return errors.Join(cache.ClearDir(w.answers), cache.ClearDir(w.pages))
}

// CheckWebCache tries whether the directories of the cache can be used. It makes none.
func CheckWebCache(c *Config, dir string) error {
	w, err := c.WebCache(dir)
	if err != nil || w.dir == "" {
		return err
	}
	for _, place := range []string{w.pages, w.answers} {
		if err := cache.CheckWritable(place); err != nil {
			return fmt.Errorf("FAMILIAR_WEB_CACHE: %w", err)
		}
	}
	return nil
}

// CheckData tries whether the directory of the database can be used. It makes none.
func CheckData(c *Config, dir string) error {
	if err := cache.CheckWritable(Resolve(dir, c.Get("FAMILIAR_DATA"))); err != nil {
		return fmt.Errorf("FAMILIAR_DATA: %w", err)
	}
	return nil
}
