// Package console serves the operator's web pages: running and finished turns, lookups, memory, characters, and costs.
//
// The server writes the pages with html/template from templates/. They work without JavaScript; static/console.js makes
// them live. Everything is embedded, and nothing is loaded from other hosts. A tour:
//
//   - console.go listens and routes. access.go checks who may enter (Host, origin, token), sets the headers, and serves
//     the form for the token.
//   - render.go fills a template and removes secrets from the result.
//   - The pages: status.go (what runs now, backends, usage, the doctor), conversation.go (channels and people),
//     search.go with filter.go, turn.go with timeline.go. There are also memory.go, characters.go, sources.go. Every
//     change is a POST of a form. Deletions are confirmed on a page of their own.
//   - operate.go does to the running bot what people's commands do, and puts each act on record.
//   - feed.go collects the progress of turns and sends it to open pages.
//
// The console reads records and memory from their stores, and everything else through the functions of [Config].
package console

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/memory"
	"familiar/internal/providers/character"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// Config configures a [Console]. Store, Memories, Traces and Feed are required. A function that is nil hides its part of the
// pages.
type Config struct {
	Store    *store.DB
	Memories *memory.Store
	Traces   *trace.Store
	Feed     *Feed
	Redact   func(string) string // removes secrets from pages
	Log      *slog.Logger        // nil disables logging
	Version  string
	Zone     *time.Location // time zone of the pages; nil means UTC

	Token string   // required to enter; empty lets in everybody who can reach the address
	Hosts []string // names of the console in addition to the loopback ones

	// Proxies are the addresses of proxies in front of the pages. Their X-Forwarded-For is believed.
	Proxies []netip.Prefix

	// Prefix is the path under which a proxy serves the pages, such as "/familiar". The proxy may pass it on or not.
	Prefix string

	Gateway  func() turn.Gateway
	Lanes    func() []turn.Lane
	Limited  func() int64 // how often Discord has answered 429 since the start
	Quotas   func(context.Context) ([]Quota, error)
	Channel  func(id string) string // its name, or empty
	Backends func(context.Context) ([]backend.Status, error)
	Cast     func() []*character.Character // that are in force; required if Shelf is set
	Shelf    *Shelf
	Controls *Controls
	Doctor   func(context.Context, doctor.Progress) []doctor.Finding // must return in reasonable time, even if no service answers

	Telemetry http.Handler // /metrics, /healthz, /readyz and /debug/pprof/; nil disables them
}

// Console serves the pages. Create it with [New].
type Console struct {
	Config
	read  func() (*templates, error) // called when the first page is opened, because templates take memory
	cross *http.CrossOriginProtection
	locks attempts
	seen  sightings

	checks      job[doctor.Standing]
	replays     job[replayed]
	inspections job[inspected]
	counts      job[counted]
}

// New checks c and returns a Console.
func New(c Config) (*Console, error) {
	if c.Store == nil || c.Traces == nil || c.Feed == nil {
		return nil, errors.New("make console: store, traces and feed are required")
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

// Handler returns the handler for all pages. It checks who may see them.
func (k *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", k.now)
	mux.HandleFunc("GET /live", k.live)
	mux.HandleFunc("GET /turns", k.search)
	mux.HandleFunc("GET /turn/{id}", k.turn)
	mux.HandleFunc("GET /turns.jsonl", k.export)
	mux.HandleFunc("POST /views", k.saveView)
	mux.HandleFunc("GET /channels", k.channels)
	mux.HandleFunc("GET /channel/{id}", k.channel)
	mux.HandleFunc("GET /person/{id}", k.person)
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
	mux.HandleFunc("GET /health", k.health)
	if k.Shelf != nil {
		mux.HandleFunc("GET /sources/{id}", k.trust)
		mux.HandleFunc("POST /sources/{id}", k.saveTrust)
		mux.HandleFunc("GET /characters", k.characters)
		mux.HandleFunc("POST /characters", k.importCard)
		mux.HandleFunc("GET /characters/{id}", k.edit)
		mux.HandleFunc("POST /characters/{id}", k.saveFile)
		mux.HandleFunc("POST /characters/{id}/check", k.checkFile)
	}
	if k.Controls != nil {
		mux.HandleFunc("GET /operate", k.operate)
		mux.HandleFunc("POST /operate/switch", k.switchPlace)
		mux.HandleFunc("POST /operate/quotas", k.setLimits)
		mux.HandleFunc("POST /operate/check", k.inspect)
		mux.HandleFunc("POST /channel/{id}", k.setWay)
		mux.HandleFunc("POST /person/{id}/count", k.countPerson)
		mux.HandleFunc("POST /turn/{id}/stop", k.stopTurn)
		mux.HandleFunc("GET /turn/{id}/delete", k.askDeleteReply)
		mux.HandleFunc("POST /turn/{id}/delete", k.deleteReply)
		mux.HandleFunc("GET /turn/{id}/replay", k.replay)
		mux.HandleFunc("POST /turn/{id}/replay", k.takeAgain)
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
	if k.Token != "" {
		mux.HandleFunc("GET /sessions", k.showSessions)
		mux.HandleFunc("POST /sessions", k.revoke)
	}
	mux.HandleFunc("GET /static/{name}", k.static)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		k.fail(w, r, http.StatusNotFound, "There is no such page.")
	})
	return k.unprefixed(k.guarded(mux))
}

// unprefixed takes the path of a proxy off requests that have it.
func (k *Console) unprefixed(next http.Handler) http.Handler {
	bare := http.StripPrefix(k.Prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k.Prefix != "" && strings.HasPrefix(r.URL.Path, k.Prefix+"/") {
			bare.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// redirect sends the reader to another page of the console.
func (k *Console) redirect(w http.ResponseWriter, r *http.Request, to string) {
	http.Redirect(w, r, k.Prefix+to, http.StatusSeeOther)
}

// Time limits of a request. Live pages have a limit for each write instead.
const (
	headerLimit = 5 * time.Second
	readLimit   = 15 * time.Second
	writeLimit  = 60 * time.Second
	idleLimit   = 20 * time.Second
	closeLimit  = 3 * time.Second
	maxHeader   = 32 << 10
	maxForm     = 1 << 20
	// maxConnections is how many connections are open. Others wait until one ends, and one without a request ends after headerLimit.
	maxConnections = 256
)

// Serve answers requests on a listener until ctx is done, and waits for those in progress. It closes the listener.
func (k *Console) Serve(ctx context.Context, l net.Listener) error {
	open, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	server := &http.Server{
		Handler: k.Handler(), ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return open },
		ErrorLog: slog.NewLogLogger(k.Log.Handler(), slog.LevelDebug),
	}
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		k.broadcast(open)
	}()
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		end() // live pages do not end by themselves
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		err := server.Shutdown(limit)
		if errors.Is(err, context.DeadlineExceeded) { // a browser keeps a connection ready, or reads slowly
			err = nil
		}
		closed <- err
	})
	err := server.Serve(netutil.LimitListener(l, maxConnections))
	if !stop() {
		err = errors.Join(<-closed, server.Close())
	}
	end()
	k.checks.end()
	k.replays.end()
	k.inspections.end()
	k.counts.end()
	<-watching
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
