package evidence

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// kind is the type of answer that a question asks for.
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

// open reports whether a question asks for no certain kind.
func (k kind) open() bool { return k == anything || k == overview }

// asking are the words that ask for a kind.
var asking = text.Compile(lang.All().Evidence.AnswerKinds)

// answerType returns the type of answer that a question asks for.
func answerType(question string) kind {
	words := text.Words(question)
	best, at := anything, len(words)+1
	for _, f := range asking.FindAll(question, words) {
		// The first phrase wins, and "how many" over the "how" inside it. But "what is" yields to what follows: in "what
		// is the summary of" the end says what is wanted.
		if f.From < at || f.From == at && best == meaning || kind(f.Cue) == overview && best == meaning {
			best, at = kind(f.Cue), f.From
		}
	}
	return best
}
