// Package app configures the program and puts it together. It is the one place that knows every room.
//
//   - config.go reads the settings and keeps their secrets out of what is printed. settings.go lists them.
//   - wire.go opens what a command needs; models.go, actor.go and search.go open the parts of that. cast.go loads the characters and reloads them.
//   - run.go serves Discord, with console.go, telemetry.go and upkeep.go.
//   - examine.go opens what the doctor and init look at.
package app

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
	"sync/atomic"
	"time"

	"github.com/lmittmann/tint"

	"familiar/internal/api"
	"familiar/internal/bot"
	"familiar/internal/console"
	"familiar/internal/forget"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
	"familiar/internal/search"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/read"
)

// Process is what the program runs in: environment, directory and outputs. Tests give their own.
type Process struct {
	Env         func(string) (string, bool)
	Environ     []string // names that are set in the environment
	Dir         string   // working directory
	Out, Err    io.Writer
	Interactive bool   // a person reads and types
	Version     string // of the program
	Model       string // that --model names; empty: the one that is configured
	LogLevel    string // in place of the preset of FAMILIAR_LOG
	Log         string // name of a file in the data directory that the log goes into; empty: it goes to err
	Far         Far
}

// Far are the far ends of connections. Tests replace them; the zero value is the real world.
type Far struct {
	Resolver fetch.Resolver // for pages; the address rules run on what it answers
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Roots    *x509.CertPool
	Backends map[string]string                // addresses of search backends, by name
	Services func(origin string) *http.Client // of package read
	Local    []llm.Place                      // where servers of models are looked for on this machine; nil: the usual places
	Root     fs.FS                            // the file system of this machine, with /proc and /sys; nil: the real one
	Free     func(dir string) (int64, error)  // the space on a disk; nil: the real one

	PerSecond int           // requests to Discord in a second; 0: its own limit
	Embed     time.Duration // after which messages are looked for that have no vector; 0: the usual time
	Idle      time.Duration // after which memory is written; 0: the usual time
	Alerts    time.Duration // after which the operator's alerts are looked at; 0: the usual time
	Patience  time.Duration // more time for quick steps on a busy machine
}

const (
	localPatience = 500 * time.Millisecond // for servers of models on this machine
	upkeepEvery   = time.Hour
)

// App is the program, put together. What a command does not need is nil: see [Open].
type App struct {
	Config    *Config
	Character *character.Character
	Redact    *clean.Redactor
	Log       *slog.Logger
	logFile   *os.File // nil: the log goes to the error output
	version   string
	agent     string        // User-Agent
	owns      bool          // the store must be this process's own
	Beside    bool          // another process owns the store
	wanted    string        // the model that --model names, in place of any character's
	Domains   clean.Domains // that the character may visit
	cache     webCache

	Store     *store.DB
	Memories  *memory.Store
	Vectors   *memory.Vectors
	Traces    *trace.Store
	Forgetter *forget.Forgetter
	server    modelServer
	models    models // of the character
	Backends  *backend.Set
	Engine    *search.Engine
	Reader    *read.Reader
	Actor     *bot.Actor        // the character with its models, lookup and prompt builder
	cast      cast              // on Discord, also the other characters
	files     *attachment.Files // attachments; nil at a terminal, which has none
	servers   *recall.Servers   // whose earlier messages are searched; nil at a terminal

	pages   string                          // where the console is served; empty: nowhere
	shown   atomic.Pointer[console.Console] // what is served there; nil: nothing
	journal *console.Journal

	gate       *gate.Gate        // counts what models are asked beside the turns
	embeddings *memory.Embedder  // nil: nothing is recalled by its meaning
	summaries  *recall.Summaries // of older messages of a channel; nil at a terminal
}

// Part is how much of the program a command needs. Each part includes those before it.
type Part int

const (
	ToConfigure Part = iota // the configuration and the character
	ToRead                  // what reads pages
	ToSearch                // the store and the search engine
	ToAnswer                // the models and the character's turns
	ToServe                 // all characters
)

