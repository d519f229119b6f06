package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/characters"
	"familiar/internal/doctor"
)

type initCommand struct {
	TokenFile string  `placeholder:"FILE" help:"A file with the bot's token; - is the standard input. Without it DISCORD_TOKEN."`
	NoDiscord bool    `help:"Without Discord: for the terminal alone."`
	ModelURL  string  `name:"model-url" placeholder:"URL" help:"The address of the model's server, with its version; none for no model. Without it OPENAI_BASE_URL."`
	KeyFile   string  `placeholder:"FILE" help:"A file with the key of that server. Without it OPENAI_API_KEY."`
	Model     string  `placeholder:"NAME" help:"The model. Without it OPENAI_MODEL, or the one that the server has."`
	SearXNG   *string `name:"searxng" placeholder:"URL" help:"The address of a SearXNG instance; none for the services that need no key. Without it SEARXNG_URL."`
	Copy      *bool   `negatable:"" help:"Put a copy of the character into characters/, to be changed."`
	Yes       bool    `short:"y" help:"Change a .env that is there already, without asking."`
	Keep      bool    `help:"Write answers even if they are found not to work."`
	NoDoctor  bool    `help:"Do not look at everything at the end."`
}

// Help is what familiar init --help adds.
func (initCommand) Help() string {
	return `Asks for what is needed, tries each answer at once, and writes .env in this directory, readable for you alone. Lines of a .env that is there already stay as they are. Ctrl-C leaves everything as it was.

Every question has an option or a variable, so it works without a terminal, too: what is missing is then named, and the exit code is 2. Secrets are read from files or the environment, and not from the command line, which others on this machine can see.

  familiar init
  familiar init --token-file token --model-url http://127.0.0.1:11434/v1 --yes`
}

var errLeft = errors.New("init was stopped, and nothing was written")

// Run sets an installation up.
func (c initCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.leaving(stop, func() error {
		i, err := newInterview(p, c)
		if err != nil {
			return err
		}
		return i.run(ctx)
	})
}

// leaving does something that the first signal ends at once.
func (p *program) leaving(stop stopper, do func() error) error {
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for again := false; ; again = true {
			select {
			case <-p.signals:
			case <-done:
				return
			}
			if again {
				p.exit(exitFailed)
			}
			fmt.Fprintln(p.err)
			stop(errLeft)
		}
	}()
	defer func() { close(done); <-watched }()
	return do()
}

// interview asks for what is needed, and remembers the answers until it writes them.
type interview struct {
	p       *program
	options initCommand
	keys    *keyboard
	config  *config // as it is before
	dotenv  string  // what stands in .env; empty: there is none
	exists  bool    // there is one
	answers map[string]string
	missing problems // answers that nobody gave, where nobody can be asked
	fails   bool     // an answer was found not to work
	invite  string
	copy    bool
}

func newInterview(p *program, c initCommand) (*interview, error) {
	i := &interview{p: p, options: c, keys: newKeyboard(p.in), answers: map[string]string{}}
	text, err := os.ReadFile(i.path())
	switch {
	case err == nil:
		i.dotenv, i.exists = string(text), true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read .env: %w", err)
	}
	i.config, err = readConfig(p.env, p.dir)
	if i.config == nil {
		return nil, err
	}
	return i, nil // what is wrong may be what is asked for
}

// isWritten reports whether a value stands in the .env that is amended.
func (i *interview) isWritten(v value) bool {
	return v.source == dotenvName(filepath.Dir(i.path()), i.p.dir)
}

// path is that of the .env that counts: the user's own, if there is none here.
func (i *interview) path() string { return filepath.Join(dotenvPlace(i.p.env, i.p.dir), ".env") }

func (i *interview) run(ctx context.Context) error {
	if i.p.interactive {
		i.say("Four questions. Enter takes what stands in brackets; Ctrl-C leaves everything as it was.\n")
	}
	for _, ask := range []func(context.Context) error{i.askToken, i.askModel, i.askSearch, i.askCopy, i.askWrite} {
		if err := ask(ctx); err != nil {
			return err
		}
	}
	switch {
	case i.missing != nil:
		return slices.Insert(i.missing, 0, "there is no terminal to ask at, and these answers are missing:")
	case i.fails && !i.options.Keep:
		return errors.New("nothing was written, for an answer does not work: see above; --keep writes it all the same")
	}
	if err := i.write(); err != nil {
		return err
	}
	return i.finish(ctx)
}

func (i *interview) say(format string, args ...any) { fmt.Fprintf(i.p.out, format, args...) }

// heading begins a question.
func (i *interview) heading(n int, what string) {
	if i.p.interactive {
		i.say("\n%d/4  %s\n", n, what)
	}
}

// ask returns a line, or preset where it is empty.
func (i *interview) ask(ctx context.Context, question, preset string, hidden bool) (string, error) {
	if preset != "" {
		question += " [" + preset + "]"
	}
	i.say("     %s: ", question)
	text, err := i.keys.line(ctx, hidden)
	if hidden && i.keys.tty != nil {
		i.say("\n") // the one that was typed is hidden, too
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: %w", errLeft, err)
	}
	if text == "" {
		text = preset
	}
	return text, nil
}

// yes asks for a yes or a no.
func (i *interview) yes(ctx context.Context, question string) (bool, error) {
	text, err := i.ask(ctx, question+" y/n", "n", false)
	return strings.HasPrefix(strings.ToLower(text), "y"), err
}

// lack remembers an answer that nobody gave.
func (i *interview) lack(what string) { i.missing = append(i.missing, "  "+what) }

