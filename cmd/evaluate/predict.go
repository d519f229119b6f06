package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/term"

	"familiar/cmd/evaluate/train"
	"familiar/internal/api"
	"familiar/internal/llm"
)

type predictCommand struct {
	Set string `arg:"" help:"Set to predict: ${sets}."`
	Dir string `arg:"" optional:"" help:"Folder with the set's rows. Default: the project's own rows."`

	Verifier      string `placeholder:"URL" help:"Base URL, with its version, of an OpenAI-compatible server that also judges citations; for the set cite."`
	VerifierModel string `placeholder:"NAME" help:"Model of that server."`
	VerifierKey   string `placeholder:"KEY" env:"VERIFIER_KEY" help:"Key of that server."`
}

// set is a kind of evaluation data for which the program can predict. This table is the only list of them.
type set struct {
	name   string
	file   string // file with the rows, one JSON object a line
	open   func() predictor
	unseen func(*train.Folds) predictor // with models that have not seen the row; nil: no model is involved
}

// predictor predicts for one row. files has the other files of the set.
type predictor func(ctx context.Context, files fs.FS, row []byte) (prediction, error)

// prediction is written with a row's id, in the set's own words.
type prediction map[string]any

func sets() []set {
	const cases, gold = "cases.jsonl", "gold.jsonl"
	return []set{
		{"extract", gold, stateless(predictExtract), nil},
		{"clean", cases, stateless(predictClean), nil},
		{"charset", cases, stateless(predictCharset), nil},
		{"guard", cases, stateless(predictGuard), nil},
		{"url", cases, stateless(predictURL), nil},
		{"robots", cases, stateless(predictRobots), nil},
		{"canon", cases, stateless(predictCanon), nil},
		{"psl", cases, stateless(predictRegistrable), nil},
		{"need", cases, stateless(predictNeed), unseenNeed},
		{"intent", cases, stateless(predictIntent), unseenIntent},
		{"evidence", cases, stateless(predictEvidence), unseenEvidence},
		{"summary", cases, stateless(predictSummary), nil},
		{"verify", cases, stateless(predictVerify), unseenVerify},
		{"cite", cases, stateless(predictCite), unseenCite},
		{"inject", cases, stateless(predictInject), nil},
		{"split", cases, stateless(predictSplit), nil},
		{"tokens", cases, openTokens, nil},
		{"memory", cases, openMemory, nil},
		{"spoken", cases, stateless(predictSpoken), unseenSpoken},
		{"followup", cases, stateless(predictFollowUp), nil},
		{"language", cases, stateless(predictLanguage), nil},
		{"recall", cases, stateless(predictRecall), nil},
		{"orders", cases, stateless(predictOrders), nil},
		{"private", cases, stateless(predictPrivate), nil},
		{"learn", cases, stateless(predictLearn), nil},
		{"conflict", cases, stateless(predictConflict), nil},
		{"citation", cases, stateless(predictCitation), nil},
		{"claims", cases, stateless(predictClaim), nil},
		{"living", cases, stateless(predictLiving), nil},
	}
}

func findSet(name string) (set, bool) {
	all := sets()
	i := slices.IndexFunc(all, func(s set) bool { return s.name == name })
	if i < 0 {
		return set{}, false
	}
	return all[i], true
}

func setNames() string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// stateless makes a predictor from a function that needs only the row.
func stateless[R any](predict func(context.Context, fs.FS, R) (prediction, error)) func() predictor {
	return func() predictor {
		return func(ctx context.Context, files fs.FS, line []byte) (prediction, error) {
			var row R
			if err := json.Unmarshal(line, &row); err != nil {
				return nil, fmt.Errorf("read row: %w", err)
			}
			return predict(ctx, files, row)
		}
	}
}

// Run prints a prediction for every row, as JSON lines, through the code that a turn uses. It reads no configuration, so the same rows
// always give the same predictions. A row that fails gets an error instead of a prediction.
func (c predictCommand) Run(ctx context.Context, p *program) error {
	s, known := findSet(c.Set)
	if !known {
		return usageError(fmt.Sprintf("there is no set %q; there are %s", c.Set, setNames()))
	}
	dir := p.resolve(c.Dir)
	files := os.DirFS(dir)
	if c.Dir == "" {
		files, dir = p.ownRows(s.name), "the project's own"
	}
	rows, err := files.Open(s.file)
	if err != nil {
		return usageError(fmt.Sprintf("%s cannot be read in %s (%v): name the folder of the set", s.file, dir, errors.Unwrap(err)))
	}
	defer rows.Close()
	predict := s.open()
	if c.Verifier != "" {
		if s.name != "cite" || c.VerifierModel == "" {
			return usageError("--verifier is for the set cite, and takes --verifier-model")
		}
		predict = verifiedCite(&llm.Client{HTTP: api.Client(api.Service{Origin: c.Verifier, UserAgent: "familiar-evaluate"}), BaseURL: c.Verifier, Model: c.VerifierModel, Key: c.VerifierKey})
	}
	return evaluation{program: p, files: files, predict: predict}.run(ctx, rows)
}

