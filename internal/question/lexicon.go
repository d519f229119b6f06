package question

import (
	"regexp"
	"strings"

	"familiar/internal/text"
)

// tables has the words of all languages together. Package lang says what each table is for.
var (
	tables         = text.AllTables()
	followUpTables = tables.FollowUp
)

// Utterances and their forms.
var (
	politeOpenings = text.Compile(tables.Question.Leads)
	orderPhrases   = text.Compile(tables.Order.Orders) // to search, and not to
	orderTails     = text.Set(tables.Order.Tail)       // words that may end an order: "online", "for me"
	notImperative  = text.Set(tables.Order.NotImperative)
	beforeOrder    = text.Set(tables.Order.Before)
	refusals       = text.Set(tables.Order.Refusals)
	asksWhy        = text.Set(tables.Order.AsksWhy)
	reports        = text.Set(tables.Order.Reports)
	notSearched    = text.Set(tables.Order.NotSearched)
	fillers        = text.Set(tables.Order.Fillers)

	conditions     = text.Set(tables.Question.Conditions)
	inverted       = text.CompileOne(tables.Question.Inverted)
	interrogatives = text.CompileOne(tables.Question.Interrogatives)
	prepositions   = text.Set(tables.Question.Prepositions)
)

// Times are the phrases which say that the present matters: "today", "latest".
var Times = text.Compile(tables.Need.Times)

// How much a message needs the web.
var (
	speakerPhrases = text.Compile(tables.Need.Persons) // the two who talk: "you", "me", "i"
	topicPhrases   = text.Compile(tables.Need.Topics)  // what changes from day to day, or is usually looked up
	notForWeb      = text.Compile(tables.Need.Against) // small talk, devices, sums
	intentPhrases  = text.Compile(tables.Need.Intents) // phrases that imply an intent
	checkPhrases   = text.CompileOne(tables.Need.Checks)
	commands       = text.Compile(tables.Need.Commands)

	weatherWords = text.CompileOne(tables.Need.Weather)
	outdoors     = text.CompileOne(tables.Need.Outdoors)
	deictics     = text.Set(tables.Need.Deictics)
	hereWords    = text.Set(tables.Need.Here)
	placeMarkers = text.Set(tables.Need.AtPlace)
	doubts       = text.Set(tables.Need.Doubts)
	doubtAdverbs = text.Set(tables.Need.DoubtAdverbs)
	genericYou   = text.Set(tables.Need.GenericYou)
	botVerbs     = text.Set(tables.Need.BotVerbs)
	makerVerbs   = text.Set(tables.Need.MakerVerbs)
	everybody    = text.Set(tables.Need.Everybody)
)

// Queries, and what may leave in one.
var (
	orderLinks   = text.Set(tables.Query.OrderLinks)
	works        = text.Set(tables.Query.Works)
	titleLinks   = text.Set(tables.Query.TitleLinks)
	pageWords    = text.Set(tables.Query.PageWords)
	politeEnding = regexp.MustCompile(`(?i)[\s,]+(?:` + tables.Query.Courtesies.String() + `)[\s.!?]*$`)

	placePrepositions   = text.Set(tables.Privacy.PlacePrepositions)
	beforeIn            = text.Set(tables.Privacy.BeforeIn)
	personVerbs         = text.Set(tables.Privacy.PersonVerbs)
	questionAuxiliaries = text.Set(tables.Privacy.Auxiliaries)
	phoneWords          = text.Set(tables.Privacy.PhoneWords)
	numberNouns         = text.Set(tables.Privacy.NumberNouns)
	owners              = text.Set(tables.Privacy.Owners)
)

// Follow-ups.
var (
	fragmentOpenings = text.Compile(followUpTables.Openings)
	proForms         = text.Set(followUpTables.ProForms)
	articles         = text.Set(tables.Grammar.Articles)
	adverbs          = text.Set(followUpTables.Adverbs)
	reactions        = text.Set(followUpTables.Reactions)
	timeKinds        = text.Set(tables.Time.Kinds)
	neighbours       = text.Compile(tables.Time.Neighbours)
	topicOpenings    = text.Compile(followUpTables.TopicOpenings)

	swappablePrepositions = text.Set(followUpTables.PlacePrepositions)
	articlePrepositions   = text.ByWord(followUpTables.ArticlePrepositions)

	who             = text.Set(followUpTables.Who)
	answerWho       = text.Set(followUpTables.AnswerWho)
	personPronouns  = text.Set(followUpTables.PersonPronouns)
	existentials    = text.Set(followUpTables.Existentials)
	relationalNouns = text.Set(followUpTables.RelationalNouns)
	nameLinks       = text.Set(followUpTables.NameLinks)
	nameParticles   = text.Set(followUpTables.NameParticles)

	refreshPhrases = text.CompileOne(followUpTables.Refresh)
	againWords     = text.Set(followUpTables.Again)
	refreshAlone   = text.Set(followUpTables.RefreshAlone)
	besideRefresh  = text.Set(followUpTables.BesideRefresh)
)