// look carries out one of the doctor's checks with the answers so far, and shows and returns what it finds of some kinds.
func (i *interview) look(ctx context.Context, check string, kinds ...string) ([]doctor.Finding, error) {
	p := *i.p
	p.err = io.Discard // what is to be said of the configuration the doctor says at the end
	p.env = i.env
	if check == "search" {
		p.env = alone(i.env)
	}
	e, wrong := newExamination(&p, check == "search")
	defer e.close()
	e.brief = true
	if wrong != nil {
		check, kinds = "configuration", []string{"configuration"}
	}
	all, err := only(e.checks(wrong), []string{check})
	if err != nil {
		return nil, err
	}
	found, err := e.look(ctx, all, i.p.progress())
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f doctor.Finding) bool { return !slices.Contains(kinds, f.ID) })
	i.say("%s", doctor.Lines(found, 5))
	if e.invite != "" {
		i.invite = e.invite
	}
	return found, nil
}

// alone is an environment in which no other search service is asked than SearXNG.
func alone(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch name {
		case "FAMILIAR_SEARCH":
			return "searxng", true
		case "FAMILIAR_SEARCH_OFF":
			return "", false
		}
		return env(name)
	}
}

// works reports whether nothing has failed.
func works(found []doctor.Finding) bool { return doctor.Count(found, doctor.Failure) == 0 }

// env is the environment with the answers in it.
func (i *interview) env(name string) (string, bool) {
	if text, ok := i.answers[strings.TrimSuffix(name, "_FILE")]; ok {
		return text, text != "" && !strings.HasSuffix(name, "_FILE")
	}
	return i.p.env(name)
}

func (i *interview) askCopy(ctx context.Context) (err error) {
	i.heading(4, "The character")
	id := i.config.get("FAMILIAR_CHARACTER")
	if _, builtIn := fs.Stat(characters.FS, id); builtIn != nil {
		return nil // it is yours already
	}
	if _, there := os.Stat(i.copyTo()); there == nil {
		i.say("     characters/%s is there already, and stays as it is.\n", id)
		return nil
	}
	switch {
	case i.options.Copy != nil:
		i.copy = *i.options.Copy
	case i.p.interactive:
		i.say("     It is %s. A copy of its files in %s would be yours to change.\n", id, shortPath(i.p.dir, i.copyTo()))
		i.copy, err = i.yes(ctx, "Make one?")
	}
	return err
}

func (i *interview) copyTo() string {
	return filepath.Join(resolve(i.p.dir, i.config.get("FAMILIAR_CHARACTERS")), i.config.get("FAMILIAR_CHARACTER"))
}

// shortPath is a path as it is seen from a directory, where it is below it.
func shortPath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// askWrite asks whether a .env that is there may be changed.
func (i *interview) askWrite(ctx context.Context) error {
	if !i.exists || i.options.Yes || len(i.changes()) == 0 {
		return nil
	}
	if !i.p.interactive {
		i.lack("--yes, since there is a .env already, of which these lines would be changed: " + strings.Join(i.changes(), ", "))
		return nil
	}
	i.say("\n     There is a .env already. These lines of it would be new: %s. All others stay.\n", strings.Join(i.changes(), ", "))
	may, err := i.yes(ctx, "Write them?")
	if err == nil && !may {
		err = errLeft
	}
	return err
}

// changes are the names of the settings that are not what they are before.
func (i *interview) changes() (names []string) {
	for _, a := range i.assignments() {
		names = append(names, a.name)
	}
	return names
}

// assignments are the answers that .env does not give already, in the order of the table of settings.
func (i *interview) assignments() (all []assignment) {
	for _, s := range settings() {
		text, ok := i.answers[s.name]
		if before := i.config.value(s.name); ok && text != "" && !(i.isWritten(before) && before.text == text) {
			all = append(all, assignment{s.name, text})
		}
	}
	return all
}

func (i *interview) write() error {
	if i.copy {
		from, err := fs.Sub(characters.FS, i.config.get("FAMILIAR_CHARACTER"))
		if err == nil {
			err = copyDir(from, i.copyTo())
		}
		if err != nil {
			return fmt.Errorf("copy the character: %w", err)
		}
		i.say("\nCopied:  %s\n", shortPath(i.p.dir, i.copyTo()))
	}
	set := i.assignments()
	if len(set) == 0 {
		i.say("\nThere was nothing to write.\n")
		return nil
	}
	text, err := amendDotenv(i.dotenv, set)
	if err == nil {
		err = writeBeside(i.path(), []byte(text))
	}
	if err != nil {
		return err
	}
	i.say("\nWritten: %s, which only you can read: %s\n", shortPath(i.p.dir, i.path()), strings.Join(i.changes(), ", "))
	return nil
}

// finish has the bot invited, and looks at everything.
func (i *interview) finish(ctx context.Context) error {
	if i.invite != "" {
		i.say("\nOpen this to bring it to your server:\n  %s\n", i.invite)
		if i.p.interactive && !i.options.NoDoctor {
			if _, err := i.ask(ctx, "Enter, once it is there", "", false); err != nil {
				return i.written(err)
			}
		}
	}
	if !i.options.NoDoctor {
		i.say("\n")
		if err := i.examine(ctx); err != nil {
			return i.written(err)
		}
	}
	next := "familiar run"
	if i.invite == "" {
		next = "familiar chat"
	}
	i.say("\nTo begin: %s\n", next)
	return nil
}

// written is an error after which there is a .env all the same.
func (i *interview) written(err error) error {
	if errors.Is(err, errLeft) {
		return errors.New("stopped; what was written stays")
	}
	return err
}

// examine is familiar doctor, with the answers in force whether .env or the environment has them.
func (i *interview) examine(ctx context.Context) error {
	p := *i.p
	p.env = i.env
	found := p.examine(ctx, i.p.progress())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return doctorCommand{}.print(i.p, found)
}
