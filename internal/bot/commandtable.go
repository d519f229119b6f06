package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"familiar/internal/bot/outgoing"
	"familiar/internal/catalogue"
	"familiar/internal/context/turn"
)

// command is one command: what the doors offer, in English, and what carries it out. The catalogue has its words in other languages.
type command struct {
	turn.Definition
	run     func(*Bot, context.Context, turn.Event) turn.Answer
	suggest func(*Bot, context.Context, turn.Event) []turn.Choice // values for the option that Command.Focused names; nil: none has any
}

// Where commands are offered, and who has to have installed the app there.
var (
	onServers  = []turn.Place{turn.InServer}
	withBot    = []turn.Place{turn.InServer, turn.InDirect}
	everywhere = []turn.Place{turn.InServer, turn.InDirect, turn.InPrivate}

	byServers = []turn.Install{turn.ServerInstall}
	byAnybody = []turn.Install{turn.ServerInstall, turn.UserInstall}
)

// commands are all that there are, in the order in which /help lists them.
func commands() []command {
	return []command{
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "lookup", Description: "Look something up now, or switch looking things up on or off here",
				Options: []turn.Option{
					{Name: "query", Description: "What to look up"},
					{Name: "intent", Description: "What kind of question it is, where the words do not tell", Choices: intentChoices()},
					{Name: "site", Description: "The only site to look on, such as example.org", Suggests: true},
					{Name: "web", Description: "Whether answers here may look things up", Choices: choices("on", "off")},
					{Name: "feedback", Description: "What you think of a source, which then stands lower; or what was said so far", Choices: choices("outdated", "wrong", "undo", "show")},
					{Name: "source", Description: "The source that the feedback is about: its number in the latest answer here, or its domain"},
				},
				Places: everywhere, Installs: byAnybody,
			},
			run: (*Bot).lookUp, suggest: (*Bot).suggestSites,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: docsCommand, Description: "Look something up in one documentation, and nowhere else",
				Options: []turn.Option{
					{Name: "question", Description: "A question, the name of a page, or its address", Required: true},
					{Name: "site", Description: "Which documentation, where several are known", Suggests: true},
				},
				Places: everywhere, Installs: byAnybody,
			},
			run: (*Bot).lookUpDocs, suggest: (*Bot).suggestDocs,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "catchup", Description: "What you have missed here, for you alone",
				Options: []turn.Option{{Name: "span", Description: "How far back: 3h, 2 days, yesterday, since Monday; since you last wrote here if left out"}},
				Places:  onServers, Installs: byServers,
			},
			run: (*Bot).catchUp,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "memory", Description: "What I remember of you and of this place, and how to change that",
				Options: []turn.Option{
					{Name: "action", Description: "What to do; on and off: whether I learn about you by myself", Required: true,
						Choices: choices("show", "search", "remember", "correct", "forget", "pin", "unpin", "on", "off")},
					{Name: "entry", Description: "Which one to correct, forget or pin", Suggests: true},
					{Name: "words", Description: "What to search for, to remember, or what is right"},
				},
				Places: withBot, Installs: byServers,
			},
			run: (*Bot).memory, suggest: (*Bot).suggestMemories,
		},
		{
			Definition: turn.Definition{Kind: turn.MessageMenu, Name: "Look this up", Places: everywhere, Installs: byAnybody},
			run:        (*Bot).lookUpMessage,
		},
		{
			Definition: turn.Definition{Kind: turn.MessageMenu, Name: "Check this claim", Places: everywhere, Installs: byAnybody},
			run:        (*Bot).checkMessage,
		},
		{
			Definition: turn.Definition{Kind: turn.MessageMenu, Name: "Why this answer?", Places: withBot, Installs: byServers},
			run:        (*Bot).explain,
		},
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
				Kind: turn.ChatInput, Name: "mode", Description: "Show or change how the character behaves in this channel",
				Options: []turn.Option{
					{Name: "mode", Description: "The new mode; shows the present one if left out", Choices: modeChoices()},
					{Name: "buttons", Description: "Whether replies here have buttons", Choices: choices("on", "off")},
					{Name: "chatty", Description: "Whether the bot may join in here unasked", Choices: choices("on", "off")},
					{Name: "threads", Description: "Whether each mention here gets a thread of its own", Choices: choices("on", "off")},
					{Name: "posts", Description: "Whether each new post of this forum is answered", Choices: choices("on", "off")},
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
					{Name: "greeting", Description: "The number of the greeting that it begins with here", Suggests: true},
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
				Kind: turn.ChatInput, Name: "subscribe", Description: "Have me take every message in a channel as meant for me, or end that",
				Options: []turn.Option{
					{Name: "state", Description: "Whether every message is for me; shows it if left out", Choices: choices("on", "off")},
					{Name: "where", Description: "Which channel; this one if left out", Channel: true},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).subscribe,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "pause", Description: "Keep me from answering here, in the server or anywhere, or end that",
				Options: []turn.Option{
					{Name: "state", Description: "Whether I am paused; shows it if left out", Choices: choices("on", "off")},
					{Name: "where", Description: "This channel, which is meant if left out, the whole server, or everywhere", Choices: choices("channel", "server", "everywhere")},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).pause,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "lookups", Description: "Switch looking things up on or off here or in the whole server",
				Options: []turn.Option{
					{Name: "state", Description: "Whether things are looked up; shows it if left out", Choices: choices("on", "off")},
					{Name: "where", Description: "This channel, which is meant if left out, or the whole server", Choices: choices("channel", "server")},
				},
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).lookups,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "usage", Description: "What was used today, and how much there may be", Places: withBot, Installs: byServers,
			},
			run: (*Bot).usage,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: privacyCommand, Description: "What I keep of you: take it along, have it deleted, or see what left my machine",
				Options: []turn.Option{
					{Name: "action", Description: "What to do; optout: keep nothing of me from now on; optin: keep it again", Required: true,
						Choices: choices("export", "forget", "optout", "optin", "receipt")},
					{Name: "days", Description: "For how many days back the receipt is; 30 if left out"},
				},
				Places: everywhere, Installs: byAnybody,
			},
			run: (*Bot).privacy,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "changes", Description: "Which settings were changed in this server, by whom and when",
				Permission: turn.ManageServer, Places: onServers, Installs: byServers,
			},
			run: (*Bot).changes,
		},
		{
			Definition: turn.Definition{
				Kind: turn.ChatInput, Name: "help", Description: "What this bot does and how to talk to it",
				Places: everywhere, Installs: byAnybody,
			},
			run: (*Bot).help,
		},
	}
}

