package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"

	"github.com/oklog/ulid/v2"
)

type lookupCommand struct {
	Question []string `arg:"" optional:"" help:"What to look up; if left out, it is read from the input."`
	speaker
	Explain bool `help:"Print why, for every decision: the need, the wording, the order of what was found, what was left out."`
	JSON    bool `name:"json" help:"Print the lookup as JSON."`
}

// Run looks something up and prints everything that was done for it. It is recorded like a turn.
func (l lookupCommand) Run(ctx context.Context, p *program, stop stopper) error {
	l.choose(p)
	return p.ask(ctx, stop, "lookup", l.Question, func(a *app, question string) error { return l.look(ctx, p, a, question) })
}

func (l lookupCommand) look(ctx context.Context, p *program, a *app, question string) error {
	a.actor.Lookup.Policy.Explain = l.Explain
	found, err := a.uncapped().bot(&answerDoor{}, bot.Pace{}).LookUp(ctx, asMessage(p, "lookup", question), "")
	if err != nil {
		return err
	}
	write := view.Lookup
	if l.Explain {
		write = view.Explain
	}
	return a.showLookup(p, found, l.JSON, write(found))
}

// asMessage is a question from the command line as a message.
func asMessage(p *program, channel, question string) turn.Message {
	return turn.Message{ID: ulid.Make().String(), ChannelID: channel, Author: turn.Author{ID: "terminal", Name: user(p)}, Text: question, At: time.Now()}
}

// showLookup prints a lookup, as JSON or in these words. One that could not be made is a failure.
func (a *app) showLookup(p *program, found *turn.Lookup, asJSON bool, text string) (err error) {
	if asJSON {
		err = a.printJSON(p, found)
	} else {
		_, err = fmt.Fprint(p.out, a.redact.String(text))
	}
	if err == nil && found.State == turn.LookupFailed {
		err = failedLookup(found)
	}
	return err
}

// failedLookup is the error of a lookup that could not be made.
func failedLookup(l *turn.Lookup) error {
	why := strings.ReplaceAll(string(l.Failure), "_", " ")
	if l.Reason != "" && l.Reason != string(l.Failure) {
		why += " (" + l.Reason + ")"
	}
	return fmt.Errorf("the lookup failed: %s", why)
}
