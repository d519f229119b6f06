package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"familiar/card"
	"familiar/characters"
	"familiar/internal/bot"
	"familiar/internal/console"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/doctor"
	"familiar/internal/providers/character"
	"familiar/internal/store"
	"familiar/internal/text"
)

// leastToken is the shortest token that lets people in from other machines.
const leastToken = 16

// checkConsole refuses an address that other machines can reach, unless a token is set.
func checkConsole(c *Config) error {
	at := c.Get("FAMILIAR_CONSOLE")
	if at == Nowhere || checkListen(at) != nil {
		return nil // or reported already
	}
	host, _, _ := net.SplitHostPort(at)
	addr, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && addr.IsLoopback() {
		return nil
	}
	if token := c.Get("FAMILIAR_CONSOLE_TOKEN"); len(token) < leastToken {
		return fmt.Errorf("%s can be reached from other machines: set FAMILIAR_CONSOLE_TOKEN, or FAMILIAR_CONSOLE_TOKEN_FILE, to at least %d characters (openssl rand -hex 24), or serve it on 127.0.0.1", at, leastToken)
	}
	return nil
}

// checkConsoleHosts refuses what cannot be the name of a host.
func checkConsoleHosts(text string) error {
	for name := range strings.FieldsFuncSeq(text, isBetween) {
		if strings.ContainsAny(name, ":/") {
			return fmt.Errorf("it must be only names, such as familiar.example.org, without a scheme and a port, not %q", name)
		}
	}
	return nil
}

// checkConsolePath refuses what is not a path of plain names, without a slash at its end.
func checkConsolePath(text string) error {
	if text != "" && !plainPath.MatchString(text) {
		return fmt.Errorf("it must be a path such as /familiar, of letters, digits, - and _, without a slash at its end, not %q", text)
	}
	return nil
}

var plainPath = text.NewLazyRegexp(`^(/[A-Za-z0-9_-]+)+$`)

// listenConsole opens the console's address. It returns nil if the console is off or the address cannot be opened. The program goes on, and
// the log says what to do.
func (a *App) listenConsole(ctx context.Context) net.Listener {
	at := a.Config.Get("FAMILIAR_CONSOLE")
	if at == Nowhere {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		a.Log.Warn("the console is not served; set FAMILIAR_CONSOLE to another address such as 127.0.0.1:8808, or to off", "err", err)
		return nil
	}
	return l
}

// serveConsole serves the pages until ctx is done, unless they are off.
func (a *App) serveConsole(ctx context.Context, p *Process, b *bot.Bot, session *discord.Session, watching *telemetryServer, feed *console.Feed, files *reloader, background *sync.WaitGroup) error {
	l := a.listenConsole(ctx)
	if l == nil {
		return nil
	}
	pages, err := a.console(p, b, session, watching, feed, files)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a.pages = consoleAddress(l)
	background.Go(func() {
		if err := pages.Serve(ctx, l); err != nil {
			a.Log.Error("serve the console", "err", err)
		}
	})
	return nil
}

