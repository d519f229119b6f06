package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"familiar/internal/api"
	"familiar/internal/bot"
	"familiar/internal/embedding"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/history"
	"familiar/internal/providers/server"
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
	local    [][2]string                      // names and addresses where servers of models are looked for on this machine; nil: the usual ones
	root     fs.FS                            // the file system of this machine, with /proc and /sys; nil: the real one
	free     func(dir string) (int64, error)  // the space on a disk; nil: the real one

	perSecond int           // requests to Discord in a second; 0: its own limit
	embed     time.Duration // after which messages are looked for that have no vector; 0: the usual time
	idle      time.Duration // after which memory is written; 0: the usual time
	patience  time.Duration // more time for what is usually quick, where the machine may be busy with other things
}

const (
	defaultOllama  = "http://127.0.0.1:11434/v1"
	ollamaPatience = 500 * time.Millisecond
	listPatience   = 5 * time.Second // with the list of a server's models
	upkeepEvery    = time.Hour
)

// app is the running program: everything between the doors and the far ends, put together.
type app struct {
	config    *config
	character *character.Character
	redact    *redact.Redactor
	log       *slog.Logger
	logFile   *os.File      // nil: the log goes to the error output
	agent     string        // User-Agent
	owns      bool          // the store must be this process's own
	beside    bool          // another process owns the store
	wanted    string        // the model that --model names, in place of any character's
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

	pages string // where the console is served; empty: nowhere

	meter      *bot.Meter         // of what is asked of models beside the turns
	embeddings *embedding.Service // nil: nothing is recalled by its meaning
	summaries  *history.Summaries // what was said before the last messages of a channel; nil at a terminal
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
	a.owns = need == toServe
	for _, step := range []struct {
		of   part
		open func(context.Context, *program) error
	}{
		{toAnswer, a.openModels}, {toSearch, a.openStore}, {toRead, a.openReader}, {toSearch, a.openEngine}, {toServe, a.openFiles}, {toServe, a.openEmbeddings}, {toAnswer, a.openActor}, {toServe, a.openCast},
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
	for _, line := range strangers(p.environ, dotenvPlace(p.env, p.dir)) {
		fmt.Fprintln(p.err, "familiar:", line)
	}
	a := &app{config: c, redact: c.redactor(), agent: agent(c.get("FAMILIAR_CONTACT")), wanted: p.model}
	logs, err := a.logWriter(p)
	if err != nil {
		return nil, err
	}
	level := c.value("FAMILIAR_LOG")
	if level.source == "default" && p.logLevel != "" && p.log == "" {
		level.text = p.logLevel
	}
	a.log = logger(logs, level.text, c.get("FAMILIAR_LOG_FORMAT"), p.interactive && p.log == "", a.redact)
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

// openStore opens the store. Where another process owns it, all but the bot itself work beside that, and say so.
func (a *app) openStore(ctx context.Context, p *program) (err error) {
	dir := resolve(p.dir, a.config.get("FAMILIAR_DATA"))
	if a.owns {
		a.store, err = store.Open(ctx, dir)
	} else {
		a.store, a.beside, err = openShared(ctx, p, dir)
	}
	if err == nil {
		a.traces = &trace.Store{DB: a.store, Redact: a.redact.String}
	}
	return err
}

// openShared opens a store to write to, beside its owner if it has one.
func openShared(ctx context.Context, p *program, dir string) (db *store.DB, beside bool, err error) {
	db, err = store.Open(ctx, dir)
	var trouble *store.Error
	if !errors.As(err, &trouble) || trouble.Kind != store.InUse {
		return db, false, err
	}
	other, failed := store.Beside(ctx, dir)
	if failed != nil {
		return nil, false, err
	}
	owner := "another process"
	if trouble.PID != 0 {
		owner = fmt.Sprintf("process %d", trouble.PID)
	}
	fmt.Fprintf(p.err, "familiar: %s runs on the same data; this works beside it, and is recorded there, too\n", owner)
	return other, true, nil
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
		Redact: a.redact, Log: a.log, Pace: pace, WebOff: a.config.get("FAMILIAR_WEB") == "off", Cure: a.cure,
		Forgetting: func() {
			a.tidied(context.Background(), "forget what was searched for and read", errors.Join(a.engine.Forget(), a.reader.Forget()))
		},
	}
}

// client is the HTTP client of a service that the operator chose.
func (a *app) client(origin string) *http.Client {
	return api.Client(api.Service{Origin: origin, UserAgent: a.agent, Redact: a.redact.String})
}

// close waits for what was given up and closes what is open.
func (a *app) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if a.actor != nil {
		errs = append(errs, a.cast.wait(ctx, a.actor))
	}
	if a.summaries != nil {
		a.summaries.Close()
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
	if a.logFile != nil {
		errs = append(errs, a.logFile.Close())
	}
	return errors.Join(errs...)
}

func agent(contact string) string {
	if contact == "" {
		return "familiar/" + version()
	}
	return fmt.Sprintf("familiar/%s (+%s)", version(), contact)
}

// logWriter is where the log goes: the error output, so that what the program prints can be piped on, or a file.
func (a *app) logWriter(p *program) (io.Writer, error) {
	if p.log == "" {
		return p.err, nil
	}
	dir := resolve(p.dir, a.config.get("FAMILIAR_DATA"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, p.log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	a.logFile = f
	return f, nil
}

// logger writes to the log. No secret passes it.
func logger(to io.Writer, level, format string, colour bool, r *redact.Redactor) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	hide := func(_ []string, a slog.Attr) slog.Attr {
		if k := a.Value.Kind(); a.Key != slog.LevelKey && (k == slog.KindString || k == slog.KindAny) {
			a.Value = slog.StringValue(r.String(a.Value.String()))
		}
		return a
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: l, ReplaceAttr: hide}))
	}
	return slog.New(tint.NewTextHandler(to, &tint.Options{Level: l, TimeFormat: time.DateTime, NoColor: !colour, ReplaceAttr: hide}))
}
