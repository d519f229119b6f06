package doctor

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

	"familiar/internal/llm"
)

// Options are answers that are given on the command line.
type Options struct {
	TokenFile string // a file with the bot's token; "-" is the input
	NoDiscord bool
	ModelURL  string // the address of the model's server; "none": no model
	KeyFile   string // a file with the key of that server
	Model     string
	SearXNG   *string // "none": without one; nil: not given
	Copy      *bool   // put a copy of the character into the characters' directory; nil: not given
	Yes       bool    // change a .env that is there, without asking
	Keep      bool    // write answers even if they are found not to work
	NoDoctor  bool    // examine nothing at the end
}

// Before is the configuration that a setup begins with.
type Before struct {
	Names      []string // of all settings, in the order in which they are written
	Get        func(name string) string
	Check      func(name, value string) error // refuses a value that a setting cannot have
	InDotenv   func(name string) bool         // the setting's value comes from the file Dotenv
	Secret     func(name string) bool         // the setting's value is shown to nobody
	Dotenv     string                         // the path of .env
	Characters string                         // the directory of the operator's characters
	BuiltIn    fs.FS                          // the characters that come with the program
}

// Setup asks for what an installation needs, tries each answer, and writes .env.
type Setup struct {
	Options
	Before
	In          io.Reader
	Out         io.Writer
	Interactive bool   // a person reads and types
	Dir         string // the working directory
	Env         func(name string) (string, bool)
	Local       []llm.Place                                                        // where model servers are looked for on this machine
	Client      func(address, key string) *llm.Client                              // asks a server for its models
	Examine     func(env func(name string) (string, bool), part Part) *Examination // with other values in the environment
	Progress    Progress                                                           // nil: it is not shown
}

// Part is how much of an installation is examined.
type Part int

const (
	WithoutWeb Part = iota // what asks Discord and the models
	WithWeb
	Whole // and what is wrong with the configuration is logged
)

// ErrStopped says that a setup was stopped before anything was written.
var ErrStopped = errors.New("init was stopped, and nothing was written")

// ErrFailure says that an examination found a failure.
var ErrFailure = errors.New("something does not work: see the lines that begin with failure, and what they say to do")

// ErrNothing says that none of the checks that were named could be carried out.
var ErrNothing = errors.New("nothing was examined: what was named is not configured, or could not be asked")

// Unanswered lists the answers that nobody gave and that could not be asked for.
type Unanswered []string

func (u Unanswered) Error() string { return strings.Join(u, "\n") }

// interview asks the questions, and remembers the answers until it writes them.
type interview struct {
	Setup
	keys    *keyboard
	dotenv  string // the contents of .env; empty: there is none
	exists  bool   // there is one
	answers map[string]string
	missing Unanswered
	fails   bool // an answer was found not to work
	invite  string
	copy    bool
}

// Run asks and writes. It returns [Unanswered] if it cannot ask.
func (s Setup) Run(ctx context.Context) error {
	i, err := s.interview()
	if err != nil {
		return err
	}
	return i.run(ctx)
}

func (s Setup) interview() (*interview, error) {
	i := &interview{Setup: s, keys: newKeyboard(s.In), answers: map[string]string{}}
	text, err := dotenvText(s.Dotenv)
	switch {
	case err == nil:
		i.dotenv, i.exists = string(text), true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return i, nil
}

// Confirm asks for a yes or a no; without an answer it is no.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	fmt.Fprintf(out, "%s y/n [n]: ", question)
	text, err := newKeyboard(in).line(ctx, false)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.HasPrefix(strings.ToLower(text), "y"), err
}

func (i *interview) run(ctx context.Context) error {
	if i.Interactive {
		i.say("Four questions. Enter takes the value in brackets. Ctrl-C changes nothing.\n")
	}
	for _, ask := range []func(context.Context) error{i.askToken, i.askModel, i.askSearch, i.askCopy, i.askWrite} {
		if err := ask(ctx); err != nil {
			return err
		}
	}
	switch {
	case i.missing != nil:
		return slices.Insert(i.missing, 0, "there is no terminal to ask at, and these answers are missing:")
	case i.fails && !i.Options.Keep:
		return errors.New("nothing was written, for an answer does not work: see above; --keep writes it all the same")
	}
	if err := i.write(); err != nil {
		return err
	}
	return i.finish(ctx)
}

