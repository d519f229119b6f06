// Package train trains the models: whether a message needs the web and what for (message.go), which sentences of a page answer, which of
// them are about a claim and support it, and whether it supports a sentence that cites it (evidence.go), and how a message depends on the
// question before it (followup.go).
//
// It learns from the sets needs-search, intent, evidence, factcheck and cite, which doc/evaluation.md describes, and from the project's own
// messages in own and followups. The same rows give the same models. The printed figures are measured on unseen rows: models of the other
// four fifths predict each fifth (folds.go).
package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"familiar/internal/linear"
)

// Models trains models on the sets in dir. It writes them to the folder out, in folders named after the packages that embed them.
func Models(dir, out string, w io.Writer) error {
	messages, err := readMessages(dir)
	if err != nil {
		return err
	}
	validateMessages(w, messages)
	claimed, err := readSet[verifyRow](dir, "factcheck")
	if err != nil {
		return err
	}
	if err := save(w, learnOrder(claimed, -1), out, "factcheck/ranking.model"); err != nil {
		return err
	}
	claims := verifyTask(claimed)
	fmt.Fprintf(w, "verify.model: %d rows\n", len(claims.rows))
	claims.validate(w)
	citations, err := citeTask(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "citation.model: %d rows\n", len(citations.rows))
	citations.validate(w)
	for _, t := range []task{needTask(messages), intentTask(messages), multilingualTask(messages), englishTask(messages), claims, citations} {
		if err := save(w, t.train(everything), out, t.file); err != nil {
			return err
		}
	}
	if err := trainFollowUps(w, out); err != nil {
		return err
	}
	return trainEvidence(w, dir, out)
}

// Sources makes no model. For each source of messages, it prints the figures of models trained on the others.
func Sources(dir string, w io.Writer) error {
	messages, err := readMessages(dir)
	if err != nil {
		return err
	}
	validateSources(w, messages)
	return nil
}

// readSet returns the rows of a set, in their order.
func readSet[R any](dir, set string) ([]R, error) {
	file, err := os.ReadFile(filepath.Join(dir, set, "cases.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read set: %w", err)
	}
	var rows []R
	for line := range bytes.Lines(file) {
		var r R
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read set %s: %w", set, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func save(w io.Writer, m *linear.Model, out, name string) error {
	file, path := m.Bytes(), filepath.Join(out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder for models: %w", err)
	}
	if err := os.WriteFile(path, file, 0o644); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	fmt.Fprintf(w, "%s: %d bytes\n", name, len(file))
	return nil
}
