package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/cmd/evaluate/train"
)

type reportCommand struct {
	Dir   string `arg:"" help:"Folder that holds the sets and, in score/, their scorers."`
	Quick bool   `help:"Measure on about half of the rows."`
	Check bool   `help:"Fail if a figure is more than a point worse than the recorded one."`
	JSON  bool   `name:"json" help:"Print the figures as JSON lines."`
}

// outcome is a figure, measured. Difference is to the recorded one.
type outcome struct {
	Set        string   `json:"set"`
	Folder     string   `json:"folder"`
	Measure    string   `json:"measure"`
	Reached    float64  `json:"reached"`
	Recorded   float64  `json:"recorded"`
	Wanted     *float64 `json:"wanted"`
	Difference float64  `json:"difference"`
	Worse      bool     `json:"worse"`

	want string
}

// Run measures every set that is there, in the order of figures.toml, and prints each figure when it is known.
func (c reportCommand) Run(ctx context.Context, p *program) error {
	r := report{program: p, dir: p.resolve(c.Dir), quick: c.Quick}
	r.folds = &train.Folds{Dir: r.dir}
	if _, err := os.Stat(filepath.Join(r.dir, "score")); err != nil {
		return usageError(fmt.Sprintf("%s has no folder score with the scorers: name the folder that holds the sets", r.dir))
	}
	table, err := scorings()
	if err != nil {
		return err
	}
	if r.python, err = exec.LookPath("python3"); err != nil {
		return usageError("python3 is not on the PATH, and the scorers are written in it: install Python 3 (apt install python3, brew install python3)")
	}
	if r.work, err = os.MkdirTemp("", "evaluate-report-"); err != nil {
		return fmt.Errorf("make a place for predictions: %w", err)
	}
	defer os.RemoveAll(r.work)
	print := r.line
	if c.JSON {
		print = func(o outcome) error { return json.NewEncoder(p.out).Encode(o) }
	} else {
		fmt.Fprintf(p.out, columns+"\n", "set", "folder", "measure", "reached", "recorded", "wanted", "difference")
	}
	return r.all(ctx, table, print, c.Check)
}

// report is one measuring of the sets in a folder.
type report struct {
	program *program
	dir     string // with the sets
	work    string // for predictions, and for halves of sets
	python  string
	quick   bool
	folds   *train.Folds
}

const columns = "%-9s %-16s %-36s %8s %8s %8s %10s"

func (r report) line(o outcome) error {
	tenths := math.Round(10*o.Difference)/10 + 0 // and no -0
	line := fmt.Sprintf(columns, o.Set, o.Folder, o.Measure, fmt.Sprintf("%.1f", o.Reached), fmt.Sprintf("%.1f", o.Recorded), o.want, fmt.Sprintf("%+.1f", tenths))
	if o.Worse {
		line += "  worse"
	}
	_, err := fmt.Fprintln(r.program.out, line)
	return err
}

// all measures every set of the table that is there. With check, it fails for figures that got worse.
func (r report) all(ctx context.Context, table []scoring, print func(outcome) error, check bool) error {
	if !slices.ContainsFunc(table, r.holds) {
		return usageError(fmt.Sprintf("%s holds none of the sets", r.dir))
	}
	var worse []string
	for _, s := range table {
		if !r.holds(s) && s.Folder != ownFolder {
			fmt.Fprintf(r.program.err, "evaluate: %s is not there, and left out\n", s.Folder)
			continue
		}
		outcomes, err := r.measure(ctx, s)
		if err != nil {
			return fmt.Errorf("measure %s: %w", s.Folder, err)
		}
		for _, o := range outcomes {
			if err := print(o); err != nil {
				return fmt.Errorf("print figure: %w", err)
			}
			if o.Worse {
				worse = append(worse, fmt.Sprintf("%s, %s: %.1f, recorded is %s", o.Folder, o.Measure, o.Reached, plain(o.Recorded)))
			}
		}
	}
	if check && len(worse) > 0 {
		return fmt.Errorf("figures that got worse:\n  %s", strings.Join(worse, "\n  "))
	}
	return nil
}

// holds reports whether the rows of a set are in the folder of the sets.
func (r report) holds(s scoring) bool {
	_, err := os.Stat(filepath.Join(r.dir, s.Folder))
	return err == nil
}

