package past

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/text"
)

// reader has what a message names in any language.
type reader struct {
	u       question.Utterance
	req     turn.Request
	q       Question
	used    map[int]bool // words that are not part of the topic, by where they begin
	spanned bool         // a time is named
}

// find finds the time, the channels and the people that the message names.
func (r *reader) find(now time.Time) {
	if span, at, ok := text.PastSpan(r.u.Text, r.u.Words, now); ok {
		r.q.Span, r.spanned = span, true
		for _, i := range at {
			r.used[r.u.Words[i].Start] = true
		}
	}
	r.findMentions()
	r.q.People = r.members()
}

// findMentions takes the channels and people that Discord marked.
func (r *reader) findMentions() {
	for _, m := range r.req.Message.Mentions {
		name := m[1:]
		if m[0] == '#' {
			r.q.Channels = text.AddOnce(r.q.Channels, name)
		} else {
			r.q.People = text.AddOnce(r.q.People, name)
		}
		if at := strings.Index(r.u.Text, m); at >= 0 {
			r.markUsed(at, at+len(m))
		}
	}
	if !r.direct() { // Discord marks no channels of a server in a direct message
		return
	}
	for _, at := range channelName.FindAllStringSubmatchIndex(r.u.Text, -1) {
		r.q.Channels = text.AddOnce(r.q.Channels, r.u.Text[at[2]:at[3]])
		r.markUsed(at[2], at[3])
	}
}

// channelName matches a channel's name as people write it.
var channelName = text.NewLazyRegexp(`(?:^|[\s(（])#([\p{Latin}\d_-]*\p{Latin}[\p{Latin}\d_-]*|[\d_-]*\p{L}[\p{L}\d_-]*)`)

func (r *reader) direct() bool { return r.req.GuildID == "" }

func (r *reader) markUsed(from, to int) {
	for _, w := range r.u.Words {
		if w.Start >= from && w.End <= to {
			r.used[w.Start] = true
		}
	}
}

// members returns the server's members that the message names. It leaves out those whose names go on with another capital: Ada Lovelace is
// not Ada.
func (r *reader) members() (people []string) {
	people = r.q.People
	for _, name := range r.req.People {
		if !text.MayHold(r.u.Words, name) {
			continue
		}
		keys := text.PhraseKeys(name)
		if len(keys) == 0 || len(keys) == 1 && (len(keys[0]) < 2 || question.IsCommonWord(keys[0])) {
			continue
		}
		for i := range r.u.Words {
			if text.HasPrefix(r.u.Words[i:], keys) && !r.goesOn(i+len(keys)-1) {
				people = text.AddOnce(people, name)
				break
			}
		}
	}
	return people
}

// owners returns the members that the message names as the owners of something. In a script without spaces they may be between words.
func (r *reader) owners() (people []string) {
	for _, name := range r.req.People {
		keys := text.PhraseKeys(name)
		if len(keys) != 1 || len(keys[0]) < 3 || question.IsCommonWord(keys[0]) {
			continue
		}
		if slices.ContainsFunc(r.u.Words, func(w text.Word) bool {
			return w.Key == keys[0]+"s" || text.Unspaced(w.Key) && strings.Contains(w.Key, keys[0])
		}) {
			people = text.AddOnce(people, name)
		}
	}
	return people
}

// goesOn reports whether a name goes on after word i, with a capital.
func (r *reader) goesOn(i int) bool {
	words := r.u.Words
	return i+1 < len(words) && words[i].Upper && words[i+1].Upper && words[i+1].Start == words[i].End+1
}

// spokenParts reads what a message asks about its server by the parts that its words play. It does so in the languages that have a table
// for it.
type spokenParts struct {
	reader
	words *languageWords
	parts []part
	has   map[string]bool
}

// inLanguages returns the parts of the message's words in a language, or in every language if it is empty.
func (r *reader) inLanguages(language string) (all []spokenParts) {
	if language == "" {
		all = make([]spokenParts, 0, len(languages())) // they are large
	}
	for i := range languages() {
		w := &languages()[i]
		if language != "" && w.language != language {
			continue
		}
		s := spokenParts{reader: *r, words: w, parts: w.find(r.u), has: map[string]bool{}}
		for _, p := range s.parts {
			s.has[p.name] = s.has[p.name] || !s.isLead(p)
		}
		all = append(all, s)
	}
	return all
}

// isLead reports whether a part belongs to the order that a question is put as: "can you tell us".
func (s *spokenParts) isLead(p part) bool {
	if len(s.u.Body) == 0 {
		return false
	}
	body := s.u.Body
	leads := p.start == body[0].Start && p.name == "say" || p.name == "we" && len(body) > 1 && p.start == body[1].Start && s.plays(body[0], "say")
	return p.start < body[0].Start || leads
}

// find returns the index of the first part with a name, also if it is part of the polite opening. It returns -1 if there is none.
func (s *spokenParts) find(name string) int {
	return slices.IndexFunc(s.parts, func(p part) bool { return p.name == name })
}