func (i *interview) say(format string, args ...any) { fmt.Fprintf(i.Out, format, args...) }

// heading prints the title of a question.
func (i *interview) heading(n int, what string) {
	if i.Interactive {
		i.say("\n%d/4  %s\n", n, what)
	}
}

// ask returns a line, or preset if the line is empty.
func (i *interview) ask(ctx context.Context, question, preset string, hidden bool) (string, error) {
	if preset != "" {
		question += " [" + preset + "]"
	}
	i.say("     %s: ", question)
	text, err := i.keys.line(ctx, hidden)
	if hidden && i.keys.tty != nil {
		i.say("\n") // the typed one was hidden, too
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: %w", ErrStopped, err)
	}
	if text == "" {
		text = preset
	}
	return text, nil
}

func (i *interview) yes(ctx context.Context, question string) (bool, error) {
	text, err := i.ask(ctx, question+" y/n", "n", false)
	return strings.HasPrefix(strings.ToLower(text), "y"), err
}

// lack notes an answer that nobody gave.
func (i *interview) lack(what string) { i.missing = append(i.missing, "  "+what) }

// look carries out one of the checks with the answers so far. It shows and returns the findings with some ids.
func (i *interview) look(ctx context.Context, check string, ids ...string) ([]Finding, error) {
	env, part := i.env, WithoutWeb
	if check == "search" {
		env, part = searxngOnly(i.env), WithWeb
	}
	e := i.Examine(env, part)
	defer e.Close()
	e.Brief = true
	if e.Wrong != nil {
		check, ids = "configuration", []string{"configuration"}
	}
	checks, err := e.Only(check)
	if err != nil {
		return nil, err
	}
	found, err := e.Examine(ctx, checks, i.Progress)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return !slices.Contains(ids, f.ID) })
	i.say("%s", Lines(found, 5))
	if e.invite != "" {
		i.invite = e.invite
	}
	return found, nil
}

