package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/doctor"
	"familiar/internal/text"
)

type doctorCommand struct {
	Checks []string `arg:"" optional:"" name:"check" help:"Carry out these alone: discord, model, side, search, embeddings, transcription, guard, dns, database, console, encryption, clock."`
	JSON   bool     `name:"json" help:"Print the findings as JSON."`
	Review bool     `help:"Print the answers that Discord's yearly review of privileged intents asks for, drawn from the configuration."`
}

// Help is what familiar doctor --help adds.
func (doctorCommand) Help() string {
	return `Looks at everything that has to work, with real questions: to Discord, to the models, to each search service. It writes nothing, works beside a running bot, and shows no secret.

Exit code 0: nothing has failed (warnings may be there); 1: something has; 2: wrong usage.

  familiar doctor                    everything
  familiar doctor discord database   two checks
  familiar doctor --json             for a script
  familiar doctor --review           the answers for Discord's review`
}

// errSick ends a doctor's visit that found a failure.
var errSick = errors.New("something does not work: see the lines that begin with failure, and what they say to do")

// Run examines the installation.
func (d doctorCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		if d.Review {
			return printReview(ctx, p)
		}
		e, wrong := newExamination(p, true)
		defer e.close()
		checks, err := only(e.checks(wrong), d.Checks)
		if err != nil {
			return err
		}
		found, err := e.look(ctx, checks, p.progress())
		if err != nil {
			return err
		}
		return d.print(p, found)
	})
}

// examined is what --json prints.
type examined struct {
	Findings []doctor.Finding
	Warnings int
	Failures int
}

// print writes findings that hold no secret, and reports whether one is a failure.
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
		return errSick
	}
	return nil
}

// examine carries out all checks. What it finds holds no secret.
func (p *program) examine(ctx context.Context, progress doctor.Progress) []doctor.Finding {
	e, wrong := newExamination(p, true)
	defer e.close()
	return e.carryOut(ctx, e.checks(wrong), progress)
}

// carryOut carries out checks. What they find, and what is told of it meanwhile, holds no secret.
func (e *examination) carryOut(ctx context.Context, checks []doctor.Check, progress doctor.Progress) []doctor.Finding {
	told := progress
	if progress != nil {
		told = func(now doctor.Standing) {
			now.Found = e.redacted(now.Found)
			progress(now)
		}
	}
	return e.redacted(doctor.Run(ctx, checks, told))
}

// look carries out checks. What they find holds no secret; where ctx ends there is nothing, and the error is its cause.
func (e *examination) look(ctx context.Context, checks []doctor.Check, progress doctor.Progress) ([]doctor.Finding, error) {
	found := e.carryOut(ctx, checks, progress)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return found, nil
}

// redacted takes secrets out of findings, in which a server may have repeated one.
func (e *examination) redacted(found []doctor.Finding) []doctor.Finding {
	for i := range found {
		f := &found[i]
		f.Subject, f.Text, f.Cure = e.redact(f.Subject), e.redact(f.Text), e.redact(f.Cure)
	}
	return found
}

// only returns the checks that were named, all where none was.
func only(all []doctor.Check, names []string) ([]doctor.Check, error) {
	var known []string
	for _, c := range all {
		known = append(known, c.ID)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			cure := "there are " + strings.Join(known, ", ")
			if near := text.Nearest(name, known); near != "" {
				cure = "did you mean " + near + "?"
			}
			return nil, problems{fmt.Sprintf("there is no check %s; %s", name, cure)}
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(c doctor.Check) bool { return !slices.Contains(names, c.ID) }), nil
}

// progress shows at a terminal what is being waited for; elsewhere nothing.
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

// examination is what the doctor looks with.
type examination struct {
	p      *program
	a      *app // nil where the configuration is wrong
	redact func(string) string
	brief  bool // a model is asked for a word, and no more
	clock  clockReading
	invite string // the link, once Discord has been asked; guarded by the end of that check

	choosing sync.Once // of the models
	chosen   models
	noModels error // why there are none, where some are configured
}

