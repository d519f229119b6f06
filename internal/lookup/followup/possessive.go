package followup

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// possessive is a word for the owner of something.
type possessive struct {
	kind string // as in pronouns
	of   string // what stands between the thing and its owner; "'s" follows the owner
}

// possessives begin fragments such as "his brother".
var possessives = func() map[string]possessive {
	all := map[string]possessive{}
	for _, code := range lang.Codes() {
		f := lang.Of(code).FollowUp
		for w, kind := range text.ByWord(f.Possessives) {
			if _, taken := all[w]; !taken {
				all[w] = possessive{kind, f.PossessiveLink}
			}
		}
	}
	return all
}()

// ownerOf returns the owner that the question has for a fragment such as "its capital", and the index of the words that
// the fragment replaces, or 0. In "what is the population of Peru" the name is the owner; in "who is the president of
// Peru" all behind "who is", if the fragment is "his wife".
func (p prior) ownerOf(pronoun possessive) (at int, owner string) {
	at, asksOf := p.behindTopicOpening()
	if at == 0 || asksOf != "about" || p.Words[at].Upper {
		return 0, ""
	}
	if from, to := lastName(p.Words, nil); from > at && !(pronoun.kind == "he" && p.asksForPerson()) {
		return at, p.span(from, to)
	}
	return at, p.span(at, len(p.Words))
}

// join says whose a thing is.
func (p possessive) join(owner, thing string) string {
	if p.of == "'s" {
		return owner + "'s " + thing
	}
	return text.OneLine(thing + " " + p.of + " " + owner)
}

// asksForPerson reports whether the question begins with "who".
func (p prior) asksForPerson() bool { return len(p.Body) > 0 && who[p.Body[0].Key] }
