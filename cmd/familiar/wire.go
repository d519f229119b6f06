package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
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
	"familiar/internal/lookup/verifier"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/history"
	"familiar/internal/providers/server"
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
	listPatience   = 5 * time.Second // with the list of a server's models
	feedbackDays   = 365             // that what people said of sources is kept
	upkeepEvery    = time.Hour
)

// app is the running program: everything between the doors and the far ends, put together.
type app struct {
	config    *config
	character *character.Character
	redact    *redact.Redactor
	log       *slog.Logger
	agent     string        // User-Agent
	domains   guard.Domains // that the character may visit
	cache     webCache

	store    *store.DB
	traces   *trace.Store
	server   modelServer
	models   models // of the character
	backends *backends.Set
	engine   *search.Engine
	reader   *read.Reader
	actor    *bot.Actor        // the character with what its turns are made with
	cast     cast              // it and, where the program runs on Discord, the others
	files    *attachment.Files // what hangs on messages; nil at a terminal, where nothing does
	servers  *server.Servers   // where what was said before is searched; nil at a terminal
}

// part is how much of the program a command needs. Each has what those before it have.
type part int

const (
	toConfigure part = iota // the configuration and the character
	toRead                  // what reads pages
	toSearch                // the store and the search engine
	toAnswer                // the models and the character's turns
	toServe                 // all characters
)

// open reads the configuration and puts together what the command needs. Everything that is wrong with the
// configuration is reported at once; where ctx ends, so does this, with its cause. close must be called.
func open(ctx context.Context, p *program, need part) (*app, error) {
	a, err := configure(p)
	if err != nil {
		return nil, err
	}
	for _, step := range []struct {
		of   part
		open func(context.Context, *program) error
	}{
		{toAnswer, a.openModels}, {toSearch, a.openStore}, {toRead, a.openReader}, {toSearch, a.openEngine}, {toServe, a.openFiles}, {toAnswer, a.openActor}, {toServe, a.openCast},
	} {
		if step.of > need {
			continue
		}
		if err := step.open(ctx, p); err != nil {
			a.close()
			return nil, err
		}
	}
	return a, nil
}

// configure makes a program that has nothing but its configuration and its character.
func configure(p *program) (*app, error) {
	c, wrong := readConfig(p.env, p.dir)
	if c == nil {
		return nil, wrong
	}
	a := &app{config: c, redact: c.redactor(), agent: agent(c.get("FAMILIAR_CONTACT"))}
	a.log = logger(p, c.get("FAMILIAR_LOG"), a.redact)
	var err error
	a.character, err = loadCharacter(c, p.dir)
	if wrong = joinProblems(wrong, err); wrong != nil {
		return nil, wrong
	}
	return a, nil
}

func (a *app) openModels(ctx context.Context, p *program) (err error) {
	a.server, err = a.chooseServer(ctx, p.far)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.models = a.modelsOf(a.character)
	return err
}

func (a *app) openStore(ctx context.Context, p *program) (err error) {
	if a.store, err = store.Open(ctx, resolve(p.dir, a.config.get("FAMILIAR_DATA"))); err == nil {
		a.traces = &trace.Store{DB: a.store, Redact: a.redact.String}
	}
	return err
}

// openReader makes the fetcher, the special readers and the lists that hold for both.
func (a *app) openReader(_ context.Context, p *program) (err error) {
	far := p.far
	if a.domains, err = domainsOf(a.character); err != nil {
		return err
	}
	services := a.client
	if far.services != nil {
		services = far.services
	}
	a.reader = &read.Reader{Special: reader.New(reader.Config{
		Client: services, UserAgent: a.agent, GitHubToken: a.config.get("GITHUB_TOKEN"), StackExchangeKey: a.config.get("STACKEXCHANGE_KEY"),
	})}
	c := fetch.Config{UserAgent: a.agent, Resolver: far.resolver, Dial: far.dial, RootCAs: far.roots}
	if c.Deny, err = prefixes(a.config.get("FAMILIAR_WEB_DENY")); err != nil {
		return err
	}
	if a.cache, err = a.config.webCache(p.dir); err != nil {
		return problems{err.Error()}
	}
	c.CacheDir, c.CacheDirBytes = a.cache.pages, a.cache.pageBytes
	a.reader.Fetcher, err = fetch.New(c)
	return err
}

// domainsOf makes the lists of sites that a character may and may not visit.
func domainsOf(c *character.Character) (guard.Domains, error) {
	d, err := guard.NewDomains(c.Web.Allow, c.Web.Deny)
	if err != nil {
		return d, fmt.Errorf("read the character's domains: %w", err)
	}
	return d, nil
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
	return character.Load(shelf(c, dir), c.get("FAMILIAR_CHARACTER"))
}

