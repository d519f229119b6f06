package question

import (
	"strings"
	"sync"

	"familiar/internal/text"
)

// tables has the words of all languages together. Package lang says what each table is for.
var tables = text.AllTables

// Utterances and their forms.
var (
	politeOpenings = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Question.Leads) })
	orderPhrases   = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Order.Orders) }) // to search, and not to
	orderTails     = text.LazySet(func() text.WordList { return tables().Order.Tail })                  // words that may end an order: "online", "for me"
	notImperative  = text.LazySet(func() text.WordList { return tables().Order.NotImperative })
	beforeOrder    = text.LazySet(func() text.WordList { return tables().Order.Before })
	refusals       = text.LazySet(func() text.WordList { return tables().Order.Refusals })
	asksWhy        = text.LazySet(func() text.WordList { return tables().Order.AsksWhy })
	reports        = text.LazySet(func() text.WordList { return tables().Order.Reports })
	notSearched    = text.LazySet(func() text.WordList { return tables().Order.NotSearched })
	fillers        = text.LazySet(func() text.WordList { return tables().Order.Fillers })

	conditions     = text.LazySet(func() text.WordList { return tables().Question.Conditions })
	inverted       = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Question.Inverted) })
	interrogatives = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Question.Interrogatives) })
	prepositions   = text.LazySet(func() text.WordList { return tables().Question.Prepositions })
)

// Times are the phrases which say that the present matters: "today", "latest".
var Times = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Need.Times) })

// How much a message needs the web.
var (
	speakerPhrases = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Need.Persons) }) // the two who talk: "you", "me", "i"
	topicPhrases   = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Need.Topics) })  // what changes from day to day, or is usually looked up
	notForWeb      = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Need.Against) }) // small talk, devices, sums
	intentPhrases  = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Need.Intents) }) // phrases that imply an intent
	checkPhrases   = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Need.Checks) })
	commands       = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Need.Commands) })

	weatherWords = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Need.Weather) })
	outdoors     = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Need.Outdoors) })
	deictics     = text.LazySet(func() text.WordList { return tables().Need.Deictics })
	hereWords    = text.LazySet(func() text.WordList { return tables().Need.Here })
	placeMarkers = text.LazySet(func() text.WordList { return tables().Need.AtPlace })
	doubts       = text.LazySet(func() text.WordList { return tables().Need.Doubts })
	doubtAdverbs = text.LazySet(func() text.WordList { return tables().Need.DoubtAdverbs })
	genericYou   = text.LazySet(func() text.WordList { return tables().Need.GenericYou })
	botVerbs     = text.LazySet(func() text.WordList { return tables().Need.BotVerbs })
	makerVerbs   = text.LazySet(func() text.WordList { return tables().Need.MakerVerbs })
	everybody    = text.LazySet(func() text.WordList { return tables().Need.Everybody })
)

// Queries, and what may leave in one.
var (
	orderLinks   = text.LazySet(func() text.WordList { return tables().Query.OrderLinks })
	works        = text.LazySet(func() text.WordList { return tables().Query.Works })
	titleLinks   = text.LazySet(func() text.WordList { return tables().Query.TitleLinks })
	pageWords    = text.LazySet(func() text.WordList { return tables().Query.PageWords })
	politeEnding = text.LazyRegexpOf(func() string { return `(?i)[\s,]+(?:` + tables().Query.Courtesies.String() + `)[\s.!?]*$` })

	placePrepositions   = text.LazySet(func() text.WordList { return tables().Privacy.PlacePrepositions })
	beforeIn            = text.LazySet(func() text.WordList { return tables().Privacy.BeforeIn })
	personVerbs         = text.LazySet(func() text.WordList { return tables().Privacy.PersonVerbs })
	questionAuxiliaries = text.LazySet(func() text.WordList { return tables().Privacy.Auxiliaries })
	phoneWords          = text.LazySet(func() text.WordList { return tables().Privacy.PhoneWords })
	numberNouns         = text.LazySet(func() text.WordList { return tables().Privacy.NumberNouns })
	owners              = text.LazySet(func() text.WordList { return tables().Privacy.Owners })
)

