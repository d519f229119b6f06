package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/bot/discord"
	"familiar/internal/context/turn"
	"familiar/internal/embedding"
	"familiar/internal/footprint"
	"familiar/internal/llm"
	"familiar/internal/memory/writer"
	"familiar/internal/store"
	"familiar/internal/text"
)

// Where the store keeps the fingerprint of the commands that Discord has, and the session that a restart resumes.
const (
	commandsNote = "discord.commands"
	sessionNote  = "discord.session"
)

type runCommand struct{}

const discordHelp = `DISCORD_TOKEN is not set. It is the bot's token.
  1. Get it from ` + tokenHelp + `
  2. On the same page switch on the Message Content Intent: without it the bot reads only messages that mention it.
  3. Put DISCORD_TOKEN=… into .env in this directory, or into the environment, and start again.
  The bot then prints the link that invites it with the permissions it needs: View Channels, Send Messages,
  Send Messages in Threads, Read Message History.
  familiar init asks for all of that, tries it and writes .env. To talk to it without Discord: familiar chat`

// Run connects to Discord and stays until a signal comes.
func (runCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c, err := readConfig(p.env, p.dir)
	if c != nil && c.get("DISCORD_TOKEN") == "" {
		_, wrong := loadCharacter(c, p.dir)
		return joinProblems(joinProblems(err, wrong), problems{discordHelp})
	}
	return p.interruptible(stop, func() error {
		a, err := open(ctx, p, toServe)
		if err != nil {
			return err
		}
		return errors.Join(a.serve(ctx, p), a.close())
	})
}

// followsReactions reports whether people's reactions matter to a character.
func followsReactions(a *bot.Actor) bool { return a.Reactions.Follow }

// serve runs the gateway, the bot and the upkeep until ctx is done or Discord turns the bot away. The gateway's end
// closes the events, and the bot then finishes the turns that have begun.
func (a *app) serve(ctx context.Context, p *program) error {
	base := a.config.get("DISCORD_API_URL")
	var b *bot.Bot // opens forms once the session runs
	session, err := discord.New(discord.Config{
		Token: a.config.get("DISCORD_TOKEN"), HTTP: a.client(base), BaseURL: base, Log: a.log, Redact: a.redact.String,
		PerSecond: p.far.perSecond, Operator: a.config.get("DISCORD_OPERATOR"), Reactions: slices.ContainsFunc(everybody(a.cast.get()), followsReactions), Commands: bot.Commands(a.cast.get()),
		Proxies:     a.config.set("DISCORD_PROXIES"),
		OnReady:     func(r discord.Ready) { a.greet(p.out, r) },
		LoadHash:    func(ctx context.Context) (string, error) { return a.note(ctx, commandsNote) },
		SaveHash:    func(ctx context.Context, hash string) error { return a.store.SetNote(ctx, commandsNote, hash) },
		LoadSession: func(ctx context.Context) (string, error) { return a.note(ctx, sessionNote) },
		SaveSession: func(ctx context.Context, session string) error { return a.store.SetNote(ctx, sessionNote, session) },
		Form:        func(ctx context.Context, e turn.Event) (turn.Form, string) { return b.Form(ctx, e) },
		LoadWebhook: a.loadWebhook, Keeps: a.store.Posted,
		SaveWebhook: func(ctx context.Context, guildID, channelID string, w discord.Webhook) error {
			return a.store.SetWebhook(ctx, store.Webhook{ChannelID: channelID, GuildID: guildID, ID: w.ID, Token: w.Token})
		},
	})
	if err != nil {
		return problems{err.Error()}
	}
	b = a.bot(session, bot.Pace{First: 200 * time.Millisecond, Every: 1200 * time.Millisecond, Units: 2000, Buttons: true, Names: true})
	b.Cast, b.Prepare, b.Profile = a.cast.get(), session.PreparePersonas, session.Profile
	b.Present, b.Contentless = session.Present, session.Contentless
	b.Files, b.Listener, a.files.Reread = a.files, a.listener(), session.Message
	b.Servers, a.servers.Platform = a.servers, session
	b.Resume, b.PerPerson = true, a.config.count("FAMILIAR_TURNS_PER_MINUTE")
	b.Access = bot.Access{Allow: a.config.set("DISCORD_ALLOW"), Deny: a.config.set("DISCORD_DENY")}
	b.Quotas = a.meter.Quotas
	b.Operator = a.config.get("DISCORD_OPERATOR")

	watching, err := a.openTelemetry(session)
	if err != nil {
		return err
	}
	watching.watch(b)
	watching.start(ctx)
	defer watching.close()

	var background sync.WaitGroup
	defer background.Wait()
	a.markInterrupted(ctx)
	upkeep, done := context.WithCancel(ctx)
	defer done()
	background.Go(func() { a.upkeep(upkeep, session.Guilds) })
	background.Go(func() { a.eraseOnRequest(upkeep, b) })
	_, tuned := p.env("GOGC")
	background.Go(func() { footprint.Watch(upkeep, tuned) })
	if w := a.memoryWriter(p.far); w != nil {
		b.Learns = true
		background.Go(func() { w.Run(upkeep) })
	}
	background.Go(func() { a.embed(upkeep, p.far.embed) })
	files := &reloader{app: a, program: p, bot: b, session: session, wanted: make(chan chan struct{}), ended: make(chan struct{})}
	if err := a.serveConsole(upkeep, p, b, session, watching, files, &background); err != nil {
		return err
	}
	background.Go(func() { files.run(upkeep) })

	failed := make(chan error, 1)
	gateway, hangUp := context.WithCancel(ctx)
	defer hangUp()
	background.Go(func() { failed <- session.Run(gateway) })
	b.Run(ctx, session.Events())
	hangUp()
	err = <-failed
	var fatal *discord.Fatal
	if errors.As(err, &fatal) {
		return problems{fatal.Error()}
	}
	if ctx.Err() != nil {
		return nil // a signal
	}
	return err
}