// plays reports whether a word has a part.
func (s *spokenParts) plays(w text.Word, name string) bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return p.name == name && p.start <= w.Start && w.End <= p.end })
}

// maxTopicWords limits what is searched for.
const maxTopicWords = 8

// topic returns the words that play no part: what is searched for.
func (s *spokenParts) topic() (words []string) {
	covered := func(start, end int) bool {
		return slices.ContainsFunc(s.parts, func(p part) bool { return p.start < end && start < p.end })
	}
	for _, w := range s.u.Words {
		word := s.u.Text[w.Start:w.End]
		switch {
		case text.Unspaced(word):
		case s.used[w.Start], covered(w.Start, w.End), !text.Meaningful(w.Key), s.words.given[w.Key], slices.ContainsFunc(s.q.People, func(p string) bool { return slices.Contains(text.PhraseKeys(p), w.Key) }):
			continue
		}
		if !text.Unspaced(word) {
			words = text.AddOnce(words, word)
		}
	}
	if text.Unspaced(s.u.Text) {
		rest := s.u.Text
		for _, p := range s.parts {
			rest = strings.ReplaceAll(rest, s.u.Text[p.start:p.end], " ")
		}
		for _, name := range s.words.names {
			rest = strings.ReplaceAll(rest, name, " ")
		}
		for _, run := range s.words.runs(rest) {
			words = text.AddOnce(words, run)
		}
	}
	return words[:min(len(words), maxTopicWords)]
}

// AboutAsker reports whether a message asks what is known of its author: "what do you know about me?". Memory answers that, and the web
// knows nothing of it.
func AboutAsker(message string, names []string) bool {
	r := reader{u: question.Parse(message, names), used: map[int]bool{}}
	if len(r.u.Words) > maxPhraseWords {
		return false
	}
	return r.ofAsker("of_all") || slices.ContainsFunc(r.inLanguages(text.MessageLanguage(message)), func(s spokenParts) bool {
		return s.find("you_know") >= 0 && s.find("about_me") >= 0
	})
}

// ofAsker reports whether a question has a phrase that asks of its author. What asks of all of them ends the question.
func (r *reader) ofAsker(cue string) bool {
	return (r.u.Asks() || r.u.Inquiry) && !ordersWeb(r.u) && slices.ContainsFunc(languages(), func(w languageWords) bool {
		return slices.ContainsFunc(phrasesIn(w.ofAsker, r.u), func(p part) bool {
			behind := slices.IndexFunc(r.u.Words, func(w text.Word) bool { return w.Start >= p.end })
			return p.name == cue && (cue != "of_all" || text.Unspaced(r.u.Text) || behind < 0 || behind >= len(r.u.Words)-1)
		})
	})
}

// AboutOwn reports whether a message asks for something that belongs to its author, and for nothing else. An example is "what is my dog's
// name?". The web does not know it.
func AboutOwn(message string, names []string) bool {
	r := reader{u: question.Parse(message, names), used: map[int]bool{}}
	if len(r.u.Words) > maxPhraseWords || strings.ContainsAny(message, "0123456789") {
		return false
	}
	if r.ofAsker("of_mine") {
		return true
	}
	return slices.ContainsFunc(r.inLanguages(text.MessageLanguage(message)), func(s spokenParts) bool {
		owner := s.find("my")
		if asks := s.has["naming"] || s.has["what"] || s.has["who"] || s.has["when"] || r.u.Form() == question.Wh; owner < 0 || !asks || !r.u.Asks() {
			return false
		}
		if text.Unspaced(message) {
			return s.has["naming"] || s.has["when"] && len(s.topic()) <= 1
		}
		rest := r.u.Words[slices.IndexFunc(r.u.Words, func(w text.Word) bool { return w.End >= s.parts[owner].end })+1:]
		before, things := s.owned(owner)
		return len(rest) > 0 && before == 0 && (len(rest) <= maxOwned || len(things) == 0)
	})
}

// ownedIn returns [Question.Owned].
func ownedIn(u question.Utterance, spoken []spokenParts) string {
	if len(u.Words) > maxPhraseWords || !u.Asks() || text.Unspaced(u.Text) {
		return ""
	}
	for _, s := range spoken {
		owner := s.find("my")
		if owner < 0 {
			continue
		}
		if before, things := s.owned(owner); before <= 1 && len(things) > 0 && len(things) < maxOwned {
			return things[0]
		}
	}
	return ""
}

// owned counts the words with a meaning before "my", the part with the number owner. It returns the keys of those after it. Words that say
// what the message asks are left out.
func (s *spokenParts) owned(owner int) (before int, things []string) {
	my := s.parts[owner]
	for _, w := range s.u.Words {
		switch asks := slices.ContainsFunc(s.parts, func(p part) bool { return p.start < w.End && w.Start < p.end && p.name != "say" && p.name != "post" }); {
		case asks, !text.Meaningful(w.Key):
		case w.Start < my.start:
			before++
		default:
			things = append(things, w.Key)
		}
	}
	return before, things
}

// maxOwned is how many words may name what belongs to the author.
const maxOwned = 3
