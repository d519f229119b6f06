package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/providers/character"
)

type configCommand struct {
	Check checkCommand `cmd:"" help:"Check everything and print what is in force, and from where."`
}

type checkCommand struct {
	Connect bool `help:"Also ask every service that is configured: Discord, the models, the search services, embeddings, the transcription of voice messages."`
}

// Run prints the effective configuration, secrets hidden, and then everything that is wrong with it.
func (k checkCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c, wrong := readConfig(p.env, p.dir)
	if c == nil {
		return wrong
	}
	if !k.Connect {
		c.table(p.out)
	}
	ch, err := loadCharacter(c, p.dir)
	for _, err := range []error{err, checkSearch(c), checkDir("FAMILIAR_DATA", resolve(p.dir, c.get("FAMILIAR_DATA"))), checkWebCache(c, p.dir)} {
		wrong = joinProblems(wrong, err)
	}
	typos := strangers(p.environ, dotenvPlace(p.env, p.dir))
	if wrong != nil {
		for _, line := range typos {
			fmt.Fprintln(p.err, "familiar:", line)
		}
		return wrong
	}
	if !k.Connect {
		describeCharacter(p.out, ch)
		for _, line := range append(knowledge(c, p.dir), warnings(c, p.dir)...) {
			fmt.Fprintln(p.out, line)
		}
		fmt.Fprintln(p.out)
	}
	fmt.Fprintln(p.out, "The configuration is in order.")
	for _, line := range typos {
		fmt.Fprintln(p.out, line)
	}
	for _, line := range c.plain() {
		fmt.Fprintln(p.out, line+".")
	}
	if c.get("DISCORD_TOKEN") == "" {
		fmt.Fprintln(p.out, "DISCORD_TOKEN is not set: familiar chat works, familiar run does not.")
	}
	if !k.Connect {
		fmt.Fprintln(p.out, c.modelPlan(ch)+"\nNo service was asked: familiar config check --connect does that.")
		return nil
	}
	return p.interruptible(stop, func() error { return k.connect(ctx, p) })
}

// table prints every setting, where it comes from, and the file .env.
func (c *config) table(out io.Writer) {
	width := 0
	for _, v := range c.values {
		width = max(width, len(v.name))
	}
	for _, v := range c.values {
		source := v.source
		if source == "" {
			source = "not set"
		}
		fmt.Fprintf(out, "%-*s  %-43s %s\n", width, v.name, v.shown(), source)
	}
}

// modelPlan says which model will answer, as far as that is known before anybody is asked.
func (c *config) modelPlan(ch *character.Character) string {
	base, name := c.get("OPENAI_BASE_URL"), cmp.Or(ch.Model.Name, c.get("OPENAI_MODEL"))
	switch {
	case base == "" && c.get("OPENAI_API_KEY") == "":
		return "No model is set: an Ollama on this machine is used if one runs at the start, and else answers are made from lookups alone."
	case name == "" && cmp.Or(base, openAIBase) == openAIBase:
		return "OPENAI_MODEL is not set: " + openAIModel + " answers, the usual one at OpenAI."
	case name == "":
		return "OPENAI_MODEL is not set: the first model that its server lists answers."
	}
	return name + " answers."
}

// errConnect says that not every service that is configured answers.
var errConnect = errors.New("not every service answers")

// connect has the doctor ask the services, and prints what came of it. It works beside a running bot.
func (checkCommand) connect(ctx context.Context, p *program) error {
	e, wrong := newExamination(p, true)
	defer e.close()
	if wrong != nil {
		return wrong
	}
	services, err := only(e.checks(nil), []string{"discord", "model", "side", "search", "embeddings", "transcription"})
	if err != nil {
		return err
	}
	found, err := e.look(ctx, services, p.progress())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(p.out, "\n", doctor.View(found)); err != nil {
		return err
	}
	if slices.ContainsFunc(found, isSilent) {
		return errConnect
	}
	return nil
}

// isSilent reports whether a finding is of a service that does not answer. One search service of several is a warning to the doctor.
func isSilent(f doctor.Finding) bool {
	return f.State == doctor.Failure || f.ID == "search" && f.State == doctor.Warning
}

