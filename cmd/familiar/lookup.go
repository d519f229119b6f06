package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/app"
	"familiar/internal/bot"
	"familiar/internal/command"
	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/terminal"
	"familiar/internal/text"
	"familiar/internal/view"
	"familiar/internal/web/fetch"
	"familiar/internal/web/read"
)

type lookupCommand struct {
	Question []string `arg:"" optional:"" help:"What to look up; if left out, it is read from the input."`
	speaker
	Explain bool `help:"Print why, for every decision: the need, the wording, the order of what was found, what was left out."`
	JSON    bool `name:"json" help:"Print the lookup as JSON."`
}

// Run looks something up and prints everything that was done. It is recorded like a turn.
func (l lookupCommand) Run(ctx context.Context, p *program, stop stopper) error {
	l.choose(p)
	return p.ask(ctx, stop, "lookup", l.Question, func(a *app.App, question string) error { return l.look(ctx, p, a, question) })
}

func (l lookupCommand) look(ctx context.Context, p *program, a *app.App, question string) error {
	a.Actor.Lookup.Policy.Explain = l.Explain
	found, err := command.LookUp(ctx, a.Uncapped().Bot(&terminal.Once{}, bot.Pace{}), asMessage(p, "lookup", question), "")
	if err != nil {
		return err
	}
	write := view.Lookup
	if l.Explain {
		write = view.Explain
	}
	return showLookup(p, a, found, l.JSON, write(found))
}

// asMessage makes a message from a question on the command line.
func asMessage(p *program, channel, question string) turn.Message {
	return turn.Message{ID: ulid.Make().String(), ChannelID: channel, Author: turn.Author{ID: "terminal", Name: user(p)}, Text: question, At: time.Now()}
}

// showLookup prints a lookup, as JSON or as a text. It returns an error for a lookup that failed.
func showLookup(p *program, a *app.App, found *turn.Lookup, asJSON bool, text string) (err error) {
	if asJSON {
		err = printJSON(p, a, found)
	} else {
		_, err = fmt.Fprint(p.out, a.Redact.String(text))
	}
	if err == nil && found.State == turn.LookupFailed {
		err = failedLookup(found)
	}
	return err
}

func failedLookup(l *turn.Lookup) error {
	why := strings.ReplaceAll(string(l.Failure), "_", " ")
	if l.Reason != "" && l.Reason != string(l.Failure) {
		why += " (" + l.Reason + ")"
	}
	return fmt.Errorf("the lookup failed: %s", why)
}

type docsCommand struct {
	Words []string `arg:"" optional:"" name:"question" help:"A question, the name of a page, or its address; where several sites are known, after the name of one."`
	speaker
	Trace bool `help:"Also print everything that was done for it."`
	JSON  bool `name:"json" help:"Print the lookup as JSON."`
}

// Run looks something up in one of the character's documentation sites. It is recorded like a turn.
func (d docsCommand) Run(ctx context.Context, p *program, stop stopper) error {
	d.choose(p)
	return p.ask(ctx, stop, "docs", d.Words, func(a *app.App, question string) error { return d.look(ctx, p, a, question) })
}

func (d docsCommand) look(ctx context.Context, p *program, a *app.App, question string) error {
	b := a.Bot(&terminal.Once{}, bot.Pace{})
	site, question, why := command.DocsFor(a.Actor, reply.LanguageOf(text.MessageLanguage(question)), "", question)
	if why != "" {
		return app.Problems{why}
	}
	found, err := command.LookUp(ctx, b, asMessage(p, "docs", question), site)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(terminal.Plain(reply.LookupAnswer(reply.LanguageOf(text.MessageLanguage(question)), found, b.Redact))) + "\n"
	if d.Trace {
		text += "\n" + view.Lookup(found)
	}
	return showLookup(p, a, found, d.JSON, text)
}

type fetchCommand struct {
	URL     string `arg:"" name:"url" help:"Address of the page; https:// may be left out."`
	Explain bool   `help:"Print every rule that was applied, and what was taken out."`
	Links   bool   `help:"Print the links of the text after it."`
	JSON    bool   `name:"json" help:"Print everything as JSON."`
	Plain   bool   `help:"Read the page itself, also where there is a special reader for its site."`
}

// Run reads a page by the rules for an address that a person named, and prints it.
func (f fetchCommand) Run(ctx context.Context, p *program, stop stopper) error {
	a, err := app.Open(ctx, p.process(), app.ToRead)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.NeedWeb(); err != nil {
		return err
	}
	if !strings.Contains(f.URL, "://") {
		f.URL = "https://" + f.URL
	}
	return p.interruptible(stop, func() error { return f.read(ctx, p, a) })
}

// read prints a page as the flags say. It returns the page's failure.
func (f fetchCommand) read(ctx context.Context, p *program, a *app.App) (err error) {
	var hops []fetch.Hop
	found := a.Reader.Read(ctx, read.Request{URL: f.URL, Domains: a.Domains, Human: true, Plain: f.Plain, Hops: &hops, Short: true})
	r := view.NewWebPage(f.URL, found, hops)
	if f.JSON {
		err = printJSON(p, a, r.JSON(f.Explain))
	} else {
		_, err = fmt.Fprint(p.out, a.Redact.String(r.Describe(f.Explain, f.Links)))
	}
	return cmp.Or(err, r.Failure())
}