// Open reads the configuration and opens the part of the program that a command needs. The error lists everything that is wrong with the
// configuration, or is the cause of ctx's end. The caller must Close the program.
func Open(ctx context.Context, p *Process, need Part) (*App, error) {
	for _, line := range UnknownVariables(p.Environ, DotenvDir(p.Env, p.Dir)) {
		fmt.Fprintln(p.Err, "familiar:", line)
	}
	a, err := configure(p)
	if err != nil {
		return nil, err
	}
	a.owns = need == ToServe
	for _, step := range []struct {
		of   Part
		open func(context.Context, *Process) error
	}{
		{ToAnswer, a.openModels}, {ToSearch, a.openStore}, {ToRead, a.openReader}, {ToSearch, a.openEngine}, {ToServe, a.openFiles}, {ToServe, a.openEmbeddings}, {ToAnswer, a.openActor}, {ToServe, a.openCast},
	} {
		if step.of > need {
			continue
		}
		if err := step.open(ctx, p); err != nil {
			a.Close()
			return nil, err
		}
	}
	return a, nil
}

// configure opens the configuration and the character.
func configure(p *Process) (*App, error) {
	c, wrong := ReadConfig(p.Env, p.Dir)
	if c == nil {
		return nil, wrong
	}
	a := &App{Config: c, Redact: c.Redactor(), agent: Agent(p.Version, c.Get("FAMILIAR_CONTACT")), version: p.Version, wanted: p.Model}
	logs, err := a.logWriter(p)
	if err != nil {
		return nil, err
	}
	level := c.Value("FAMILIAR_LOG")
	if level.Source == "default" && p.LogLevel != "" && p.Log == "" {
		level.Text = p.LogLevel
	}
	a.journal = &console.Journal{}
	a.Log = logger(logs, a.journal, level.Text, c.Get("FAMILIAR_LOG_FORMAT"), p.Interactive && p.Log == "", a.Redact)
	a.Character, err = LoadCharacter(c, p.Dir)
	if wrong = JoinProblems(wrong, err); wrong != nil {
		return nil, wrong
	}
	return a, nil
}

func (a *App) openModels(ctx context.Context, p *Process) (err error) {
	a.server, err = a.chooseServer(ctx, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.models = a.modelsOf(a.Character)
	return err
}

// openStore opens the store. If another process owns it, commands other than run work beside that process.
func (a *App) openStore(ctx context.Context, p *Process) (err error) {
	place := a.Config.Place(p.Dir)
	if a.owns {
		a.Store, err = store.Share(ctx, place)
	} else {
		a.Store, a.Beside, err = OpenShared(ctx, p, place)
	}
	if err != nil {
		return err
	}
	a.Memories, a.Vectors = memory.New(a.Store), memory.NewVectors(a.Store)
	a.Traces = &trace.Store{DB: a.Store, Redact: a.Redact.String}
	a.Forgetter = &forget.Forgetter{Traces: a.Traces, Memories: a.Memories, Caches: a.emptyCaches}
	if a.Beside {
		return nil
	}
	return a.Memories.Start(ctx)
}

// OpenShared opens a store for writing. beside says that another process owns it, which is printed.
func OpenShared(ctx context.Context, p *Process, dir string) (db *store.DB, beside bool, err error) {
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
	fmt.Fprintf(p.Err, "familiar: %s runs on the same data; this works beside it, and is recorded there, too\n", owner)
	return other, true, nil
}

// openReader makes the fetcher, the services of well-known sites, and the lists for both.
func (a *App) openReader(_ context.Context, p *Process) (err error) {
	far := p.Far
	if a.Domains, err = domainsOf(a.Character); err != nil {
		return err
	}
	services := a.client
	if far.Services != nil {
		services = far.Services
	}
	a.Reader = &read.Reader{Services: read.NewServices(read.ServicesConfig{
		Client: services, UserAgent: a.agent, GitHubToken: a.Config.Get("GITHUB_TOKEN"), StackExchangeKey: a.Config.Get("STACKEXCHANGE_KEY"),
	})}
	c := fetch.Config{UserAgent: a.agent, Resolver: far.Resolver, Dial: far.Dial, RootCAs: far.Roots}
	if c.Deny, err = prefixes(a.Config.Get("FAMILIAR_WEB_DENY")); err != nil {
		return err
	}
	if a.cache, err = a.Config.WebCache(p.Dir); err != nil {
		return Problems{err.Error()}
	}
	c.CacheDir, c.CacheDirBytes = a.cache.pages, a.cache.pageBytes
	a.Reader.Fetcher, err = fetch.New(c)
	return err
}

// Uncapped removes the limits on lookups: at a terminal, the operator asks.
func (a *App) Uncapped() *App {
	policy := &a.Actor.Lookup.Policy
	policy.PerMinute, policy.PerSession, policy.PerDay = 0, 0, 0
	return a
}

// Bot returns the character behind a door.
func (a *App) Bot(door bot.Door, pace bot.Pace) *bot.Bot {
	return &bot.Bot{
		Door: door, Cast: &bot.Cast{Default: a.Actor}, Store: a.Store, Memories: a.Memories, Traces: a.Traces, Forgetter: a.Forgetter,
		Gate: &gate.Gate{Store: a.Store, Log: a.Log}, Redact: a.Redact, Log: a.Log, Pace: pace, Now: time.Now, WebOff: a.Config.Get("FAMILIAR_WEB") == "off", Cure: a.diagnose,
	}
}

// emptyCaches deletes searches and pages from memory and from disk, and turns that were taken again.
func (a *App) emptyCaches() error {
	var errs []error
	if a.Engine != nil {
		errs = append(errs, a.Engine.Forget())
	}
	if a.Reader != nil {
		errs = append(errs, a.Reader.Forget())
	}
	if pages := a.shown.Load(); pages != nil {
		pages.Forget()
	}
	return errors.Join(errs...)
}

// client returns the HTTP client of a service that the operator chose.
func (a *App) client(origin string) *http.Client {
	return api.Client(api.Service{Origin: origin, UserAgent: a.agent, Redact: a.Redact.String})
}

// Close waits for abandoned work and closes what is open.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if a.Actor != nil {
		errs = append(errs, a.cast.wait(ctx, a.Actor))
	}
	if a.summaries != nil {
		a.summaries.Close()
	}
	if a.Engine != nil {
		errs = append(errs, a.Engine.Close(ctx))
		a.Log.Debug("searches", "cache", a.Engine.Stats())
	}
	if r := a.Reader; r != nil {
		r.Wait()
		r.Services.Close()
		if r.Fetcher != nil {
			r.Fetcher.Close()
			a.Log.Debug("pages", "cache", r.Fetcher.Stats())
		}
	}
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	if a.logFile != nil {
		errs = append(errs, a.logFile.Close())
	}
	return errors.Join(errs...)
}