// shelf is where the characters are.
func shelf(c *config, dir string) fs.FS {
	return character.Overlay(resolve(dir, c.get("FAMILIAR_CHARACTERS")), characters.FS)
}

// openFiles makes what reads the files that hang on messages.
func (a *app) openFiles(context.Context, *program) error {
	hosts, err := guard.NewDomains(a.config.list("DISCORD_FILE_HOSTS"), nil)
	if err != nil {
		return problems{"DISCORD_FILE_HOSTS: " + err.Error()}
	}
	a.files = &attachment.Files{Fetcher: a.reader.Fetcher, Hosts: hosts}
	a.servers = &server.Servers{}
	return nil
}

// openActor makes what the turns of the character are made with.
func (a *app) openActor(_ context.Context, p *program) (err error) {
	if a.config.get("FAMILIAR_VERIFY") == "on" && a.modelsOf(a.character).side == nil {
		a.log.Warn("FAMILIAR_VERIFY is on, and there is no model that could check: set OPENAI_BASE_URL or OPENAI_API_KEY")
	}
	a.actor, err = a.actorOf(a.character, p.far)
	return err
}

// actorOf makes what the turns of a character are made with: the models, the lookup and the prompt builder.
func (a *app) actorOf(c *character.Character, far far) (*bot.Actor, error) {
	if err := backends.CheckNames(c.Web.Backends); err != nil { // they must exist, and need not be on
		return nil, problems{"web.backends of the character: " + err.Error()}
	}
	web := c.Web
	trusted, err := trust(web)
	if err != nil {
		return nil, err
	}
	domains, err := domainsOf(c)
	if err != nil {
		return nil, err
	}
	models := a.modelsOf(c)
	pages := web.Pages
	if pages == 0 { // which is the default in a policy, and none to the operator
		pages = -1
	}
	counter := &llm.Counter{Model: models.name()}
	lookup := &websearch.Provider{
		Search: a.engine, Reader: a.reader, Side: models.side, Eager: models.main == nil, Count: counter.Count,
		Zone: c.Location, Store: a.store, Server: c.Server.Enabled,
		Policy: websearch.Policy{
			Off: a.config.get("FAMILIAR_WEB") == "off", Domains: domains, DeniedTopics: web.DeniedTopics,
			BlockBytes: web.BlockBytes, Pages: pages, PerDomain: web.PerDomain, Deadline: web.Deadline, Queries: web.Queries,
			PerMinute: web.PerMinute, PerSession: web.PerSession, PerDay: web.PerDay, Depth: web.Depth, Backends: web.Backends, Trusted: trusted,
		},
	}
	for _, d := range c.Docs {
		lookup.Policy.Docs = append(lookup.Policy.Docs, websearch.Docs(d))
	}
	past := &server.Provider{Store: a.store, Servers: a.servers, Off: !c.Server.Enabled, Own: !c.Server.DiscordSearch, Zone: c.Location, Count: counter.Count}
	builder := &prompt.Builder{
		Providers: []prompt.Provider{
			&character.Provider{Character: c},
			&history.Provider{Store: a.store, Window: c.Window},
			past, // before the web: the first that looked has the say
			lookup,
		},
		Count: counter.Count, BlockRole: web.BlockRole, Clock: c.Location, Names: append([]string{c.Name}, c.Aliases...), Redact: a.redact.String,
		Deadlines: map[string]time.Duration{"character": 250*time.Millisecond + far.patience, "history": 2*time.Second + far.patience},
	}
	if a.files != nil {
		builder.Providers = append(builder.Providers, &attachment.Provider{Files: a.files, Sees: func() bool { return a.sees(models) }})
	}
	actor := &bot.Actor{Character: c, Builder: builder, Lookup: lookup, Past: past, Model: models.main, Side: models.side}
	if models.side != nil && a.config.get("FAMILIAR_VERIFY") == "on" {
		actor.Verifier = &verifier.Verifier{Model: models.side}
	}
	return actor, nil
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
func (a *app) uncapped() *app {
	policy := &a.actor.Lookup.Policy
	policy.PerMinute, policy.PerSession, policy.PerDay = 0, 0, 0
	return a
}

// bot is the character behind a door.
func (a *app) bot(door bot.Door, pace bot.Pace) *bot.Bot {
	return &bot.Bot{
		Door: door, Cast: &bot.Cast{Default: a.actor}, Store: a.store, Traces: a.traces,
		Redact: a.redact, Log: a.log, Pace: pace, WebOff: a.config.get("FAMILIAR_WEB") == "off",
	}
}

// client is the HTTP client of a service that the operator chose.
func (a *app) client(origin string) *http.Client {
	return api.Client(api.Service{Origin: origin, UserAgent: a.agent, Redact: a.redact.String})
}

// markInterrupted marks what an earlier process left unfinished. It ends before the first turn begins, which would be marked too.
func (a *app) markInterrupted(ctx context.Context) {
	if n, err := a.traces.Interrupt(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("mark interrupted turns", "err", err)
	} else if n > 0 {
		a.log.Info("an earlier run was interrupted", "turns", n)
	}
}

// upkeep deletes what is not to be kept any longer, now and then, and logs what the store has to say. Servers lists those that
// the bot is in, once that is known; nil where there are none.
func (a *app) upkeep(ctx context.Context, servers func() (ids []string, known bool)) {
	ticks := time.NewTicker(upkeepEvery)
	defer ticks.Stop()
	for {
		a.tidy(ctx, servers)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case notice := <-a.store.Notices():
				a.log.Error("store", "notice", notice)
			case <-ticks.C:
				waiting = false
			}
		}
	}
}