// measure predicts for the rows of a set and has the predictions scored.
func (r report) measure(ctx context.Context, s scoring) ([]outcome, error) {
	set, known := findSet(s.Set)
	if !known {
		return nil, fmt.Errorf("there is no set %q", s.Set)
	}
	folder := filepath.Join(r.dir, s.Folder)
	files := os.DirFS(folder)
	if s.Folder == ownFolder {
		files = ownRows(s.Set)
	}
	rows, err := fs.ReadFile(files, set.file)
	if err != nil {
		return nil, err
	}
	if part := r.part(s); part != nil {
		if rows, err = part(rows); err != nil {
			return nil, err
		}
		if folder, err = os.MkdirTemp(r.work, "part-"); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, set.file), rows, 0o600); err != nil {
			return nil, err
		}
		beside := filepath.Join(r.dir, s.Folder, besideRows)
		if _, err := os.Stat(beside); err == nil {
			if err := os.Symlink(beside, filepath.Join(folder, besideRows)); err != nil {
				return nil, err
			}
		}
	}
	e := evaluation{files: files}
	if s.Unseen {
		e.predict = set.unseen(r.folds)
	} else {
		e.predict = set.open()
	}
	predictions, err := r.predict(ctx, s.Folder, e, rows)
	if err != nil {
		return nil, err
	}
	output, notes := "", string(predictions)
	if s.Score != "" {
		if output, notes, err = r.score(ctx, strings.Fields(s.Score), folder, predictions); err != nil {
			return nil, err
		}
	}
	return r.outcomes(s, output, notes)
}

// besideRows is what a scorer reads beside the rows.
const besideRows = "conversations"

// part is what keeps of a set's rows those that are measured; nil: all are.
func (r report) part(s scoring) func(rows []byte) ([]byte, error) {
	switch {
	case !r.quick || s.Folder == ownFolder: // which has few rows
		return nil
	case s.Unseen:
		return firstFolds
	}
	return half
}

func (r report) outcomes(s scoring, output, notes string) (all []outcome, err error) {
	for _, f := range s.Figures {
		o := outcome{Set: s.Set, Folder: s.Folder, Measure: f.Measure, Recorded: f.Recorded, Wanted: f.Wanted, want: f.wanted()}
		if r.quick {
			o.Recorded = f.Quick
		}
		if o.Reached, err = f.read(output, notes); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Measure, err)
		}
		o.Difference, o.Worse = o.Reached-o.Recorded, f.worse(o.Reached, o.Recorded)
		all = append(all, o)
	}
	return all, nil
}

// predict returns the predictions for rows. What is printed beside them gets the set's name.
func (r report) predict(ctx context.Context, name string, e evaluation, rows []byte) ([]byte, error) {
	var out, notes bytes.Buffer
	p := *r.program
	p.out, p.err = &out, &notes
	e.program = &p
	err := e.run(ctx, bytes.NewReader(rows))
	for line := range strings.Lines(notes.String()) {
		fmt.Fprintf(r.program.err, "evaluate: %s: %s", name, strings.TrimPrefix(line, "evaluate: "))
	}
	return out.Bytes(), err
}

// scorerTime is how long a scorer may take; the slowest takes seconds.
const scorerTime = 2 * time.Minute

// score has the predictions for the rows in folder scored: its output is the figure, its notes the details.
func (r report) score(ctx context.Context, call []string, folder string, predictions []byte) (output, notes string, err error) {
	file := filepath.Join(r.work, "predictions")
	if err := os.WriteFile(file, predictions, 0o600); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(ctx, scorerTime)
	defer cancel()
	args := append([]string{"-B", filepath.Join(r.dir, "score", call[0]), folder, file}, call[1:]...) // -B: nothing is written beside the scorers
	scorer := exec.CommandContext(ctx, r.python, args...)
	scorer.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	scorer.Stdout, scorer.Stderr = &stdout, &stderr
	if err := scorer.Run(); err != nil {
		return "", "", fmt.Errorf("run %s: %w\n%s", call[0], errors.Join(err, context.Cause(ctx)), stderr.String())
	}
	return stdout.String(), stderr.String(), nil
}

// half keeps the rows whose id has an even hash: about half of them, whatever their order means.
func half(rows []byte) ([]byte, error) {
	var kept bytes.Buffer
	for line := range bytes.Lines(rows) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var row struct{ ID json.RawMessage }
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("read row: %w", err)
		}
		if sha256.Sum256(row.ID)[0]%2 == 0 {
			kept.Write(line)
			kept.WriteByte('\n')
		}
	}
	return kept.Bytes(), nil
}
