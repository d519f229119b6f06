package main

import (
	"context"
	"strings"

	"familiar/internal/bot"
	"familiar/internal/bot/terminal"
	"familiar/internal/bot/view"
)

type docsCommand struct {
	Words []string `arg:"" optional:"" name:"question" help:"A question, the name of a page, or its address; where several sites are known, behind the name of one."`
	speaker
	Trace bool `help:"Print everything that was done for it too."`
	JSON  bool `name:"json" help:"Print the lookup as JSON."`
}

// Run looks something up in one of the character's sites of documentation. It is recorded like a turn.
func (d docsCommand) Run(ctx context.Context, p *program, stop stopper) error {
	d.choose(p)
	return p.ask(ctx, stop, "docs", d.Words, func(a *app, question string) error { return d.look(ctx, p, a, question) })
}

func (d docsCommand) look(ctx context.Context, p *program, a *app, question string) error {
	b := a.bot(&answerDoor{}, bot.Pace{})
	site, question, why := a.actor.DocsFor(bot.LanguageOf(question), "", question)
	if why != "" {
		return problems{why}
	}
	found, err := b.LookUp(ctx, asMessage(p, "docs", question), site)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(terminal.Plain(b.LookupAnswer(bot.LanguageOf(question), found))) + "\n"
	if d.Trace {
		text += "\n" + view.Lookup(found)
	}
	return a.showLookup(p, found, d.JSON, text)
}
