package command

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/reply"
)

// These are the places where commands are offered, and the installations that they need.
var (
	onServers  = []turn.Place{turn.InServer}
	withBot    = []turn.Place{turn.InServer, turn.InDirect}
	everywhere = []turn.Place{turn.InServer, turn.InDirect, turn.InPrivate}

	byServers = []turn.Install{turn.ServerInstall}
	byAnybody = []turn.Install{turn.ServerInstall, turn.UserInstall}
)

// longestQuestion is as long as a message of Discord.
const longestQuestion = 2000

// commands returns all commands, in the order of /help.
func commands() []turn.Definition {
	return []turn.Definition{
		{
			Kind: turn.ChatInput, Name: "lookup", Description: "Look something up now, or switch looking things up on or off here",
			Options: []turn.Option{
				{Name: "query", Description: "What to look up", Most: longestQuestion},
				{Name: "intent", Description: "What kind of question it is, where the words do not tell", Choices: intentChoices()},
				{Name: "site", Description: "The only site to look on, such as example.org", Suggests: true},
				{Name: "web", Description: "Whether answers here may look things up", Choices: choices("on", "off")},
				{Name: "feedback", Description: "What you think of a source, which then ranks lower; or what was said so far", Choices: choices("outdated", "wrong", "undo", "show")},
				{Name: "source", Description: "The source that the feedback is about: its number in the latest answer here, or its domain"},
			},
			Places: everywhere, Installs: byAnybody,
		},
		{
			Kind: turn.ChatInput, Name: docsCommand, Description: "Look something up in one documentation, and nowhere else",
			Options: []turn.Option{
				{Name: "question", Description: "A question, the name of a page, or its address", Required: true, Most: longestQuestion},
				{Name: "site", Description: "Which documentation, where several are known", Suggests: true},
			},
			Places: everywhere, Installs: byAnybody,
		},
		{
			Kind: turn.ChatInput, Name: "catchup", Description: "What you have missed here, for you alone",
			Options: []turn.Option{{Name: "span", Description: "How far back: 3h, 2 days, yesterday, since Monday; since you last wrote here if left out"}},
			Places:  onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "memory", Description: "What I remember of you and of this place, and how to change that",
			Options: []turn.Option{
				{Name: "action", Description: "What to do; on and off: whether I learn about you by myself", Required: true,
					Choices: choices("show", "search", "remember", "correct", "forget", "undo", "pin", "unpin", "on", "off")},
				{Name: "entry", Description: "Which one to correct, forget or pin", Suggests: true},
				{Name: "words", Description: "What to search for, to remember, or what is right", Most: memory.LongestPointed},
			},
			Places: withBot, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: speakCommand, Description: "Have me say my newest answer here aloud, or some words",
			Options: []turn.Option{{Name: "words", Description: "What to say; my newest answer here if left out", Most: reply.MostSpoken}},
			Places:  withBot, Installs: byServers,
		},
		{Kind: turn.UserMenu, Name: rememberMenu, Places: withBot, Installs: byServers},
		{Kind: turn.MessageMenu, Name: "Look this up", Places: everywhere, Installs: byAnybody},
		{Kind: turn.MessageMenu, Name: "Check this claim", Places: everywhere, Installs: byAnybody},
		{Kind: turn.MessageMenu, Name: "Why this answer?", Places: withBot, Installs: byServers},
		{
			Kind: turn.ChatInput, Name: "context", Description: "Show how an answer came about: what was looked up, read, sent and cut",
			Options:    []turn.Option{{Name: "turn", Description: "Record or message id; the latest answer here if left out"}},
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "mode", Description: "Show or change how the character behaves in this channel",
			Options: []turn.Option{
				{Name: "mode", Description: "The new mode; shows the present one if left out", Choices: modeChoices()},
				{Name: "buttons", Description: "Whether replies here have buttons", Choices: choices("on", "off")},
				{Name: "chatty", Description: "Whether the bot may join in here unasked", Choices: choices("on", "off")},
				{Name: "threads", Description: "Whether each mention here gets a thread of its own", Choices: choices("on", "off")},
				{Name: "posts", Description: "Whether each new post of this forum is answered", Choices: choices("on", "off")},
				{Name: "greets", Description: "Whether the bot may greet here, once a day at most", Choices: choices("on", "off")},
				{Name: "pictures", Description: "Whether replies here show the character's mood by a picture", Choices: choices("on", "off")},
			},
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "character", Description: "Show or choose which characters speak here",
			Options: []turn.Option{
				{Name: "use", Description: "The one that speaks here from now on", Suggests: true},
				{Name: "add", Description: "One that speaks here too", Suggests: true},
				{Name: "remove", Description: "One that does not speak here any more", Suggests: true},
				{Name: "where", Description: "This channel, which is meant if left out, or the whole server", Choices: choices("channel", "server")},
				{Name: "greeting", Description: "The number of the greeting that it begins with here", Suggests: true},
				{Name: "import", Description: "A character's card (PNG, JSON, CHARX), or pictures of its moods as a zip with its name", File: true},
			},
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "backdrop", Description: "Describe the scene of this channel to the characters", Form: true,
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "subscribe", Description: "Have me take every message in a channel as meant for me, or end that",
			Options: []turn.Option{
				{Name: "state", Description: "Whether every message is for me; shows it if left out", Choices: choices("on", "off")},
				{Name: "where", Description: "Which channel; this one if left out", Channel: true},
			},
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "pause", Description: "Keep me from answering here, in the server or anywhere, or end that",
			Options: []turn.Option{
				{Name: "state", Description: "Whether I am paused; shows it if left out", Choices: choices("on", "off")},
				{Name: "where", Description: "This channel, which is meant if left out, the whole server, or everywhere", Choices: choices("channel", "server", "everywhere")},
			},
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "lookups", Description: "Switch looking things up on or off here or in the whole server",
			Options: []turn.Option{
				{Name: "state", Description: "Whether things are looked up; shows it if left out", Choices: choices("on", "off")},
				{Name: "where", Description: "This channel, which is meant if left out, or the whole server", Choices: choices("channel", "server")},
			},
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "usage", Description: "What was used today, and how much there may be", Places: withBot, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "privacy", Description: "What I keep of you: take it along, have it deleted, or see what left my machine",
			Options: []turn.Option{
				{Name: "action", Description: "What to do; optout: keep nothing of me from now on; optin: keep it again", Required: true,
					Choices: choices("export", "forget", "optout", "optin", "receipt")},
				{Name: "days", Description: "For how many days back the receipt is; 30 if left out"},
			},
			Places: everywhere, Installs: byAnybody,
		},
		{
			Kind: turn.ChatInput, Name: "changes", Description: "Which settings were changed in this server, by whom and when",
			Permission: turn.ManageServer, Places: onServers, Installs: byServers,
		},
		{
			Kind: turn.ChatInput, Name: "help", Description: "What this bot does and how to talk to it",
			Places: everywhere, Installs: byAnybody,
		},
	}
}

