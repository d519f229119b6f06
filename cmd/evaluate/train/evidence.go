package train

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/linear"
	"familiar/internal/lookup/evidence"
	"familiar/internal/web/read"
)

// page is a line of the set evidence: a text that answers a question somewhere.
type page struct {
	Question, Title, Text, Source string
	Answers                       []string
	Budget                        int // characters within which the answer must be

	quotes []string
	choice linear.Choice // among the quotes: right is what holds an answer
}

const evidencePenalty = 1

// trainEvidence makes the model that ranks a page's sentences.
func trainEvidence(w io.Writer, dir, out string) error {
	pages, err := readPages(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "evidence.model: %d pages\n", len(pages))
	validateEvidence(w, pages)
	return save(w, learnEvidence(pages, -1), out, "evidence/evidence.model")
}

func readPages(dir string) ([]page, error) {
	all, err := readSet[page](dir, "evidence")
	for i := range all {
		p := &all[i]
		p.read()
		for _, q := range p.quotes {
			p.choice.Right = append(p.choice.Right, p.answeredBy(q))
		}
	}
	return all, err
}

// read finds the quotes of a page.
func (p *page) read() {
	text, _ := read.Text(p.Text)
	p.quotes, p.choice.Options = evidence.Candidates(p.Question, p.Title, text)
}

// answeredBy reports whether a text holds an answer; cleaning makes backticks apostrophes.
func (p page) answeredBy(text string) bool {
	folded := func(s string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(s), "`", "'")), " ")
	}
	text = folded(text)
	return slices.ContainsFunc(p.Answers, func(a string) bool { return strings.Contains(text, folded(a)) })
}

// learnEvidence learns from all pages but those of a fold.
func learnEvidence(pages []page, without int) *linear.Model {
	var choices []linear.Choice
	for _, p := range pages {
		if Fold(p.Question) != without {
			choices = append(choices, p.choice)
		}
	}
	return linear.TrainChoices("answers", choices, evidencePenalty)
}

// validateEvidence prints, by source, in how many pages the answer is within the budget when a model that has not seen
// them ranks the sentences.
func validateEvidence(w io.Writer, pages []page) {
	type tally struct{ right, all int }
	sources, total := map[string]*tally{}, &tally{}
	for i := range folds {
		m := learnEvidence(pages, i)
		for _, p := range pages {
			if Fold(p.Question) != i {
				continue
			}
			source, _, _ := strings.Cut(p.Source, "-")
			if sources[source] == nil {
				sources[source] = &tally{}
			}
			for _, t := range []*tally{sources[source], total} {
				t.all++
				t.right += yes(p.answeredBy(p.best(m)))
			}
		}
	}
	fmt.Fprintf(w, "  unseen pages: %d of %d\n", total.right, total.all)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		t := sources[name]
		fmt.Fprintf(w, "    %-20s %d of %d\n", name, t.right, t.all)
	}
}

// best is what a model puts within the budget.
func (p page) best(m *linear.Model) string {
	order := make([]int, len(p.quotes))
	scores := make([]float64, len(p.quotes))
	for i, q := range p.quotes {
		order[i] = i
		scores[i] = -evidence.PerLength * math.Log(float64(utf8.RuneCountInString(q)))
		for _, f := range p.choice.Options[i] {
			scores[i] += m.Weight(f.Name, 0) * f.Value
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var text []rune
	for _, i := range order {
		text = append(text, []rune(p.quotes[i]+" ")...)
	}
	return string(text[:min(len(text), p.Budget)])
}