// docsCommand is offered where the character knows documentation.
const docsCommand = "docs"

// Commands returns what a door offers people who talk to a cast, in all languages.
func Commands(c *Cast) []turn.Definition {
	documented := slices.ContainsFunc(append([]*Actor{c.Default}, c.Others...), func(a *Actor) bool { return len(a.Docs) > 0 })
	return slices.DeleteFunc(offered(), func(d turn.Definition) bool { return d.Name == docsCommand && !documented })
}

// offered are the definitions of all commands with their translations.
func offered() []turn.Definition {
	var all []turn.Definition
	for _, c := range commands() {
		d := c.Definition
		d.Names, d.Descriptions = catalogue.In(d.Name), catalogue.In(d.Description)
		for i := range d.Options {
			o := &d.Options[i]
			o.Names, o.Descriptions = catalogue.In(o.Name), catalogue.In(o.Description)
			for j := range o.Choices {
				o.Choices[j].Names = catalogue.In(o.Choices[j].Name)
			}
		}
		all = append(all, d)
	}
	return all
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

// choices are choices whose values are their names.
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

// intentChoices are the kinds of questions.
func intentChoices() []turn.Choice {
	return []turn.Choice{
		{Name: "Facts", Value: string(turn.IntentGeneral)}, {Name: "Fact check", Value: string(turn.IntentFactCheck)}, {Name: "News", Value: string(turn.IntentNews)},
		{Name: "Weather", Value: string(turn.IntentWeather)}, {Name: "A person", Value: string(turn.IntentPerson)}, {Name: "What people say", Value: string(turn.IntentForum)},
		{Name: "Documentation", Value: string(turn.IntentDocs)}, {Name: "Instructions", Value: string(turn.IntentHowTo)},
		{Name: "Pictures", Value: string(turn.IntentImage)}, {Name: "Videos", Value: string(turn.IntentVideo)},
	}
}

// What /help says beside the commands.
const (
	helpWho      sentence = "I am %s. Mention me, reply to me, say my name, or write to me in private."
	helpWeb      sentence = "If a question needs the web I look it up and name my sources. \"look up …\" makes me look, \"don't search\" keeps me from it."
	helpVisiting sentence = "I am %s. You have brought me along: what I look up for you here, you alone see."
	helpInMenu   sentence = "in the menu of a message, under Apps"
)

// help answers /help, and whatever is no command, with the commands that the person may use there.
func (b *Bot) help(ctx context.Context, e turn.Event) turn.Answer {
	in, name := language(e), b.speaker(ctx, e).Name
	lines := []string{helpWho.in(in, name), helpWeb.in(in), ""}
	if e.Command.Visiting {
		lines = []string{helpVisiting.in(in, name), ""}
	}
	for _, d := range Commands(b.cast()) {
		name := cmp.Or(d.Names[in], d.Name)
		switch {
		case !b.usable(d, e):
		case d.Kind == turn.ChatInput:
			lines = append(lines, "/"+name+" – "+cmp.Or(d.Descriptions[in], d.Description))
		default:
			lines = append(lines, name+" – "+helpInMenu.in(in))
		}
	}
	return turn.Answer{Text: outgoing.CutUnits(strings.Join(lines, "\n"), answerUnits)}
}

// usable reports whether who gave a command may use another one in the same place. At a terminal, which has no menus, that is any.
func (b *Bot) usable(d turn.Definition, e turn.Event) bool {
	c := e.Command
	switch {
	case b.Pace.Units == 0:
		return d.Kind == turn.ChatInput
	case c.Visiting:
		return slices.Contains(d.Installs, turn.UserInstall)
	case e.Direct:
		return slices.Contains(d.Places, turn.InDirect)
	}
	return slices.Contains(d.Places, turn.InServer) &&
		(d.Permission == turn.Everyone || c.Admin || d.Permission == turn.ManageMessages && c.Deletes)
}
