package train

import (
	"hash/fnv"

	"familiar/internal/linear"
	"familiar/internal/lookup/factcheck"
	"familiar/internal/lookup/need"
)

// folds is the number of parts of which each is predicted by models of the others.
const folds = 5

// Fold is the part, from 0 to 4, that a row belongs to. text is what the row asks, a message, a question or a claim, or
// the page that it cites.
func Fold(text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32()>>3) % folds
}

// Folds are, for each fifth of the rows, models of the other four: they have not seen the rows that they predict for.
// A model is trained when a row first asks for it. Folds are for one goroutine.
type Folds struct {
	Dir string // of the sets

	messageTasks *tasks
	messages     [folds]need.Models

	claimRows []verifyRow
	claimTask task
	claims    [folds]factcheck.Models

	citeTask  task
	citations [folds]*linear.Model

	pageRows []page
	pages    [folds]*linear.Model
}

// Message returns the models that have not seen a message.
func (f *Folds) Message(text string) (need.Models, error) {
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

// Citation returns the model that has not seen a page that is cited.
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

// Evidence returns what the model that has not seen a question puts first of a page, cut to a number of characters.
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
