package recall

import "familiar/internal/text"

// The words by key, of English, German, Spanish, French and Portuguese. In other languages a question about the server is known by the
// people and channels that it mentions, or not at all.
var (
	// saying are the words for what people do in a conversation, and elsewhere too.
	saying = text.Set("say said says saying tell told tells write wrote written writes ask asked asks answer answered suggest suggested propose proposed decide decided agree agreed " +
		"announce announced promise promised recommend recommended discuss discussed discussing talk talked talking conclude concluded claim claimed plan planned explain explained mean meant think thought " +
		"sagte gesagt sagt schrieb geschrieben fragte gefragt beschlossen entschieden vereinbart besprochen diskutiert geredet vorgeschlagen empfohlen gemeint " +
		"dijo dicho dijeron escribió escribieron decidimos decidido acordamos hablamos hablado propuso preguntó " +
		"dit écrit demandé décidé discuté parlé proposé convenu " +
		"disse disseram escreveu decidimos decidido falamos falou combinamos perguntou")
	// posting are those for what people do in a chat alone.
	posting = text.Set("mention mentioned mentions post posted posts linked share shared shares repost reposted upload uploaded pasted " +
		"erwähnt erwähnte gepostet verlinkt geteilt mencionó mencionado publicó compartió mentionné posté partagé mencionou postou compartilhou partilhou")

	us     = text.Set("we us our wir uns nosotros nos nous nós")
	anyone = text.Set("anyone anybody someone somebody everyone everybody people jemand irgendwer alguien quelqu'un alguém")
	asking = text.Set("who whom whose wer wen wem quién quien qui quem")

	places   = text.Set("here channel server guild chat thread conversation hier kanal thread aquí canal ici salon aqui")
	by       = text.Set("by from von de par por")
	pointing = text.Set("this the our in dieser diesem este esta ce cette neste nesta deste desta")

	addresses   = text.Set("link links url urls address lien enlace")
	auxiliaries = text.Set("did have had habe hast")
	webWords    = text.Set("web internet google online wikipedia instagram tiktok twitter tweet facebook reddit youtube")
	ahead       = text.Set("should shall will could let's let sollten sollen deberíamos devrait devons devíamos")

	// furniture are words of such questions that say nothing of what they are about.
	furniture = text.Set("what when where why how which about ever last time message messages again already exactly something anything thing things was wann wo warum wie worüber über qué cuándo dónde sobre que quoi quand où quando onde there")
)

// Phrases that say it by themselves.
var (
	missed = text.CompileOne("what did i miss, what have i missed, what i missed, did i miss anything, did i miss something, catch me up, catch up on, what happened here while, what happened while i was, what's new here, " +
		"was habe ich verpasst, hab ich was verpasst, habe ich etwas verpasst, qué me perdí, qué me he perdido, qu'est-ce que j'ai manqué, qu'est-ce que j'ai raté, o que eu perdi, o que perdi, 何か見逃した, 見逃したこと")
	pins   = text.CompileOne("what is pinned, what's pinned, what are the pins, pinned messages, pinned message, the pins, pinned here, angepinnt, angeheftete, mensajes fijados, messages épinglés, mensagens fixadas, ピン留め")
	topics = text.CompileOne("what is this channel for, what's this channel for, what is this channel about, what's this channel about, channel topic, topic of this channel, topic of the channel, purpose of this channel, what is this channel, " +
		"wofür ist dieser kanal, worum geht es in diesem kanal, para qué es este canal, à quoi sert ce salon, para que serve este canal, このチャンネルは何")
)
