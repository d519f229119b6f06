package question

import (
	"slices"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// Chat is what a message says to the bot without asking for anything that somebody would look up.
type Chat string

// The kinds of chat, as the language files name them, the most specific first.
const (
	NoChat  Chat = ""
	AskHelp Chat = "can"    // "what can you do?"
	AskSelf Chat = "self"   // "who are you?"
	AskTime Chat = "clock"  // "what time is it?"
	TellSad Chat = "sad"    // "I had a bad day"
	AskMood Chat = "how"    // "how are you?"
	Thanks  Chat = "thanks" //
	Bye     Chat = "bye"    //
	Hello   Chat = "hello"  //
)

// maxChatWords is the length of small talk in words, and maxInsideChat that of small talk in a script without spaces, in characters.
const (
	maxChatWords  = 9
	maxInsideChat = 10
)

var chatPhrases = sync.OnceValue(func() text.Phrases {
	all := map[string]text.PhraseList{}
	for _, code := range text.Languages() {
		for kind, phrases := range text.TablesOf(code).Chat {
			all[kind] += "," + phrases
		}
	}
	return text.Compile(all)
})

// ReadChat returns what kind of chat a message is. A message that needs the web is none.
func ReadChat(message string, names []string) Chat {
	u := Parse(message, names)
	if len(u.Words) > maxChatWords || len(u.Words) == 0 && !u.ToBot {
		return NoChat
	}
	if len(u.Words) == 0 {
		return Hello // only the bot's name
	}
	found := chatPhrases().FindAll(u.Text, u.Words)
	for _, kind := range [...]Chat{AskHelp, AskSelf, AskTime, TellSad, AskMood, Thanks, Bye, Hello} {
		for _, m := range found {
			rest := len(u.Words) - (m.To - m.From)
			if inside := m.To == m.From; inside && utf8.RuneCountInString(u.Text) <= maxInsideChat {
				rest = 0 // a script without spaces
			}
			switch {
			case m.Cue != string(kind), isManners(kind) && rest > maxBesideManners && m.To > m.From, kind == AskTime && elsewhere(u, found, m):
			case rest <= 1 || !needsWeb(message, names):
				return kind
			}
		}
	}
	return NoChat
}

// maxBesideManners is how many words may stand beside a greeting, thanks or a farewell that is the whole message.
const maxBesideManners = 2

func isManners(kind Chat) bool { return kind == Hello || kind == Thanks || kind == Bye }

func needsWeb(message string, names []string) bool {
	n := Assess(message, names)
	return n.Score >= Threshold && !n.Barred
}

// elsewhere reports whether a question for the time names a place or another day.
func elsewhere(u Utterance, found []text.Match, asked text.Match) bool {
	for i, w := range u.Words {
		covered := slices.ContainsFunc(found, func(m text.Match) bool { return (m == asked || m.Cue == "now") && m.From <= i && i < m.To })
		if !covered && text.Meaningful(w.Key) && asked.To > asked.From {
			return true
		}
	}
	return false
}