// tidy deletes what is not to be kept any longer.
func (a *app) tidy(ctx context.Context, servers func() (ids []string, known bool)) {
	messages, records := a.config.count("FAMILIAR_KEEP_MESSAGES"), a.config.count("FAMILIAR_KEEP_RECORDS")
	now := time.Now()
	for _, kept := range []struct {
		what  string
		days  int
		prune func(context.Context, time.Time) (int, error)
	}{
		{"messages", messages, a.store.PruneMessages},
		{"names of people", messages, a.store.PrunePeople},
		{"records", records, a.traces.Prune},
		{"claims", records, a.store.PruneClaims},
		{"posts", records, a.store.PrunePosts},
		{"feedback", feedbackDays, a.store.PruneFeedback},
		{"usage", records, a.store.PruneUsage},
	} {
		n, err := kept.prune(ctx, now.AddDate(0, 0, -kept.days))
		a.tidied(ctx, "remove old "+kept.what, err)
		if n > 0 {
			a.log.Debug("removed what was old", "what", kept.what, "rows", n)
		}
	}
	a.tidied(ctx, "delete what is of servers that were left", a.deleteServers(ctx, servers))
	a.tidied(ctx, "take deleted messages out of the records", a.traces.Forget(ctx))
	a.tidied(ctx, "give space back", a.store.Shrink(ctx))
}

func (a *app) tidied(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		a.log.Error(what, "err", err)
	}
}

// deleteServers deletes what is of servers that the bot left some time ago. Which it left, or came back to, while it was away it
// finds by what is kept.
func (a *app) deleteServers(ctx context.Context, servers func() (ids []string, known bool)) error {
	if servers == nil {
		return nil
	}
	in, known := servers()
	if !known {
		return nil
	}
	now := time.Now()
	kept, err := a.store.Guilds(ctx)
	if err != nil {
		return err
	}
	gone, err := a.store.LeftGuilds(ctx, now)
	for _, id := range kept {
		_, present := slices.BinarySearch(in, id)
		switch noted := slices.Contains(gone, id); {
		case err != nil:
		case present && noted:
			err = a.store.ReturnGuild(ctx, id)
		case !present && !noted:
			err = a.store.LeaveGuild(ctx, id, now)
		}
	}
	if err != nil {
		return err
	}
	left, err := a.store.LeftGuilds(ctx, now.Add(-a.config.span("FAMILIAR_LEFT_SERVER_GRACE")))
	for _, id := range left {
		if err := a.traces.DeleteGuild(ctx, id); err != nil {
			return err
		}
		if err := a.store.DeleteGuild(ctx, id); err != nil {
			return err
		}
		a.log.Info("deleted what was kept of a server that was left", "server", id)
	}
	return err
}

// close waits for what was given up and closes what is open.
func (a *app) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if a.actor != nil {
		errs = append(errs, a.cast.wait(ctx, a.actor))
	}
	if a.engine != nil {
		errs = append(errs, a.engine.Close(ctx))
		a.log.Debug("searches", "cache", a.engine.Stats())
	}
	if r := a.reader; r != nil {
		r.Wait()
		r.Special.Close()
		if r.Fetcher != nil {
			r.Fetcher.Close()
			a.log.Debug("pages", "cache", r.Fetcher.Stats())
		}
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
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
