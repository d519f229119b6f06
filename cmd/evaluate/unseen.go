package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"familiar/cmd/evaluate/train"
	"familiar/internal/factcheck"
	"familiar/internal/question"
)

// A model's predictions for its own training rows show what it remembers. What it can do is measured on rows that it has not seen. Each
// fifth of the rows is predicted by models of the other four. Each source is predicted by models of the others. These predictors use such
// models within the code of a lookup. Their rows are in the sets that training reads.

func unseenNeed(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
		m, err := f.Message(row.Text, "")
		if err != nil {
			return nil, err
		}
		look, _ := question.Predict(m, row.Text)
		return prediction{"search": look}, nil
	})()
}

func unseenIntent(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
		m, err := f.Message(row.Text, "")
		if err != nil {
			return nil, err
		}
		look, intent := question.Predict(m, row.Text)
		if !look {
			intent = "none"
		}
		return prediction{"intent": train.InSet(intent)}, nil
	})()
}

// unseenSpoken decides about a message of the project's own. Its source is its language.
func unseenSpoken(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row spokenRow) (prediction, error) {
		m, err := f.Message(row.Text, row.Lang)
		if err != nil {
			return nil, err
		}
		look, intent := question.Predict(m, row.Text)
		if !look {
			intent = "none"
		}
		return row.scored(train.InSet(intent)), nil
	})()
}

// unseenEvidence chooses sentences without a lookup: the best ones until the budget is full.
func unseenEvidence(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row train.EvidenceRow) (prediction, error) {
		text, err := f.Evidence(row)
		return prediction{"text": text}, err
	})()
}

func unseenVerify(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row claimRow) (prediction, error) {
		m, err := f.Claim(row.Page)
		if err != nil {
			return nil, err
		}
		w := factcheck.CompareBy(m, row.Claim, row.Page, row.Candidates)
		return prediction{"label": label(w), "rank": w.Order}, nil
	})()
}

func unseenCite(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row citeRow) (prediction, error) {
		m, err := f.Citation(train.CitedPage(row.Sentences))
		if err != nil {
			return nil, err
		}
		return row.predict(m), nil
	})()
}

// quickFolds is how many folds --quick measures, since training takes most of the time. quickSources are the sources and languages that it
// measures where a whole source is left out.
const (
	quickFolds   = 2
	quickSources = " freshqa clinc hwu topicalchat irc RetrievalQA "
)

// firstFolds keeps the rows of the first folds.
func firstFolds(rows []byte) ([]byte, error) {
	return kept(rows, func(r learnedRow) bool {
		cited := "" // the page that a claim cites
		if r.Claim != "" {
			cited = train.CitedPage(r.Sentences)
		}
		return train.Fold(cmp.Or(r.Question, cited, r.Page, r.Text)) < quickFolds
	})
}

// firstSources keeps the rows of some sources.
func firstSources(rows []byte) ([]byte, error) {
	return kept(rows, func(r learnedRow) bool {
		source, _, _ := strings.Cut(cmp.Or(r.Cls, r.Source, r.Lang), "-")
		return strings.Contains(quickSources, " "+source+" ")
	})
}

// learnedRow is a row of any of the sets that models learn from.
type learnedRow struct {
	Text, Question, Claim, Page string
	Cls, Source, Lang           string // where it comes from
	Sentences                   []string
}

// kept returns the rows that keep selects.
func kept(rows []byte, keep func(learnedRow) bool) ([]byte, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(rows) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var row learnedRow
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("read row: %w", err)
		}
		if keep(row) {
			out.Write(line)
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}
