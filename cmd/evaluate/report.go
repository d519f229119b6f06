package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"familiar/cmd/evaluate/train"
)

type reportCommand struct {
	Dir   string `arg:"" help:"Folder that holds the sets and, in score/, their scorers."`
	Quick bool   `help:"Measure on about half of the rows."`
	Check bool   `help:"Fail if a figure is more than a point worse than the recorded one."`
	JSON  bool   `name:"json" help:"Print the figures as JSON lines."`
}

// outcome is a measured figure, with its difference from the recorded one.
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

// Run measures every set that is present, in the order of figures.toml. It prints each figure as soon as it is known.
func (c reportCommand) Run(ctx context.Context, p *program) error {
	r := report{program: p, dir: p.resolve(c.Dir), quick: c.Quick}
	r.unseen = map[string]*train.Folds{"folds": {Dir: r.dir}, "sources": {Dir: r.dir, Sources: true}}
	if _, err := os.Stat(filepath.Join(r.dir, "score")); err != nil {
		return usageError(fmt.Sprintf("%s has no folder score with the scorers: name the folder that holds the sets", r.dir))
	}
	table, err := scorings()
	if err != nil {
		return err
	}
	if r.python, err = exec.LookPath("python3"); err != nil {
		return usageError("python3 is not on the PATH, and the scorers need it: install Python 3 (apt install python3, brew install python3)")
	}
	if r.work, err = os.MkdirTemp("", "evaluate-report-"); err != nil {
		return fmt.Errorf("make folder for predictions: %w", err)
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

// report measures the sets in a folder.
type report struct {
	program *program
	dir     string // with the sets
	work    string // for predictions and halves of sets
	python  string
	quick   bool
	unseen  map[string]*train.Folds // by what is left out
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

// all measures every set of the table that is present. With check, it fails if a figure got worse.
func (r report) all(ctx context.Context, table []scoring, print func(outcome) error, check bool) error {
	if !slices.ContainsFunc(table, func(s scoring) bool { return r.holds(s.Folder) }) {
		return usageError(fmt.Sprintf("%s holds none of the sets", r.dir))
	}
	var worse []string
	for _, s := range table {
		if needs := s.needs(); needs != "" && !r.holds(needs) {
			fmt.Fprintf(r.program.err, "evaluate: %s is not there, and left out\n", needs)
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

// holds reports whether a set is in the folder of the sets.
func (r report) holds(set string) bool {
	_, err := os.Stat(filepath.Join(r.dir, set))
	return err == nil
}

// needs returns the folder of the set that a scoring needs, or "". What was learned of the project's own messages was learned with others.
func (s scoring) needs() string {
	switch {
	case s.Folder != ownFolder:
		return s.Folder
	case s.Unseen != "":
		return "needs-search"
	}
	return ""
}

// measure predicts the rows of a set and has the predictions scored.
func (r report) measure(ctx context.Context, s scoring) ([]outcome, error) {
	set, known := findSet(s.Set)
	if !known {
		return nil, fmt.Errorf("unknown set %q", s.Set)
	}
	folder := filepath.Join(r.dir, s.Folder)
	files := os.DirFS(folder)
	if s.Folder == ownFolder {
		files = r.program.ownRows(s.Set)
	}
	rows, err := fs.ReadFile(files, set.file)
	if err != nil {
		return nil, err
	}
	if part := r.part(s); part != nil {
		if rows, err = part(rows); err != nil || len(rows) == 0 {
			return nil, err // --quick measures none of them
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
	if s.Unseen != "" {
		e.predict = set.unseen(r.unseen[s.Unseen])
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

// besideRows names the other files that scorers read.
const besideRows = "conversations"

// part selects the rows of a set that are measured; nil: all.
func (r report) part(s scoring) func(rows []byte) ([]byte, error) {
	switch {
	case !r.quick:
		return nil
	case s.Unseen == "sources":
		return firstSources
	case s.Folder == ownFolder: // it has few rows
		return nil
	case s.Unseen == "folds":
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

// predict returns the predictions for rows. Messages of the run get the set's name.
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

// scorerTime limits a scorer's run. The slowest takes seconds.
const scorerTime = 2 * time.Minute

// score runs a scorer on the predictions for the rows in folder. The scorer prints the figure to its output and details to its notes.
func (r report) score(ctx context.Context, call []string, folder string, predictions []byte) (output, notes string, err error) {
	file := filepath.Join(r.work, "predictions")
	if err := os.WriteFile(file, predictions, 0o600); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(ctx, scorerTime)
	defer cancel()
	args := append([]string{"-B", filepath.Join(r.dir, "score", call[0]), folder, file}, call[1:]...) // -B: no bytecode files
	scorer := exec.CommandContext(ctx, r.python, args...)
	scorer.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	scorer.Stdout, scorer.Stderr = &stdout, &stderr
	if err := scorer.Run(); err != nil {
		return "", "", fmt.Errorf("run %s: %w\n%s", call[0], errors.Join(err, context.Cause(ctx)), stderr.String())
	}
	return stdout.String(), stderr.String(), nil
}

// half keeps the rows whose id has an even hash: about half of them, whatever their order.
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

//go:embed figures.toml
var recordedFigures string

// scoring is one run of a scorer on the predictions for a set. It has the figures to read from the output.
type scoring struct {
	Set     string // in the table of sets
	Folder  string // with the rows; ownFolder: the project's own rows
	Unseen  string // models that have not seen a row predict it: "folds" or "sources" are left out; empty: the built-in models
	Score   string // the scorer and its options; empty if the predictions are the result
	Figures []figure
}

// figure is one measured number: a share × 100, or a count.
type figure struct {
	Measure  string
	Find     string   // a regular expression for the output, see read; empty: the whole output is the number
	Recorded float64  // reached by the committed code
	Quick    float64  // … on half of the rows
	Wanted   *float64 // the goal; nil: none
	Lower    bool     // lower is better
	Count    bool     // it counts forbidden cases: one more is already worse
}

// scorings is the table of figures.toml.
func scorings() ([]scoring, error) {
	var table struct{ Scoring []scoring }
	in := toml.NewDecoder(strings.NewReader(recordedFigures)).DisallowUnknownFields()
	if err := in.Decode(&table); err != nil {
		return nil, fmt.Errorf("read recorded figures: %w", err)
	}
	return table.Scoring, nil
}

// read finds the figure in a scorer's output and notes. Without a group in Find, the figure is the share of lines of the notes that match.
// One group is the number. Two groups are the parts of shares, which are summed.
func (f figure) read(output, notes string) (float64, error) {
	if f.Find == "" {
		return number(output)
	}
	find, err := regexp.Compile(f.Find)
	if err != nil {
		return 0, err
	}
	found := find.FindAllStringSubmatch(notes, -1)
	if len(found) == 0 && find.NumSubexp() > 0 {
		return 0, fmt.Errorf("the scorer's output does not match %q", f.Find)
	}
	switch find.NumSubexp() {
	case 0:
		return 100 * float64(len(found)) / float64(strings.Count(notes, "\n")), nil
	case 1:
		return number(found[0][1])
	}
	part, whole := 0.0, 0.0
	for _, match := range found {
		a, err := number(match[1])
		if err != nil {
			return 0, err
		}
		b, err := number(match[2])
		if err != nil {
			return 0, err
		}
		part, whole = part+a, whole+b
	}
	return 100 * part / whole, nil
}

func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("read figure: %w", err)
	}
	return n, nil
}

// worse reports whether a figure is worse than another by more than chance: a point, or one case.
func (f figure) worse(reached, recorded float64) bool {
	switch {
	case f.Count:
		return reached > recorded
	case f.Lower:
		return reached > recorded+1
	}
	return reached < recorded-1
}

// wanted writes the goal in words.
func (f figure) wanted() string {
	switch {
	case f.Wanted == nil:
		return ""
	case f.Lower && *f.Wanted > 0:
		return "≤ " + plain(*f.Wanted)
	}
	return plain(*f.Wanted)
}

// plain writes a figure as short as possible.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
