package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"familiar/characters"
	"familiar/internal/api"
	"familiar/internal/bot"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/providers/history"
	"familiar/internal/providers/websearch"
	"familiar/internal/redact"
	"familiar/internal/search"
	"familiar/internal/search/backends"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/web/fetch"
	"familiar/internal/web/guard"
	"familiar/internal/web/read"
	"familiar/internal/web/reader"

	"github.com/lmittmann/tint"
)

// far are the far ends that a test puts in the world's place. The zero value is the world.
type far struct {
	resolver guard.Resolver // for pages; the address rules run on what it answers
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	roots    *x509.CertPool
	backends map[string]string                // addresses of search backends, by name
	services func(origin string) *http.Client // of special readers
	ollama   string                           // where a local Ollama is looked for

	perSecond int           // requests to Discord in a second; 0: its own limit
	patience  time.Duration // more time for what is usually quick, where the machine may be busy with other things
}

const (
	defaultOllama  = "http://127.0.0.1:11434/v1"
	ollamaPatience = 500 * time.Millisecond
	listPatience   = 5 * time.Second     // with the list of a server's models
	retention      = 30 * 24 * time.Hour // of records and claims
	upkeepEvery    = 6 * time.Hour
)

// house is everything between the doors and the far ends, put together.
type house struct {
	config    *config
	character *character.Character
	redact    *redact.Redactor
	log       *slog.Logger
	agent     string        // User-Agent
	domains   guard.Domains // that the character may visit
	cache     webCache

	store    *store.DB
	traces   *trace.Store
	models   models
	backends *backends.Set
	engine   *search.Engine
	reader   *read.Reader
	lookup   *websearch.Provider
	builder  *prompt.Builder
}

