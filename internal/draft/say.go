package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/websearch"
	"familiar/internal/reply"
	"familiar/internal/text"
	"familiar/internal/web/clean"
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
	cutOff        sentence = "cut off: my model's answer broke off here"
	tooLong       sentence = "cut off: the answer reached its length limit"
	answerStopped sentence = "stopped"
	tooBusy       sentence = "Too much at once: I had to skip this message. Ask me again in a moment."
	Leaving       sentence = "I am being restarted and did not get to this message. Ask me again in a minute."
	outOfOrder    sentence = "I can't write my records at the moment, and I don't answer without them. Whoever runs me will find the reason in my log."
	missed        sentence = "I was away when this was written, and it is a while ago. Ask me again if it still matters."
	notAdmitted   sentence = "Whoever runs me has not let me answer here."
	pausedHere    sentence = "I am paused here."
	mayNotPost    sentence = "I may not write in this channel, so I can't answer here."
	TooMany       sentence = "That is as many answers as I give one person in a minute. Ask me again in a moment."
	interrupted   sentence = "interrupted: I was restarted here"
	wasAway       sentence = "I was away when you wrote this."
	retracted     sentence = "The question was deleted, and my answer with it."
	quietHere     sentence = "All right, I am quiet here. Mention me and I am back."
	noThread      sentence = "I was to open a thread for this, and may not: I need the permission Create Public Threads here. Until then I answer in the channel."
	threadsFull   sentence = "I was to open a thread for this, and this server has as many active threads as Discord allows: archive some. Until then I answer in the channel."
	threadLocked  sentence = "I was asked something in a thread that is locked, so I cannot answer there. Whoever moderates here can unlock it."
	cannotSee     sentence = "My model cannot see images, so I answered the text alone."
	notRead       sentence = "I could not read %s, so I answered without."
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
	somebody sentence = "somebody"  // a person whose name cannot be shown
)

// These stand for the character's own words in character.toml.
const (
	noModel     sentence = "no_model"
	rateLimited sentence = "rate_limited"
	modelDown   sentence = "model_down"
	tooSlow     sentence = "too_slow"
	quotaUsedUp sentence = "used_up"
)

// toSeveral has the sentences that tell several people the same.
var toSeveral = map[sentence]sentence{
	tooBusy: tooBusyAll, Leaving: leavingAll, missed: missedAll, TooMany: tooManyAll, outOfOrder: outOfOrderAll, turnBroken: turnBrokenAll,
}

// say returns a sentence, or the character's own text for it. A text that the operator has not changed is translated too.
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
		return s.In(language)
	}
	return a.Fill(sentence(own).In(language), "")
}

// language returns the code of the language in which code answers an event. For a command it is the language of the person's client. For a
// message it is what [Bot.spoken] decided, or else that of its own words.
func language(e turn.Event) string {
	if e.Command != nil {
		return reply.LanguageOf(e.Command.Locale)
	}
	return reply.LanguageOf(cmp.Or(e.Language, text.MessageLanguage(e.Message.Text), e.Locale))
}

// spoken returns the code of the language that the author of a message speaks: that of the message's own words if they tell, else of the
// author's latest message in the channel that tells, else of the place.
func (b *Bot) spoken(ctx context.Context, e turn.Event) string {
	if l := text.MessageLanguage(e.Message.Text); l != "" {
		return l
	}
	recent, err := b.Store.Messages.Recent(ctx, e.Message.ChannelID, earlierMessages)
	b.logged("read recent messages", err)
	for _, m := range slices.Backward(recent) {
		if m.AuthorID == e.Message.Author.ID {
			if l := text.MessageLanguage(m.Text); l != "" {
				return l
			}
		}
	}
	return e.Locale
}

// earlierMessages is how many messages of a channel are looked at for the language that a person speaks.
const earlierMessages = 30

// LanguageOf returns the code of the language in which code answers a text.
func LanguageOf(s string) string { return reply.LanguageOf(text.MessageLanguage(s)) }

