package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"familiar/internal/app"
	"familiar/internal/doctor"
	"familiar/internal/text"
)

type doctorCommand struct {
	Checks []string `arg:"" optional:"" name:"check" help:"Carry out only these checks: ${checks}."`
	JSON   bool     `name:"json" help:"Print the findings as JSON."`
	Fix    bool     `help:"Write the settings into .env that cure what was found, where there is only one right value, and look again."`
	Review bool     `help:"Print the answers that Discord's yearly review of privileged intents asks for, drawn from the configuration."`
}

// Help is what familiar doctor --help adds.
func (doctorCommand) Help() string {
	return `Looks at everything that has to work, with real questions: to Discord, to the models, to each search service. At the end it has a whole question answered, with a lookup. Without --fix it writes nothing; it works beside a running bot, and shows no secret.

Exit code 0: nothing has failed (warnings may be there); 1: something has; 2: wrong usage.

  familiar doctor                    everything
  familiar doctor discord database   two checks
  familiar doctor --fix              mend what it can
  familiar doctor --json             for a script
  familiar doctor --review           the answers for Discord's review`
}

// Run examines the installation.
func (d doctorCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		if d.Review {
			return printReview(ctx, p)
		}
		found, err := d.examine(ctx, p)
		if err == nil && d.Fix {
			var fixed bool
			if fixed, err = fix(p, found); fixed {
				found, err = d.examine(ctx, p)
			}
		}
		if err != nil {
			return err
		}
		return d.print(p, found)
	})
}

func (d doctorCommand) examine(ctx context.Context, p *program) ([]doctor.Finding, error) {
	e := app.Examination(p.process(), true)
	defer e.Close()
	checks, err := e.Only(d.Checks...)
	if err != nil {
		return nil, app.Problems{err.Error()}
	}
	return e.Examine(ctx, checks, p.progress())
}

