// Package train trains the models. message.go trains whether a message needs the web and what for. evidence.go trains which sentences of a
// page answer, and which of them are about a claim and support it. It also trains whether a page supports a sentence that cites it.
// followup.go trains how a message depends on the question before it. recall.go trains whether it asks about the past of its server, and
// orders.go what it orders of the memory.
//
// It learns from the sets needs-search, intent, evidence, factcheck and cite, which doc/evaluation.md describes. It also learns from the
// project's own messages in own, followups, recalls and orders. The same rows give the same models. [Folds] has models of a part of the
// rows, which predict the others (folds.go).
package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"familiar/internal/text"
)

// Models trains models on the sets in dir. It writes them to the folder out, in folders named after the packages that embed them.
func Models(dir, out string, w io.Writer) error {
	messages, err := readMessages(dir)
	if err != nil {
		return err
	}
	all := messageTasks(messages)
	fmt.Fprintf(w, "need.model, intent.model, multilingual.model, english.model: %d, %d, %d and %d rows\n",
		len(all.need.rows), len(all.intent.rows), len(all.multilingual.rows), len(all.english.rows))
	claimed, err := readSet[verifyRow](dir, "factcheck")
	if err != nil {
		return err
	}
	if err := save(w, learnOrder(claimed, -1), out, "factcheck/ranking.model"); err != nil {
		return err
	}
	citations, err := citeTask(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "citation.model: %d rows\n", len(citations.rows))
	for _, t := range []task{all.need, all.intent, all.multilingual, all.english, citations} {
		if err := save(w, t.train(everything), out, t.file); err != nil {
			return err
		}
	}
	if err := trainRecall(w, messages, out); err != nil {
		return err
	}
	if err := trainFollowUps(w, out); err != nil {
		return err
	}
	if err := trainOrders(w, out); err != nil {
		return err
	}
	return trainEvidence(w, dir, out)
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

func save(w io.Writer, m *text.Model, out, name string) error {
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
