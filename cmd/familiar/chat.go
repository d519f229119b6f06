package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"familiar/internal/app"
	"familiar/internal/bot"
	"familiar/internal/command"
	"familiar/internal/context/turn"
	"familiar/internal/terminal"
	"familiar/internal/text"
	"familiar/internal/view"
)

// atTerminal shows replies as they come, in one piece.
var atTerminal = bot.Pace{Every: 40 * time.Millisecond, Close: true}

// twice is the time within which a second Ctrl-C leaves.
const twice = 2 * time.Second

type chatCommand struct {
	speaker
}

// Run talks to a person at the terminal, or reads lines from a pipe.
func (c chatCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c.choose(p)
	p.logLevel = ""
	var a *app.App
	err := p.interruptible(stop, func() (err error) {
		if p.interactive {
			p.log = "chat.log" // the log would appear in the conversation
		}
		a, err = app.Open(ctx, p.process(), app.ToAnswer)
		return err
	})
	if err != nil {
		return err
	}
	door := &terminal.Door{Out: p.out, Name: a.Character.Name, User: user(p), Save: p.saveNew}
	b := a.Uncapped().Bot(door, atTerminal)
	b.OperatorOnly = true
	b.Commands = (&command.Commands{Bot: b, Operator: turn.TerminalPrefix + door.User}).Do
	door.Parse = func(order string) (*turn.Command, error) {
		return command.Parse(command.Definitions(b.Cast), terminal.Commands(), order)
	}
	typed := make(chan os.Signal, 1)
	in, err := chatInput(p, a, door, b, typed)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	var background sync.WaitGroup
	ended := make(chan struct{})
	background.Go(func() { chatSignals(p, b, door, typed, stop, ended) })
	upkeep, done := context.WithCancel(ctx)
	if !a.Beside { // else the store's owner does it
		a.MarkInterrupted(ctx)
		background.Go(func() { a.Upkeep(upkeep, nil) })
		background.Go(func() { a.EraseOnRequest(upkeep, b) })
	}
	var failed error
	background.Go(func() { failed = door.Read(ctx, in) })
	b.Run(ctx, door.Events())
	done()
	close(ended)
	background.Wait()
	if terminal, ok := in.(io.Closer); ok {
		failed = errors.Join(failed, terminal.Close())
	}
	return errors.Join(failed, a.Close())
}

// chatInput returns the input of the chat: an editor for a person, who also gets a screen, or a pipe. Ctrl-C at the editor is sent to typed.
func chatInput(p *program, a *app.App, door *terminal.Door, b *bot.Bot, typed chan<- os.Signal) (terminal.Input, error) {
	if !p.interactive {
		p.sayModel(a)
		return terminal.NewPipe(p.in), nil
	}
	plain, _ := p.env("NO_COLOR") // https://no-color.org
	door.Screen = &terminal.Screen{Width: func() int { return terminal.Columns(os.Stdout) }, Colour: plain == ""}
	b.Watch = door.Watch
	fmt.Fprintln(p.out, text.Hanging(a.Character.Name+", at your terminal. /help says what I can do, /quit ends it.", 2, terminal.Columns(os.Stdout)))
	a.Describe(p.out, terminal.Columns(os.Stdout))
	data := app.Resolve(p.dir, a.Config.Get("FAMILIAR_DATA"))
	fmt.Fprintf(p.out, "  log       %s\n\n", filepath.Join(a.Config.Get("FAMILIAR_DATA"), p.log))
	complete := func(line string) [][2]string {
		return append(command.Complete(command.Definitions(b.Cast), line), terminal.Complete(line)...)
	}
	editor, err := terminal.NewEditor(door.User+"> ", filepath.Join(data, "chat.history"), complete, func() {
		select {
		case typed <- os.Interrupt:
		default: // one is on its way
		}
	})
	if err != nil {
		return nil, err
	}
	door.Out = editor
	exit := p.exit
	p.exit = func(code int) {
		editor.Close()
		exit(code)
	}
	return editor, nil
}

// saveNew writes a new file. Its name is relative to the working directory.
func (p *program) saveNew(name string, text []byte) error {
	f, err := os.OpenFile(app.Resolve(p.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// chatSignals handles Ctrl-C: it stops the answer. A second one soon after leaves, and so does one when there is no answer to stop.
func chatSignals(p *program, b *bot.Bot, door *terminal.Door, typed <-chan os.Signal, stop stopper, ended <-chan struct{}) {
	var last time.Time
	for {
		var s os.Signal
		select {
		case <-ended:
			return
		case s = <-p.signals:
		case s = <-typed:
		}
		if s != os.Interrupt || time.Since(last) <= twice {
			stop(errSignal)
			p.stopOnSignal(stop, ended) // the next one leaves at once
			return
		}
		last = time.Now()
		if !b.Stop(door.Channel(), "") {
			fmt.Fprintln(door.Out, "(Ctrl-C once more to leave)")
		}
	}
}

func user(p *program) string {
	if name, ok := p.env("USER"); ok && name != "" && name != "root" {
		return name
	}
	return "you"
}

type askCommand struct {
	Question []string `arg:"" optional:"" help:"The question; if left out, it is read from the input."`
	speaker
	Trace bool `help:"Print the record of the turn after the answer."`
	JSON  bool `name:"json" help:"Print the record as JSON instead of the answer."`
}

// Run answers one question through the same lanes, providers and guard as a channel's.
func (c askCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c.choose(p)
	return p.ask(ctx, stop, "ask", c.Question, func(a *app.App, question string) error { return c.answer(ctx, p, a, question) })
}

func (c askCommand) answer(ctx context.Context, p *program, a *app.App, question string) error {
	answer, t, err := a.Answer(ctx, user(p), question)
	if err != nil {
		return err
	}
	if err := c.print(p, a, answer, t); err != nil {
		return err
	}
	switch l := t.Lookup(); {
	case t.Phase == turn.Broken:
		return errors.New(strings.TrimSuffix(t.Err+"\n  "+t.Cure, "\n  "))
	case ctx.Err() != nil:
		return context.Cause(ctx) // a signal, which cut the answer short
	case l != nil && l.State == turn.LookupFailed:
		return failedLookup(l)
	}
	return nil
}

func (c askCommand) print(p *program, a *app.App, answer string, t *turn.Trace) error {
	if c.JSON {
		return printJSON(p, a, t)
	}
	if _, err := fmt.Fprintln(p.out, answer); err != nil || !c.Trace {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\n%s", a.Redact.String(view.Whole(t)))
	return err
}

func printJSON(p *program, a *app.App, v any) error {
	text, err := asJSON(v)
	if err == nil {
		_, err = fmt.Fprintln(p.out, a.Redact.String(text))
	}
	return err
}
