package evidence

import (
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// associations maps words that a question may have to those that its answers tend to have.
var associations = associationTable(lang.All().Evidence.Associations...)

// associationTable reads rows of "a,b: c,d": the answers to questions with a or b have c or d.
func associationTable(rows ...string) map[string][]string {
	out := map[string][]string{}
	for _, row := range rows {
		from, to, _ := strings.Cut(row, ":")
		var answers []string
		for _, w := range strings.Split(to, ",") {
			answers = append(answers, text.Fold(strings.TrimSpace(w)))
		}
		for _, w := range strings.Split(from, ",") {
			w = text.Fold(strings.TrimSpace(w))
			out[w] = slices.Concat(out[w], answers)
		}
	}
	return out
}
