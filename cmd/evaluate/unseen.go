package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"

	"familiar/cmd/evaluate/train"
	"familiar/internal/question"
)

// A model's predictions for its own training rows show what it remembers. What it can do is measured on rows that it has not seen: each
// fifth of the rows, by models of the other four. These predictors use such models within the code of a lookup. Their rows are in the sets
// that training reads.

func unseenNeed(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
		m, err := f.Message(row.Text)
		if err != nil {
			return nil, err
		}
		look, _ := question.Predict(m, row.Text)
		return prediction{"search": look}, nil
	})()
}

func unseenIntent(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
		m, err := f.Message(row.Text)
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

// unseenEvidence chooses sentences without a lookup: the best ones until the budget is full.
func unseenEvidence(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row evidenceRow) (prediction, error) {
		text, err := f.Evidence(row.Question, row.Title, row.Text, row.Budget)
		return prediction{"text": text}, err
	})()
}

func unseenVerify(f *train.Folds) predictor {
	return stateless(func(_ context.Context, _ fs.FS, row claimRow) (prediction, error) {
		m, err := f.Claim(row.Claim)
		if err != nil {
			return nil, err
		}
		w := m.Compare(row.Claim, row.Page, row.Candidates)
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

// quickFolds is how many folds --quick measures, since training takes most of the time.
const quickFolds = 2

// firstFolds keeps the rows of the first folds.
func firstFolds(rows []byte) ([]byte, error) {
	var kept bytes.Buffer
	for line := range bytes.Lines(rows) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var row struct {
			Text, Question, Claim string
			Sentences             []string
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("read row: %w", err)
		}
		cited := "" // the page that a claim cites
		if row.Claim != "" {
			cited = train.CitedPage(row.Sentences)
		}
		if train.Fold(cmp.Or(row.Question, cited, row.Claim, row.Text)) < quickFolds {
			kept.Write(line)
			kept.WriteByte('\n')
		}
	}
	return kept.Bytes(), nil
}