// checkSearch lets the search look at what was chosen of it.
func checkSearch(c *config) error {
	if address := c.get("SEARXNG_URL"); address != "" && checkURL(address) != nil {
		return nil // it has been complained about
	}
	a := &app{config: c, redact: c.redactor()}
	if _, err := a.openBackends(nil); err != nil {
		return errors.New(a.redact.String(err.Error()))
	}
	return nil
}

// checkDir tries whether the directory that a setting names can be written or, where it is missing, be made. It leaves
// nothing behind.
func checkDir(setting, dir string) error {
	place := dir
	for {
		_, err := os.Stat(place)
		if !errors.Is(err, fs.ErrNotExist) || place == filepath.Dir(place) {
			break
		}
		place = filepath.Dir(place)
	}
	f, err := os.CreateTemp(place, ".familiar-check-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // without the odd name of the trial file
	}
	switch {
	case err == nil:
		return nil
	case place == dir:
		return fmt.Errorf("%s: %s cannot be written: %w", setting, dir, err)
	}
	return fmt.Errorf("%s: %s is missing and cannot be made in %s: %w", setting, dir, place, err)
}

// mostWarnings is how many are printed of one character.
const mostWarnings = 20

// warnings are what does not do what it says in the characters' files, such as patterns of a lorebook that cannot be run, and what is
// wrong with those of other characters than the default one.
func warnings(c *config, dir string) (lines []string) {
	files := shelf(c, dir)
	ids, err := character.List(files)
	if err != nil {
		return []string{err.Error()}
	}
	for _, id := range ids {
		var all []string
		ch, err := character.Load(files, id)
		if err != nil {
			all = faultsOf(err)
		} else {
			for _, p := range ch.Warnings {
				all = append(all, p.String())
			}
			all = append(all, overBudget(ch, c.get("OPENAI_MODEL"))...)
		}
		if more := len(all) - mostWarnings; more > 0 {
			all = append(all[:mostWarnings], fmt.Sprintf("and %d more of %s", more, id))
		}
		for _, line := range all {
			lines = append(lines, "note                 "+line)
		}
	}
	return lines
}

// knowledge lists the files from which the characters know things, and how.
func knowledge(c *config, dir string) (lines []string) {
	files := shelf(c, dir)
	ids, _ := character.List(files) // warnings complains
	for _, id := range ids {
		ch, err := character.Load(files, id)
		if err != nil {
			continue // so it does here
		}
		for _, f := range ch.Knowledge {
			lines = append(lines, fmt.Sprintf("lore                 %s/%s", id, describeKnowledge(f)))
		}
	}
	return lines
}

func describeKnowledge(f character.KnowledgeFile) string {
	if f.Always {
		return fmt.Sprintf("%s: %d bytes, in every prompt", f.Name, f.Bytes)
	}
	return fmt.Sprintf("%s: %d bytes, looked up, in %d passages", f.Name, f.Bytes, f.Passages)
}

func describeCharacter(out io.Writer, c *character.Character) {
	fmt.Fprintf(out, "\ncharacter            %s (%s), answers to %s\n", c.Name, c.ID, orNothing(c.Names()))
	for _, m := range []struct {
		name  string
		model character.Model
	}{{"model", c.Model}, {"side_model", c.SideModel}} {
		if m.model.Name != "" {
			fmt.Fprintf(out, "%-20s %s\n", m.name, m.model.Name)
		}
	}
	web := "on"
	if !c.Web.Enabled {
		web = "off"
	}
	fmt.Fprintf(out, "web                  %s, %d queries, %d pages, %d per domain, %s, allow %s, deny %s\n",
		web, c.Web.Queries, c.Web.Pages, c.Web.PerDomain, c.Web.Deadline, orNothing(c.Web.Allow), orNothing(c.Web.Deny))
	for _, d := range c.Docs {
		fmt.Fprintf(out, "docs                 %s: %s\n", d.Name, d.Site)
	}
	for _, mode := range turn.Modes() {
		l, used := c.Modes[mode], ""
		if mode == c.Mode {
			used = " (default)"
		}
		fmt.Fprintf(out, "mode                 %s%s: %d tokens, %s, web %v\n", mode, used, l.Total, l.Deadline, l.Web)
	}
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "–"
	}
	return strings.Join(names, ", ")
}