// newExamination opens what can be opened without writing; without the web, what Discord and the models are asked with alone. The error is what is
// wrong with the configuration; close must be called in any case.
func newExamination(p *program, web bool) (*examination, error) {
	e := &examination{p: p, redact: func(text string) string { return text }}
	if c, _ := readConfig(p.env, p.dir); c != nil {
		e.redact = c.redactor().String
	}
	quiet := *p
	quiet.log = ""
	a, err := configure(&quiet)
	if err != nil {
		return e, err
	}
	if e.a = a; !web {
		return e, nil
	}
	a.config.clear("FAMILIAR_WEB_CACHE") // nothing is written, and every question is asked
	return e, errors.Join(a.openReader(context.Background(), p), a.openEngine(context.Background(), p))
}

func (e *examination) close() {
	if e.a != nil {
		e.a.close()
	}
}

// checks are those of the whole installation. Where its configuration is wrong that is the only finding, for nothing else can be relied on.
func (e *examination) checks(wrong error) []doctor.Check {
	configured := func(context.Context) []doctor.Finding { return e.configuration(wrong) }
	all := []doctor.Check{
		{ID: "configuration", Limit: time.Second, Run: configured},
		{ID: "discord", Limit: 30 * time.Second, Run: e.discord},
		{ID: "model", Limit: 90 * time.Second, Run: e.model},
		{ID: "side", Limit: 90 * time.Second, Run: e.sideModel},
		{ID: "search", Limit: searchPatience + 5*time.Second, Run: e.searches},
		{ID: "embeddings", Limit: 65 * time.Second, Run: e.embeddings},
		{ID: "transcription", Limit: 65 * time.Second, Run: e.transcription},
		{ID: "guard", Limit: 10 * time.Second, Run: e.guard},
		{ID: "dns", Limit: 10 * time.Second, Run: e.dns},
		{ID: "database", Limit: 30 * time.Second, Run: e.database},
		{ID: "console", Limit: time.Second, Run: e.console},
		{ID: "encryption", Limit: 5 * time.Second, Run: e.encryption},
		{ID: "clock", Limit: time.Second, Run: e.time, Last: true}, // by what the others were told
	}
	if wrong == nil {
		return all
	}
	for i := range all[1:] {
		id := all[i+1].ID
		all[i+1].Run = func(context.Context) []doctor.Finding {
			return []doctor.Finding{{ID: id, State: doctor.Skipped, Text: "The configuration has to be put right first."}}
		}
	}
	return all
}

func (e *examination) configuration(wrong error) (found []doctor.Finding) {
	if wrong == nil {
		set := 0
		for _, v := range e.a.config.values {
			if v.source != "" && v.source != "default" {
				set++
			}
		}
		return []doctor.Finding{{ID: "configuration", State: doctor.OK, Text: fmt.Sprintf("It is in order: %d settings are yours; %s answers.", set, e.a.character.Name)}}
	}
	var all problems
	if !errors.As(wrong, &all) {
		all = problems{wrong.Error()}
	}
	for _, text := range all {
		what, more, _ := strings.Cut(text, "\n")
		found = append(found, doctor.Finding{ID: "configuration", State: doctor.Failure, Text: what, Cure: cmp.Or(strings.Join(strings.Fields(more), " "), "put it right in .env or in the environment")})
	}
	return found
}

// clockReading is what the quickest answer said of the time.
type clockReading struct {
	mu    sync.Mutex
	who   string        // empty: nobody has said anything; guarded by mu, as is what follows
	took  time.Duration // of the request
	ahead time.Duration // of this machine's clock
}

func (e *examination) time(context.Context) []doctor.Finding {
	e.clock.mu.Lock()
	defer e.clock.mu.Unlock()
	return []doctor.Finding{doctor.Clock(e.clock.who, e.clock.ahead)}
}
