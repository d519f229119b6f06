package followup

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The words that the rules look for, of all languages at once. Package lang says what each lexicon is for.
var (
	lexicon = lang.All().FollowUp

	openings      = text.Compile(lexicon.Openings)
	proForms      = text.Set(lexicon.ProForms)
	articles      = text.Set(lang.All().Grammar.Articles)
	adverbs       = text.Set(lexicon.Adverbs)
	reactions     = text.Set(lexicon.Reactions)
	timeKinds     = text.Set(lang.All().Time.Kinds)
	neighbours    = text.Compile(lang.All().Time.Neighbours)
	topicOpenings = text.Compile(lexicon.TopicOpenings)

	placePrepositions   = text.Set(lexicon.PlacePrepositions)
	articlePrepositions = text.ByWord(lexicon.ArticlePrepositions)

	who             = text.Set(lexicon.Who)
	answerWho       = text.Set(lexicon.AnswerWho)
	personPronouns  = text.Set(lexicon.PersonPronouns)
	existentials    = text.Set(lexicon.Existentials)
	relationalNouns = text.Set(lexicon.RelationalNouns)
	nameLinks       = text.Set(lexicon.NameLinks)
	nameParticles   = text.Set(lexicon.NameParticles)

	refresh       = text.CompileOne(lexicon.Refresh)
	again         = text.Set(lexicon.Again)
	refreshAlone  = text.Set(lexicon.RefreshAlone)
	besideRefresh = text.Set(lexicon.BesideRefresh)
)

// placeLinks are the words before a place, by the word for "there" that it takes the place of.
var placeLinks = func() map[string]string {
	all := map[string]string{}
	for _, code := range lang.Codes() {
		for w := range text.Set(lang.Of(code).Grammar.Pronouns["there"]) {
			all[w] = lang.Of(code).FollowUp.PlaceLink
		}
	}
	return all
}()
