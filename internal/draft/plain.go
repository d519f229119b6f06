package draft

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/question/past"
	"familiar/internal/reply"
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
)

const (
	maxPlainQuotes = 8
	longestQuote   = 300                // characters
	plainShare     = 0.4                // of the question's words that a statement must have to answer it
	mostTold       = 10_000             // channels that are remembered
	speechAgain    = 7 * 24 * time.Hour // until a channel is told again how I get a model
)

// plain answers a message without a model and without a lookup: from what is remembered and what was said, or as code can. It returns "" if it
// cannot.
func (r Draft) plain() string {
	req := &r.Trace.Request
	say := func(s sentence, values ...any) string { return reply.Receipt(r.spoken(), string(s), values...) }
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
	switch question.ReadChat(message, append([]string{r.Character.Called}, req.Names...)) {
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
		return say(timeNow, text.InZone(r.Trace.Began, r.Character.Location).Format("2006-01-02 15:04 MST"))
	}
	if quotes := r.remembered(plainShare, false); quotes != "" {
		return say(saidHere) + "\n" + quotes
	}
	return ""
}

// remembered quotes what memory offered for the turn: statements with a share of the message's words, and messages that may answer it. With own
// it quotes only statements of the asker.
func (r Draft) remembered(share float64, own bool) string {
	var quotes, statements []string
	for _, o := range r.Trace.Outcomes {
		if o.Provider != "memory" {
			continue
		}
		for _, c := range o.Contributions {
			for _, said := range c.Recalled {
				if said.File != "" || said.By == r.Character.Called || said.ID != 0 && said.Share < share || own && !said.Mine {
					continue
				}
				if said.ID == 0 && (strings.ContainsAny(said.Text, "?？؟") || slices.ContainsFunc(statements, func(one string) bool { return strings.Contains(said.Text, one) })) {
					continue // a question is no answer, and an order to remember says no more than what is remembered
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
	return reply.Receipt(r.spoken(), string(brief))
}
