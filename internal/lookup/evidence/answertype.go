package evidence

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// answerType is the type of answer that a question asks for.
type answerType string

const (
	typeAny        answerType = ""
	typePerson     answerType = "person"
	typeTime       answerType = "time"
	typePlace      answerType = "place"
	typeNumber     answerType = "number"
	typeReason     answerType = "reason"
	typeManner     answerType = "manner"
	typeDefinition answerType = "definition"
	typeSummary    answerType = "summary"
)

// open reports whether any answer may be of the type.
func (t answerType) open() bool { return t == typeAny || t == typeSummary }

// answerPhrases ask for an answer of a type.
var answerPhrases = text.Compile(lang.All().Evidence.AnswerKinds)

// answerTypeOf returns the type of answer that a question asks for.
func answerTypeOf(question string) answerType {
	words := text.Words(question)
	best, at := typeAny, len(words)+1
	for _, f := range answerPhrases.FindAll(question, words) {
		// The first phrase wins, and "how many" over the "how" inside it. But "what is" yields to what follows: in "what
		// is the summary of" the end says what is wanted.
		if f.From < at || f.From == at && best == typeDefinition || answerType(f.Cue) == typeSummary && best == typeDefinition {
			best, at = answerType(f.Cue), f.From
		}
	}
	return best
}
