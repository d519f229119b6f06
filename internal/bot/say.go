package bot

import (
	"familiar/internal/catalogue"
	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// sentence is what the bot says by itself, where no model can say it: in English, or a format of it. Package catalogue has every
// one in other languages.
type sentence string

// in returns the sentence in a language, with the values that it has room for.
func (s sentence) in(language string, values ...any) string {
	return catalogue.Say(language, string(s), values...)
}

const (
	noModelNote   sentence = "No model is configured, so these are the sources' own words. To let me talk: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama."
	foundNothing  sentence = "I looked, and found nothing that answers this."
	lookupFailed  sentence = "I wanted to look this up and could not reach the web (%s)."
	webIsOff      sentence = "I would have looked this up, but the web is switched off here (%s)."
	overCap       sentence = "I would have looked this up (%s)."
	noRoom        sentence = "I looked this up, and what I found does not fit into this conversation."
	nothingLeft   sentence = "I did not look: there was nothing in this that I may search for."
	myFault       sentence = "I wanted to look this up, and something went wrong on my side."
	mayNotRead    sentence = "I may not read that page (%s)."
	couldNotRead  sentence = "I found the place and could not read what stands there (%s)."
	onlySnippets  sentence = "I have not read the pages themselves: this is what the search says about them."
	onlyOutline   sentence = "I found nothing on that page that answers this: these are its main points."
	emptyAnswer   sentence = "My model came back with nothing to say. Try me again, or put it another way."
	cutOff        sentence = "cut off: my model's answer broke off here"
	tooLong       sentence = "cut off: the answer reached its length limit"
	answerStopped sentence = "stopped"
	tooBusy       sentence = "Too much at once: I had to skip this message. Ask me again in a moment."
	leaving       sentence = "I am being restarted and did not get to this message. Ask me again in a minute."
	outOfOrder    sentence = "I can't write my records at the moment, and I don't answer without them. Whoever runs me will find the reason in my log."
	missed        sentence = "I was away when this was written, and it is a while ago. Ask me again if it still matters."
	tooMany       sentence = "That is as many answers as I give one person in a minute. Ask me again in a moment."
	interrupted   sentence = "interrupted: I was restarted here"
	wasAway       sentence = "I was away when you wrote this."
	retracted     sentence = "The question was deleted, and my answer with it."
	quietHere     sentence = "All right, I am quiet here. Mention me and I am back."
	noThread      sentence = "I was to open a thread for this, and may not: I need the permission Create Public Threads here. Until then I answer in the channel."
	threadsFull   sentence = "I was to open a thread for this, and this server has as many active threads as Discord allows: archive some. Until then I answer in the channel."
	threadLocked  sentence = "I was asked something in a thread that is locked, so I cannot answer there. Whoever moderates here can unlock it."
	cannotSee     sentence = "My model cannot see images, so I answered the text alone."
	cannotListen  sentence = "I can't listen to voice messages here: write to me instead."
	notHeard      sentence = "I could not make out this voice message. Try again, or write to me."
	tooLongToHear sentence = "This voice message is too long for me: I listen to ten minutes at most."
	turnBroken    sentence = "Something went wrong on my side. Whoever runs me will find the reason in my log."

	tooBusyAll    sentence = "Too much at once: I had to skip messages of %s. Ask me again in a moment."
	leavingAll    sentence = "I am being restarted and did not get to messages of %s. Ask me again in a minute."
	missedAll     sentence = "I was away, and it is a while ago that %s wrote to me. Ask me again if it still matters."
	tooManyAll    sentence = "That is as many answers as I give one person in a minute: %s, ask me again in a moment."
	outOfOrderAll sentence = "I can't write my records at the moment, and I don't answer without them: %s, ask me again later. Whoever runs me will find the reason in my log."
	turnBrokenAll sentence = "Something went wrong on my side when I answered %s. Whoever runs me will find the reason in my log."

	lastName sentence = "%s and %s" // the names of people, and the last of them
	somebody sentence = "somebody"  // whose name cannot be shown
)

// What the character says in words of its own, which character.toml has.
const (
	noModel     sentence = "no_model"
	rateLimited sentence = "rate_limited"
	modelDown   sentence = "model_down"
	tooSlow     sentence = "too_slow"
	quotaUsedUp sentence = "used_up"
)

// toSeveral are the sentences that tell several people the same.
var toSeveral = map[sentence]sentence{
	tooBusy: tooBusyAll, leaving: leavingAll, missed: missedAll, tooMany: tooManyAll, outOfOrder: outOfOrderAll, turnBroken: turnBrokenAll,
}

// say returns a sentence, or the character's own text in its place. A text that the operator has not changed is translated, too.
func (a *Actor) say(language string, s sentence) string {
	own := ""
	switch s {
	case noModel:
		own = a.Texts.NoModel
	case rateLimited:
		own = a.Texts.RateLimited
	case modelDown:
		own = a.Texts.ModelDown
	case tooSlow:
		own = a.Texts.TooSlow
	case quotaUsedUp:
		own = a.Texts.Quota
	default:
		return s.in(language)
	}
	return a.Fill(sentence(own).in(language), "")
}

// respond answers a command with a sentence.
func (b *Bot) respond(e turn.Event, s sentence, values ...any) turn.Answer {
	return turn.Answer{Text: s.in(language(e), values...)}
}

// language returns the code of the language in which code answers: to a command that of the person's client, to a message that of
// its words, where that is clear.
func language(e turn.Event) string {
	if e.Command != nil {
		return catalogue.Language(e.Command.Locale)
	}
	return LanguageOf(e.Message.Text)
}

// LanguageOf returns the code of the language in which code answers a text.
func LanguageOf(s string) string { return catalogue.Language(text.Language(s, text.Words(s))) }