// open reads the configuration and puts the house together. Everything that is wrong with the configuration is
// reported at once; where ctx ends, so does this, with its cause. close must be called.
func open(ctx context.Context, p *program) (*house, error) {
	h, err := configure(p)
	if err != nil {
		return nil, err
	}
	h.models, err = h.chooseModels(ctx, p.far)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	if h.store, err = store.Open(ctx, resolve(p.dir, h.config.get("FAMILIAR_DATA"))); err != nil {
		return nil, err
	}
	h.traces = &trace.Store{DB: h.store, Redact: h.redact.String}
	if err := h.furnish(p); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// openReader is open for a command that reads pages: it has no model, no store and no search.
func openReader(p *program) (*house, error) {
	h, err := configure(p)
	if err != nil {
		return nil, err
	}
	return h, h.openFetcher(p)
}

// configure makes a house that has nothing but its configuration and its character.
func configure(p *program) (*house, error) {
	c, wrong := readConfig(p.env, p.dir)
	if c == nil {
		return nil, wrong
	}
	h := &house{config: c, redact: c.redactor(), agent: agent(c.get("FAMILIAR_CONTACT"))}
	h.log = logger(p, c.get("FAMILIAR_LOG"), h.redact)
	var err error
	h.character, err = loadCharacter(c, p.dir)
	if wrong = joinProblems(wrong, err); wrong != nil {
		return nil, wrong
	}
	return h, nil
}

// openFetcher makes the fetcher, the special readers and the lists that hold for both.
func (h *house) openFetcher(p *program) (err error) {
	far := p.far
	if h.domains, err = guard.NewDomains(h.character.Web.Allow, h.character.Web.Deny); err != nil {
		return fmt.Errorf("read the character's domains: %w", err)
	}
	services := h.client
	if far.services != nil {
		services = far.services
	}
	h.reader = &read.Reader{Special: reader.New(reader.Config{
		Client: services, UserAgent: h.agent, GitHubToken: h.config.get("GITHUB_TOKEN"), StackExchangeKey: h.config.get("STACKEXCHANGE_KEY"),
	})}
	c := fetch.Config{UserAgent: h.agent, Resolver: far.resolver, Dial: far.dial, RootCAs: far.roots}
	if c.Deny, err = prefixes(h.config.get("FAMILIAR_WEB_DENY")); err != nil {
		return err
	}
	if h.cache, err = h.config.webCache(p.dir); err != nil {
		return problems{err.Error()}
	}
	c.CacheDir, c.CacheDirBytes = h.cache.pages, h.cache.pageBytes
	h.reader.Fetcher, err = fetch.New(c)
	return err
}

// joinProblems makes one list of what is wrong with the configuration and with something else, such as the character.
func joinProblems(wrong, other error) error {
	switch {
	case other == nil:
		return wrong
	case wrong == nil:
		return problems{other.Error()}
	}
	return problems{wrong.Error(), other.Error()}
}

func loadCharacter(c *config, dir string) (*character.Character, error) {
	own := c.value("FAMILIAR_CHARACTERS")
	at := resolve(dir, own.text)
	if info, err := os.Stat(at); own.source != "default" && (err != nil || !info.IsDir()) {
		return nil, problems{fmt.Sprintf("FAMILIAR_CHARACTERS: there is no directory %s.\n  Make it, or leave the setting out: the characters built in are there without it.", at)}
	}
	shelf := character.Overlay(at, characters.FS)
	return character.Load(shelf, c.get("FAMILIAR_CHARACTER"))
}

// furnish makes the rooms from the search engine up to the prompt builder.
func (h *house) furnish(p *program) error {
	if err := h.openFetcher(p); err != nil {
		return err
	}
	if err := h.openEngine(p, h.store); err != nil {
		return err
	}
	if err := backends.CheckNames(h.character.Web.Backends); err != nil { // they must exist, and need not be on
		return problems{"web.backends of the character: " + err.Error()}
	}
	web := h.character.Web
	trusted, err := trust(web)
	if err != nil {
		return err
	}
	pages := web.Pages
	if pages == 0 { // which is the default in a policy, and none to the operator
		pages = -1
	}
	counter := &llm.Counter{Model: h.models.name()}
	h.lookup = &websearch.Provider{
		Search: h.engine, Reader: h.reader, Side: h.models.side, Eager: h.models.main == nil, Count: counter.Count,
		Zone: h.character.Location, Store: h.store,
		Policy: websearch.Policy{
			Off: h.config.get("FAMILIAR_WEB") == "off", Domains: h.domains, DeniedTopics: web.DeniedTopics,
			BlockBytes: web.BlockBytes, Pages: pages, PerDomain: web.PerDomain, Deadline: web.Deadline, Queries: web.Queries,
			PerSession: web.PerSession, PerDay: web.PerDay, Depth: web.Depth, Backends: web.Backends, Trusted: trusted,
		},
	}
	for _, d := range h.character.Docs {
		h.lookup.Policy.Docs = append(h.lookup.Policy.Docs, websearch.Docs(d))
	}
	h.builder = &prompt.Builder{
		Providers: []prompt.Provider{
			&character.Provider{Character: h.character},
			&history.Provider{Store: h.store, Window: h.character.Window},
			h.lookup,
		},
		Count: counter.Count, BlockRole: web.BlockRole, Clock: h.character.Location, Redact: h.redact.String,
		Deadlines: map[string]time.Duration{"character": 250*time.Millisecond + p.far.patience, "history": 2*time.Second + p.far.patience},
	}
	return nil
}

// trust makes the character's lists of trusted sites comparable.
func trust(web character.Web) (map[turn.Intent]websearch.Trust, error) {
	all := map[turn.Intent]websearch.Trust{}
	for intent, sites := range web.Trusted {
		hosts, err := guard.NewDomains(sites, nil)
		if err != nil {
			return nil, fmt.Errorf("read the sites trusted for %s: %w", intent, err)
		}
		all[turn.Intent(intent)] = websearch.Trust{Sites: sites, Hosts: hosts, Only: slices.Contains(web.TrustedOnly, intent)}
	}
	return all, nil
}

// uncapped lifts the limits on how much is looked up: at a terminal, the operator asks.
func (h *house) uncapped() *house {
	h.lookup.Policy.PerSession, h.lookup.Policy.PerDay = 0, 0
	return h
}

// bot is the house's inhabitant behind a door.
func (h *house) bot(door bot.Door, pace bot.Pace) *bot.Bot {
	return &bot.Bot{
		Door: door, Builder: h.builder, Model: h.models.main, Lookup: h.lookup, Store: h.store, Traces: h.traces,
		Character: h.character, Redact: h.redact, Log: h.log, Pace: pace, WebOff: h.config.get("FAMILIAR_WEB") == "off",
	}
}

// client is the HTTP client of a service that the operator chose.
func (h *house) client(origin string) *http.Client {
	return api.Client(api.Service{Origin: origin, UserAgent: h.agent, Redact: h.redact.String})
}

// settle marks what an earlier process left unfinished. It ends before the first turn begins, which would be marked too.
func (h *house) settle(ctx context.Context) {
	if n, err := h.traces.Interrupt(ctx); err != nil && ctx.Err() == nil {
		h.log.Error("mark interrupted turns", "err", err)
	} else if n > 0 {
		h.log.Info("an earlier run was interrupted", "turns", n)
	}
}

// upkeep removes what is older than its retention, now and then.
func (h *house) upkeep(ctx context.Context) {
	for {
		before := time.Now().Add(-retention)
		if _, err := h.traces.Prune(ctx, before); err != nil && ctx.Err() == nil {
			h.log.Error("remove old records", "err", err)
		}
		if _, err := h.store.PruneClaims(ctx, before); err != nil && ctx.Err() == nil {
			h.log.Error("remove old claims", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(upkeepEvery):
		}
	}
}

// close waits for what was given up and closes what is open.
func (h *house) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if h.builder != nil {
		errs = append(errs, h.builder.Wait(ctx))
	}
	if h.engine != nil {
		errs = append(errs, h.engine.Close(ctx))
		h.log.Debug("searches", "cache", h.engine.Stats())
	}
	if r := h.reader; r != nil {
		r.Wait()
		r.Special.Close()
		if r.Fetcher != nil {
			r.Fetcher.Close()
			h.log.Debug("pages", "cache", r.Fetcher.Stats())
		}
	}
	if h.store != nil {
		errs = append(errs, h.store.Close())
	}
	return errors.Join(errs...)
}

func agent(contact string) string {
	if contact == "" {
		return "familiar/" + version()
	}
	return fmt.Sprintf("familiar/%s (+%s)", version(), contact)
}

// logger writes to the error output, so that what the program prints can be piped on. No secret passes it.
func logger(p *program, level string, r *redact.Redactor) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(tint.NewTextHandler(p.err, &tint.Options{
		Level: l, TimeFormat: time.DateTime, NoColor: !p.interactive,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if k := a.Value.Kind(); a.Key != slog.LevelKey && (k == slog.KindString || k == slog.KindAny) {
				a.Value = slog.StringValue(r.String(a.Value.String()))
			}
			return a
		},
	}))
}