// docsCommand is offered only if a character knows documentation, and speakCommand only if one has a voice.
const (
	docsCommand  = "docs"
	speakCommand = "speak"
)

// Definitions returns the commands that a door offers to people who talk to a cast, in all languages.
func Definitions(c *bot.Cast) []turn.Definition {
	documented := slices.ContainsFunc(c.All(), func(a *bot.Actor) bool { return len(a.Docs) > 0 })
	voiced := slices.ContainsFunc(c.All(), func(a *bot.Actor) bool { return a.Speech != nil })
	return slices.DeleteFunc(definitions(), func(d turn.Definition) bool {
		return d.Name == docsCommand && !documented || d.Name == speakCommand && !voiced
	})
}

// definitions returns all commands with their translations.
func definitions() []turn.Definition {
	all := commands()
	for i := range all {
		d := &all[i]
		d.Names, d.Descriptions = reply.Translations(d.Name), reply.Translations(d.Description)
		for i := range d.Options {
			o := &d.Options[i]
			o.Names, o.Descriptions = reply.Translations(o.Name), reply.Translations(o.Description)
			for j := range o.Choices {
				o.Choices[j].Names = reply.Translations(o.Choices[j].Name)
			}
		}
	}
	return all
}

// choices returns choices whose values are their names.
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

// intentChoices returns the kinds of questions.
func intentChoices() []turn.Choice {
	return []turn.Choice{
		{Name: "Facts", Value: string(turn.IntentGeneral)}, {Name: "Fact check", Value: string(turn.IntentFactCheck)}, {Name: "News", Value: string(turn.IntentNews)},
		{Name: "Weather", Value: string(turn.IntentWeather)}, {Name: "A person", Value: string(turn.IntentPerson)}, {Name: "What people say", Value: string(turn.IntentForum)},
		{Name: "Documentation", Value: string(turn.IntentDocs)}, {Name: "Instructions", Value: string(turn.IntentHowTo)},
		{Name: "Pictures", Value: string(turn.IntentImage)}, {Name: "Videos", Value: string(turn.IntentVideo)},
	}
}

// These are the answers of /help, besides the commands.
const (
	helpWho      sentence = "I am %s. Mention me, reply to me, say my name, or write to me in private."
	helpHere     sentence = "I am %s. Write what you want to know or talk about."
	helpWeb      sentence = "If a question needs the web I look it up and name my sources. \"look up …\" makes me look, \"don't search\" keeps me from it."
	helpVisiting sentence = "I am %s. You have brought me along: what I look up for you here, you alone see."
	helpInMenu   sentence = "in the menu of a message, under Apps"
	helpOfPerson sentence = "in the menu of a person, under Apps"
)

// help answers /help, and everything that has no handler, with the commands that the person may use here.
func (c *call) help(ctx context.Context) turn.Answer {
	name := c.speaker(ctx).Name
	lines := []string{helpWho.In(c.language, name), helpWeb.In(c.language), ""}
	switch {
	case c.Bot.OperatorOnly:
		lines[0] = helpHere.In(c.language, name)
	case c.Command.Visiting:
		lines = []string{helpVisiting.In(c.language, name), ""}
	}
	for _, d := range Definitions(c.Bot.CurrentCast()) {
		name := cmp.Or(d.Names[c.language], d.Name)
		switch {
		case !c.usable(d):
		case d.Kind == turn.ChatInput:
			lines = append(lines, "/"+name+" – "+cmp.Or(d.Descriptions[c.language], d.Description))
		case d.Kind == turn.UserMenu:
			lines = append(lines, name+" – "+helpOfPerson.In(c.language))
		default:
			lines = append(lines, name+" – "+helpInMenu.In(c.language))
		}
	}
	return turn.Answer{Text: reply.CutUnits(strings.Join(lines, "\n"), reply.AnswerUnits)}
}

// usable reports whether the person may use another command in the same place. At a terminal, which has no menus, that is any.
func (c *call) usable(d turn.Definition) bool {
	switch {
	case c.Bot.Pace.Units == 0:
		return d.Kind == turn.ChatInput
	case c.Command.Visiting:
		return slices.Contains(d.Installs, turn.UserInstall)
	case c.Direct:
		return slices.Contains(d.Places, turn.InDirect)
	}
	return slices.Contains(d.Places, turn.InServer) &&
		(d.Permission == turn.Everyone || c.Command.Admin || d.Permission == turn.ManageMessages && c.Command.Deletes)
}