// consoleAddress returns the URL at which people open the console.
func consoleAddress(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if addr, bad := netip.ParseAddr(host); err == nil && bad == nil && addr.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// console puts the operator's pages together.
func (a *App) console(p *Process, b *bot.Bot, session *discord.Session, watching *telemetryServer, feed *console.Feed, files *reloader) (*console.Console, error) {
	b.Progress = feed.Publish
	proxies, err := prefixes(a.Config.Get("FAMILIAR_CONSOLE_PROXY"))
	if err != nil {
		return nil, err
	}
	pages, err := console.New(console.Config{
		Store: a.Store, Memories: a.Memories, Traces: a.Traces, Feed: feed, Redact: a.Redact.String, Log: a.Log, Version: a.version, Zone: time.Local,
		Token: a.Config.Get("FAMILIAR_CONSOLE_TOKEN"), Proxies: proxies, Hosts: a.consoleHosts(), Prefix: a.Config.Get("FAMILIAR_CONSOLE_PATH"),
		Gateway: session.Health, Lanes: b.Lanes, Limited: session.Limited,
		Quotas: a.consoleQuotas, Channel: session.ChannelName, Backends: (&backendList{app: a}).get, Doctor: a.examine(p),
		Controls:  a.controls(p, b, session, files),
		Telemetry: watching.handler(a.Config.Get("FAMILIAR_CONSOLE")),
		Cast: func() (all []*character.Character) {
			for _, actor := range a.cast.get().All() {
				all = append(all, actor.Character)
			}
			return all
		},
		Shelf: &console.Shelf{
			Import: func(ctx context.Context, file string, card []byte, replace bool) (string, error) {
				got, err := Import{File: file, Data: card, Replace: replace}.Import(ctx, a.Config, p.Dir)
				return got.ID, err
			},
			Dir: files.root(), BuiltIn: characters.FS, Reload: files.again, Prompt: ownPrompt, MostBytes: card.MaxBytes,
		},
	})
	if err == nil {
		a.shown.Store(pages)
	}
	return pages, err
}

// ownPrompt returns the prompt for a request that only the character's own files give.
func ownPrompt(ctx context.Context, c *character.Character, r turn.Request) []turn.Rendered {
	builder := prompt.Builder{
		Providers: []prompt.Provider{&character.Provider{Character: c}}, BlockRole: c.Web.BlockRole, Clock: c.Location, Names: []string{c.Name},
	}
	return builder.Build(ctx, r).Messages
}

// parentLimit is how long a page waits for the channel above a thread.
const parentLimit = 300 * time.Millisecond

// controls are what the operator does to the bot from the pages.
func (a *App) controls(p *Process, b *bot.Bot, session *discord.Session, files *reloader) *console.Controls {
	return &console.Controls{
		Stop: b.Stop, Delete: b.DeleteReply, Pause: b.Pause, Count: a.Forgetter.Survey, SetLimits: files.setQuotas, Log: a.journal,
		Parent: func(ctx context.Context, channelID string) string {
			ctx, cancel := context.WithTimeout(ctx, parentLimit)
			defer cancel()
			parent, _ := session.Parent(ctx, channelID)
			return parent
		},
		Limits: func() string {
			var all []string
			for _, q := range a.gate.Limits() {
				all = append(all, q.String())
			}
			return strings.Join(all, ", ")
		},
		Replay: func(ctx context.Context, how console.Again) (console.Replayed, error) {
			quiet := *p
			quiet.Log, quiet.Err = "", io.Discard
			done, err := Replay(ctx, &quiet, Again{Turn: how.Turn, Character: how.Character, Model: how.Model, Answer: how.Ask != console.AskNobody, Live: how.Ask == console.AskAll})
			return console.Replayed(done), err
		},
	}
}

// setQuotas writes FAMILIAR_QUOTAS into .env, and returns when it is in force.
func (r *reloader) setQuotas(ctx context.Context, quotas string) error {
	if err := checkQuotas(quotas); err != nil {
		return err
	}
	quiet := *r.process
	quiet.Out, quiet.Interactive = io.Discard, false
	s, err := Setup(&quiet, strings.NewReader(""), doctor.Options{}, nil)
	if err != nil {
		return err
	}
	if v := r.app.Config.Value(quotasName); v.Text != "" && v.Source != "default" && !s.InDotenv(quotasName) {
		return fmt.Errorf("%s is set in %s, and not in .env: change it there", quotasName, v.Source)
	}
	if err := s.Set(doctor.Assignment{Name: quotasName, Value: quotas}); err != nil {
		return err
	}
	return r.again(ctx)
}

// consoleHosts returns the names by which the console may be reached: the configured ones and that of its address.
func (a *App) consoleHosts() []string {
	all := a.Config.list("FAMILIAR_CONSOLE_HOSTS")
	if host, _, err := net.SplitHostPort(a.Config.Get("FAMILIAR_CONSOLE")); err == nil && host != "" {
		all = append(all, host)
	}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// consoleQuotas returns the quotas for everybody together, with how much is used today.
func (a *App) consoleQuotas(ctx context.Context) (all []console.Quota, err error) {
	used, err := a.Store.Quotas.Usage(ctx, a.gate.Now(), store.Party{})
	for _, q := range a.gate.Limits() {
		if q.Scope == store.OfAll {
			all = append(all, console.Quota{Name: "All, " + q.Of + " today", Used: q.Used(used[store.OfAll]), Most: q.Most})
		}
	}
	return all, err
}

// errNotReloading says that a change was saved and is not in force yet.
var errNotReloading = errors.New("it is saved, and the program is about to end: the next start takes it")

// again reads the files, and returns when their good versions are in force.
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
