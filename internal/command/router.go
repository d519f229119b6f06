// Package command is what people do with commands, buttons, menus and forms. The doors bring each of them as a [turn.Event] of kind
// [turn.Ordered]; package bot hands those to [Commands.Do], which answers.
//
//   - table.go has the commands as the doors offer them. line.go reads one from a line at a terminal.
//   - router.go finds the handler of what a person did, by a path. routes.go has all paths, with what is checked before each.
//   - A call is one command while it is carried out. It has who gave it, where, and in which language it is answered.
//   - The handlers are in the other files, by subject. Long answers have pages and buttons to turn them: context.go.
//
// Other programs look things up by the Model Context Protocol (https://modelcontextprotocol.io). tools.go serves one, limits its calls, and keeps
// the engine open while calls use it. It refuses messages that are too long. toollookup.go describes the tools and has lookup and search,
// toolpages.go fetch and verify.
//
// The package knows the store and package bot, which knows nothing of commands. A function that posts or takes a turn is a method of [bot.Bot].
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// handler carries out what a person did, and returns the answer that only this person sees.
type handler func(*call, context.Context) turn.Answer

// check is middleware. It returns a handler that refuses what is not allowed, and hands everything else to the next one.
type check func(next handler) handler

// source is the kind of thing that a person used.
type source int

const (
	typed   source = iota // a command that was sent
	typing                // a command whose option is being typed
	menu                  // an entry in the menu of a message
	pressed               // a button
)

// sourceOf returns what a person used.
func sourceOf(c *turn.Command) source {
	switch {
	case c.Button != "":
		return pressed
	case c.Focused != "":
		return typing
	case cmp.Or(c.Kind, turn.ChatInput) == turn.ChatInput:
		return typed
	}
	return menu
}

// route leads what matches a path to a handler.
type route struct {
	from     source
	name     string // of the command or the menu's entry
	segments []segment
	do       handler
}

// segment is one condition of a path.
type segment struct {
	option   string // of a command
	value    string // what must be there, unless variable is set
	variable string // takes what is there
	rest     bool   // the variable takes all that follows, even nothing
}

// router finds the handler of what a person did. Paths are written as people and doors write them:
//
//	/pause state:{state}       a command with an option that is given; the variable takes its value
//	/memory action:show        a command with an option of that value
//	/lookup site               with typing: a command whose option is being typed
//	Look this up               an entry in the menu of a message
//	context:{turn}:{page...}   a button, by its id; the last variable takes what follows, even nothing
//
// Where several routes match, the first is taken.
type router struct {
	routes *[]route
	checks []check
}

// with returns a router that adds routes to the same table and puts checks before each of them. The first check is made first.
func (r router) with(checks ...check) router {
	return router{r.routes, slices.Concat(r.checks, checks)}
}

func (r router) command(path string, do handler, checks ...check) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), " ")
	one := route{from: typed, name: name}
	for word := range strings.FieldsSeq(rest) {
		option, value, _ := strings.Cut(word, ":")
		p := segmentOf(value)
		p.option = option
		one.segments = append(one.segments, p)
	}
	r.add(one, do, checks)
}

func (r router) typing(path string, do handler, checks ...check) {
	name, option, _ := strings.Cut(strings.TrimPrefix(path, "/"), " ")
	r.add(route{from: typing, name: name, segments: []segment{{option: option}}}, do, checks)
}

func (r router) menu(name string, do handler, checks ...check) {
	r.add(route{from: menu, name: name}, do, checks)
}

func (r router) button(path string, do handler, checks ...check) {
	one := route{from: pressed}
	for id := range strings.SplitSeq(path, ":") {
		one.segments = append(one.segments, segmentOf(id))
	}
	r.add(one, do, checks)
}

func segmentOf(text string) segment {
	variable, ok := strings.CutPrefix(text, "{")
	if !ok {
		return segment{value: text}
	}
	variable, rest := strings.CutSuffix(strings.TrimSuffix(variable, "}"), "...")
	return segment{variable: variable, rest: rest}
}

func (r router) add(one route, do handler, checks []check) {
	one.do = checked(do, slices.Concat(r.checks, checks)...)
	*r.routes = append(*r.routes, one)
}

// checked puts checks before a handler. The first check is made first.
func checked(do handler, checks ...check) handler {
	for _, c := range slices.Backward(checks) {
		do = c(do)
	}
	return do
}

// find returns the handler of a command with the variables of its path, or nil.
func (r router) find(c *turn.Command) (do handler, variables map[string]string) {
	for _, one := range *r.routes {
		if variables, ok := one.match(c); ok {
			return one.do, variables
		}
	}
	return nil, nil
}

func (r route) match(c *turn.Command) (variables map[string]string, ok bool) {
	variables = map[string]string{}
	switch {
	case r.from != sourceOf(c), r.from != pressed && r.name != c.Name:
		return nil, false
	case r.from == typing:
		return variables, r.segments[0].option == c.Focused
	case r.from == pressed:
		return variables, matchID(r.segments, strings.Split(c.Button, ":"), variables)
	}
	for _, p := range r.segments {
		value, given := c.Options[p.option]
		if p.variable == "" && value != p.value || p.variable != "" && value == "" && !(given && p.rest) {
			return nil, false
		}
		if p.variable != "" {
			variables[p.variable] = value
		}
	}
	return variables, true
}

// matchID reports whether the segments of a button's id match those of a path, and fills in the variables.
func matchID(path []segment, id []string, variables map[string]string) bool {
	for i, p := range path {
		switch {
		case p.rest:
			variables[p.variable] = strings.Join(id[min(i, len(id)):], ":")
			return true
		case i >= len(id), p.variable == "" && p.value != id[i]:
			return false
		case p.variable != "":
			variables[p.variable] = id[i]
		}
	}
	return len(id) == len(path)
}

// Commands carries out commands. Bot is required. The fields must not be changed while the bot runs.
type Commands struct {
	Bot      *bot.Bot
	Operator string // id of the person who runs the bot; empty: not known

	// Prepare makes what several characters need to post in a channel under their own names. Its error says why they cannot, and how they
	// could. nil: nothing is needed.
	Prepare func(ctx context.Context, channelID string) error
	// Namesake reports whether a member of a server has a name that looks like a character's. If nil, there are no members.
	Namesake func(ctx context.Context, guildID, name string) (bool, error)
	// Import makes a character of a card. Its refusal is for the person who sent the file.
	Import func(ctx context.Context, f turn.Attachment) (Imported, error)
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
	a.Text = reply.Head(cs.Bot.Redact.String(withoutBidi(a.Text)), reply.AnswerUnits) // Discord would refuse a longer one, and go on showing that it waits
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
// late is not an error.
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

// Form returns the form that a command opens. If a person may not give the command it returns the words that refuse it.
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

// sentence is an answer that no model writes.
type sentence = reply.Sentence

// call is one command while it is carried out. It belongs to one goroutine.
type call struct {
	*Commands
	turn.Event
	language  string            // of the answer
	variables map[string]string // of the path
	turn      *turn.Trace       // whose reply has the button; nil: it is not a button under a reply
	kind      string            // what that button means
}

func (cs *Commands) call(e turn.Event) *call {
	return &call{Commands: cs, Event: e, language: reply.LanguageOf(e.Command.Locale)}
}

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
func (c *call) channel() string { return cmp.Or(c.ParentID, c.Message.ChannelID) }

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
	return c.Bot.ButtonKeys(turnID)(kind)
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
	return c.say(reply.CouldNotBeSaved)
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
