// Package doctor examines an installation, judges whether it works, and says what to do if it does not. It also sets an installation up.
//
//   - doctor.go runs checks at the same time, each under its own deadline. examination.go lists the checks and what they look at.
//   - discord.go, model.go, services.go and machine.go have the checks, each with its judgement. A judgement is a function of values and can be
//     tested alone. machine.go also finds out whether a disk is encrypted.
//   - diagnose.go explains why a model does not answer.
//   - doctor.go shows findings at a terminal; review.go answers the questions of Discord's yearly review.
//   - setup.go and setupanswers.go are `familiar init`: they ask, try each answer and write .env (dotenv.go).
//
// Findings hold no secret.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"familiar/internal/text"
)

// State is how something is. The set is closed.
type State string

const (
	OK      State = "ok"
	Warning State = "warning" // it works, but not as well or as safely as it could
	Failure State = "failure" // it does not work
	Skipped State = "skipped" // it was not examined, or cannot be known
)

// Finding is one line of what was found.
type Finding struct {
	ID      string `json:"id"`                // of what was examined: "token", "permissions"
	Subject string `json:"subject,omitempty"` // which of several: a server's name, a search backend
	State   State  `json:"state"`
	Text    string `json:"text"`           // a sentence, with figures
	Cure    string `json:"cure,omitempty"` // what to do; empty if there is nothing to do
	Table   *Table `json:"table,omitempty"`
	// Set is the setting that cures it, where there is only one right value. It holds no secret.
	Set *Assignment `json:"set,omitempty"`
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

// Cell is one field of a table.
type Cell string

const (
	Has     Cell = "yes"
	Missing Cell = "missing" // and it is needed
	Without Cell = "no"      // and it is only useful
	Unused  Cell = "-"       // it does not matter here
)

// Mark returns a sign for the cell: ✓ has it, ✗ lacks what is needed, · lacks what is useful.
func (c Cell) Mark() string {
	return map[Cell]string{Has: "✓", Missing: "✗", Without: "·", Unused: " "}[c]
}

// Check is one part of an examination.
type Check struct {
	ID    string        // of its finding if it does not end in time
	Limit time.Duration // for the check to end
	Run   func(context.Context) []Finding
	Last  bool // it runs after the other checks
}

// Progress is called when a check begins and when one ends, by one goroutine at a time.
type Progress func(Standing)

// Standing is how far an examination is.
type Standing struct {
	Ended, All int       // checks
	Running    []string  // their names
	Found      []Finding // by the checks that have ended, in their order
}

// Run carries out the checks at the same time, then those that are Last. It returns their findings in the order of the checks. A check that
// finds nothing before its deadline has failed.
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

func (c Check) within(ctx context.Context) []Finding {
	limited, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	found := c.Run(limited)
	if len(found) > 0 || limited.Err() == nil {
		return found
	}
	f := Finding{ID: c.ID, State: Failure, Text: fmt.Sprintf("There was no answer within %v.", c.Limit)}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f = Finding{ID: c.ID, State: Skipped, Text: "The check was stopped."}
	}
	return []Finding{f}
}

type stage int

const (
	waiting stage = iota
	begun
	ended
)

// board shows the state of each check.
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

// Count returns how many findings have a state.
func Count(all []Finding, s State) (n int) {
	for _, f := range all {
		if f.State == s {
			n++
		}
	}
	return n
}

// width is how wide a page is, in columns.
const width = 100

// mostRows is how many channels of a server are shown. The JSON has all.
const mostRows = 25

// View writes the findings for a terminal, and counts them by state.
func View(all []Finding) string { return Lines(all, 0) + "\n" + Sum(all) + "\n" }

// Lines writes the findings from a column on. Each has one line, what to do below, and the incomplete rows of tables.
func Lines(all []Finding, column int) string {
	names := 0
	for _, f := range all {
		names = max(names, utf8.RuneCountInString(f.Name()))
	}
	names = min(names, 34)
	var b strings.Builder
	margin := strings.Repeat(" ", column)
	indent := column + 9 + names + 2
	for _, f := range all {
		fmt.Fprintf(&b, "%s%-7s  %s  %s\n", margin, f.State, pad(f.Name(), names), wrap(f.Text, indent))
		if f.Cure != "" {
			b.WriteString(strings.Repeat(" ", indent) + "→ " + wrap(f.Cure, indent+2) + "\n")
		}
		if f.Table != nil && f.State != OK {
			f.Table.view(&b)
		}
	}
	return b.String()
}

// Sum counts the findings by state, in a sentence.
func Sum(all []Finding) string {
	return fmt.Sprintf("%d ok, %s, %s, %d skipped.", Count(all, OK), number(Count(all, Warning), "warning"), number(Count(all, Failure), "failure"), Count(all, Skipped))
}

// Name says what was examined: "model: qwen3", or "token" if there is only one.
func (f Finding) Name() string {
	if f.Subject == "" {
		return f.ID
	}
	return f.ID + ": " + f.Subject
}

// pad cuts or fills a name to a length in characters.
func pad(s string, n int) string {
	if r := []rune(s); len(r) > n {
		s = string(r[:n-1]) + "…"
	}
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// wrap breaks a text between words. All lines except the first begin at a column.
func wrap(s string, column int) string {
	indent := strings.Repeat(" ", column)
	return strings.TrimPrefix(text.Hanging(indent+strings.Join(strings.Fields(s), " "), column, width), indent)
}

// view writes the rows in which something is missing.
func (t *Table) view(b *strings.Builder) {
	lacking := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return !slices.Contains(r.Cells, Missing) })
	if len(lacking) == 0 {
		return
	}
	names := 0
	for _, r := range lacking {
		names = max(names, utf8.RuneCountInString(r.Name))
	}
	names = min(names, 30)
	shown := lacking[:min(len(lacking), mostRows)]
	for i, column := range t.Columns {
		fmt.Fprintf(b, "%s%s┌ %s\n", strings.Repeat(" ", 11+names), strings.Repeat("│ ", i), column)
	}
	for _, r := range shown {
		b.WriteString(strings.Repeat(" ", 9) + pad(r.Name, names) + "  ")
		for i, c := range r.Cells {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(c.Mark())
		}
		b.WriteByte('\n')
	}
	if more := len(lacking) - len(shown); more > 0 {
		fmt.Fprintf(b, "%sand %d more: familiar doctor --json has all\n", strings.Repeat(" ", 9), more)
	}
}
