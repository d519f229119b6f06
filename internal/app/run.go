package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/command"
	"familiar/internal/console"
	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/providers/websearch"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Keys of notes in the store. They hold the fingerprint of the commands that Discord has, and the session of shard 0 that a restart
// resumes.
const (
	commandsNote = "discord.commands"
	sessionNote  = "discord.session"
)

func sessionOf(shard int) string {
	if shard == 0 {
		return sessionNote
	}
	return fmt.Sprintf("%s.%d", sessionNote, shard)
}

// followsReactions reports whether people's reactions matter to a character.
func followsReactions(a *bot.Actor) bool { return a.Reactions.Follow }

// Serve runs the gateway, the bot and the upkeep until ctx is done or Discord refuses the bot. When the gateway ends, its events are closed and
// the bot finishes the turns that have begun.
func (a *App) Serve(ctx context.Context, p *Process) error {
	base := a.Config.Get("DISCORD_API_URL")
	commands := &command.Commands{Operator: a.Config.Get("DISCORD_OPERATOR")} // opens forms once the session runs
	ready := make(chan struct{})
	settings := discord.Config{
		Token: a.Config.Get("DISCORD_TOKEN"), HTTP: a.client(base), BaseURL: base, Log: a.Log, Redact: a.Redact.String,
		PerSecond: p.Far.PerSecond, Operator: a.Config.Get("DISCORD_OPERATOR"), Reactions: slices.ContainsFunc(a.cast.get().All(), followsReactions), Commands: command.Definitions(a.cast.get()),
		Proxies:  a.Config.set("DISCORD_PROXIES"),
		OnReady:  func(r discord.Ready) { a.greet(p.Out, r); close(ready) },
		LoadHash: func(ctx context.Context) (string, error) { return a.note(ctx, commandsNote) },
		SaveHash: func(ctx context.Context, hash string) error { return a.Store.Notes.Set(ctx, commandsNote, hash) },
		Shards:   a.Config.Count("FAMILIAR_SHARDS"),
		LoadSession: func(ctx context.Context, shard int) (text string, saved time.Time, err error) {
			text, err = a.note(ctx, sessionOf(shard))
			return text, saved, err
		},
		SaveSession: func(ctx context.Context, shard int, session string) error {
			return a.Store.Notes.Set(ctx, sessionOf(shard), session)
		},
		LoadServers: func(ctx context.Context) (map[string]string, error) {
			return a.Store.Notes.Under(ctx, store.ServerNote)
		},
		SaveServers: func(ctx context.Context, changed map[string]string) error {
			return a.Store.Notes.SetUnder(ctx, store.ServerNote, changed)
		},
		Taken:   a.Store.Claims.Taken,
		Overdue: func(events []turn.Event) { commands.Bot.Overdue(events) },
		Form:    commands.Form, Alike: clean.Alike,
		LoadWebhook: a.loadWebhook, Keeps: a.Store.Claims.Posted,
		SaveWebhook: func(ctx context.Context, guildID, channelID string, w discord.Webhook) error {
			return a.Store.Webhooks.Set(ctx, store.Webhook{ChannelID: channelID, GuildID: guildID, ID: w.ID, Token: w.Token})
		},
	}
	stopping, told := ctx, make(chan struct{})
	inherited, err := a.share(&settings, p, func(ctx context.Context, mine func(string) bool, pass func(func() []string)) {
		if stopping.Err() == nil || a.others() {
			commands.Bot.Yield(ctx, mine, pass)
			return
		}
		select { // nobody takes up what waits, so the bot tells who does
		case <-told:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	session, err := discord.New(settings)
	if err != nil {
		return Problems{err.Error()}
	}
	b := a.Bot(session, bot.Pace{First: 200 * time.Millisecond, Every: 1200 * time.Millisecond, Units: 2000, Label: discord.Label, Buttons: true, Names: true})
	b.Cast, b.Profile, b.Present = a.cast.get(), session.Profile, session.Present
	commands.Bot, commands.Prepare, commands.Namesake, commands.Contentless = b, session.PreparePersonas, session.Namesake, session.Contentless
	b.Commands, commands.Import = commands.Do, a.importer(p)
	b.Files, b.Listener, a.files.Reread = a.files, a.listener(), session.Message
	b.Servers, a.servers.Platform = a.servers, session
	b.Replies, b.Earlier, b.Now, b.Doubted, a.Store.Now = session.Replies, session.Earlier, session.Now, session.Doubted, session.Now
	b.Resume, b.Clocked, b.Inherited, b.Others, b.Gate = true, session.Clocked(), inherited, a.others, a.gate
	b.Gate.Now, b.Gate.MayPost, b.Gate.PerPerson = session.Now, session.MayPost, a.Config.Count("FAMILIAR_TURNS_PER_MINUTE")
	b.Gate.Access = gate.Access{Allow: a.Config.set("DISCORD_ALLOW"), Deny: a.Config.set("DISCORD_DENY")}

	watching, err := a.openTelemetry(session)
	if err != nil {
		return err
	}
	watching.watch(b)
	watching.start(ctx)
	defer watching.close()

	feed := &console.Feed{}
	ctx = llm.Observed(ctx, func(c llm.Call) { // those that belong to no turn
		of := c.Record()
		if feed.Aside(of, c.Err != nil); watching.exporter != nil {
			watching.exporter.Call(of)
		}
	})
	var background sync.WaitGroup
	defer background.Wait()
	upkeep, done := context.WithCancel(ctx)
	defer done()
	background.Go(func() { a.Upkeep(upkeep, session) })
	background.Go(func() { a.EraseOnRequest(upkeep, b) })
	_, tuned := p.Env("GOGC")
	background.Go(func() { watchFootprint(upkeep, tuned) })
	if w := a.memoryWriter(p.Far); w != nil {
		b.Learns = true
		background.Go(func() { a.leading(upkeep, w.Run) })
	}
	background.Go(func() { a.leading(upkeep, func(ctx context.Context) { a.embed(ctx, p.Far.Embed) }) })
	files := &reloader{app: a, process: p, bot: b, session: session, wanted: make(chan chan struct{}), ended: make(chan struct{})}
	if err := a.serveConsole(upkeep, p, b, session, watching, feed, files, &background); err != nil {
		return err
	}
	background.Go(func() { files.run(upkeep) })
	background.Go(func() { a.newAlerts(p, files.post).run(upkeep, cmp.Or(p.Far.Alerts, alertsEvery)) })

	if inherited != nil { // the others answer meanwhile
		a.warm(ctx)
	} else {
		background.Go(func() {
			select {
			case <-ready:
				a.warm(upkeep)
			case <-upkeep.Done():
			}
		})
	}
	failed := make(chan error, 1)
	connected, hangUp := context.WithCancel(ctx)
	defer hangUp()
	background.Go(func() { failed <- session.Run(connected) })
	b.Run(ctx, session.Events())
	close(told)
	hangUp()
	err = <-failed
	if fatal, ok := errors.AsType[*discord.Fatal](err); ok {
		return Problems{fatal.Error()}
	}
	if ctx.Err() != nil {
		return nil // a signal
	}
	return err
}

// others reports whether other processes share the bot's shards.
func (a *App) others() bool { return a.Store.Leases.Shared() && a.Store.Leases.Live() > 1 }

// share has the processes that share a database share the bot's shards. It returns what brings the servers that this process begins to act
// for, or nil if nothing is shared.
func (a *App) share(c *discord.Config, p *Process, yield func(context.Context, func(string) bool, func(func() []string))) (<-chan bot.Inheritance, error) {
	leases := a.Store.Leases
	if !leases.Shared() {
		return nil, nil
	}
	if err := leases.Remember(Resolve(p.Dir, a.Config.Get("FAMILIAR_DATA"))); err != nil {
		return nil, err
	}
	inherited := make(chan bot.Inheritance)
	leases.ShardOf, leases.Version = discord.ShardOf, a.version
	c.Holder, c.LoadSession, c.SaveSession = leases, leases.Session, leases.SaveSession
	c.SaveServers, c.Yield = leases.SaveServers, yield
	c.Inherit = func(ctx context.Context, shard int, mine func(guildID string) bool) (later func()) {
		bring := func(h bot.Inheritance) {
			select {
			case inherited <- h:
			case <-ctx.Done():
			}
		}
		finishing := leases.Finishing(ctx, shard)
		bring(bot.Inheritance{Mine: mine, Finishing: finishing})
		if len(finishing) == 0 {
			return nil
		}
		return func() {
			leases.Finished(ctx, shard)
			bring(bot.Inheritance{Mine: mine, Finishing: finishing, Over: true})
		}
	}
	return inherited, nil
}

// embed makes vectors of what is kept until ctx is done. If no service is configured any more, it deletes the vectors.
func (a *App) embed(ctx context.Context, every time.Duration) {
	if a.embeddings == nil {
		_, err := a.Vectors.DeleteOthers(ctx, "")
		a.tidied(ctx, "delete vectors", err)
		return
	}
	(&memory.Indexer{Vectors: a.Vectors, Service: a.embeddings, Log: a.Log, Every: every}).Run(ctx)
}

// memoryWriter returns what learns from conversations, or nil if that is off or there is no model.
func (a *App) memoryWriter(far Far) *memory.Writer {
	if a.Config.Get("FAMILIAR_LEARN") == "off" || a.models.side == nil {
		return nil
	}
	return &memory.Writer{
		Memories: a.Memories, Redact: a.Redact.String, Log: a.Log, PerHour: a.Config.Count("FAMILIAR_LEARN_PER_HOUR"),
		Idle: far.Idle, Allows: a.gate.Allows, Count: a.gate.CountAside, Side: func() *llm.Client { return a.cast.get().Default.Side },
	}
}

// loadWebhook returns the webhook of a channel that the store keeps, or a zero one.
func (a *App) loadWebhook(ctx context.Context, channelID string) (discord.Webhook, error) {
	w, err := a.Store.Webhooks.Get(ctx, channelID)
	if errors.Is(err, store.ErrNotFound) {
		return discord.Webhook{}, nil
	}
	return discord.Webhook{ID: w.ID, Token: w.Token}, err
}

// note returns a note of the store, "" if there is none.
func (a *App) note(ctx context.Context, key string) (string, error) {
	text, err := a.Store.Notes.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return text, err
}

// mostGreeted is how many servers are named at the start.
const mostGreeted = 50

// greet prints which bot is connected to which servers, what it uses, and what is off and why. It is one write, so that no line of the log
// comes between.
func (a *App) greet(w io.Writer, r discord.Ready) {
	out := &strings.Builder{}
	defer func() { fmt.Fprint(w, out) }()
	fmt.Fprintf(out, "%s is here, as %s (%s).\n", a.Character.Name, r.Name, r.ID)
	fmt.Fprintf(out, "  invite    %s\n", r.Invite)
	servers := "none yet: open the link above"
	switch n := len(r.Guilds); {
	case n > mostGreeted:
		servers = fmt.Sprintf("%s, and %d more", strings.Join(r.Guilds[:mostGreeted], ", "), n-mostGreeted)
	case n > 0:
		servers = strings.Join(r.Guilds, ", ")
	}
	fmt.Fprintf(out, "  servers   %s\n", servers)
	if r.Contentless {
		fmt.Fprintln(out, "  reads     only mentions, replies with a ping and direct messages: switch on \"Message Content Intent\" at the developer portal for the rest")
	}
	if all := names(a.cast.get()); len(all) > 1 {
		fmt.Fprintf(out, "  speak     %s\n", strings.Join(all, ", "))
	}
	a.Describe(out, 0)
	a.describeOff(out)
}

// Describe prints which model answers and which services are searched. Lines are broken at width, unless it is 0.
func (a *App) Describe(out io.Writer, width int) {
	say := func(label, format string, values ...any) {
		fmt.Fprintln(out, text.Hanging(fmt.Sprintf("  %-9s %s", label, fmt.Sprintf(format, values...)), 12, width))
	}
	say("model", "%s", a.models.describe())
	var names []string
	for _, b := range a.Backends.On {
		names = append(names, b.Name())
	}
	say("searches", "%s", strings.Join(names, ", "))
	switch {
	case a.Config.Get("FAMILIAR_WEB") == "off":
		say("off", "the web: FAMILIAR_WEB is off")
	case !a.Character.Web.Enabled:
		say("off", "the web: the character's web.enabled is false")
	}
	for _, line := range a.Config.Plain() {
		say("note", "%s", line)
	}
	if a.pages != "" {
		say("console", "%s", a.pages)
	}
	say("data", "%s", a.Config.Get("FAMILIAR_DATA"))
	if place := a.Config.Get("FAMILIAR_DATABASE"); place != "" {
		say("database", "%s", store.ShownPlace(place))
	}
}

// describeOff prints which search services are off, and why.
func (a *App) describeOff(out io.Writer) {
	var keyless []string
	for _, off := range a.Backends.Off {
		if off.Key != "" {
			keyless = append(keyless, off.Name)
			continue
		}
		fmt.Fprintf(out, "  off       %s: %s\n", off.Name, off.Why)
	}
	if keyless != nil {
		fmt.Fprintf(out, "  off       %s: no key\n", strings.Join(keyless, ", "))
	}
}

// warmLimit is how long warm may take.
const warmLimit = 10 * time.Second

// warm does what the first turn would otherwise wait for. It makes the tables of words, prepares the statements that a prompt needs, and opens
// a connection to the model. Nobody sees its prompt, and nothing of it is kept.
func (a *App) warm(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, warmLimit)
	defer done()
	actor := a.cast.get().Default
	limits := actor.Modes[turn.Text]
	req := turn.Request{
		Character: actor.ID, ChannelID: "0", Mode: turn.Text, Addressed: turn.ByDirect,
		Message: turn.Message{ID: "0", ChannelID: "0", Text: "Good morning, how are you?", At: time.Now()}, Names: []string{actor.Name},
		Budget: turn.Budget{Total: limits.Total, Layers: limits.Layers}, Deadline: time.Now().Add(warmLimit),
	}
	websearch.Warm(req)
	memory.Warm(a.Redact, req)
	actor.Builder.Build(ctx, req)
	if actor.Model != nil {
		_, _ = actor.Model.Models(ctx) // a turn says what is wrong with a model
	}
}
