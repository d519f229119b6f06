package need

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The words that the rules look for, of all languages at once. Package lang says what each table is for.
var (
	lexicon  = lang.All().Need
	checks   = text.CompileOne(lexicon.Checks)
	commands = text.Compile(lexicon.Commands)

	weatherWords = text.CompileOne(lexicon.Weather)
	outdoors     = text.CompileOne(lexicon.Outdoors)
	deictics     = text.Set(lexicon.Deictics)
	here         = text.Set(lexicon.Here)
	atPlace      = text.Set(lexicon.AtPlace)
	doubts       = text.Set(lexicon.Doubts)
	doubtAdverbs = text.Set(lexicon.DoubtAdverbs)
	genericYou   = text.Set(lexicon.GenericYou)
	botVerbs     = text.Set(lexicon.BotVerbs)
	makerVerbs   = text.Set(lexicon.MakerVerbs)
	everybody    = text.Set(lexicon.Everybody)

	fillers = text.Set(lang.All().Order.Fillers)
)
