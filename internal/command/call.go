package command

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/draft"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// sentence is an answer that no model writes.
type sentence = reply.Sentence

// call is one command while it is carried out. It belongs to one goroutine.
type call struct {
	*Commands
	turn.Event
	language  string            // of the answer
	variables map[string]string // of the path
	turn      *turn.Trace       // whose reply has the button; nil: it is no button under a reply
	kind      string            // what that button means
}

func (cs *Commands) call(e turn.Event) *call {
	return &call{Commands: cs, Event: e, language: reply.LanguageOf(e.Command.Locale)}
}

// say answers with a sentence.
func (c *call) say(s sentence, values ...any) turn.Answer {
	return turn.Answer{Text: s.In(c.language, values...)}
}

// longestEcho limits what is repeated of a person's own words, in characters.
const longestEcho = 80

// option returns the value of an option, without space around it; empty if it is not given.
func (c *call) option(name string) string { return strings.TrimSpace(c.Command.Options[name]) }

// number returns a variable as a number, 0 if it is none. What follows a colon does not count: "3:next" is 3.
func (c *call) number(variable string) int {
	text, _, _ := strings.Cut(c.variables[variable], ":")
	n, _ := strconv.Atoi(text)
	return n
}

// speaker returns the character that answers where the command was given.
func (c *call) speaker(ctx context.Context) *bot.Actor { return c.Bot.Speakers(ctx, c.Event)[0] }

// channel returns the channel whose conduct counts: for a thread it is the channel above.
func (c *call) channel() string {
	if c.ParentID != "" {
		return c.ParentID
	}
	return c.Message.ChannelID
}

// by returns the person who gave the command, as the one who changes something now.
func (c *call) by() store.By {
	return store.By{ID: c.Command.By.ID, Name: c.Command.By.Name, At: time.Now()}
}

// reader returns the person who gave the command, with the roles that came with it. A terminal brings none.
func (c *call) reader() turn.Reader {
	if c.Reader.ID != c.Command.By.ID {
		return turn.Reader{ID: c.Command.By.ID}
	}
	return c.Reader
}

// manages reports whether the person may change settings: those of the server, or of their own direct message.
func (c *call) manages() bool { return c.Command.Admin || c.Direct }

// operates reports whether the person runs the bot.
func (c *call) operates() bool { return c.Operator != "" && c.Command.By.ID == c.Operator }

// key returns the id of a button under a turn's reply.
func (c *call) key(turnID, kind string) string {
	return c.Bot.Traces.ButtonKey(trace.Button{TurnID: turnID, Kind: kind})
}

// unread answers after the store failed to read a record.
func (c *call) unread(err error) turn.Answer {
	c.logged("read a record", err)
	return c.say(recordUnread)
}

// refused answers after the gate refused a turn, or the store failed.
func (c *call) refused(err error) turn.Answer {
	if no := (*gate.Refusal)(nil); errors.As(err, &no) {
		return turn.Answer{Text: c.Bot.CurrentCast().Default.Refusal(c.language, no)}
	}
	return c.unread(err)
}

// unsaved answers after the store failed to save something.
func (c *call) unsaved(what string, err error) turn.Answer {
	c.logged(what, err)
	return c.say(draft.CouldNotBeSaved)
}

func (c *call) logged(what string, err error) {
	if err != nil {
		c.Bot.Log.Error(what, "err", c.Bot.Redact.String(err.Error()))
	}
}

// recovered logs a panic, which must end one command and not the process. It must be deferred.
func (c *call) recovered(what string) {
	if panicked := recover(); panicked != nil {
		c.Bot.Log.Error(what, "panic", c.Bot.Redact.String(fmt.Sprint(panicked)), "stack", c.Bot.Redact.String(string(debug.Stack())))
	}
}
