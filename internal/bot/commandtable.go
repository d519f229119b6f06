package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

// command is one command: what the doors offer, and what carries it out.
type command struct {
	turn.Definition
	run     func(*Bot, context.Context, turn.Event) turn.Answer
	suggest func(*Bot, context.Context, turn.Event) []turn.Choice // values for the option that Command.Focused names; nil: none has any
}

// Where commands are offered and who has to have installed the app.
var (
	onServers  = []turn.Place{turn.InServer}
	withBot    = []turn.Place{turn.InServer, turn.InDirect}
	everywhere = []turn.Place{turn.InServer, turn.InDirect, turn.InPrivate}
	byServers  = []turn.Install{turn.ServerInstall}
)

// commands are all that there are, in the order in which /help lists them.
func commands() []command {
	return []command{
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "context", Description: "Show how an answer came about: what was looked up, read, sent and cut",
				Options:    []turn.Option{{Name: "turn", Description: "Record or message id; the latest answer here if left out"}},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).lastTurn,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "lookup", Description: "Look something up now, or switch looking things up on or off here",
				Options: []turn.Option{
					{Name: "query", Description: "What to look up"},
					{Name: "web", Description: "Whether answers here may look things up", Choices: choices("on", "off")},
					{Name: "feedback", Description: "What you think of a source, which then stands lower; or what was said so far", Choices: choices("outdated", "wrong", "undo", "show")},
					{Name: "source", Description: "The source that the feedback is about: its number in the latest answer here, or its domain"},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).lookUp,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: docsCommand, Description: "Look something up in one documentation, and nowhere else",
				Options: []turn.Option{
					{Name: "question", Description: "A question, the name of a page, or its address", Required: true},
					{Name: "site", Description: "Which documentation, where several are known", Suggests: true},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).lookUpDocs, suggest: (*Bot).suggestDocs,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "mode", Description: "Show or change how the character behaves in this channel",
				Options: []turn.Option{
					{Name: "mode", Description: "The new mode; shows the present one if left out", Choices: modeChoices()},
					{Name: "buttons", Description: "Whether replies here have buttons", Choices: choices("on", "off")},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).setMode,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "character", Description: "Show or choose which characters speak here",
				Options: []turn.Option{
					{Name: "use", Description: "The one that speaks here from now on", Suggests: true},
					{Name: "add", Description: "One that speaks here too", Suggests: true},
					{Name: "remove", Description: "One that does not speak here any more", Suggests: true},
					{Name: "where", Description: "This channel, which is meant if left out, or the whole server", Choices: choices("channel", "server")},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).setCharacter, suggest: (*Bot).suggestCharacters,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "backdrop", Description: "Describe the scene of this channel to the characters", Form: true,
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).setBackdrop,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "help", Description: "What this bot does and how to talk to it",
				Places: withBot, Installs: byServers,
			},
			run: (*Bot).help,
		},
		{
			Definition: turn.Definition{Kind: turn.MessageMenu, Name: "Why this answer?", Places: withBot, Installs: byServers},
			run:        (*Bot).explain,
		},
	}
}

// docsCommand is offered where the character knows documentation.
const docsCommand = "docs"

// Commands returns what a door offers people who talk to a cast.
func Commands(c *Cast) []turn.Definition {
	documented := slices.ContainsFunc(append([]*Actor{c.Default}, c.Others...), func(a *Actor) bool { return len(a.Docs) > 0 })
	var offered []turn.Definition
	for _, one := range commands() {
		if one.Name != docsCommand || documented {
			offered = append(offered, one.Definition)
		}
	}
	return offered
}

// commandOf finds the command that was given.
func commandOf(c turn.Command) (command, bool) {
	for _, one := range commands() {
		if one.Name == c.Name && one.Kind == cmp.Or(c.Kind, turn.ChatInput) {
			return one, true
		}
	}
	return command{}, false
}

// choices are choices that people see as they are.
func choices(values ...string) []turn.Choice {
	var all []turn.Choice
	for _, v := range values {
		all = append(all, turn.Choice{Name: v, Value: v})
	}
	return all
}

func modeChoices() []turn.Choice {
	var all []string
	for _, m := range turn.Modes() {
		all = append(all, string(m))
	}
	return choices(all...)
}

// help answers /help, and whatever is no command.
func (b *Bot) help(ctx context.Context, e turn.Event) turn.Answer {
	return turn.Answer{Text: strings.Join([]string{
		"I am " + b.speaker(ctx, e).Name + ". Mention me, reply to me, say my name, or write to me in private.",
		"If a question needs the web I look it up and name my sources. \"look up …\" makes me look, \"don't search\" keeps me from it.",
		"",
		"/context – what happened in the last turn here: providers, queries, pages, claims, prompt",
		"/lookup – look something up, without a conversation; switch the web on or off here; say what you think of a source",
		"/docs – look something up in the documentation that I know, and nowhere else",
		"/mode – show or set how I talk here (" + modeList() + "); switch the buttons under my replies on or off",
		"/character – show or choose who speaks here",
		"/backdrop – describe the scene of this channel",
		"/help – this",
	}, "\n")}
}
