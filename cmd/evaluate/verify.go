package main

import (
	"context"
	"io/fs"
	"math"

	"familiar/internal/lookup/factcheck"
	"familiar/internal/web/clean"
)

type claimRow struct {
	Claim, Page string
	Candidates  []string
}

// predictVerify predicts {"label"}: SUPPORTS or REFUTES, whichever the row's sentences are nearer to, and {"rank"}: the
// sentences, best evidence first. A lookup asks several sites, and says neither where it is unsure.
func predictVerify(_ context.Context, _ fs.FS, row claimRow) (prediction, error) {
	w := factcheck.Compare(row.Claim, row.Page, row.Candidates)
	return prediction{"label": label(w), "rank": w.Order, "supports": math.Round(1000*w.Supports) / 1000, "conflict": w.Conflict}, nil
}

func label(w factcheck.Comparison) string {
	if w.Conflict != "" || w.Supports < 0.5 {
		return "REFUTES"
	}
	return "SUPPORTS"
}

// predictInject predicts {"injection"}: whether the record says of the text that it looks like orders to a machine.
func predictInject(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
	return prediction{"injection": clean.Orders(row.Text)}, nil
}
