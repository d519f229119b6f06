package reply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory/order"
	"familiar/internal/providers/character"
	"familiar/internal/question"
	"familiar/internal/question/past"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// What code answers without a model, in the language of the message. Each has a translation in reply/receipts.
const (
	toldMe     sentence = "This is what you told me:"
	toldNot    sentence = "You have told me nothing about yourself that I keep. “Remember that …” changes that."
	saidHere   sentence = "This was said before:"
	helloBack  sentence = "Hello! Ask me something, and I look it up."
	thanksBack sentence = "You're welcome."
	byeBack    sentence = "Until next time."
	moodBack   sentence = "All well here, thank you. And you?"
	sadBack    sentence = "I'm sorry to hear that. I can't do much more than listen, but I do listen."
	whoIAm     sentence = "I'm %s, a bot. I look things up and say where I read them."
	whatICan   sentence = "I look things up and name my sources, remember what you tell me, find what was said here, and tell the time, sums and units. /help lists the rest."
	timeNow    sentence = "It is %s."
	ownWords   sentence = "The sources' own words."
	noModelYet sentence = "I have no language model."
	goodDay    sentence = "Good morning!"
	birthday   sentence = "Happy birthday, %s!"
	cameWithMe sentence = "From the texts that came with me, not from the web. More of it: %s"
)

const (
	maxPlainQuotes = 8
	longestQuote   = 300                // characters
	plainShare     = 0.4                // of the question's words that a statement must have to answer it
	mostTold       = 10_000             // channels that are remembered
	speechAgain    = 7 * 24 * time.Hour // until a channel is told again how I get a model
)

// plain answers a message without a model and without a lookup. It uses what is remembered and what was said, or what code can say. It
// returns "" if it cannot.
func (r Draft) plain() string {
	req := &r.Trace.Request
	say := func(s sentence, values ...any) string { return Say(r.Character, r.spoken(), s, values...) }
	message := req.Message.Text
	if past.AboutAsker(message, req.Names) {
		if quotes := r.remembered(0, true); quotes != "" {
			return say(toldMe) + "\n" + quotes
		}
		return say(toldNot)
	}
	if sum, ok := text.Sum(message); ok {
		return sum
	}
	if conversion, ok := text.Conversion(message); ok {
		return conversion
	}
	switch r.chat() {
	case question.Hello:
		return say(helloBack)
	case question.Thanks:
		return say(thanksBack)
	case question.Bye:
		return say(byeBack)
	case question.AskMood:
		return say(moodBack)
	case question.TellSad:
		return say(sadBack)
	case question.AskSelf:
		return say(whoIAm, r.Character.Called)
	case question.AskHelp:
		return say(whatICan)
	case question.AskTime:
		return say(timeNow, r.began().Format("2006-01-02 15:04 MST"))
	}
	now := r.began()
	if at, isDay, ok := question.Clock(message, append([]string{r.Character.Called}, req.Names...), now); ok && isDay {
		return weekday(at, r.language()) + text.FormatDay(at, r.language())
	} else if ok {
		return say(timeNow, at.Format("2006-01-02 15:04 MST"))
	}
	if answer := r.aboutProgram(); answer != nil {
		return answer.Text
	}
	if quotes := r.remembered(plainShare, false); quotes != "" {
		return say(saidHere) + "\n" + quotes
	}
	if past.AboutOwn(message, req.Names) {
		return say(memoryUnknown)
	}
	return ""
}

// began returns when the turn began, in the time zone of its asker, or else of the character.
func (r Draft) began() time.Time {
	if zone, known := text.ZoneCalled(r.Trace.Request.Card[turn.CardZone]); known {
		return r.Trace.Began.In(zone)
	}
	return text.InZone(r.Trace.Began, r.Character.Location)
}

// weekday returns what is before a date. Only English has the name of a day in a form for that.
func weekday(at time.Time, language string) string {
	if language != "en" {
		return ""
	}
	return at.Format("Monday, ")
}

func (r Draft) chat() question.Chat {
	req := &r.Trace.Request
	return question.ReadChat(req.Message.Text, append([]string{r.Character.Called}, req.Names...))
}

// aboutProgram returns the bundled answer that memory offered for the turn, or nil.
func (r Draft) aboutProgram() *turn.Recalled {
	for c := range r.Trace.Contributions() {
		if c.Source == turn.AboutProgram {
			return &c.Recalled[0]
		}
	}
	return nil
}

