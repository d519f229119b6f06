package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/bot/discord"
)

// commandsNote is where the store keeps the fingerprint of the commands that Discord has.
const commandsNote = "discord.commands"

type runCommand struct{}

const discordHelp = `DISCORD_TOKEN is not set. It is the bot's token.
  1. Get it from ` + tokenHelp + `
  2. On the same page switch on the Message Content Intent: without it the bot reads only messages that mention it.
  3. Put DISCORD_TOKEN=… into .env in this directory, or into the environment, and start again.
  The bot then prints the link that invites it with the permissions it needs: View Channels, Send Messages,
  Send Messages in Threads, Read Message History.
  To talk to it without Discord: familiar chat`

// Run connects to Discord and stays until a signal comes.
func (runCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c, err := readConfig(p.env, p.dir)
	if err == nil && c.get("DISCORD_TOKEN") == "" {
		return problems{discordHelp}
	}
	return p.interruptible(stop, func() error {
		h, err := open(ctx, p)
		if err != nil {
			return err
		}
		return errors.Join(h.serve(ctx, p), h.close())
	})
}

// serve runs the gateway, the bot and the upkeep until ctx is done or Discord turns the bot away. The gateway's end
// closes the events, and the bot then finishes the turns that have begun.
func (h *house) serve(ctx context.Context, p *program) error {
	base := h.config.get("DISCORD_API_URL")
	session, err := discord.New(discord.Config{
		Token: h.config.get("DISCORD_TOKEN"), HTTP: h.client(base), BaseURL: base, Log: h.log, Redact: h.redact.String,
		PerSecond: p.far.perSecond, Commands: discord.Commands(h.docs()),
		OnReady:  func(r discord.Ready) { h.greet(p.out, r) },
		LoadHash: func(ctx context.Context) (string, error) { return h.store.Note(ctx, commandsNote) },
		SaveHash: func(ctx context.Context, hash string) error { return h.store.SetNote(ctx, commandsNote, hash) },
	})
	if err != nil {
		return problems{err.Error()}
	}
	b := h.bot(session, bot.Pace{First: 200 * time.Millisecond, Every: 1200 * time.Millisecond, Units: 2000})

	var background sync.WaitGroup
	defer background.Wait()
	h.settle(ctx)
	upkeep, done := context.WithCancel(ctx)
	defer done()
	background.Go(func() { h.upkeep(upkeep) })

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

// greet prints who has arrived, where, with what, and what is off and why.
func (h *house) greet(out io.Writer, r discord.Ready) {
	fmt.Fprintf(out, "%s is here, as %s (%s).\n", h.character.Name, r.Name, r.ID)
	fmt.Fprintf(out, "  invite    %s\n", r.Invite)
	servers := "none yet: open the link above"
	if len(r.Guilds) > 0 {
		servers = strings.Join(r.Guilds, ", ")
	}
	fmt.Fprintf(out, "  servers   %s\n", servers)
	h.describe(out)
}

// describe prints what answers and what is searched.
func (h *house) describe(out io.Writer) {
	fmt.Fprintf(out, "  model     %s\n", h.models.describe())
	var names []string
	for _, b := range h.backends.On {
		names = append(names, b.Name())
	}
	fmt.Fprintf(out, "  searches  %s\n", strings.Join(names, ", "))
	var keyless []string
	for _, off := range h.backends.Off {
		if off.Key != "" {
			keyless = append(keyless, off.Name)
			continue
		}
		fmt.Fprintf(out, "  off       %s: %s\n", off.Name, off.Why)
	}
	if keyless != nil {
		fmt.Fprintf(out, "  off       %s: no key\n", strings.Join(keyless, ", "))
	}
	switch {
	case h.config.get("FAMILIAR_WEB") == "off":
		fmt.Fprintf(out, "  off       the web: FAMILIAR_WEB is off\n")
	case !h.character.Web.Enabled:
		fmt.Fprintf(out, "  off       the web: the character's web.enabled is false\n")
	}
	for _, line := range h.config.plain() {
		fmt.Fprintf(out, "  note      %s\n", line)
	}
	fmt.Fprintf(out, "  data      %s\n", h.config.get("FAMILIAR_DATA"))
}
