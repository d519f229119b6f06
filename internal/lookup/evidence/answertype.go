package evidence

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// kind is what kind of thing answers a question.
type kind string

const (
	anything kind = ""
	someone  kind = "person"
	someTime kind = "time"
	someSpot kind = "place"
	amount   kind = "number"
	reason   kind = "reason"
	manner   kind = "manner"
	meaning  kind = "definition"
	overview kind = "summary"
)

// asking are the words that ask for a kind.
var asking = text.Compile(lang.All().Evidence.AnswerKinds)

func answerType(question string) kind {
	words := text.Words(question)
	best, at := anything, len(words)+1
	for _, f := range asking.FindAll(question, words) {
		// "how many" beats the "how" inside it, what stands first beats what comes later; but in "what is the summary
		// of" the end says what is wanted
		if f.From < at || f.From == at && best == meaning || kind(f.Cue) == overview && best == meaning {
			best, at = kind(f.Cue), f.From
		}
	}
	return best
}