// remembered quotes what memory offered for the turn. It quotes statements with a share of the message's words, and messages that may
// answer it. With own it quotes only statements of the asker.
func (r Draft) remembered(share float64, own bool) string {
	var quotes, statements []string
	for _, o := range r.Trace.Outcomes {
		if o.Provider != "memory" {
			continue
		}
		for _, c := range o.Contributions {
			for _, said := range c.Recalled {
				if said.File != "" || said.Machine || said.ID != 0 && said.Share < share || own && !said.Mine {
					continue
				}
				if said.ID == 0 && (strings.ContainsAny(said.Text, "?？؟") || r.orders(said.Text) || slices.ContainsFunc(statements, func(one string) bool { return strings.Contains(said.Text, one) })) {
					continue // a question is not an answer, and an order to remember says no more than what is remembered
				}
				if said.ID != 0 {
					statements = append(statements, said.Text)
				}
				quote := fmt.Sprintf("- %s%s: “%s”", named(said), text.InZone(said.At, r.Character.Location).Format("2006-01-02"), clean.Unreferenced(clean.Line(said.Text, longestQuote)))
				if !slices.Contains(quotes, quote) {
					quotes = append(quotes, quote)
				}
			}
		}
	}
	return strings.Join(quotes[:min(len(quotes), maxPlainQuotes)], "\n")
}

func (r Draft) orders(message string) bool {
	orders, _ := order.Parse(message, r.Trace.Request.Names)
	return len(orders) > 0
}

func named(said turn.Recalled) string {
	if said.By == "" {
		return ""
	}
	return clean.Line(said.By, 60) + ", "
}

// Speeches remembers which channels were told how the bot gets a model.
type Speeches struct {
	mu   sync.Mutex
	told map[string]time.Time // by channel; guarded by mu
}

// due reports whether a channel is to be told now, and notes that it is.
func (s *Speeches) due(channelID string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.told[channelID]) < speechAgain {
		return false
	}
	if s.told == nil || len(s.told) >= mostTold {
		s.told = map[string]time.Time{}
	}
	s.told[channelID] = now
	return true
}

// noModel says how the bot gets a model, in full once in a channel and then briefly.
func (r Draft) noModel(full, brief sentence) string {
	if r.Speeches.due(r.Trace.Request.ChannelID, r.Trace.Began) {
		return r.Say(full)
	}
	return Say(r.Character, r.spoken(), brief)
}

// What the bot says if no model can say it.
const (
	noModelNote  sentence = "No model is configured, so these are the sources' own words. To let me talk: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama, LM Studio, llama.cpp or vLLM."
	toLetMeTalk  sentence = "To let me talk: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama, LM Studio, llama.cpp or vLLM."
	foundNothing sentence = "I looked, and found nothing that answers this."
	lookupFailed sentence = "I wanted to look this up and could not reach the web (%s)."
	noWeb        sentence = "I wanted to look this up and could not reach the web."
	// AskDoctor is said below that to the operator.
	AskDoctor     sentence = "familiar doctor finds out why, and says what to do."
	webIsOff      sentence = "I would have looked this up, but the web is switched off here (%s)."
	overCap       sentence = "I would have looked this up (%s)."
	noRoom        sentence = "I looked this up, and what I found does not fit into this conversation."
	nothingLeft   sentence = "I did not look: there was nothing in this that I may search for."
	myFault       sentence = "I wanted to look this up, and something went wrong on my side."
	mayNotRead    sentence = "I may not read that page (%s)."
	couldNotRead  sentence = "I found the place and could not read what is there (%s)."
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

// Say returns a sentence in a language, or the character's own text for it. A text that the operator has not changed is translated too. One
// that may be empty is only said in the language in which it is written.
func Say(c *character.Character, language string, s Sentence, values ...any) string {
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
		own = voiced(&c.Texts, s)
		if written := text.MessageLanguage(own); own == "" || written != "" && written != language {
			return Receipt(language, string(s), values...)
		}
	}
	return c.Fill(sentence(own).In(language), fmt.Sprint(values...))
}

