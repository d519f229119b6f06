// Package command is what people do with commands, buttons, menus and forms. The doors bring each of them as a [turn.Event] of kind
// [turn.Ordered]; package bot hands those to [Commands.Do], which answers.
//
//   - table.go has the commands as the doors offer them, and line.go reads one from a line at a terminal.
//   - router.go finds the handler of what a person did, by a path. routes.go has all paths, with what is checked before each.
//   - call.go is one command while it is carried out: who gave it, where, and in which language it is answered.
//   - The handlers are in the other files, by subject. Long answers have pages and buttons to turn them: pages.go.
//
// The package knows the store and package bot, which knows nothing of commands. What posts, or takes a turn, is a method of [bot.Bot].
package command

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/draft"
	"familiar/internal/reply"
)

// Commands carries out commands. Bot is required. The fields must not be changed while the bot runs.
type Commands struct {
	Bot      *bot.Bot
	Operator string // id of the person who runs the bot; empty: not known

	// Prepare makes what several characters need to post in a channel under their own names. Its error says why they cannot, and how they
	// could. nil: nothing is needed.
	Prepare func(ctx context.Context, channelID string) error
	// Namesake reports whether a member of a server has a name that looks like a character's; nil: there are no members.
	Namesake func(ctx context.Context, guildID, name string) (bool, error)
	// Contentless reports whether the bot may read only messages that are addressed to it; nil: it may read all.
	Contentless func() bool
}

// Do carries out a command and answers it. A command that comes twice is carried out once: a RESUME after a restart may bring it again.
func (cs *Commands) Do(ctx context.Context, e turn.Event) {
	c := cs.call(e)
	defer c.recovered("carry out a command")
	if c.Command.Focused != "" {
		c.suggest(ctx)
		return
	}
	first, err := cs.Bot.Store.Claims.Claim(ctx, e.ID)
	c.logged("claim a command", err)
	if err == nil && !first {
		return
	}
	a := c.answer(ctx)
	a.Text = reply.Head(cs.Bot.Redact.String(withoutBidi(a.Text)), draft.AnswerUnits) // Discord would refuse a longer one, and go on showing that it waits
	c.logged("answer a command", cs.Bot.Door.Respond(ctx, *e.Command, a))
}

// optionTooLong is the answer to a value that is too long.
const optionTooLong sentence = "The option %s is too long: %d characters at most."

// tooLong refuses a command with an option that is too long. Discord's clients keep to the limits; at a terminal nothing does.
func (c *call) tooLong() (a turn.Answer, refused bool) {
	for _, d := range commands() {
		for _, o := range d.Options {
			if value := c.Command.Options[o.Name]; d.Name == c.Command.Name && len(value) > o.Longest() && utf8.RuneCountInString(value) > o.Longest() {
				return c.say(optionTooLong, sentence(o.Name).In(c.language), o.Longest()), true
			}
		}
	}
	return turn.Answer{}, false
}

// answer finds the handler of a command and has it answer. Help answers what has none.
func (c *call) answer(ctx context.Context) turn.Answer {
	do, variables := routes().find(c.Command)
	if do == nil {
		do = admitted((*call).help)
	}
	if a, long := c.tooLong(); long {
		return a
	}
	c.variables = variables
	return do(c, ctx)
}

// suggest shows values for the option of a command that is being typed. It changes nothing, so it may come twice. An answer that comes too
// late is no error.
func (c *call) suggest(ctx context.Context) {
	var a turn.Answer
	if do, _ := routes().find(c.Command); do != nil {
		a = do(c, ctx)
	}
	if err := c.Bot.Door.Respond(ctx, *c.Command, a); err != nil {
		c.Bot.Log.Debug("suggestions were not shown", "command", c.Command.Name, "err", c.Bot.Redact.String(err.Error()))
	}
}

// formLimit leaves time for the answer, for which Discord waits three seconds.
const formLimit = time.Second

// Form returns the form that a command opens, or the words that refuse it to a person who may not give the command.
func (cs *Commands) Form(ctx context.Context, e turn.Event) (form turn.Form, refusal string) {
	ctx, cancel := context.WithTimeout(ctx, formLimit)
	defer cancel()
	c := cs.call(e)
	if !c.manages() {
		return turn.Form{}, settingsForManagers.In(c.language)
	}
	return c.backdropForm(ctx), ""
}

// withoutBidi removes the controls that would reverse the text after a name that people choose.
func withoutBidi(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}
