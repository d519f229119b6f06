package train

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"

	"familiar/internal/question"
	"familiar/internal/text"
)

// folds is the number of parts. Models of the other parts predict each part.
const folds = 5

// Fold returns the part, from 0 to 4, that a row belongs to. text is the row's message or question, or the page that its claim is about.
func Fold(text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32()>>3) % folds
}

// Folds has models that have not seen the rows that they predict. The rows are in parts, and the models of a part learn from the others. A
// part is a fold of the rows or, with Sources, everything that comes from one source. A model is trained when it is first needed. Folds is
// not safe for concurrent use.
type Folds struct {
	Dir     string // of the sets
	Sources bool

	messageTasks *tasks
	sources      map[string]string // by message or question
	messages     map[string]question.Models

	claimRows []verifyRow
	claims    map[string]*text.Model

	citeTask  task
	citations map[string]*text.Model

	pageRows []page
	pages    map[string]*text.Model
}

// part returns the part that a row is in.
func (f *Folds) part(text, source string) string {
	if f.Sources {
		return source
	}
	return strconv.Itoa(Fold(text))
}

// outside selects the examples that are not in a part.
func (f *Folds) outside(part string) func(example) bool {
	return func(e example) bool { return f.part(e.text, e.source) != part }
}

// learned returns the models of a part, and trains them if they are needed for the first time.
func learned[M any](models *map[string]M, part string, train func() M) M {
	if *models == nil {
		*models = map[string]M{}
	}
	m, is := (*models)[part]
	if !is {
		m = train()
		(*models)[part] = m
	}
	return m
}

// Message returns the models that have not seen a message. Its source is a language if it is not in one of the public sets.
func (f *Folds) Message(text, language string) (question.Models, error) {
	if f.messageTasks == nil {
		messages, err := readMessages(f.Dir)
		if err != nil {
			return question.Models{}, err
		}
		all := messageTasks(messages)
		f.messageTasks, f.sources = &all, map[string]string{}
		for _, m := range messages {
			if !m.own() {
				f.sources[m.Text] = m.source()
			}
		}
	}
	part := f.part(text, cmp.Or(f.sources[text], language))
	return learned(&f.messages, part, func() question.Models { return f.messageTasks.train(f.outside(part)) }), nil
}

// Claim returns the model that has not seen a page, or the claims about it.
func (f *Folds) Claim(page string) (*text.Model, error) {
	if f.claimRows == nil {
		var err error
		if f.claimRows, err = readSet[verifyRow](f.Dir, "factcheck"); err != nil {
			return nil, err
		}
	}
	return learned(&f.claims, strconv.Itoa(Fold(page)), func() *text.Model { return learnOrder(f.claimRows, Fold(page)) }), nil
}

// Citation returns the model that has not seen a cited page.
func (f *Folds) Citation(page string) (*text.Model, error) {
	if f.citeTask.rows == nil {
		var err error
		if f.citeTask, err = citeTask(f.Dir); err != nil {
			return nil, err
		}
	}
	part := f.part(page, "")
	return learned(&f.citations, part, func() *text.Model { return f.citeTask.train(f.outside(part)) }), nil
}

// Evidence returns what the model that has not seen a question puts first on a page. It is cut to a number of characters.
func (f *Folds) Evidence(row EvidenceRow) (string, error) {
	if f.pageRows == nil {
		var err error
		if f.pageRows, err = readPages(f.Dir); err != nil {
			return "", err
		}
	}
	part := f.part(row.Question, row.source())
	m := learned(&f.pages, part, func() *text.Model {
		return learnEvidence(f.pageRows, func(p page) bool { return f.part(p.Question, p.source()) != part })
	})
	p := page{EvidenceRow: row}
	p.read()
	return p.best(m), nil
}

// task is one model to be trained.
type task struct {
	file    string
	classes []string
	penalty float64
	levels  float64 // steps of a weight up to the largest; 0: as many as a byte has
	rounds  int     // of the descent; 0: as many as for most
	lasso   float64 // replaces penalty if most weights should be zero
	seldom  int     // features with fewer examples are left out, because they describe only those
	rows    []example
	whole   *whole // what was learned from all rows; nil: it is not kept
}

// whole is a model of all rows, which are learned once.
type whole struct {
	once  sync.Once
	model *text.Model
}

type example struct {
	text     string
	source   string // "clinc", "own", …
	features []text.Feature
	class    int
	block    int  // of rows by one author; 0: none
	again    bool // another example has the same message, without something before it
}

// everything and outside select training rows.
func everything(example) bool { return true }

func outside(n int) func(example) bool { return func(e example) bool { return Fold(e.text) != n } }

// train trains the model on the selected rows.
func (t task) train(include func(example) bool) *text.Model {
	if t.whole != nil && !slices.ContainsFunc(t.rows, func(e example) bool { return !include(e) }) {
		t.whole.once.Do(func() { t.whole.model = t.learn(everything) })
		return t.whole.model
	}
	return t.learn(include)
}

func (t task) learn(include func(example) bool) *text.Model {
	var examples []sample
	counts := map[string]int{}
	for _, r := range t.rows {
		if include(r) {
			examples = append(examples, sample{Features: r.features, Class: r.class})
			if r.again {
				continue
			}
			for _, f := range r.features {
				counts[f.Name]++
			}
		}
	}
	for i, e := range examples {
		examples[i].Features = slices.DeleteFunc(slices.Clone(e.Features), func(f text.Feature) bool { return counts[f.Name] < t.seldom })
	}
	if t.lasso > 0 {
		return fitSparse(t.classes, examples, t.lasso)
	}
	return fit(t.classes, examples, t.penalty, cmp.Or(t.levels, byteLevels), cmp.Or(t.rounds, rounds))
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}