// greeting returns what the bot says of itself where no model writes it: a birthday wish, or a good morning.
func (r Draft) greeting() string {
	var names []string
	for _, o := range r.Trace.Outcomes {
		if o.Provider != turn.Greeting {
			continue
		}
		for _, c := range o.Contributions {
			for _, told := range c.Recalled {
				names = append(names, told.By)
			}
		}
	}
	if names == nil {
		return r.Say(goodDay)
	}
	return Say(r.Character, r.language(), birthday, List(r.language(), names))
}

// voiced returns the character's own words for a sentence of the program, or "".
func voiced(own *character.Texts, s sentence) string {
	switch s {
	case helloBack:
		return own.Hello
	case thanksBack:
		return own.Thanks
	case byeBack:
		return own.Bye
	case moodBack:
		return own.Mood
	case sadBack:
		return own.Sad
	case whoIAm:
		return own.Who
	case whatICan:
		return own.Can
	case goodDay:
		return own.Morning
	case birthday:
		return own.Birthday
	case noModelYet:
		return own.Mute
	case emptyAnswer:
		return own.Empty
	case noWeb:
		return own.NoWeb
	}
	return ""
}

// Language returns the code of the language in which code answers an event. For a command it is the language of the person's client. For a
// message it is what the bot decided, or else that of its own words.
func Language(e turn.Event) string {
	if e.Command != nil {
		return LanguageOf(e.Command.Locale)
	}
	return LanguageOf(cmp.Or(e.Language, text.MessageLanguage(e.Message.Text), e.Locale))
}

// What people are told who get no answer, or only a part of one.
const (
	TooBusy       sentence = "Too much at once: I had to skip this message. Ask me again in a moment."
	Leaving       sentence = "I am being restarted and did not get to this message. Ask me again in a minute."
	OutOfOrder    sentence = "I can't write my records at the moment, and I don't answer without them. My operator will find the reason in my log."
	Missed        sentence = "I was away when this was written, and it is a while ago. Ask me again if it still matters."
	NotAdmitted   sentence = "My operator has not let me answer here."
	PausedHere    sentence = "I am paused here."
	MayNotPost    sentence = "I may not write in this channel, so I can't answer here."
	TooMany       sentence = "That is as many answers as I give one person in a minute. Ask me again in a moment."
	Interrupted   sentence = "interrupted: I was restarted here"
	Retracted     sentence = "The question was deleted, and my answer with it."
	QuietHere     sentence = "All right, I am quiet here. Mention me and I am back."
	NoThread      sentence = "I should open a thread for this, but I may not: I need the permission Create Public Threads here. Until then I answer in the channel."
	ThreadsFull   sentence = "I should open a thread for this, but this server has as many active threads as Discord allows: archive some. Until then I answer in the channel."
	ThreadLocked  sentence = "I was asked something in a thread that is locked, so I cannot answer there. A moderator can unlock it."
	Waits         sentence = "I am still busy with another question here: messages of %s wait for their turn."
	TurnBroken    sentence = "Something went wrong on my side. My operator will find the reason in my log."
	tooBusyAll    sentence = "Too much at once: I had to skip messages of %s. Ask me again in a moment."
	leavingAll    sentence = "I am being restarted and did not get to messages of %s. Ask me again in a minute."
	missedAll     sentence = "I was away, and it is a while ago that %s wrote to me. Ask me again if it still matters."
	tooManyAll    sentence = "That is as many answers as I give one person in a minute: %s, ask me again in a moment."
	outOfOrderAll sentence = "I can't write my records at the moment, and I don't answer without them: %s, ask me again later. My operator will find the reason in my log."
	turnBrokenAll sentence = "Something went wrong on my side when I answered %s. My operator will find the reason in my log."
)

// toSeveral has the sentences that tell several people the same.
var toSeveral = map[sentence]sentence{
	Waits: Waits, TooBusy: tooBusyAll, Leaving: leavingAll, Missed: missedAll, TooMany: tooManyAll, OutOfOrder: outOfOrderAll, TurnBroken: turnBrokenAll,
}

// Notice returns what tells the author of a message something or, with names, the authors of several messages. It is in the language of the
// first message.
func Notice(c *character.Character, first turn.Event, what Sentence, names []string) string {
	language := Language(first)
	if several := toSeveral[what]; several != "" && names != nil {
		return several.In(language, List(language, names))
	}
	return Say(c, language, what)
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
