package train

import "familiar/internal/lookup/factcheck"

// verifyRow is a line of the set factcheck: a claim, and the sentences of a page that bears it out or refutes it.
type verifyRow struct {
	Claim, Page, Label string
	Candidates         []string
}

// verifyTask is whether a page bears a claim out.
func verifyTask(dir string) (task, error) {
	t := task{file: "factcheck/verify.model", classes: []string{"refutes", "supports"}, penalty: 2}
	rows, err := readSet[verifyRow](dir, "factcheck")
	for _, r := range rows {
		t.rows = append(t.rows, example{
			text: r.Claim, source: "claims", features: factcheck.Compare(r.Claim, r.Page, r.Candidates).Features,
			class: yes(r.Label == "SUPPORTS"),
		})
	}
	return t, err
}
