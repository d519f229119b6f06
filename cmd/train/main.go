// Train makes the models that tell whether a message needs the web, and what for, which sentences of a page answer, and
// whether a page bears a claim out
// (internal/providers/websearch).
//
//	go run ./cmd/train DIR [OUT]
//	go run ./cmd/train -sources DIR
//
// DIR holds the sets needs-search, intent, evidence and factcheck, as doc/evaluation.md describes them; OUT is where they go, by
// default beside the code that embeds them. The same rows give the same models. What it prints is measured on rows
// that the measured model has not seen: each fifth of them is predicted by a model of the other four. With -sources it
// makes nothing, and prints how models of all other sources do on each.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"familiar/internal/linear"
)

func main() {
	args := os.Args[1:]
	sources := len(args) == 2 && args[0] == "-sources"
	if sources {
		args = args[1:]
	}
	if len(args) == 0 || len(args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: train DIR [OUT]\n       train -sources DIR")
		os.Exit(2)
	}
	out := "internal/providers/websearch"
	if len(args) == 2 {
		out = args[1]
	}
	if err := run(args[0], out, sources); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(dir, out string, sources bool) error {
	messages, err := readMessages(dir)
	if err != nil {
		return err
	}
	if sources {
		validateSources(messages)
		return nil
	}
	return train(dir, out, messages)
}

func train(dir, out string, messages []message) error {
	validateMessages(messages)
	claims, err := verifyTask(dir)
	if err != nil {
		return err
	}
	fmt.Printf("verify.model: %d rows\n", len(claims.rows))
	claims.validate()
	for _, t := range []task{needTask(messages), intentTask(messages), claims} {
		if err := save(t.train(everything), out, t.file); err != nil {
			return err
		}
	}
	return trainEvidence(dir, out)
}

func save(m *linear.Model, out, name string) error {
	file := m.Bytes()
	if err := os.WriteFile(filepath.Join(out, name), file, 0o644); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	fmt.Printf("%s: %d bytes\n", name, len(file))
	return nil
}
