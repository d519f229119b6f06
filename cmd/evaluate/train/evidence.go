package train

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/evidence"
	"familiar/internal/factcheck"
	"familiar/internal/text"
	"familiar/internal/web/read"
)

// EvidenceRow is a row of the set evidence: a text that contains the answer to a question.
type EvidenceRow struct {
	Question, Title, Text, Source string
	Budget                        int // characters that the answer must fit into
}

// source returns where a row comes from, without its part there.
func (r EvidenceRow) source() string {
	source, _, _ := strings.Cut(r.Source, "-")
	return source
}

// page is a row with its answers and quotes.
type page struct {
	EvidenceRow
	Answers []string

	quotes []string
	choice choice // among the quotes; those with an answer are right
}

const evidencePenalty = 1

// trainEvidence trains the model that ranks a page's sentences.
func trainEvidence(w io.Writer, dir, out string) error {
	pages, err := readPages(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "evidence.model: %d pages\n", len(pages))
	return save(w, learnEvidence(pages, func(page) bool { return true }), out, "evidence/evidence.model")
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
	p.quotes, p.choice.Options = evidence.RankingFeatures(p.Question, p.Title, text)
}

// answeredBy reports whether a text contains an answer. Cleaning turns backticks into apostrophes.
func (p page) answeredBy(text string) bool {
	folded := func(s string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(s), "`", "'")), " ")
	}
	text = folded(text)
	return slices.ContainsFunc(p.Answers, func(a string) bool { return strings.Contains(text, folded(a)) })
}

// learnEvidence learns from the selected pages.
func learnEvidence(pages []page, include func(page) bool) *text.Model {
	var choices []choice
	for _, p := range pages {
		if include(p) {
			choices = append(choices, p.choice)
		}
	}
	return fitChoices("answers", choices, evidencePenalty)
}

// best returns what a model puts into the budget.
func (p page) best(m *text.Model) string {
	order := make([]int, len(p.quotes))
	scores := make([]float64, len(p.quotes))
	for i, q := range p.quotes {
		order[i] = i
		scores[i] = -evidence.LengthPenalty * math.Log(float64(utf8.RuneCountInString(q)))
		for _, f := range p.choice.Options[i] {
			scores[i] += m.Weight(0, f.Name) * f.Value
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var text []rune
	for _, i := range order {
		text = append(text, []rune(p.quotes[i]+" ")...)
	}
	return string(text[:min(len(text), p.Budget)])
}

// citeRow is a row of the set cite: a sentence, and the sentences of the page that it cites.
type citeRow struct {
	Claim, Label string
	Sentences    []string
}

// citePenalty is small: there are four hundred rows and five features.
const citePenalty = 0.1

// citeTask is whether a page supports enough of a sentence. The page decides a row's fold.
func citeTask(dir string) (task, error) {
	t := task{file: "evidence/citation.model", classes: []string{"unborne", "borne"}, penalty: citePenalty}
	rows, err := readSet[citeRow](dir, "cite")
	for _, r := range rows {
		page := CitedPage(r.Sentences)
		if features := evidence.CitationFeatures(r.Claim, []*evidence.Page{evidence.NewPage(page)}); len(features) > 0 {
			t.rows = append(t.rows, example{text: page, features: features, class: yes(r.Label == "supported")})
		}
	}
	return t, err
}

// CitedPage returns the page that a row of the set cite cites. It decides the row's fold.
func CitedPage(sentences []string) string { return strings.Join(sentences, "\n") }

// verifyRow is a row of the set factcheck. It has a claim, and the sentences of a page that supports or refutes it.
type verifyRow struct {
	Claim, Page, Label string
	Candidates         []string
	Gold               []int // indexes of the supporting or refuting sentences
}

// orderPenalty is large, because the sentences of the set were chosen to be similar.
const orderPenalty = 15

// learnOrder trains the model that ranks a page's sentences, on all rows except those of a fold.
func learnOrder(rows []verifyRow, without int) *text.Model {
	var choices []choice
	for _, r := range rows {
		if Fold(r.Page) == without {
			continue
		}
		indexes, values := factcheck.RankingFeatures(r.Claim, r.Page, r.Candidates)
		c := choice{Options: values}
		for _, i := range indexes {
			c.Right = append(c.Right, slices.Contains(r.Gold, i))
		}
		choices = append(choices, c)
	}
	return fitChoices("evidence", choices, orderPenalty)
}