// List joins names in a language, as in "Ana, Ben and Cy". A name that is empty becomes "somebody".
func List(language string, names []string) string {
	for i, name := range names {
		if name == "" {
			names[i] = somebody.In(language)
		}
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return lastName.In(language, strings.Join(names[:last], ", "), names[last])
}

// These are failures of search services, and the limits of lookups.
const (
	codeUnreachable   sentence = "unreachable"
	codeTimeout       sentence = "timeout"
	codeRateLimited   sentence = "rate limited"
	codeQuota         sentence = "quota"
	codeUnauthorized  sentence = "unauthorized"
	codeBlocked       sentence = "blocked"
	codeMalformed     sentence = "malformed"
	codeTooLarge      sentence = "too large"
	codeRejected      sentence = "rejected"
	codeUpstream      sentence = "upstream"
	codeMissing       sentence = "missing"
	codeNotConfigured sentence = "not configured"
	codeForbiddenJSON sentence = "forbidden json"
	codeNothingToAsk  sentence = "nothing to ask"
	codeInternal      sentence = "internal"
	codeRoom          sentence = "room"
	codeCap           sentence = "cap"

	pageStatus sentence = "status %s" // the HTTP status of a page

	capChannel sentence = "the %d lookups that this channel has in half an hour are used up; the next is free in %s, at %s UTC"
	capPerson  sentence = "the %d lookups that a person has in a day are used up; the next is free in %s, at %s UTC"
	capMinute  sentence = "the %d searches that I have in a minute, in all channels together, are used up; the next is free in a few seconds"
)

var codeSentences = map[turn.Code]sentence{
	turn.CodeUnreachable: codeUnreachable, turn.CodeTimeout: codeTimeout, turn.CodeRateLimited: codeRateLimited, turn.CodeQuota: codeQuota,
	turn.CodeUnauthorized: codeUnauthorized, turn.CodeBlocked: codeBlocked, turn.CodeMalformed: codeMalformed, turn.CodeTooLarge: codeTooLarge,
	turn.CodeRejected: codeRejected, turn.CodeUpstream: codeUpstream, turn.CodeMissing: codeMissing, turn.CodeNotConfigured: codeNotConfigured,
	turn.CodeForbiddenJSON: codeForbiddenJSON, turn.CodeNothingToAsk: codeNothingToAsk, turn.CodeInternal: codeInternal, turn.CodeRoom: codeRoom, turn.CodeCap: codeCap,
}

// failureWords says what failed, without details for the operator.
func failureWords(language string, l *turn.Lookup) string {
	if l.Failure == turn.CodeCap {
		return usedUp(language, l)
	}
	var each []string
	for _, a := range l.Asked {
		if a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
			if words := plainCode(language, a.Status); !slices.Contains(each, words) {
				each = append(each, words)
			}
		}
	}
	if len(each) > 0 {
		return strings.Join(each, ", ")
	}
	return plainCode(language, l.Failure)
}

// usedUp says which limit a lookup met, and when the next one is free.
func usedUp(language string, l *turn.Lookup) string {
	const up = time.Minute - 1
	for _, c := range slices.Backward(l.Caps) {
		wait, at := minutes(c.Free.Sub(l.Began)+up), c.Free.Add(up).UTC().Format("15:04")
		switch {
		case c.Used < c.Limit:
		case c.Of == "minute":
			return capMinute.In(language, c.Limit)
		case c.Of == "channel" && !c.Free.IsZero():
			return capChannel.In(language, c.Limit, wait, at)
		case c.Of == "person" && !c.Free.IsZero():
			return capPerson.In(language, c.Limit, wait, at)
		}
	}
	return plainCode(language, l.Failure)
}

// pageFailure says why a page was not read.
func pageFailure(language string, p turn.Page) string {
	words := websearch.Why(p)
	if status, ok := strings.CutPrefix(words, "status "); ok {
		return pageStatus.In(language, status)
	}
	return sentence(words).In(language)
}

// plainCode returns a code as words.
func plainCode(language string, code turn.Code) string {
	if words, ok := codeSentences[code]; ok {
		return words.In(language)
	}
	return pageFailure(language, turn.Page{Failure: code})
}

// These tell people, below the character's own words, why the model keeps failing. What to check is in the log and in the record.
const (
	hintKey     sentence = "My model's server does not accept my key. Whoever runs me finds in my log what to check."
	hintModel   sentence = "My model's server does not have the model that I am set to use. Whoever runs me finds in my log what to check."
	hintContext sentence = "This conversation is longer than my model can read. Whoever runs me finds in my log what to change."
	hintAddress sentence = "Something else answers where my model should be. Whoever runs me finds in my log what to check."
	hintAway    sentence = "There is no connection to my model's server. Whoever runs me finds in my log what to check."
	hintQuota   sentence = "My model may not be used any more for now: what is paid for is used up. Whoever runs me finds in my log what to check."
)

var hints = map[llm.Kind]sentence{
	llm.Unauthorized: hintKey, llm.NoModel: hintModel, llm.ContextTooLong: hintContext, llm.NotOpenAI: hintAddress,
	llm.Unreachable: hintAway, llm.Quota: hintQuota,
}

// longestCure is how much is kept of what to check, in characters.
const longestCure = 600

// hint records what to check after a model's failure, and returns what is said about it. The operator is told all of it, and everybody else
// a sentence without names and addresses.
func (b *Bot) hint(ctx context.Context, t *turn.Trace, actor *Actor, err error) string {
	var failed *llm.Error
	if !errors.As(err, &failed) {
		return ""
	}
	if b.Cure != nil {
		t.Cure = clean.Line(b.Redact.String(b.Cure(context.WithoutCancel(ctx), actor, err)), longestCure)
	}
	if b.OperatorOnly && t.Cure != "" {
		return t.Cure
	}
	if s, lasting := hints[failed.Kind]; lasting {
		return s.In(t.Request.Language)
	}
	return ""
}