// embed has what is kept embedded until ctx is done. Where no service is configured any more, its vectors go.
func (a *app) embed(ctx context.Context, every time.Duration) {
	if a.embeddings == nil {
		_, err := a.store.DropVectors(ctx, "")
		a.tidied(ctx, "delete vectors", err)
		return
	}
	(&embedding.Indexer{Store: a.store, Service: a.embeddings, Log: a.log, Every: every}).Run(ctx)
}

// memoryWriter is what learns, or nil where that is switched off, or no model could.
func (a *app) memoryWriter(far far) *writer.Writer {
	if a.config.get("FAMILIAR_LEARN") == "off" || a.models.side == nil {
		return nil
	}
	return &writer.Writer{
		Store: a.store, Redact: a.redact.String, Log: a.log, PerHour: a.config.count("FAMILIAR_LEARN_PER_HOUR"),
		Idle: far.idle, Allows: a.meter.Allows, Count: a.meter.Count, Side: func() *llm.Client { return a.cast.get().Default.Side },
	}
}

// loadWebhook returns the webhook that the store keeps of a channel, none if there is none.
func (a *app) loadWebhook(ctx context.Context, channelID string) (discord.Webhook, error) {
	w, err := a.store.Webhook(ctx, channelID)
	if errors.Is(err, store.ErrNotFound) {
		return discord.Webhook{}, nil
	}
	return discord.Webhook{ID: w.ID, Token: w.Token}, err
}

// note returns what the store keeps under key, "" if nothing.
func (a *app) note(ctx context.Context, key string) (string, error) {
	text, err := a.store.Note(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return text, err
}

// greet prints who has arrived, where, with what, and what is off and why.
func (a *app) greet(out io.Writer, r discord.Ready) {
	fmt.Fprintf(out, "%s is here, as %s (%s).\n", a.character.Name, r.Name, r.ID)
	fmt.Fprintf(out, "  invite    %s\n", r.Invite)
	servers := "none yet: open the link above"
	if len(r.Guilds) > 0 {
		servers = strings.Join(r.Guilds, ", ")
	}
	fmt.Fprintf(out, "  servers   %s\n", servers)
	if r.Contentless {
		fmt.Fprintln(out, "  reads     only mentions, replies with a ping and direct messages: switch on \"Message Content Intent\" at the developer portal for the rest")
	}
	if all := names(a.cast.get()); len(all) > 1 {
		fmt.Fprintf(out, "  speak     %s\n", strings.Join(all, ", "))
	}
	a.describe(out, 0)
	a.describeOff(out)
}

// describe prints what answers and what is searched. Lines are broken at width, if that is known.
func (a *app) describe(out io.Writer, width int) {
	say := func(label, format string, values ...any) {
		fmt.Fprintln(out, text.Hanging(fmt.Sprintf("  %-9s %s", label, fmt.Sprintf(format, values...)), 12, width))
	}
	say("model", "%s", a.models.describe())
	var names []string
	for _, b := range a.backends.On {
		names = append(names, b.Name())
	}
	say("searches", "%s", strings.Join(names, ", "))
	switch {
	case a.config.get("FAMILIAR_WEB") == "off":
		say("off", "the web: FAMILIAR_WEB is off")
	case !a.character.Web.Enabled:
		say("off", "the web: the character's web.enabled is false")
	}
	for _, line := range a.config.plain() {
		say("note", "%s", line)
	}
	if a.pages != "" {
		say("console", "%s", a.pages)
	}
	say("data", "%s", a.config.get("FAMILIAR_DATA"))
}

// describeOff prints which search services are off, and why.
func (a *app) describeOff(out io.Writer) {
	var keyless []string
	for _, off := range a.backends.Off {
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
