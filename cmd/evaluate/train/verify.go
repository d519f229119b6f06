package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"familiar/internal/lookup/factcheck"
)

// verifyTask is whether a page bears a claim out.
func verifyTask(dir string) (task, error) {
	t := task{file: "factcheck/verify.model", classes: []string{"refutes", "supports"}, penalty: 2}
	file, err := os.ReadFile(filepath.Join(dir, "factcheck", "cases.jsonl"))
	if err != nil {
		return t, fmt.Errorf("read set: %w", err)
	}
	for line := range bytes.Lines(file) {
		var r struct {
			Claim, Page, Label string
			Candidates         []string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return t, fmt.Errorf("read set factcheck: %w", err)
		}
		t.rows = append(t.rows, example{
			text: r.Claim, source: "claims", features: factcheck.Compare(r.Claim, r.Page, r.Candidates).Features,
			class: yes(r.Label == "SUPPORTS"),
		})
	}
	return t, nil
}