// searxngOnly returns an environment in which SearXNG is the only search service.
func searxngOnly(env func(string) (string, bool)) func(string) (string, bool) {
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
func works(found []Finding) bool { return Count(found, Failure) == 0 }

// env is the environment with the answers in it.
func (i *interview) env(name string) (string, bool) {
	if text, ok := i.answers[strings.TrimSuffix(name, "_FILE")]; ok {
		return text, text != "" && !strings.HasSuffix(name, "_FILE")
	}
	return i.Env(name)
}

func (i *interview) askCopy(ctx context.Context) (err error) {
	i.heading(4, "The character")
	id := i.Get("FAMILIAR_CHARACTER")
	if _, builtIn := fs.Stat(i.BuiltIn, id); builtIn != nil {
		return nil // it is the operator's own already
	}
	if _, there := os.Stat(i.copyTo()); there == nil {
		i.say("     characters/%s is there already, and stays as it is.\n", id)
		return nil
	}
	switch {
	case i.Options.Copy != nil:
		i.copy = *i.Options.Copy
	case i.Interactive:
		i.say("     It is %s. A copy of its files would be yours to change, in\n     %s\n", id, shortPath(i.Dir, i.copyTo()))
		i.copy, err = i.yes(ctx, "Make one?")
	}
	return err
}

func (i *interview) copyTo() string {
	return filepath.Join(i.Characters, i.Get("FAMILIAR_CHARACTER"))
}

// shortPath returns a path relative to a directory that it is below, or as it is.
func shortPath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// askWrite asks whether a .env that is there may be changed.
func (i *interview) askWrite(ctx context.Context) error {
	if !i.exists || i.Options.Yes || len(i.changes()) == 0 {
		return nil
	}
	if !i.Interactive {
		i.lack("--yes, since there is a .env already; these lines of it would be changed: " + strings.Join(i.changes(), ", "))
		return nil
	}
	i.say("\n     There is a .env already. These lines of it would change; a copy of it stays as %s.\n%s", filepath.Base(i.before()), i.difference())
	may, err := i.yes(ctx, "Write them?")
	if err == nil && !may {
		err = ErrStopped
	}
	return err
}

// difference shows the lines that will change, without secrets.
func (i *interview) difference() string {
	var b strings.Builder
	shown := func(sign, name, value string) {
		if i.Secret(name) {
			value = "(hidden)"
		}
		fmt.Fprintf(&b, "       %s %s=%s\n", sign, name, value)
	}
	for _, a := range i.assignments() {
		if i.InDotenv(a.Name) {
			shown("-", a.Name, i.Get(a.Name))
		}
		shown("+", a.Name, a.Value)
	}
	return b.String()
}

// before is where a .env that is there is copied to.
func (i *interview) before() string { return i.Dotenv + ".before" }

// changes returns the names of the settings that will be written.
func (i *interview) changes() (names []string) {
	for _, a := range i.assignments() {
		names = append(names, a.Name)
	}
	return names
}

// assignments are the answers that .env does not hold already, in the order of the settings.
func (i *interview) assignments() (all []Assignment) {
	for _, name := range i.Names {
		if text, ok := i.answers[name]; ok && (i.InDotenv(name) && i.Get(name) != text || !i.InDotenv(name) && text != "") {
			all = append(all, Assignment{name, text})
		}
	}
	return all
}

func (i *interview) write() error {
	if i.copy {
		from, err := fs.Sub(i.BuiltIn, i.Get("FAMILIAR_CHARACTER"))
		if err == nil {
			err = copyDir(from, i.copyTo())
		}
		if err != nil {
			return fmt.Errorf("copy the character: %w", err)
		}
		i.say("\nCopied:  %s\n", shortPath(i.Dir, i.copyTo()))
	}
	set := i.assignments()
	if len(set) == 0 {
		i.say("\nThere was nothing to write.\n")
		return nil
	}
	names := strings.Join(i.changes(), ", ")
	if err := i.save(set); err != nil {
		return err
	}
	i.say("\nWritten: %s%s: %s\n", shortPath(i.Dir, i.Dotenv), whoReads(i.Dotenv), names)
	return nil
}

// save writes assignments into .env, after a copy of the one that is there.
func (i *interview) save(set []Assignment) error {
	text, err := amendDotenv(i.dotenv, set)
	if err == nil && i.exists {
		err = writeBeside(i.before(), []byte(i.dotenv))
	}
	if err == nil {
		err = writeBeside(i.Dotenv, []byte(text))
	}
	return err
}

// whoReads says that a file is the owner's alone, if it is.
func whoReads(path string) string {
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		return ""
	}
	return ", which only you can read"
}

// Set writes one setting, whose value was checked, into .env, and keeps a copy of the one that is there.
func (s Setup) Set(all ...Assignment) error {
	i, err := s.interview()
	if err != nil {
		return err
	}
	if err := i.save(all); err != nil {
		return err
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	i.say("Written: %s%s: %s. A bot that is running reads it at its next start.\n", shortPath(i.Dir, i.Dotenv), whoReads(i.Dotenv), strings.Join(names, ", "))
	return nil
}

// finish waits for the bot to be invited, and examines everything.
func (i *interview) finish(ctx context.Context) error {
	if i.invite != "" {
		i.say("\nOpen this to bring it to your server:\n  %s\n", i.invite)
		if i.Interactive && !i.Options.NoDoctor {
			if _, err := i.ask(ctx, "Enter, once it is there", "", false); err != nil {
				return i.written(err)
			}
		}
	}
	if !i.Options.NoDoctor {
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

// written changes an error that came after .env was written.
func (i *interview) written(err error) error {
	if errors.Is(err, ErrStopped) {
		return errors.New("stopped; what was written stays")
	}
	return err
}

// examine examines everything, with the answers in force even where the environment has other values.
func (i *interview) examine(ctx context.Context) error {
	e := i.Setup.Examine(i.env, Whole)
	defer e.Close()
	found, err := e.Examine(ctx, e.checks(), i.Progress)
	if err != nil {
		return err
	}
	i.say("%s", View(found))
	if Count(found, Failure) > 0 {
		return ErrFailure
	}
	return nil
}

// inDir returns the path of a file that is relative to the working directory.
func (i *interview) inDir(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(i.Dir, file)
}
