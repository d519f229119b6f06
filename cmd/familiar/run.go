package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"familiar/internal/app"
	"familiar/internal/doctor"
)

// Run prints what keeps the bot from answering people, and fails if something does.
func (h healthCommand) Run(ctx context.Context, p *program) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	address, token := settings.Get("FAMILIAR_METRICS"), ""
	if address == app.Nowhere {
		address, token = settings.Get("FAMILIAR_CONSOLE"), settings.Get("FAMILIAR_CONSOLE_TOKEN")
	}
	if address == app.Nowhere {
		return app.Problems{"FAMILIAR_CONSOLE and FAMILIAR_METRICS are off, so the bot cannot be asked; set one to an address such as 127.0.0.1:9464, also where the bot runs"}
	}
	path := "/readyz"
	if h.Live {
		path = "/healthz"
	}
	return app.AskHealth(ctx, p.process(), reachable(address), path, token)
}

// reachable returns the URL at which a server that listens at an address is reached from this machine.
func reachable(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	return u.String()
}

// healthCommand asks a running process how it is.
type healthCommand struct {
	Live bool `help:"Ask only whether the process runs, not whether it can answer people."`
}

type runCommand struct{}

const discordHelp = `DISCORD_TOKEN is not set. It is the bot's token.
  1. Get it from ` + doctor.TokenHelp + `
  2. On the same page switch on the Message Content Intent: without it the bot reads only messages that mention it.
  3. Put DISCORD_TOKEN=… into .env in this directory, or into the environment, and start again.
  The bot then prints the link that invites it with the permissions it needs: View Channels, Send Messages,
  Send Messages in Threads, Read Message History.
  familiar init asks for all of that, tries it and writes .env. To talk to it without Discord: familiar chat`

// Run connects to Discord, and stays until a signal comes.
func (runCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c, err := app.ReadConfig(p.env, p.dir)
	if c != nil && c.Get("DISCORD_TOKEN") == "" {
		for _, line := range app.UnknownVariables(p.environ, app.DotenvDir(p.env, p.dir)) {
			fmt.Fprintln(p.err, "familiar:", line)
		}
		_, wrong := app.LoadCharacter(c, p.dir)
		return app.JoinProblems(app.JoinProblems(err, wrong), app.Problems{discordHelp})
	}
	return p.interruptible(stop, func() error {
		a, err := app.Open(ctx, p.process(), app.ToServe)
		if err != nil {
			return err
		}
		return errors.Join(a.Serve(ctx, p.process()), a.Close())
	})
}

type mcpCommand struct{}

// Run serves the lookup engine on the standard input and output until the input ends or a signal comes. The log goes to the error output.
func (mcpCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		a, err := app.Open(ctx, p.process(), app.ToConfigure) // a wrong configuration is reported now, and not at the first call
		if err != nil {
			return err
		}
		defer a.Close()
		if err := a.NeedWeb(); err != nil {
			return err
		}
		if p.typed {
			fmt.Fprintln(p.err, "familiar: this speaks the Model Context Protocol with the program that starts it, and waits for one; Ctrl-D ends it, familiar chat is for people")
		}
		return a.Tools(p.process(), user(p)).Serve(ctx, p.in, p.out)
	})
}
