package ranking

import "familiar/internal/text"

// Stem returns the stem of a word, by its key, as a [Question] of that language has it: of an irregular verb that of its infinitive.
func Stem(key, language string) string {
	if base, is := infinitives[key]; is {
		key = base
	}
	return text.Stem(key, language)
}

// Language is the language in which a question's words are stemmed.
func (q *Question) Language() string { return q.lang }

// Written is the language that the question is written in, empty where that is not clear.
func (q *Question) Written() string {
	if q.unsure {
		return ""
	}
	return q.lang
}

// Stems are the stems of the words that are looked for, in the order of [Question.Words].
func (q *Question) Stems() (all []string) {
	for _, t := range q.terms {
		all = append(all, t.stem)
	}
	return all
}