// fix writes the settings that cure findings into .env. It reports whether there were any.
func fix(p *program, found []doctor.Finding) (bool, error) {
	aside := *p.process()
	aside.Out = p.err // the output is of the findings
	s, err := app.Setup(&aside, nil, doctor.Options{}, nil)
	if err != nil {
		return false, err
	}
	var all []doctor.Assignment
	for _, f := range found {
		switch {
		case f.Set == nil || !slices.Contains(s.Names, f.Set.Name) || slices.Contains(all, *f.Set):
		case s.Get(f.Set.Name) != "" && slices.Contains(p.environ, f.Set.Name):
			fmt.Fprintf(p.err, "familiar: %s is set in the environment, which comes before .env; set it to %s there\n", f.Set.Name, f.Set.Value)
		default:
			all = append(all, *f.Set)
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(p.err, "familiar: nothing was found that --fix can mend")
		return false, nil
	}
	return true, s.Set(all...)
}

// printReview prints the answers for Discord's yearly review. No service is asked.
func printReview(ctx context.Context, p *program) error {
	e := app.Examination(p.process(), true)
	defer e.Close()
	if e.Wrong != nil {
		return app.Problems(e.Wrong)
	}
	_, err := fmt.Fprint(p.out, e.Review(ctx))
	return err
}

// examined is the output of --json.
type examined struct {
	Findings []doctor.Finding
	Warnings int
	Failures int
}

// print writes findings, which hold no secret. It returns an error if one is a failure.
func (d doctorCommand) print(p *program, found []doctor.Finding) error {
	text := doctor.View(found)
	if d.JSON {
		var err error
		if text, err = asJSON(examined{found, doctor.Count(found, doctor.Warning), doctor.Count(found, doctor.Failure)}); err != nil {
			return err
		}
		text += "\n"
	}
	if _, err := fmt.Fprint(p.out, text); err != nil {
		return err
	}
	if doctor.Count(found, doctor.Failure) > 0 {
		return doctor.ErrFailure
	}
	if len(d.Checks) > 0 && doctor.Count(found, doctor.Skipped) == len(found) {
		return doctor.ErrNothing
	}
	return nil
}

// progress returns what shows the progress at a terminal; elsewhere nil.
func (p *program) progress() doctor.Progress {
	if !p.interactive {
		return nil
	}
	return func(now doctor.Standing) {
		if now.Ended == now.All {
			fmt.Fprint(p.err, "\r\x1b[K")
			return
		}
		fmt.Fprintf(p.err, "\r\x1b[K  %d of %d, waiting for %.50s", now.Ended, now.All, strings.Join(now.Running, ", "))
	}
}

type initCommand struct {
	TokenFile string  `placeholder:"FILE" help:"A file with the bot's token; - is the standard input. Without it DISCORD_TOKEN."`
	NoDiscord bool    `help:"Without Discord: for the terminal alone."`
	ModelURL  string  `name:"model-url" placeholder:"URL" help:"The address of the model's server, with its version; none for no model. Without it OPENAI_BASE_URL."`
	KeyFile   string  `placeholder:"FILE" help:"A file with the key of that server. Without it OPENAI_API_KEY."`
	Model     string  `placeholder:"NAME" help:"The model. Without it OPENAI_MODEL, or the one that the server has."`
	SearXNG   *string `name:"searxng" placeholder:"URL" help:"The address of a SearXNG instance; none for the services that need no key. Without it SEARXNG_URL."`
	Copy      *bool   `negatable:"" help:"Copy the character into characters/, for you to change."`
	Yes       bool    `short:"y" help:"Change a .env that is there already, without asking."`
	Keep      bool    `help:"Write answers even if they are found not to work."`
	NoDoctor  bool    `help:"Do not run the doctor at the end."`
}

// Help is what familiar init --help adds.
func (initCommand) Help() string {
	return `Asks for what is needed, tries each answer at once, and writes .env in this directory, readable for you alone. Lines of a .env that is there already stay as they are. Ctrl-C leaves everything as it was.

Every question has an option or a variable, so it works without a terminal, too: what is missing is then named, and the exit code is 2. Secrets are read from files or the environment, and not from the command line, which others on this machine can see.

  familiar init
  familiar init --token-file token --model-url http://127.0.0.1:11434/v1 --yes`
}

// Run sets an installation up.
func (c initCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.leaving(stop, func() error {
		s, err := app.Setup(p.process(), p.in, doctor.Options(c), p.progress())
		if err != nil {
			return err
		}
		return s.Run(ctx)
	})
}

// start runs familiar without a command, at a terminal. It offers to set a model up if there is none, and then talks.
func start(ctx context.Context, p *program, stop stopper) error {
	found, err := app.HasModel(ctx, p.process())
	if err != nil {
		return err
	}
	if !found {
		fmt.Fprintln(p.out, "No model is set, and none runs on this machine. Without one,\nthe answers are quotes of pages. familiar --help lists all commands.")
		setUp := false
		if err := p.leaving(stop, func() (err error) {
			setUp, err = doctor.Confirm(ctx, p.in, p.out, "Set one up now?")
			return err
		}); err != nil {
			return err
		}
		if setUp {
			if err := (initCommand{}).Run(ctx, p, stop); err != nil {
				return err
			}
		}
		fmt.Fprintln(p.out)
	}
	return chatCommand{}.Run(ctx, p, stop)
}

// setCommand writes one setting.
type setCommand struct {
	Name  string  `arg:"" help:"The setting; familiar config check lists all."`
	Value *string `arg:"" optional:"" help:"Its value. Without it, it is read from the input, as a secret has to be."`
}

// Run checks the value and writes it into .env.
func (c setCommand) Run(p *program) error {
	s, err := app.Setup(p.process(), p.in, doctor.Options{}, nil)
	if err != nil {
		return err
	}
	if name, value, joined := strings.Cut(c.Name, "="); joined && c.Value == nil {
		c.Name, c.Value = name, &value // as in .env
	}
	if !slices.Contains(s.Names, c.Name) {
		problem := "there is no setting " + c.Name
		if meant := app.Meant(c.Name); meant != "" {
			problem += "; did you mean " + meant + "?"
		} else if near := text.Nearest(strings.ToUpper(c.Name), s.Names); near != "" {
			problem += "; the nearest is " + near
		}
		return app.Problems{problem}
	}
	if c.Value != nil && s.Secret(c.Name) {
		return app.Problems{fmt.Sprintf("%s is a secret, and others on this machine see a command line: familiar set %s < FILE", c.Name, c.Name)}
	}
	if c.Value == nil {
		given, err := io.ReadAll(io.LimitReader(p.in, longestQuestion))
		if err != nil {
			return fmt.Errorf("read %s: %w", c.Name, err)
		}
		value := strings.TrimSpace(string(given))
		if value == "" {
			return app.Problems{fmt.Sprintf("no value was given for %[1]s, and the input is empty: familiar set %[1]s VALUE, or %[1]s \"\" for none", c.Name)}
		}
		c.Value = &value
	}
	if err := s.Check(c.Name, *c.Value); err != nil {
		return app.Problems{c.Name + ": " + err.Error()}
	}
	return s.Set(doctor.Assignment{Name: c.Name, Value: *c.Value})
}

// leaving calls do, which the first signal ends at once.
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
			stop(doctor.ErrStopped)
		}
	}()
	defer func() { close(done); <-watched }()
	return do()
}