// placeLinks maps each word for "there" to the preposition of the place name that replaces it.
var placeLinks = func() map[string]string {
	all := map[string]string{}
	for _, code := range text.Languages() {
		for w := range text.Set(text.TablesOf(code).Grammar.Pronouns["there"]) {
			all[w] = text.TablesOf(code).FollowUp.PlaceLink
		}
	}
	return all
}()

// questionOpenings has the words that a question for facts begins with, by language. The key "" has those of all languages
// that are written without spaces.
var questionOpenings = func() map[string]text.Phrases {
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
}()

// Questions about the server itself, in English, German, Spanish, French and Portuguese. In other languages only the people
// and channels that a message mentions tell that it asks about the server.
var (
	// sayWords are verbs for what people do in a conversation, and elsewhere too.
	sayWords = text.Set("say said says saying tell told tells write wrote written writes ask asked asks answer answered suggest suggested propose proposed decide decided agree agreed " +
		"announce announced promise promised recommend recommended discuss discussed discussing talk talked talking conclude concluded claim claimed plan planned explain explained mean meant think thought " +
		"sagte gesagt sagt schrieb geschrieben fragte gefragt beschlossen entschieden vereinbart besprochen diskutiert geredet vorgeschlagen empfohlen gemeint " +
		"dijo dicho dijeron escribió escribieron decidimos decidido acordamos hablamos hablado propuso preguntó " +
		"dit écrit demandé décidé discuté parlé proposé convenu " +
		"disse disseram escreveu decidimos decidido falamos falou combinamos perguntou")
	// postWords are verbs for what people do only in a chat.
	postWords = text.Set("mention mentioned mentions post posted posts linked share shared shares repost reposted upload uploaded pasted " +
		"erwähnt erwähnte gepostet verlinkt geteilt mencionó mencionado publicó compartió mentionné posté partagé mencionou postou compartilhou partilhou")

	weWords     = text.Set("we us our wir uns nosotros nos nous nós")
	anyoneWords = text.Set("anyone anybody someone somebody everyone everybody people jemand irgendwer alguien quelqu'un alguém")
	whoWords    = text.Set("who whom whose wer wen wem quién quien qui quem")

	placeWords     = text.Set("here channel server guild chat thread conversation hier kanal thread aquí canal ici salon aqui")
	byWords        = text.Set("by from von de par por")
	demonstratives = text.Set("this the our in dieser diesem este esta ce cette neste nesta deste desta")

	linkWords   = text.Set("link links url urls address lien enlace")
	haveWords   = text.Set("did have had habe hast")
	webWords    = text.Set("web internet google online wikipedia instagram tiktok twitter tweet facebook reddit youtube")
	futureWords = text.Set("should shall will could let's let sollten sollen deberíamos devrait devons devíamos")

	// idleWords say nothing about the topic of a question.
	idleWords = text.Set("what when where why how which about ever last time message messages again already exactly something anything thing things was wann wo warum wie worüber über qué cuándo dónde sobre que quoi quand où quando onde there")
)

// Phrases that are enough by themselves.
var (
	missedPhrases = text.CompileOne("what did i miss, what have i missed, what i missed, did i miss anything, did i miss something, catch me up, catch up on, what happened here while, what happened while i was, what's new here, " +
		"was habe ich verpasst, hab ich was verpasst, habe ich etwas verpasst, qué me perdí, qué me he perdido, qu'est-ce que j'ai manqué, qu'est-ce que j'ai raté, o que eu perdi, o que perdi, 何か見逃した, 見逃したこと")
	pinPhrases          = text.CompileOne("what is pinned, what's pinned, what are the pins, pinned messages, pinned message, the pins, pinned here, angepinnt, angeheftete, mensajes fijados, messages épinglés, mensagens fixadas, ピン留め")
	channelTopicPhrases = text.CompileOne("what is this channel for, what's this channel for, what is this channel about, what's this channel about, channel topic, topic of this channel, topic of the channel, purpose of this channel, what is this channel, " +
		"wofür ist dieser kanal, worum geht es in diesem kanal, para qué es este canal, à quoi sert ce salon, para que serve este canal, このチャンネルは何")
)
