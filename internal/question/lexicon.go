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
	orderTails     = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.Tail) })    // words that may end an order: "online", "for me"
	notImperative  = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.NotImperative) })
	beforeOrder    = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.Before) })
	refusals       = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.Refusals) })
	asksWhy        = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.AsksWhy) })
	reports        = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.Reports) })
	notSearched    = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.NotSearched) })
	fillers        = sync.OnceValue(func() map[string]bool { return text.Set(tables().Order.Fillers) })

	conditions     = sync.OnceValue(func() map[string]bool { return text.Set(tables().Question.Conditions) })
	inverted       = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Question.Inverted) })
	interrogatives = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().Question.Interrogatives) })
	prepositions   = sync.OnceValue(func() map[string]bool { return text.Set(tables().Question.Prepositions) })
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
	deictics     = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.Deictics) })
	hereWords    = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.Here) })
	placeMarkers = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.AtPlace) })
	doubts       = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.Doubts) })
	doubtAdverbs = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.DoubtAdverbs) })
	genericYou   = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.GenericYou) })
	botVerbs     = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.BotVerbs) })
	makerVerbs   = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.MakerVerbs) })
	everybody    = sync.OnceValue(func() map[string]bool { return text.Set(tables().Need.Everybody) })
)

// Queries, and what may leave in one.
var (
	orderLinks   = sync.OnceValue(func() map[string]bool { return text.Set(tables().Query.OrderLinks) })
	works        = sync.OnceValue(func() map[string]bool { return text.Set(tables().Query.Works) })
	titleLinks   = sync.OnceValue(func() map[string]bool { return text.Set(tables().Query.TitleLinks) })
	pageWords    = sync.OnceValue(func() map[string]bool { return text.Set(tables().Query.PageWords) })
	politeEnding = text.LazyRegexpOf(func() string { return `(?i)[\s,]+(?:` + tables().Query.Courtesies.String() + `)[\s.!?]*$` })

	placePrepositions   = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.PlacePrepositions) })
	beforeIn            = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.BeforeIn) })
	personVerbs         = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.PersonVerbs) })
	questionAuxiliaries = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.Auxiliaries) })
	phoneWords          = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.PhoneWords) })
	numberNouns         = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.NumberNouns) })
	owners              = sync.OnceValue(func() map[string]bool { return text.Set(tables().Privacy.Owners) })
)

// Follow-ups.
var (
	fragmentOpenings = sync.OnceValue(func() text.Phrases { return text.Compile(tables().FollowUp.Openings) })
	proForms         = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.ProForms) })
	articles         = sync.OnceValue(func() map[string]bool { return text.Set(tables().Grammar.Articles) })
	adverbs          = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.Adverbs) })
	reactions        = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.Reactions) })
	timeKinds        = sync.OnceValue(func() map[string]bool { return text.Set(tables().Time.Kinds) })
	neighbours       = sync.OnceValue(func() text.Phrases { return text.Compile(tables().Time.Neighbours) })
	topicOpenings    = sync.OnceValue(func() text.Phrases { return text.Compile(tables().FollowUp.TopicOpenings) })

	swappablePrepositions = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.PlacePrepositions) })
	articlePrepositions   = sync.OnceValue(func() map[string]string { return text.ByWord(tables().FollowUp.ArticlePrepositions) })

	who             = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.Who) })
	answerWho       = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.AnswerWho) })
	personPronouns  = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.PersonPronouns) })
	existentials    = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.Existentials) })
	relationalNouns = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.RelationalNouns) })
	nameLinks       = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.NameLinks) })
	nameParticles   = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.NameParticles) })

	refreshPhrases = sync.OnceValue(func() text.Phrases { return text.CompileOne(tables().FollowUp.Refresh) })
	againWords     = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.Again) })
	refreshAlone   = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.RefreshAlone) })
	besideRefresh  = sync.OnceValue(func() map[string]bool { return text.Set(tables().FollowUp.BesideRefresh) })
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

	weWords     = sync.OnceValue(func() map[string]bool { return text.Set("we us our wir uns nosotros nos nous nós") })
	anyoneWords = sync.OnceValue(func() map[string]bool {
		return text.Set("anyone anybody someone somebody everyone everybody people jemand irgendwer alguien quelqu'un alguém")
	})
	whoWords = sync.OnceValue(func() map[string]bool { return text.Set("who whom whose wer wen wem quién quien qui quem") })

	placeWords = sync.OnceValue(func() map[string]bool {
		return text.Set("here channel server guild chat thread conversation hier kanal thread aquí canal ici salon aqui")
	})
	byWords        = sync.OnceValue(func() map[string]bool { return text.Set("by from von de par por") })
	demonstratives = sync.OnceValue(func() map[string]bool {
		return text.Set("this the our in dieser diesem este esta ce cette neste nesta deste desta")
	})

	linkWords = sync.OnceValue(func() map[string]bool { return text.Set("link links url urls address lien enlace") })
	haveWords = sync.OnceValue(func() map[string]bool { return text.Set("did have had habe hast") })
	webWords  = sync.OnceValue(func() map[string]bool {
		return text.Set("web internet google online wikipedia instagram tiktok twitter tweet facebook reddit youtube")
	})
	futureWords = sync.OnceValue(func() map[string]bool {
		return text.Set("should shall will could let's let sollten sollen deberíamos devrait devons devíamos")
	})

	// idleWords say nothing about the topic of a question.
	idleWords = sync.OnceValue(func() map[string]bool {
		return text.Set("what when where why how which about ever last time message messages again already exactly something anything thing things was wann wo warum wie worüber über qué cuándo dónde sobre que quoi quand où quando onde there")
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
