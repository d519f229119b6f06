package cascade

import (
	"strings"

	"familiar/internal/web/page/visible/css"
)

// readWords reads any names.
func readWords(v *reader) (Value, bool) {
	var all []string
	for !v.done() {
		word, ok := v.word()
		if !ok {
			return Value{}, false
		}
		all = append(all, word)
	}
	return Value{Word: strings.Join(all, " ")}, true
}

// readNames reads names whose case matters.
func readNames(v *reader) (Value, bool) {
	start := v.in
	_, ok := readWords(v)
	return Value{Word: v.t.Between(css.Span{From: start.From, To: start.To})}, ok
}

// readAnything takes a value as it is written.
func readAnything(v *reader) (Value, bool) {
	text := strings.ToLower(v.t.Between(v.in))
	v.at = v.in.To
	return Value{Word: text}, true
}

func listOf(read func(v *reader) (Value, bool)) func(v *reader) (Value, bool) {
	return func(v *reader) (Value, bool) {
		var all Value
		for _, part := range v.parts() {
			one, ok := read(part)
			if !ok || !part.done() {
				return Value{}, false
			}
			all.Parts = append(all.Parts, Part{Name: one.Word, Numbers: one.Numbers})
		}
		v.at = v.in.To
		return all, true
	}
}

func listOfWords(list string) func(v *reader) (Value, bool) { return listOf(words(list)) }
