// Familiar is a Discord companion that can look things up and show its work.
//
//	familiar init            set it up, question by question
//	familiar chat            talk to the character in this terminal
//	familiar run             bring it to Discord
//	familiar ask "…"         one question, one answer
//	familiar lookup "…"      the lookup alone, with everything it did
//	familiar docs "…"        a lookup in one of the character's sites of documentation
//	familiar search "…"      what the search services find, merged
//	familiar backends        the search services: which are on, why, and how they do
//	familiar fetch URL       one page, as a lookup reads it
//	familiar trace [ID]      the records of past turns
//	familiar replay TURN     a past turn taken again, and what differs
//	familiar feedback        what people said about sources, and how to delete it
//	familiar memory          what it remembers: list it, delete it, export and import it
//	familiar mcp             the lookup for other programs, by the Model Context Protocol
//	familiar changes         which settings were changed, and by whom
//	familiar import FILE     make a character from another program's card, or add a lorebook or pictures to one
//	familiar export          everything that is kept, as JSON lines; or a character as a card
//	familiar erase USER      forget a person
//	familiar privacy export USER FILE  everything that is kept about a person
//	familiar character       make, list, show and check characters
//	familiar config check    what is configured, and from where; with --connect, whether the services answer
//	familiar doctor          whether everything works, and what to do if it does not
//	familiar health          whether the running bot can answer people
//	familiar backup FILE     a copy of the database, while the bot runs
//	familiar restore FILE    replace the database by such a copy
//	familiar move --to PLACE the store copied to PostgreSQL, or back
//	familiar completion SHELL  completion of the command line in bash, zsh or fish
//	familiar man             the manual page
//	familiar help ask        how a command is used
//	familiar version         which version this is
//
// This package has the flags, the subcommands and what they print. [familiar/internal/app] reads the configuration and puts the packages
// together.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	_ "time/tzdata" // time zones of characters, for systems without a database of them

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"familiar/internal/app"
	"familiar/internal/doctor"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong usage or configuration: trying again without a change is of no use
)

