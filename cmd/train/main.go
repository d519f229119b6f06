// Train makes the models that tell whether a message needs the web, and what for, which sentences of a page answer, and
// whether a page bears a claim out
// (internal/providers/websearch).
//
//	go run ./cmd/train DIR [OUT]
//
// DIR holds the sets needs-search, intent, evidence and factcheck, as doc/evaluation.md describes them; OUT is where they go, by
// default beside the code that embeds them. The same rows give the same models. What it prints is measured on rows
// that the measured model has not seen: each fifth of them is predicted by a model of the other four.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/linear"
	"familiar/internal/providers/websearch"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: train DIR [OUT]")
		os.Exit(2)
	}
	out := "internal/providers/websearch"
	if len(os.Args) == 3 {
		out = os.Args[2]
	}
	if err := train(os.Args[1], out); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func train(dir, out string) error {
	rows, err := read(dir)
	if err != nil {
		return err
	}
	claims, err := verifyTask(dir)
	if err != nil {
		return err
	}
	for _, t := range []task{needTask(rows), intentTask(rows), claims} {
		fmt.Printf("%s: %d rows\n", t.file, len(t.rows))
		t.validate()
		if err := save(linear.Train(t.classes, t.examples(-1), t.penalty), out, t.file); err != nil {
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
	fmt.Printf("  %d bytes\n", len(file))
	return nil
}

// row is a line of one of the sets.
type row struct {
	Text   string
	Label  *int   // needs-search: 1 or 0, or none for rows that are only watched
	Cls    string // needs-search: source and class
	Intent string // intent

	hints []linear.Feature
	asks  bool
}

func read(dir string) ([]row, error) {
	var all []row
	seen := map[string]bool{} // the sets share sources
	for _, set := range []string{"intent", "needs-search"} {
		file, err := os.ReadFile(filepath.Join(dir, set, "cases.jsonl"))
		if err != nil {
			return nil, fmt.Errorf("read set: %w", err)
		}
		for line := range bytes.Lines(file) {
			var r row
			if err := json.Unmarshal(line, &r); err != nil {
				return nil, fmt.Errorf("read set %s: %w", set, err)
			}
			if seen[r.Text] {
				continue
			}
			seen[r.Text] = true
			all = append(all, r)
		}
	}
	for line := range strings.Lines(examples) {
		intent, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !seen[text] {
			all = append(all, row{Text: text, Intent: intent, Cls: "own"})
		}
	}
	for i := range all {
		all[i].hints, all[i].asks = websearch.Hints(all[i].Text)
	}
	return all, nil
}

// examples are the project's own.
//
//go:embed examples.txt
var examples string

// task is one model to be trained.
type task struct {
	file    string
	classes []string
	penalty float64
	rows    []labelled
	// temper is what a lookup makes of the probabilities before it decides; nil: nothing.
	temper func(r row, odds []float64)
}

type labelled struct {
	row
	class int
}

func needTask(rows []row) task {
	t := task{file: "need.model", classes: []string{"stay", "look"}, penalty: 2, temper: func(r row, odds []float64) {
		odds[1] = websearch.Tempered(odds[1], r.asks)
		odds[0] = 1 - odds[1]
	}}
	for _, r := range rows {
		l := labelled{row: r}
		switch {
		case r.Intent != "":
			l.class = yes(r.Intent != "none")
		case strings.HasPrefix(r.Cls, "metatool"): // what needs a tool may need no web
			continue
		case r.Label != nil:
			l.class = *r.Label
		case strings.HasPrefix(r.Cls, "irc"): // people among themselves
		default:
			continue
		}
		t.rows = append(t.rows, l)
	}
	return t
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

// classIntents are the classes of needs-search that say what is wanted.
var classIntents = map[string]string{
	"weather": "weather", "weather_query": "weather", "news_query": "news",
	"recipe": "howto", "cooking_recipe": "howto",
	"exchange_rate": "general", "traffic": "general", "flight_status": "general", "definition": "general", "qa_stock": "general",
	"qa_currency": "general", "qa_definition": "general", "qa_factoid": "", "transport_traffic": "general", "transport_query": "general",
	"restaurant_reviews": "general", "restaurant_suggestion": "general", "nutrition_info": "general", "travel_suggestion": "general",
	"travel_alert": "general", "vaccines": "general", "international_visa": "general", "plug_type": "general", "carry_on": "general",
}

func intentTask(rows []row) task {
	t := task{file: "intent.model", classes: []string{"weather", "news", "person", "howto", "media", "general"}, penalty: 2}
	for _, r := range rows {
		intent := r.Intent
		if intent == "" {
			_, class, _ := strings.Cut(r.Cls, "-")
			intent = classIntents[class]
		}
		if class := slices.Index(t.classes, intent); class >= 0 {
			t.rows = append(t.rows, labelled{row: r, class: class})
		}
	}
	return t
}

const folds = 5

// fold is the part of the rows that a text belongs to.
func fold(text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32()>>3) % folds
}

// examples are all rows but those of a fold.
func (t task) examples(without int) []linear.Example {
	var out []linear.Example
	for _, r := range t.rows {
		if fold(r.Text) != without {
			out = append(out, linear.Example{Features: r.hints, Class: r.class})
		}
	}
	return out
}

// validate prints, by class and by source, how often a model is right about rows it has not seen.
func (t task) validate() {
	type tally struct{ right, all, taken int }
	classes, sources := make([]tally, len(t.classes)), map[string]*tally{}
	for i := range folds {
		m := linear.Train(t.classes, t.examples(i), t.penalty)
		for _, r := range t.rows {
			if fold(r.Text) != i {
				continue
			}
			odds := m.Classify(r.hints)
			if t.temper != nil {
				t.temper(r.row, odds)
			}
			got := slices.Index(odds, slices.Max(odds))
			source, _, _ := strings.Cut(r.Cls, "-")
			source = fmt.Sprintf("%s %s", source, t.classes[r.class])
			if sources[source] == nil {
				sources[source] = &tally{}
			}
			sources[source].all++
			classes[r.class].all++
			classes[got].taken++
			if got == r.class {
				sources[source].right++
				classes[got].right++
			}
		}
	}
	recall, f1 := 0.0, 0.0
	for i, c := range classes {
		recall += 100 * float64(c.right) / float64(c.all) / float64(len(classes))
		f1 += 200 * float64(c.right) / float64(c.all+c.taken) / float64(len(classes))
		fmt.Printf("  %-8s F1 %.1f\n", t.classes[i], 200*float64(c.right)/float64(c.all+c.taken))
	}
	fmt.Printf("  unseen rows: balanced accuracy %.1f, macro-F1 %.1f\n", recall, f1)
	names := make([]string, 0, len(sources))
	for name := range sources {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("    %-20s %d of %d\n", name, sources[name].right, sources[name].all)
	}
}
