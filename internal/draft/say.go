package draft

import (
	"cmp"
	"context"
	"errors"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
	"familiar/internal/text"
)

// sentence is what the bot says if no model can say it.
type sentence = reply.Sentence

const (
	noModelNote   sentence = "No model is configured, so these are the sources' own words. To let me talk: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama."
	toLetMeTalk   sentence = "To let me talk: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama."
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
	CutOff        sentence = "cut off: my model's answer broke off here"
	TooLong       sentence = "cut off: the answer reached its length limit"
	Stopped       sentence = "stopped"
	wasAway       sentence = "I was away when you wrote this."
	cannotSee     sentence = "My model cannot see images, so I answered the text alone."
	notRead       sentence = "I could not read %s, so I answered without."
	cannotListen  sentence = "I can't listen to voice messages here: write to me instead."
	notHeard      sentence = "I could not make out this voice message. Try again, or write to me."
	tooLongToHear sentence = "This voice message is too long for me: I listen to ten minutes at most."
)

// These stand for the character's own words in character.toml.
const (
	noModel     sentence = "no_model"
	rateLimited sentence = "rate_limited"
	modelDown   sentence = "model_down"
	tooSlow     sentence = "too_slow"
	UsedUp      sentence = "used_up"
)

// Say returns a sentence in a language, or the character's own text for it. A text that the operator has not changed is translated too.
func Say(c *character.Character, language string, s reply.Sentence) string {
	own := ""
	switch s {
	case noModel:
		own = c.Texts.NoModel
	case rateLimited:
		own = c.Texts.RateLimited
	case modelDown:
		own = c.Texts.ModelDown
	case tooSlow:
		own = c.Texts.TooSlow
	case UsedUp:
		own = c.Texts.Quota
	default:
		return s.In(language)
	}
	return c.Fill(sentence(own).In(language), "")
}

// Language returns the code of the language in which code answers an event. For a command it is the language of the person's client. For a
// message it is what the bot decided, or else that of its own words.
func Language(e turn.Event) string {
	if e.Command != nil {
		return reply.LanguageOf(e.Command.Locale)
	}
	return reply.LanguageOf(cmp.Or(e.Language, text.MessageLanguage(e.Message.Text), e.Locale))
}

// Notice returns what tells the author of a message something or, with the sentence several, the authors of several messages. It is in the
// language of the first message.
func Notice(c *character.Character, first turn.Event, one, several reply.Sentence, names []string) string {
	language := Language(first)
	if several == "" {
		return Say(c, language, one)
	}
	return several.In(language, reply.List(language, names))
}

// Excuse returns the sentence that replaces a missing answer.
func Excuse(err error) sentence {
	var e *llm.Error
	switch {
	case errors.As(err, &e) && (e.Kind == llm.RateLimited || e.Kind == llm.Quota):
		return rateLimited
	case errors.As(err, &e) && e.Kind == llm.Timeout, errors.Is(err, context.DeadlineExceeded):
		return tooSlow
	case err == nil, errors.As(err, &e) && (e.Kind == llm.Empty || e.Kind == llm.Refused):
		return emptyAnswer
	}
	return modelDown
}

// These tell people, below the character's own words, why the model keeps failing. What to check is in the log and in the record.
const (
	hintKey     sentence = "My model's server does not accept my key. My operator finds in my log what to check."
	hintModel   sentence = "My model's server does not have the model that I am set to use. My operator finds in my log what to check."
	hintContext sentence = "This conversation is longer than my model can read. My operator finds in my log what to change."
	hintAddress sentence = "Something else answers where my model should be. My operator finds in my log what to check."
	hintAway    sentence = "There is no connection to my model's server. My operator finds in my log what to check."
	hintQuota   sentence = "My model may not be used any more for now: what is paid for is used up. My operator finds in my log what to check."
)

var hints = map[llm.Kind]sentence{
	llm.Unauthorized: hintKey, llm.NoModel: hintModel, llm.ContextTooLong: hintContext, llm.NotOpenAI: hintAddress,
	llm.Unreachable: hintAway, llm.Quota: hintQuota,
}

// Hint returns what people are told of a model's failure that lasts, or "".
func Hint(language string, kind llm.Kind) string {
	if s, lasting := hints[kind]; lasting {
		return s.In(language)
	}
	return ""
}
