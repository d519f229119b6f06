package factcheck

import (
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// fieldsOf maps the stems of words to their semantic fields, by number: where a statement says "born" and a page "her
// birthplace", they may speak of the same.
var fieldsOf = func() map[string][]int {
	fields := map[string][]int{}
	for i, row := range lang.All().FactCheck.SemanticFields {
		for _, w := range strings.Fields(row) {
			stem := text.Stem(text.Fold(w), "en")
			fields[stem] = append(fields[stem], i)
		}
	}
	return fields
}()
