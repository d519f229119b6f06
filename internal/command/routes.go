package command

import (
	"context"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
)

// routes has all paths, with what is checked before each of them.
func routes() router {
	all := router{routes: new([]route)}

	// A person's data is shown and deleted even if the bot may not answer that person.
	all.command("/privacy action:export", (*call).exportData, limited)
	all.command("/privacy action:forget", (*call).askToForget, limited)
	all.command("/privacy action:receipt", (*call).receipt, limited)
	all.command("/privacy action:optout", optOut(true))
	all.command("/privacy action:optin", optOut(false))
	all.command("/privacy", says(privacyUsage))
	all.button(forgetButton, (*call).forgetPerson)
	all.button(receiptPrefix+":{days}:{page...}", (*call).receipt)

	open := all.with(admitted)
	open.command("/help", (*call).help)
	open.command("/usage", (*call).usage)

	open.command("/lookup feedback:show", (*call).showFeedback)
	open.command("/lookup feedback:undo", (*call).forgetFeedback)
	open.command("/lookup feedback:{verdict}", (*call).giveFeedback)
	open.command("/lookup web:{state}", (*call).switchAndLookUp)
	open.command("/lookup", (*call).lookUp)
	all.typing("/lookup site", (*call).suggestSites)
	open.command("/docs", (*call).lookUpDocs)
	all.typing("/docs site", (*call).suggestDocs)
	open.menu("Look this up", (*call).lookUpMessage)
	open.menu("Check this claim", (*call).checkMessage)
	open.command("/speak words:{words}", (*call).speakWords)
	open.command("/speak", (*call).speakLatest)
	open.command("/catchup", (*call).catchUp, inServer(noServerHere))

	open.command("/memory action:show", (*call).showMemory)
	open.command("/memory action:search", (*call).searchMemory)
	open.command("/memory action:remember", (*call).remember)
	for _, action := range []string{actCorrect, actForget, actPin, actUnpin} {
		open.command("/memory action:"+action, (*call).changeMemory)
	}
	all.command("/memory action:undo", (*call).undoLast)
	open.command("/memory action:on", consent(true))
	open.command("/memory action:off", consent(false))
	open.command("/memory", says(memoryUsage))
	all.typing("/memory entry", (*call).suggestMemories)
	open.button(memoryPrefix+":{search}:{page...}", (*call).memoryPage)
	open.menu(rememberMenu, (*call).rememberedOf)
	open.button(personPrefix+":{person}:{page...}", (*call).rememberedOf)

	open.command("/context", (*call).lastTurn)
	open.button(contextPrefix+":{turn}:{page...}", (*call).turnPage)
	open.menu("Why this answer?", (*call).explain)

	changing := open.with(changes()...)
	changing.command("/mode buttons:{state}", (*call).setButtons, switched(buttonsUsage))
	changing.command("/mode pictures:{state}", (*call).setPictures, switched(oneOfThese))
	for _, one := range conducts() {
		changing.command("/mode "+one.option+":{state}", one.set, switched(oneOfThese))
	}
	changing.command("/mode mode:{mode}", (*call).setMode)
	open.command("/mode", (*call).showMode)

	serverOnly := open.with(inServer(subscribedElsewhere))
	serverOnly.command("/subscribe state:{state}", (*call).subscribe, managers(settingsForManagers), switched(oneOfThese), inNamedChannel)
	serverOnly.command("/subscribe", (*call).showSubscribed, inNamedChannel)

	managing := open.with(managers(settingsForManagers))
	managing.command("/pause state:{state}", (*call).pause)
	open.command("/pause", (*call).showPause)
	managing.command("/lookups state:{state} where:server", (*call).switchLookups)
	open.command("/lookups state:{state}", (*call).setWeb, changesWeb()...)
	open.command("/lookups", (*call).showLookups)

	for _, action := range []string{"use", "add", "remove"} {
		managing.command("/character "+action+":{name}", (*call).changeCharacters)
	}
	managing.command("/character import:{file}", (*call).importCharacter, limited)
	open.command("/character", (*call).showCharacters)
	for _, option := range []string{"use", "add", "remove"} {
		all.typing("/character "+option, (*call).suggestCharacters)
	}
	all.typing("/character greeting", (*call).suggestGreetings)

	managing.command("/backdrop "+backdropText+":{text...}", (*call).setBackdrop)
	open.command("/backdrop", (*call).showBackdrop)

	history := open.with(inServer(saysNoServer), managers(changesForManagers))
	history.command("/changes", (*call).showChanges)
	history.button(changesPrefix+":{page...}", (*call).showChanges)

	open.button("{key}:{page...}", (*call).press) // a button under a reply
	return all
}

