package past

import (
	"slices"
	"strings"

	"familiar/internal/question"
	"familiar/internal/text"
)

// AboutAsker reports whether a message asks what is known of its author: "what do you know about me?". Memory answers that, and the web
// knows nothing of it.
func AboutAsker(message string, names []string) bool {
	r := reader{u: question.Parse(message, names), used: map[int]bool{}}
	return len(r.u.Words) <= maxPhraseWords && slices.ContainsFunc(r.inLanguages(text.MessageLanguage(message)), func(s spokenParts) bool {
		return s.find("you_know") >= 0 && s.find("about_me") >= 0
	})
}

// AboutOwn reports whether a message asks for something that belongs to its author, and for nothing else: "what is my dog's name?". The web
// does not know it.
func AboutOwn(message string, names []string) bool {
	r := reader{u: question.Parse(message, names), used: map[int]bool{}}
	if len(r.u.Words) > maxPhraseWords || strings.ContainsAny(message, "0123456789") {
		return false
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
		for _, w := range r.u.Words {
			plays := slices.ContainsFunc(s.parts, func(p part) bool { return p.start < w.End && w.Start < p.end && p.name != "say" && p.name != "post" })
			if !plays && text.Meaningful(w.Key) && (w.Start < s.parts[owner].start || len(rest) > maxOwned) {
				return false
			}
		}
		return len(rest) > 0
	})
}

// maxOwned is how many words may name what belongs to the author.
const maxOwned = 3