// Follow-ups.
var (
	fragmentOpenings = sync.OnceValue(func() text.Phrases { return text.Compile(tables().FollowUp.Openings) })
	proForms         = text.LazySet(func() text.WordList { return tables().FollowUp.ProForms })
	articles         = text.LazySet(func() text.WordList { return tables().Grammar.Articles })
	adverbs          = text.LazySet(func() text.WordList { return tables().FollowUp.Adverbs })
	reactions        = text.LazySet(func() text.WordList { return tables().FollowUp.Reactions })
	timeKinds        = text.LazySet(func() text.WordList { return tables().Time.Kinds })
	neighbours       = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Time.Neighbours) })
	topicOpenings    = sync.OnceValue(func() text.Phrases { return text.Compile(tables().FollowUp.TopicOpenings) })

	swappablePrepositions = text.LazySet(func() text.WordList { return tables().FollowUp.PlacePrepositions })
	articlePrepositions   = sync.OnceValue(func() map[string]string { return text.ByWord(tables().FollowUp.ArticlePrepositions) })

	who             = text.LazySet(func() text.WordList { return tables().FollowUp.Who })
	answerWho       = text.LazySet(func() text.WordList { return tables().FollowUp.AnswerWho })
	personPronouns  = text.LazySet(func() text.WordList { return tables().FollowUp.PersonPronouns })
	existentials    = text.LazySet(func() text.WordList { return tables().FollowUp.Existentials })
	relationalNouns = text.LazySet(func() text.WordList { return tables().FollowUp.RelationalNouns })
	nameLinks       = text.LazySet(func() text.WordList { return tables().FollowUp.NameLinks })
	nameParticles   = text.LazySet(func() text.WordList { return tables().FollowUp.NameParticles })

	refreshPhrases = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().FollowUp.Refresh) })
	againWords     = text.LazySet(func() text.WordList { return tables().FollowUp.Again })
	refreshAlone   = text.LazySet(func() text.WordList { return tables().FollowUp.RefreshAlone })
	besideRefresh  = text.LazySet(func() text.WordList { return tables().FollowUp.BesideRefresh })
)

// dependent has the phrases of messages that depend on others, or open another subject, in one language.
type dependent struct{ asides, corrections, pointers, alike text.Phrases }

var dependentIn = sync.OnceValue(func() map[string]dependent {
	all := map[string]dependent{}
	for _, code := range text.Languages() {
		l := text.TablesOf(code).Dependent
		all[code] = dependent{text.CompileOne(l.Asides), text.CompileOne(l.Corrections), text.CompileOne(l.Pointers), text.CompileOne(l.Alike)}
	}
	return all
})

// placeLinks maps each word for "there" to the preposition of the place name that replaces it.
var placeLinks = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, code := range text.Languages() {
		for w := range text.Set(text.TablesOf(code).Grammar.Pronouns["there"]) {
			all[w] = text.TablesOf(code).FollowUp.PlaceLink
		}
	}
	return all
})

// questionOpenings has the words that a question for facts begins with, by language. The key "" has those of all languages
// that are written without spaces.
var questionOpenings = sync.OnceValue(func() map[string]text.Phrases {
	add := func(rows, more map[string]text.PhraseList) {
		for form, phrases := range more {
			rows[form] += "," + phrases
		}
	}
	all, unspaced := map[string]text.Phrases{}, map[string]text.PhraseList{}
	for _, code := range text.Languages() {
		q := text.TablesOf(code).Question
		if text.Unspaced(string(q.Openings["wh"])) {
			add(unspaced, q.Openings)
			continue
		}
		rows := map[string]text.PhraseList{"wh": text.PhraseList(strings.Join(q.Things.Fields(), ","))}
		add(rows, q.Openings)
		all[code] = text.Compile(rows)
	}
	all[""] = text.Compile(unspaced)
	return all
})