// replies has the paths of buttons under a reply, by what the key in their id means.
func replies() router {
	all := router{routes: new([]route)}
	all.button(reply.StopButton, (*call).stop, askerOrModerator(stopIsForAsker))
	all.button(reply.DeleteButton, (*call).deleteReply, askerOrModerator(deleteIsForAsker), complete)
	all.button(reply.RegenerateButton, (*call).answerAgain, asker(againIsForAsker), complete)
	all.button(reply.SwipeButton+":{number}:{place}", (*call).swipe, asker(againIsForAsker), complete)
	all.button(reply.ContinueButton, (*call).answerAgain, asker(againIsForAsker), complete)
	all.button(reply.SourcesButton, (*call).showSources)
	all.button(reply.UndoButton, (*call).undoOrder, asker(undoIsForAsker))
	all.button(reply.ForgetAllButton, (*call).forgetEverything, asker(undoIsForAsker))
	all.button(reply.SpeakButton, (*call).speakReply, complete)
	all.button("{verdict}:{source}", (*call).markSource) // its verdict is outdated or wrong
	all.button(reply.WhyButton, (*call).why)
	return all
}

func says(s sentence) handler {
	return func(c *call, _ context.Context) turn.Answer { return c.say(s) }
}

// refuseUnless answers with a sentence unless a condition holds.
func refuseUnless(s sentence, holds func(*call) bool) check {
	return func(next handler) handler {
		return func(c *call, ctx context.Context) turn.Answer {
			if !holds(c) {
				return c.say(s)
			}
			return next(c, ctx)
		}
	}
}

// These refuse a person or a place.
const (
	notForYou           sentence = "My operator has not let me answer here."
	settingsForManagers sentence = "Only people who may manage this server can change that."
	nothingToSet        sentence = "I am here with you alone, so there is nothing to set."
	oneOfThese          sentence = "That can be switched on or off."
)

// admitted refuses people and places that the operator does not let use the bot.
func admitted(next handler) handler {
	return refuseUnless(notForYou, func(c *call) bool { return c.Bot.Gate.Access.Admits(c.Event) })(next)
}

// limited counts a turn for the person, and refuses one too many in a minute.
func limited(next handler) handler {
	return func(c *call, ctx context.Context) turn.Answer {
		if !c.Bot.Gate.Asks(ctx, c.Command.By.ID) {
			return c.say(reply.TooMany)
		}
		return next(c, ctx)
	}
}

// notVisiting refuses a person who uses the app where it is not installed: no place there has settings.
func notVisiting(next handler) handler {
	return refuseUnless(nothingToSet, func(c *call) bool { return !c.Command.Visiting })(next)
}

// complete refuses until the record of the reply is complete.
func complete(next handler) handler {
	return refuseUnless(notComplete, func(c *call) bool { return c.turn.Phase.Over() })(next)
}

// asker admits only the person who asked what the reply answers.
func asker(refusal sentence) check { return refuseUnless(refusal, (*call).asked) }

// askerOrModerator admits also people who may delete the messages of others.
func askerOrModerator(refusal sentence) check {
	return refuseUnless(refusal, func(c *call) bool { return c.asked() || c.Command.Deletes || c.Command.Admin })
}

// changes returns the checks before a change of the channel's settings, and changesWeb those before lookups are switched.
func changes() []check    { return []check{notVisiting, managers(settingsForManagers)} }
func changesWeb() []check { return append(changes(), switched(webUsage)) }

// managers admits people who may change settings here.
func managers(refusal sentence) check { return refuseUnless(refusal, (*call).manages) }

// inServer refuses places outside of servers.
func inServer(refusal sentence) check {
	return refuseUnless(refusal, func(c *call) bool { return c.GuildID != "" })
}

// switched refuses states other than on and off.
func switched(usage sentence) check {
	return refuseUnless(usage, func(c *call) bool { return slices.Contains([]string{"on", "off"}, c.variables["state"]) })
}

// on reports whether the command switches something on.
func (c *call) on() bool { return c.variables["state"] == "on" }