func Agent(version, contact string) string {
	if contact == "" {
		return "familiar/" + version
	}
	return fmt.Sprintf("familiar/%s (+%s)", version, contact)
}

// logWriter returns where the log goes. It is a file, or the error output, so that what the program prints can be piped.
func (a *App) logWriter(p *Process) (io.Writer, error) {
	if p.Log == "" {
		return p.Err, nil
	}
	dir := Resolve(p.Dir, a.Config.Get("FAMILIAR_DATA"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, p.Log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	a.logFile = f
	return f, nil
}

// logger returns a log that redacts secrets. The journal gets its lines as text, too.
func logger(to, journal io.Writer, level, format string, colour bool, r *clean.Redactor) *slog.Logger {
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
	var first slog.Handler = tint.NewTextHandler(to, &tint.Options{Level: l, TimeFormat: time.DateTime, NoColor: !colour, ReplaceAttr: hide})
	if format == "json" {
		first = slog.NewJSONHandler(to, &slog.HandlerOptions{Level: l, ReplaceAttr: hide})
	}
	return slog.New(slog.NewMultiHandler(first, tint.NewTextHandler(journal, &tint.Options{Level: l, TimeFormat: time.DateTime, NoColor: true, ReplaceAttr: hide})))
}

// OpenBackendsList opens what a list of the backends needs. Without probe it asks and writes nothing, and works without a store.
func OpenBackendsList(ctx context.Context, p *Process, probe bool) (*App, error) {
	if probe {
		a, err := Open(ctx, p, ToSearch)
		if err != nil {
			return nil, err
		}
		return a, a.NeedWeb()
	}
	a, err := Open(ctx, p, ToConfigure)
	if err != nil {
		return nil, err
	}
	a.Store, err = store.Look(ctx, a.Config.Place(p.Dir))
	var trouble *store.Error
	switch {
	case errors.As(err, &trouble) && trouble.Kind == store.Missing:
		a.Store = nil // nothing has been asked yet
	case err != nil:
		return nil, err
	default:
		a.Traces = &trace.Store{DB: a.Store}
	}
	return a, a.openEngine(ctx, p)
}
