package train

import (
	"strings"

	"familiar/internal/lookup/claim"
)

// citeRow is a line of the set cite: a sentence, and the sentences of the page that it cites.
type citeRow struct {
	Claim, Label string
	Sentences    []string
}

// citePenalty is small: there are four hundred rows and five features.
const citePenalty = 0.1

// citeTask is whether a page has enough of a sentence. The rows are in folds by their pages.
func citeTask(dir string) (task, error) {
	t := task{file: "claim/cite.model", classes: []string{"unborne", "borne"}, penalty: citePenalty}
	rows, err := readSet[citeRow](dir, "cite")
	for _, r := range rows {
		page := CitedPage(r.Sentences)
		if features := claim.SupportFeatures(r.Claim, []*claim.Page{claim.NewPage(page)}); len(features) > 0 {
			t.rows = append(t.rows, example{text: page, source: "citations", features: features, class: yes(r.Label == "supported")})
		}
	}
	return t, err
}

// CitedPage is the page that a row of the set cite cites, by which it is in a fold.
func CitedPage(sentences []string) string { return strings.Join(sentences, "\n") }