// evaluation is one run over the rows of a set.
type evaluation struct {
	program *program
	files   fs.FS
	predict predictor
}

// maxRow limits a row, in bytes. Some rows hold whole pages.
const maxRow = 16 << 20

func (e evaluation) run(ctx context.Context, rows io.Reader) error {
	lines := bufio.NewScanner(rows)
	lines.Buffer(nil, maxRow)
	out := bufio.NewWriter(e.program.out)
	defer out.Flush()
	held := &cleanups{}
	defer held.run()
	ctx = context.WithValue(ctx, cleanupsKey{}, held)
	n, failed := 0, []error(nil)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n++
		got, err := e.row(ctx, line)
		if err != nil {
			failed = append(failed, err)
		}
		if got == nil {
			fmt.Fprintf(e.program.err, "evaluate: row %d: %v\n", n, err)
		} else if err := write(out, got); err != nil {
			return err
		}
		e.progress("\r%d rows", n)
	}
	e.progress("\n")
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	if len(failed) > 0 {
		fmt.Fprintf(e.program.err, "evaluate: %d of %d rows have no prediction\n", len(failed), n)
	}
	if len(failed) == n && n > 0 {
		return fmt.Errorf("predict for the first row: %w", failed[0])
	}
	return nil
}

// cleanups are run in reverse order after the last row. They travel with the context of a run.
type cleanups struct{ all []func() }

type cleanupsKey struct{}

// atEnd registers work for the end of the run.
func atEnd(ctx context.Context, do func()) {
	if held, ok := ctx.Value(cleanupsKey{}).(*cleanups); ok {
		held.all = append(held.all, do)
	}
}

func (c *cleanups) run() {
	for _, do := range slices.Backward(c.all) {
		do()
	}
}

// row returns what is written for a row, or nil if the row has no id. A panic affects only its row.
func (e evaluation) row(ctx context.Context, line []byte) (got prediction, err error) {
	var row struct{ ID json.RawMessage }
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, fmt.Errorf("read row: %w", err)
	}
	if row.ID == nil {
		return nil, fmt.Errorf("read row: it has no id")
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		if err != nil {
			got = prediction{"error": err.Error()}
		}
		got = maps.Clone(got)
		got["id"] = row.ID
	}()
	return e.predict(ctx, e.files, line)
}

func write(out io.Writer, p prediction) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return fmt.Errorf("write prediction: %w", err)
	}
	return nil
}

// progress shows how far the run is, if the predictions go elsewhere.
func (e evaluation) progress(format string, args ...any) {
	if isTerminal(e.program.err) && !isTerminal(e.program.out) {
		fmt.Fprintf(e.program.err, format, args...)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// The project's own sets measure rules that no public set measures. Their rows are in own/SET/cases.jsonl. A row includes the right result,
// so it is scored when it is predicted and needs no scorer. "found" tells of a row where a rule must apply whether it did, "alarm" of one
// where it must not. "1/1" is yes and "0/1" is no. Names in the rows are invented.
//
//go:embed own
var own embed.FS

// ownFolder holds the own sets. In figures.toml it is the folder of each of them.
const ownFolder = "own"

// ownRows returns the rows of one of the project's own sets.
func (p *program) ownRows(set string) fs.FS {
	files, err := fs.Sub(p.own, path.Join(ownFolder, set))
	if err != nil {
		panic(err) // the table of sets has the name
	}
	return files
}

// share writes a row's part of a figure.
func share(is bool) string {
	if is {
		return "1/1"
	}
	return "0/1"
}

// detection scores a row where a rule must apply, or must not.
func detection(must, did bool) prediction {
	if must {
		return prediction{"found": share(did)}
	}
	return prediction{"alarm": share(did)}
}

// count returns how many of the phrases are in a text.
func count(text string, phrases []string) (n int) {
	for _, p := range phrases {
		if train.Holds(text, p) {
			n++
		}
	}
	return n
}
