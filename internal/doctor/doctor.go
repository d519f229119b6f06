// Package doctor judges whether an installation works, and says what to do where it does not.
//
// It looks at nothing by itself: whoever asks it has looked, and hands over what was found as plain values. So every judgement can be tried
// with values alone.
//
//   - doctor.go runs checks side by side, each under a deadline of its own, and keeps their findings in the order of the checks.
//   - discord.go judges the token, the intents and the permissions; model.go a model's answers, service.go those of
//     the services that make vectors and write voice messages down; lookup.go searches, the guard and DNS.
//   - machine.go judges the database, its disk and the clock; encryption.go finds out whether a disk is encrypted; console.go who reaches the
//     console.
//   - view.go is how findings are shown at a terminal; review.go answers the questions of Discord's yearly review.
//
// No finding holds a secret: what is handed over has none, but for texts of servers, which the caller redacts with all that it prints.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// State is how something is. The set is closed.
type State string

const (
	OK      State = "ok"
	Warning State = "warning" // it works, but not as well or as safely as it could
	Failure State = "failure" // it does not work
	Skipped State = "skipped" // it was not looked at, or cannot be known
)

// Finding is one line of what was found.
type Finding struct {
	ID      string `json:"id"`                // what was looked at: "token", "permissions"
	Subject string `json:"subject,omitempty"` // which of several: a server's name, a search backend
	State   State  `json:"state"`
	Text    string `json:"text"`           // a sentence, with figures
	Cure    string `json:"cure,omitempty"` // what to do; empty where nothing is to be done
	Table   *Table `json:"table,omitempty"`
}

// Table is a matrix of what there is and what is missing.
type Table struct {
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a line of a table.
type Row struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"` // one for each column
}

// Cell is what a table says of one thing.
type Cell string

const (
	Has     Cell = "yes"
	Missing Cell = "missing" // and it is needed
	Without Cell = "no"      // and it is of use alone
	Unused  Cell = "-"       // it does not matter here
)

// Mark is a sign for it: ✓ has it, ✗ lacks what is needed, · lacks what would be of use.
func (c Cell) Mark() string {
	return map[Cell]string{Has: "✓", Missing: "✗", Without: "·", Unused: " "}[c]
}

// Check is something to look at.
type Check struct {
	ID    string        // of its findings, where it has no time to make any
	Limit time.Duration // within which it has to end
	Run   func(context.Context) []Finding
	Last  bool // it runs when those that are not last have ended
}

// Progress is called, by one goroutine at a time, when a check begins and when one ends.
type Progress func(Standing)

// Standing is how far an examination has come.
type Standing struct {
	Ended, All int       // checks
	Running    []string  // their names
	Found      []Finding // by those that have ended, in the order of the checks
}

// Run carries out the checks, those that are not last side by side and then the others, and returns their findings in the order of the
// checks. A check that ctx or its own deadline ended before it found anything has failed.
func Run(ctx context.Context, checks []Check, progress Progress) []Finding {
	list := &board{checks: checks, state: make([]stage, len(checks)), found: make([][]Finding, len(checks)), progress: progress}
	for _, last := range []bool{false, true} {
		var running sync.WaitGroup
		for i, c := range checks {
			if c.Last != last {
				continue
			}
			list.set(i, begun, nil)
			running.Go(func() { list.set(i, ended, c.within(ctx)) })
		}
		running.Wait()
	}
	return slices.Concat(list.found...)
}

// within runs a check under its deadline.
func (c Check) within(ctx context.Context) []Finding {
	limited, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	found := c.Run(limited)
	if len(found) > 0 || limited.Err() == nil {
		return found
	}
	f := Finding{ID: c.ID, State: Failure, Text: fmt.Sprintf("There was no answer within %v.", c.Limit)}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f = Finding{ID: c.ID, State: Skipped, Text: "It was stopped."}
	}
	return []Finding{f}
}

type stage int

const (
	waiting stage = iota
	begun
	ended
)

// board is where each check stands.
type board struct {
	checks   []Check
	progress Progress

	mu    sync.Mutex
	state []stage     // guarded by mu
	found [][]Finding // by check; guarded by mu until all have ended
}

func (b *board) set(i int, s stage, found []Finding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state[i], b.found[i] = s, found
	if b.progress == nil {
		return
	}
	now := Standing{All: len(b.checks), Found: slices.Concat(b.found...)}
	for i, s := range b.state {
		switch s {
		case begun:
			now.Running = append(now.Running, b.checks[i].ID)
		case ended:
			now.Ended++
		}
	}
	b.progress(now)
}

// Count returns how many findings are of a state.
func Count(all []Finding, s State) (n int) {
	for _, f := range all {
		if f.State == s {
			n++
		}
	}
	return n
}
