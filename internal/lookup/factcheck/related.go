package factcheck

import (
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// related are words of one field: where a claim says "born" and a page "her birthplace", they may speak of the same.
// A row is a field. A word may be of several.
var related = func() map[string][]int {
	fields := map[string][]int{}
	for i, row := range lang.All().FactCheck.SemanticFields {
		for _, w := range strings.Fields(row) {
			fields[text.Stem(text.Fold(w), "en")] = append(fields[text.Stem(text.Fold(w), "en")], i)
		}
	}
	return fields
}()
