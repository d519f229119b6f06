package evidence

import (
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// associations are words that a question has and, of the same kind of event, those that an answer has: asked → answered.
var associations = kinTable(lang.All().Evidence.Associations...)

func kinTable(rows ...string) map[string][]string {
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
