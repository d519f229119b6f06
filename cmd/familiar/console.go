package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/characters"
	"familiar/internal/bot"
	"familiar/internal/bot/discord"
	"familiar/internal/console"
	"familiar/internal/providers/character"
	"familiar/internal/store"
)

const (
	// leastToken is how long a token must be that lets people in from elsewhere.
	leastToken = 16
	// pastLife is for how long the console shows what the records said of search services.
	pastLife = time.Minute
)

// checkConsole returns what is wrong with where the console is to be served: from another address than loopback, only with a token.
func checkConsole(c *config) error {
	at := c.get("FAMILIAR_CONSOLE")
	if at == nowhere || checkListen(at) != nil {
		return nil // or complained about already
	}
	host, _, _ := net.SplitHostPort(at)
	addr, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && addr.IsLoopback() {
		return nil
	}
	if token := c.get("FAMILIAR_CONSOLE_TOKEN"); len(token) < leastToken {
		return fmt.Errorf("%s can be reached from other machines: set FAMILIAR_CONSOLE_TOKEN, or FAMILIAR_CONSOLE_TOKEN_FILE, to at least %d characters (openssl rand -hex 24), or serve it on 127.0.0.1", at, leastToken)
	}
	return nil
}

// checkConsoleHosts refuses what no Host header holds behind its port.
func checkConsoleHosts(text string) error {
	for name := range strings.FieldsFuncSeq(text, isBetween) {
		if strings.ContainsAny(name, ":/") {
			return fmt.Errorf("it must be names alone, such as familiar.example.org, without a scheme and a port, not %q", name)
		}
	}
	return nil
}

// listenConsole opens the console's address. It is nil where the console is off or cannot be served, which ends nothing: the log names the
// cure.
func (a *app) listenConsole(ctx context.Context) net.Listener {
	at := a.config.get("FAMILIAR_CONSOLE")
	if at == nowhere {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		a.log.Warn("the console is not served; set FAMILIAR_CONSOLE to another address such as 127.0.0.1:8808, or to off", "err", err)
		return nil
	}
	return l
}

// serveConsole serves the pages until ctx is done, if they are served at all.
func (a *app) serveConsole(ctx context.Context, p *program, b *bot.Bot, session *discord.Session, watching *telemetry, files *reloader, background *sync.WaitGroup) error {
	l := a.listenConsole(ctx)
	if l == nil {
		return nil
	}
	pages, err := a.console(p, b, session, watching, files)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a.pages = consoleAddress(l)
	background.Go(func() {
		if err := pages.Serve(ctx, l); err != nil {
			a.log.Error("serve the console", "err", err)
		}
	})
	return nil
}

// consoleAddress is where people open the console.
func consoleAddress(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if addr, bad := netip.ParseAddr(host); err == nil && bad == nil && addr.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// console puts the operator's pages together.
func (a *app) console(p *program, b *bot.Bot, session *discord.Session, watching *telemetry, files *reloader) (*console.Console, error) {
	feed := &console.Feed{}
	b.Progress = feed.Publish
	past := &pastOfBackends{app: a}
	return console.New(console.Config{
		Store: a.store, Traces: a.traces, Feed: feed, Redact: a.redact.String, Log: a.log, Version: version(), Zone: time.Local,
		Token: a.config.get("FAMILIAR_CONSOLE_TOKEN"), Hosts: a.consoleHosts(),
		Gateway: func() console.Gateway {
			h := session.Health()
			return console.Gateway{Connected: h.Connected, Since: h.Since, Latency: h.Latency, Servers: h.Guilds, Resumes: h.Resumes, Trouble: h.Trouble}
		},
		Lanes: func() (all []console.Lane) {
			for _, l := range b.Lanes() {
				all = append(all, console.Lane(l))
			}
			return all
		},
		Quotas: a.consoleQuotas, Channel: session.ChannelName, Backends: past.backends, Doctor: p.examine,
		Telemetry: watching.handler(a.config.get("FAMILIAR_CONSOLE")),
		Trust: func() (all []console.Trust) {
			for _, actor := range everybody(a.cast.get()) {
				all = append(all, trustOf(actor.Character))
			}
			return all
		},
		Shelf: &console.Shelf{
			Dir: files.root(), BuiltIn: characters.FS, Reload: files.again,
			InForce: func(id string) *character.Character {
				if actor := a.cast.actor(id); actor != nil {
					return actor.Character
				}
				return nil
			},
		},
	})
}

// consoleHosts are the names by which the console is reached: those that are set, and that of the address.
func (a *app) consoleHosts() []string {
	all := a.config.list("FAMILIAR_CONSOLE_HOSTS")
	if host, _, err := net.SplitHostPort(a.config.get("FAMILIAR_CONSOLE")); err == nil && host != "" {
		all = append(all, host)
	}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// consoleQuotas are those for all together, and what of them is used today.
func (a *app) consoleQuotas(ctx context.Context) (all []console.Quota, err error) {
	used, err := a.store.Usage(ctx, time.Now(), store.Party{})
	for _, q := range a.meter.Quotas {
		if q.Scope == store.OfAll {
			all = append(all, console.Quota{Name: "All, " + q.Of + " today", Used: q.Used(used[store.OfAll]), Most: q.Most})
		}
	}
	return all, err
}

func trustOf(c *character.Character) console.Trust {
	t := console.Trust{ID: c.ID, Name: c.Name, Allow: c.Web.Allow, Deny: c.Web.Deny}
	for intent, sites := range c.Web.Trusted {
		if len(sites) > 0 {
			t.Kinds = append(t.Kinds, console.TrustedKind{Intent: intent, Sites: sites, Only: slices.Contains(c.Web.TrustedOnly, intent)})
		}
	}
	slices.SortFunc(t.Kinds, func(a, b console.TrustedKind) int { return strings.Compare(a.Intent, b.Intent) })
	return t
}

// pastOfBackends keeps for a while what the records say of search services: it is read from many of them.
type pastOfBackends struct {
	app  *app
	mu   sync.Mutex
	past map[string]seen // guarded by mu
	at   time.Time       // guarded by mu
}

func (b *pastOfBackends) backends(ctx context.Context) (all []console.Backend, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.at) > pastLife {
		past, err := b.app.past(ctx)
		if err != nil {
			return nil, err
		}
		b.past, b.at = past, time.Now()
	}
	list := b.app.tableOfBackends()
	b.app.knowBackends(ctx, list, b.past)
	for _, l := range list {
		one := console.Backend{
			Name: l.Name, On: l.On, Why: l.Why, Kind: l.Kind, Health: string(l.Health), Until: l.Until, Answers: l.Answers, P50: l.P50, P95: l.P95,
			Left: l.Left, Of: l.Of, Resets: l.Resets, Failure: string(l.Failure), Detail: l.Detail, FailedAt: l.FailedAt,
		}
		for _, in := range l.Intents {
			one.Intents = append(one.Intents, string(in))
		}
		all = append(all, one)
	}
	return all, nil
}

// errNotReloading is why what is saved is not in force at once.
var errNotReloading = errors.New("it is saved, and the program is about to end: the next start takes it")

// again has the files read once more, and returns when what is in order there is in force.
func (r *reloader) again(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case r.wanted <- done:
	case <-r.ended:
		return errNotReloading
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
