package main

import (
	"context"
	"io/fs"

	"familiar/internal/memory"
)

// learnRow is a message of somebody who agreed that the bot learns about them.
type learnRow struct {
	Text    string
	Private *bool // it is about health, belief, sex or politics; nil: not known
}

// predictLearn predicts {"learns"}. It says whether the bot may keep a sentence of a message by itself, if a side model chooses it.
func predictLearn(_ context.Context, _ fs.FS, row learnRow) (prediction, error) {
	learns := memory.Learns(row.Text)
	got := prediction{"learns": learns}
	switch {
	case row.Private == nil:
	case *row.Private:
		got["leak"] = share(learns)
	default:
		got["kept"] = share(learns)
	}
	return got, nil
}
