package train

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"familiar/internal/factcheck"
	"familiar/internal/linear"
	"familiar/internal/question"
)

// folds is the number of parts. Models of the other parts predict each part.
const folds = 5

// Fold returns the part, from 0 to 4, that a row belongs to. text is the row's message, question, claim or cited page.
func Fold(text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32()>>3) % folds
}

// Folds has, for each fifth of the rows, models of the other four, which have not seen the rows that they predict. A model is trained when
// it is first needed. Folds is not safe for concurrent use.
type Folds struct {
	Dir string // of the sets

	messageTasks *tasks
	messages     [folds]question.Models

	claimRows []verifyRow
	claimTask task
	claims    [folds]factcheck.Models

	citeTask  task
	citations [folds]*linear.Model

	pageRows []page
	pages    [folds]*linear.Model
}

// Message returns the models that have not seen a message.
func (f *Folds) Message(text string) (question.Models, error) {
	m := &f.messages[Fold(text)]
	if m.Need != nil {
		return *m, nil
	}
	if f.messageTasks == nil {
		messages, err := readMessages(f.Dir)
		if err != nil {
			return *m, err
		}
		all := messageTasks(messages)
		f.messageTasks = &all
	}
	*m = f.messageTasks.train(outside(Fold(text)))
	return *m, nil
}

// Claim returns the models that have not seen a claim.
func (f *Folds) Claim(text string) (factcheck.Models, error) {
	fold := Fold(text)
	m := &f.claims[fold]
	if m.Verify != nil {
		return *m, nil
	}
	if f.claimRows == nil {
		var err error
		if f.claimRows, err = readSet[verifyRow](f.Dir, "factcheck"); err != nil {
			return *m, err
		}
		f.claimTask = verifyTask(f.claimRows)
	}
	m.Order, m.Verify = learnOrder(f.claimRows, fold), f.claimTask.train(outside(fold))
	return *m, nil
}

// Citation returns the model that has not seen a cited page.
func (f *Folds) Citation(page string) (*linear.Model, error) {
	m := &f.citations[Fold(page)]
	if *m != nil {
		return *m, nil
	}
	if f.citeTask.rows == nil {
		var err error
		if f.citeTask, err = citeTask(f.Dir); err != nil {
			return nil, err
		}
	}
	*m = f.citeTask.train(outside(Fold(page)))
	return *m, nil
}

// Evidence returns what the model that has not seen a question puts first on a page, cut to a number of characters.
func (f *Folds) Evidence(question, title, text string, budget int) (string, error) {
	m := &f.pages[Fold(question)]
	if *m == nil {
		if f.pageRows == nil {
			var err error
			if f.pageRows, err = readPages(f.Dir); err != nil {
				return "", err
			}
		}
		*m = learnEvidence(f.pageRows, Fold(question))
	}
	p := page{Question: question, Title: title, Text: text, Budget: budget}
	p.read()
	return p.best(*m), nil
}

// task is one model to be trained.
type task struct {
	file    string
	classes []string
	penalty float64
	lasso   float64 // replaces penalty if most weights should be zero
	seldom  int     // features with fewer examples are left out, because they describe only those
	rows    []example
}

type example struct {
	text     string
	source   string // "clinc", "own", …
	features []linear.Feature
	class    int
}

// everything, outside and without select training rows.
func everything(example) bool { return true }

func outside(n int) func(example) bool { return func(e example) bool { return Fold(e.text) != n } }

func without(source string) func(example) bool {
	return func(e example) bool { return e.source != source }
}

// train trains the model on the selected rows.
func (t task) train(include func(example) bool) *linear.Model {
	var examples []linear.Example
	counts := map[string]int{}
	for _, r := range t.rows {
		if include(r) {
			examples = append(examples, linear.Example{Features: r.features, Class: r.class})
			for _, f := range r.features {
				counts[f.Name]++
			}
		}
	}
	for i, e := range examples {
		examples[i].Features = slices.DeleteFunc(slices.Clone(e.Features), func(f linear.Feature) bool { return counts[f.Name] < t.seldom })
	}
	if t.lasso > 0 {
		return linear.TrainSparse(t.classes, examples, t.lasso)
	}
	return linear.Train(t.classes, examples, t.penalty)
}

// validate prints how often a model is right about unseen rows.
func (t task) validate(w io.Writer) {
	var seen tally
	for i := range folds {
		m := t.train(outside(i))
		for _, r := range t.rows {
			if Fold(r.text) == i {
				odds := m.Classify(r.features)
				seen.add(t.classes[r.class], t.classes[slices.Index(odds, slices.Max(odds))])
			}
		}
	}
	fmt.Fprintf(w, "  unseen rows: right %.1f, macro-F1 %.1f, balanced %.1f\n", seen.right(), seen.macroF1(), seen.balanced())
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}
