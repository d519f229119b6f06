// Evaluate measures how good the work of the program is, on rows of evaluation data.
//
//	go run ./cmd/evaluate SET DIR      predictions for the rows of a set
//	go run ./cmd/evaluate report DIR   every figure, beside the recorded ones
//	go run ./cmd/evaluate train DIR    the models, trained again
//
// predict.go has the table of sets and runs one. lookup.go and web.go predict for a row through the code that a turn uses. memory.go uses
// the recall of a turn, and claims.go the checks of claims. unseen.go uses models that have not seen the row. report.go runs the scorers
// and compares the figures with figures.toml. The package train makes the models. doc/evaluation.md describes the sets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"familiar/cmd/evaluate/train"
)

// modelFolder holds the packages that embed the models.
const modelFolder = "internal"

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // a retry without a change is useless
)

// commands is the command line.
type commands struct {
	Predict predictCommand `cmd:"" default:"withargs" help:"Print predictions for the rows of a set."`
	Report  reportCommand  `cmd:"" help:"Measure every set and print the figures with the recorded ones."`
	Train   trainCommand   `cmd:"" help:"Train the models."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "evaluate: find the working directory:", err)
		os.Exit(exitFailed)
	}
	os.Exit(run(ctx, program{args: os.Args[1:], dir: dir, own: own, out: os.Stdout, err: os.Stderr}))
}

// program is what a run gets from outside. Tests replace it.
type program struct {
	args     []string
	dir      string // working directory
	own      fs.FS  // has the project's own sets, in ownFolder
	out, err io.Writer
}

// resolve makes the user's path absolute.
func (p *program) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.dir, path)
}

// usageError is a call that cannot succeed without a change.
type usageError string

func (e usageError) Error() string { return string(e) }

// leave carries an exit that kong requests, for --help, up to run.
type leave int

// run runs the program and returns the exit code.
func run(ctx context.Context, p program) (code int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case leave:
			code = int(r)
		default:
			panic(r)
		}
	}()
	parser, err := kong.New(new(commands), kong.Name("evaluate"), kong.UsageOnError(), kong.Writers(p.out, p.err),
		kong.Description("Measures how good the work of familiar is, on rows of evaluation data."),
		kong.Vars{"sets": setNames(), "models": modelFolder}, kong.Exit(func(code int) { panic(leave(code)) }))
	if err != nil {
		return p.fail(err, exitFailed)
	}
	if len(p.args) == 0 {
		p.args = []string{"--help"}
	}
	chosen, err := parser.Parse(p.args)
	if err != nil {
		return p.fail(err, exitUsage)
	}
	chosen.BindTo(ctx, (*context.Context)(nil))
	err = chosen.Run(&p)
	if _, ok := errors.AsType[usageError](err); ok {
		return p.fail(err, exitUsage)
	}
	if err != nil {
		return p.fail(err, exitFailed)
	}
	return exitOK
}

func (p *program) fail(err error, code int) int {
	fmt.Fprintln(p.err, "evaluate:", err)
	return code
}

type trainCommand struct {
	Dir string `arg:"" help:"Folder with the sets needs-search, intent, evidence and factcheck."`
	Out string `arg:"" optional:"" default:"${models}" help:"Folder for the models."`
}

func (c trainCommand) Run(p *program) error {
	return train.Models(p.resolve(c.Dir), p.resolve(c.Out), p.out)
}
