package train

import (
	"slices"

	"familiar/internal/linear"
	"familiar/internal/lookup/factcheck"
)

// verifyRow is a line of the set factcheck: a claim, and the sentences of a page that bears it out or refutes it.
type verifyRow struct {
	Claim, Page, Label string
	Candidates         []string
	Gold               []int // indexes of those that do
}

// orderPenalty is large, since the sentences of the set were chosen to be alike.
const orderPenalty = 15

// learnOrder makes the model that puts a page's sentences in order, of all rows but those of a fold.
func learnOrder(rows []verifyRow, without int) *linear.Model {
	var choices []linear.Choice
	for _, r := range rows {
		if Fold(r.Claim) == without {
			continue
		}
		indexes, values := factcheck.Choice(r.Claim, r.Page, r.Candidates)
		c := linear.Choice{Options: values}
		for _, i := range indexes {
			c.Right = append(c.Right, slices.Contains(r.Gold, i))
		}
		choices = append(choices, c)
	}
	return linear.TrainChoices("evidence", choices, orderPenalty)
}

// verifyTask is whether a page bears a claim out.
func verifyTask(rows []verifyRow) task {
	t := task{file: "factcheck/verify.model", classes: []string{"refutes", "supports"}, penalty: 2}
	for _, r := range rows {
		t.rows = append(t.rows, example{
			text: r.Claim, source: "claims", features: factcheck.Compare(r.Claim, r.Page, r.Candidates).Features,
			class: yes(r.Label == "SUPPORTS"),
		})
	}
	return t
}