// commands is the command line.
type commands struct {
	Init      initCommand      `cmd:"" help:"Set it up: asks for what is needed, tries it, and writes .env."`
	Run       runCommand       `cmd:"" help:"Bring the character to Discord."`
	Chat      chatCommand      `cmd:"" help:"Talk to the character in this terminal."`
	Ask       askCommand       `cmd:"" help:"Ask one question and leave."`
	Lookup    lookupCommand    `cmd:"" help:"Look something up, without a conversation."`
	Docs      docsCommand      `cmd:"" help:"Look something up in one documentation, and nowhere else."`
	Search    searchCommand    `cmd:"" help:"Ask the search services, and print what they find."`
	Backends  backendsCommand  `cmd:"" help:"Show which search services are on, why, and how they do."`
	Fetch     fetchCommand     `cmd:"" help:"Read one page as a lookup does."`
	Replay    replayCommand    `cmd:"" help:"Take a past turn again, with the program and the character as they are now, and show what differs."`
	Trace     traceCommand     `cmd:"" help:"List the records of past turns, or show one."`
	Feedback  feedbackCommand  `cmd:"" help:"List what people said about the character's sources, or delete it."`
	Memory    memoryCommand    `cmd:"" help:"List what the bot remembers, delete it, or write and read it as files."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Serve lookup, search, fetch and verify to other programs, by the Model Context Protocol."`
	Changes   changesCommand   `cmd:"" help:"List which settings were changed, and by whom."`
	Character characterCommand `cmd:"" help:"Make, list, show and check characters."`
	Import    importCommand    `cmd:"" help:"Make a character from another program's card, or add a lorebook or pictures of moods to a character."`
	Export    exportCommand    `cmd:"" help:"Write everything that is kept as JSON lines, or a character as a card for other programs."`
	Erase     eraseCommand     `cmd:"" help:"Forget a person: delete everything that is kept about them."`
	Privacy   privacyCommand   `cmd:"" help:"Export everything that is kept about a person."`
	Config    configCommand    `cmd:"" help:"Look at the configuration."`
	Set       setCommand       `cmd:"" help:"Write one setting into .env."`
	Doctor    doctorCommand    `cmd:"" help:"Try everything that has to work, and say what to do if it does not."`
	Health    healthCommand    `cmd:"" help:"Ask the running bot whether it can answer people."`
	Backup    backupCommand    `cmd:"" help:"Copy the database into a file, also while the bot runs."`
	Restore   restoreCommand   `cmd:"" help:"Replace the database by a backup."`
	Move      moveCommand      `cmd:"" help:"Copy the store to PostgreSQL, or from there into a directory."`

	Number versionCommand `cmd:"" name:"version" help:"Print the version."`
	Help   helpCommand    `cmd:"" help:"Show how a command is used."`

	Completion completionCommand `cmd:"" help:"Print a script that completes the command line in a shell."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	runtime.MemProfileRate = 0 // until somebody wants a profile; it takes up to 2 MiB
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "familiar: find the working directory:", err)
		os.Exit(exitFailed)
	}
	os.Exit(run(program{
		args: os.Args[1:], env: os.LookupEnv, environ: environ(), dir: dir, signals: signals,
		in: os.Stdin, out: os.Stdout, err: os.Stderr, interactive: isTerminal(os.Stdin) && isTerminal(os.Stdout), typed: isTerminal(os.Stdin),
		exit: os.Exit,
	}))
}

// environ returns the names of the variables that are set.
func environ() (names []string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	return names
}

// program is everything that a run of familiar gets from outside. Tests give their own.
type program struct {
	args        []string
	env         func(string) (string, bool)
	environ     []string // names that are set in the environment
	dir         string   // working directory
	signals     <-chan os.Signal
	in          io.Reader
	out, err    io.Writer
	interactive bool           // a person reads and types
	typed       bool           // in is a keyboard
	model       string         // that --model names; empty: the one that is configured
	logLevel    string         // in place of the preset of FAMILIAR_LOG
	log         string         // name of a file in the data directory that the log goes into; empty: it goes to err
	exit        func(code int) // leaves at once
	far         app.Far
}

// process is the part of that which [app.Open] needs.
func (p *program) process() *app.Process {
	return &app.Process{
		Env: p.env, Environ: p.environ, Dir: p.dir, Out: p.out, Err: p.err, Interactive: p.interactive, Version: version(),
		Model: p.model, LogLevel: p.logLevel, Log: p.log, Far: p.far,
	}
}

// run is the whole program. It returns the exit code.
func run(p program) int {
	var cli commands
	parser, err := kong.New(&cli, kong.Name("familiar"), kong.UsageOnError(), kong.Writers(p.out, p.err),
		kong.Description("A Discord companion that can look things up and show its work."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}), variables(versionWords()), kong.Exit(func(code int) { panic(exitCode(code)) }))
	if err != nil {
		fmt.Fprintln(p.err, "familiar:", err)
		return exitFailed
	}
	showExamples(parser.Model)
	return parsed(p, parser)
}

// ask opens the program for one question, calls do and closes it.
func (p *program) ask(ctx context.Context, stop stopper, command string, words []string, do func(a *app.App, question string) error) error {
	question, err := p.question(command, words)
	if err != nil {
		return err
	}
	return p.interruptible(stop, func() error {
		a, err := app.Open(ctx, p.process(), app.ToAnswer)
		if err != nil {
			return err
		}
		p.sayModel(a)
		return errors.Join(do(a, question), a.Close())
	})
}

// sayModel says which model was found.
func (p *program) sayModel(a *app.App) {
	if model := a.Unnamed(); model != "" {
		fmt.Fprintln(p.err, "familiar: the model is "+model)
	}
}

// longestQuestion is how much of the input is read for a question, in bytes.
const longestQuestion = 64 << 10

// question returns the words after a command or, without them, the input.
func (p *program) question(command string, words []string) (string, error) {
	question := strings.TrimSpace(strings.Join(words, " "))
	if len(words) == 0 && p.in != nil && !p.typed {
		text, err := io.ReadAll(io.LimitReader(p.in, longestQuestion))
		if err != nil {
			return "", fmt.Errorf("read the question from the input: %w", err)
		}
		question = strings.TrimSpace(string(text))
	}
	if question == "" {
		return "", app.Problems{fmt.Sprintf(`the question is empty; write it after the command or pipe it in: familiar %s "who was Ada Lovelace?"`, command)}
	}
	return question, nil
}

// speaker has the flags that choose the character and its model.
type speaker struct {
	Model     string `placeholder:"NAME" help:"Ask this model of the server instead of the configured one."`
	Character string `placeholder:"ID" help:"The character that answers, instead of the one in FAMILIAR_CHARACTER."`
}

// choose replaces what is configured by what the flags choose.
func (s speaker) choose(p *program) {
	p.model = s.Model
	p.logLevel = "error" // the answer says what went wrong
	if s.Character == "" {
		return
	}
	env := p.env
	p.env = func(name string) (string, bool) {
		if name == "FAMILIAR_CHARACTER" {
			return s.Character, true
		}
		return env(name)
	}
}

// exitCode is what kong panics with to leave after --help and --version.
type exitCode int

// variables are what the help takes from elsewhere.
func variables(version string) kong.Vars {
	return kong.Vars{"version": version, "checks": strings.Join(doctor.CheckIDs(), ", ")}
}

func parsed(p program, parser *kong.Kong) (code int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exitCode:
			code = int(r)
		default:
			panic(r)
		}
	}()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	run := func() error { return start(ctx, &p, stopper(cancel)) }
	if len(p.args) > 0 || !p.interactive {
		chosen, err := parser.Parse(withoutHelp(p.args))
		if err != nil {
			fmt.Fprintf(p.err, "familiar: %s\nTry %s --help.\n", usageError(err), explainedBy(err))
			return exitUsage
		}
		chosen.BindTo(ctx, (*context.Context)(nil))
		run = func() error { return chosen.Run(&p, stopper(cancel)) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(p.err, "familiar:", err)
		return codeOf(err)
	}
	return exitOK
}

// explainedBy returns the command whose help explains a command line that could not be read.
func explainedBy(err error) string {
	if at, ok := errors.AsType[*kong.ParseError](err); ok && at.Context.Selected() != nil {
		return "familiar " + commandPath(at.Context.Selected())
	}
	return "familiar"
}

// stopper ends the command's context.
type stopper context.CancelCauseFunc

var errSignal = errors.New("a signal asked to stop")

// stopOnSignal ends the command's context at the first signal and the process at the second.
func (p *program) stopOnSignal(stop stopper, done <-chan struct{}) {
	select {
	case s := <-p.signals:
		fmt.Fprintf(p.err, "familiar: %v: finishing what has begun; once more to leave at once\n", s)
		stop(errSignal)
	case <-done:
		return
	}
	select {
	case <-p.signals:
		p.exit(exitFailed)
	case <-done:
	}
}

// interruptible calls do, which a signal can end.
func (p *program) interruptible(stop stopper, do func() error) error {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { p.stopOnSignal(stop, done) })
	defer watching.Wait()
	defer close(done)
	return do()
}

// codeOf returns the exit code for an error: wrong usage or configuration, or a failure.
func codeOf(err error) int {
	var wrong app.Problems
	var unanswered doctor.Unanswered
	if errors.As(err, &wrong) || errors.As(err, &unanswered) {
		return exitUsage
	}
	return exitFailed
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
