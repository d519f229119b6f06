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

// Questions about the server itself, in English, German, Spanish, French and Portuguese. In other languages only the people
// and channels that a message mentions tell that it asks about the server.
var (
	// sayWords are verbs for what people do in a conversation, and elsewhere too.
	sayWords = sync.OnceValue(func() map[string]bool {
		return text.Set("say said says saying tell told tells write wrote written writes ask asked asks answer answered suggest suggested propose proposed decide decided agree agreed " +
			"announce announced promise promised recommend recommended discuss discussed discussing talk talked talking conclude concluded claim claimed plan planned explain explained mean meant think thought " +
			"sagte gesagt sagt schrieb geschrieben fragte gefragt beschlossen entschieden vereinbart besprochen diskutiert geredet vorgeschlagen empfohlen gemeint " +
			"dijo dicho dijeron escribió escribieron decidimos decidido acordamos hablamos hablado propuso preguntó " +
			"dit écrit demandé décidé discuté parlé proposé convenu " +
			"disse disseram escreveu decidimos decidido falamos falou combinamos perguntou")
	})
	// postWords are verbs for what people do only in a chat.
	postWords = sync.OnceValue(func() map[string]bool {
		return text.Set("mention mentioned mentions post posted posts linked share shared shares repost reposted upload uploaded pasted " +
			"erwähnt erwähnte gepostet verlinkt geteilt mencionó mencionado publicó compartió mentionné posté partagé mencionou postou compartilhou partilhou")
	})

	weWords     = text.LazySet(func() text.WordList { return "we us our wir uns nosotros nos nous nós" })
	anyoneWords = text.LazySet(func() text.WordList {
		return "anyone anybody someone somebody everyone everybody people jemand irgendwer alguien quelqu'un alguém"
	})
	whoWords = text.LazySet(func() text.WordList { return "who whom whose wer wen wem quién quien qui quem" })

	placeWords = text.LazySet(func() text.WordList {
		return "here channel server guild chat thread conversation hier kanal thread aquí canal ici salon aqui"
	})
	byWords        = text.LazySet(func() text.WordList { return "by from von de par por" })
	demonstratives = text.LazySet(func() text.WordList {
		return "this the our in dieser diesem este esta ce cette neste nesta deste desta"
	})

	linkWords = text.LazySet(func() text.WordList { return "link links url urls address lien enlace" })
	haveWords = text.LazySet(func() text.WordList { return "did have had habe hast" })
	webWords  = text.LazySet(func() text.WordList {
		return "web internet google online wikipedia instagram tiktok twitter tweet facebook reddit youtube"
	})
	futureWords = text.LazySet(func() text.WordList {
		return "should shall will could let's let sollten sollen deberíamos devrait devons devíamos"
	})

	// idleWords say nothing about the topic of a question.
	idleWords = text.LazySet(func() text.WordList {
		return "what when where why how which about ever last time message messages again already exactly something anything thing things was wann wo warum wie worüber über qué cuándo dónde sobre que quoi quand où quando onde there"
	})
)

// Phrases that are enough by themselves.
var (
	missedPhrases = sync.OnceValue(func() text.Phrases {
		return text.CompileOne("what did i miss, what have i missed, what i missed, did i miss anything, did i miss something, catch me up, catch up on, what happened here while, what happened while i was, what's new here, " +
			"was habe ich verpasst, hab ich was verpasst, habe ich etwas verpasst, qué me perdí, qué me he perdido, qu'est-ce que j'ai manqué, qu'est-ce que j'ai raté, o que eu perdi, o que perdi, 何か見逃した, 見逃したこと")
	})
	pinPhrases = sync.OnceValue(func() text.Phrases {
		return text.CompileOne("what is pinned, what's pinned, what are the pins, pinned messages, pinned message, the pins, pinned here, angepinnt, angeheftete, mensajes fijados, messages épinglés, mensagens fixadas, ピン留め")
	})
	channelTopicPhrases = sync.OnceValue(func() text.Phrases {
		return text.CompileOne("what is this channel for, what's this channel for, what is this channel about, what's this channel about, channel topic, topic of this channel, topic of the channel, purpose of this channel, what is this channel, " +
			"wofür ist dieser kanal, worum geht es in diesem kanal, para qué es este canal, à quoi sert ce salon, para que serve este canal, このチャンネルは何")
	})
)
