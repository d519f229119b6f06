package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
)

type configCommand struct {
	Check checkCommand `cmd:"" help:"Check everything and print what is in force, and from where."`
}

type checkCommand struct {
	JSON    bool `name:"json" help:"Print the settings and what is wrong as JSON."`
	Connect bool `help:"Also ask every service that is configured: Discord, the models, the search services, embeddings, the transcription of voice messages."`
}

// Run prints the effective configuration without secrets, and everything that is wrong with it.
func (k checkCommand) Run(ctx context.Context, p *program, stop stopper) error {
	c, wrong := app.ReadConfig(p.env, p.dir)
	if c == nil {
		if k.JSON {
			return printChecked(p.out, &app.Config{}, wrong)
		}
		return wrong
	}
	ch, err := app.LoadCharacter(c, p.dir)
	characters, faults := loadCharacters(c, p.dir)
	for _, err := range []error{err, faults, app.CheckSearch(c), app.CheckData(c, p.dir), app.CheckWebCache(c, p.dir)} {
		wrong = app.JoinProblems(wrong, err)
	}
	if k.JSON {
		return printChecked(p.out, c, wrong)
	}
	if !k.Connect {
		printTable(p.out, c)
	}
	typos := app.UnknownVariables(p.environ, app.DotenvDir(p.env, p.dir))
	if wrong != nil {
		for _, line := range typos {
			fmt.Fprintln(p.err, "familiar:", line)
		}
		return wrong
	}
	if !k.Connect {
		describeCharacter(p.out, ch)
		for _, line := range append(knowledge(characters), warnings(c, characters)...) {
			fmt.Fprintln(p.out, line)
		}
		fmt.Fprintln(p.out)
	}
	fmt.Fprintln(p.out, "The configuration is in order.")
	for _, line := range typos {
		fmt.Fprintln(p.out, line)
	}
	for _, line := range c.Plain() {
		fmt.Fprintln(p.out, line+".")
	}
	if c.Get("DISCORD_TOKEN") == "" {
		fmt.Fprintln(p.out, "DISCORD_TOKEN is not set: familiar chat works, familiar run does not.")
	}
	if !k.Connect {
		fmt.Fprintln(p.out, modelPlan(c, ch)+"\nNo service was asked: familiar config check --connect does that.")
		return nil
	}
	return p.interruptible(stop, func() error { return k.connect(ctx, p) })
}

// errConnect says that a configured service does not answer.
var errConnect = errors.New("not every service answers")

// connect asks the services as the doctor does, and prints the findings. It works beside a running bot.
func (checkCommand) connect(ctx context.Context, p *program) error {
	e := app.Examination(p.process(), true)
	defer e.Close()
	if e.Wrong != nil {
		return app.Problems(e.Wrong)
	}
	services, err := e.Only("discord", "model", "side", "search", "embeddings", "transcription", "speech")
	if err != nil {
		return err
	}
	found, err := e.Examine(ctx, services, p.progress())
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

// isSilent reports whether a finding says that a service does not answer. For one of several search services that is a warning.
func isSilent(f doctor.Finding) bool {
	return f.State == doctor.Failure || f.ID == "search" && f.State == doctor.Warning
}

// mostWarnings is how many warnings are printed for one character.
const mostWarnings = 20

// loadCharacters returns all characters that can be loaded, and what is wrong with those other than the default one.
func loadCharacters(c *app.Config, dir string) (all []*character.Character, err error) {
	files := app.Shelf(c, dir)
	ids, err := character.List(files)
	if err != nil {
		return nil, app.Problems{err.Error()}
	}
	var wrong app.Problems
	for _, id := range ids {
		switch one, err := character.Load(files, id); {
		case err == nil:
			all = append(all, one)
		case id != c.Get("FAMILIAR_CHARACTER"):
			for _, p := range character.Problems(err) {
				wrong = append(wrong, p.String())
			}
		}
	}
	if wrong == nil {
		return all, nil
	}
	return all, wrong
}

// checked is the output of --json.
type checked struct {
	Values   []checkedValue
	Problems []string
}

type checkedValue struct{ Name, Value, Source string }

// printChecked prints the settings without secrets, and what is wrong. It returns an error if something is.
func printChecked(out io.Writer, c *app.Config, wrong error) error {
	all := checked{Values: []checkedValue{}, Problems: []string{}}
	for _, v := range c.Values {
		value := ""
		if v.Text != "" {
			value = v.Displayed()
		}
		all.Values = append(all.Values, checkedValue{v.Name, value, v.Source})
	}
	if problems, ok := errors.AsType[app.Problems](wrong); ok {
		all.Problems = problems
	} else if wrong != nil {
		all.Problems = []string{wrong.Error()}
	}
	text, err := asJSON(all)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, text)
	return errors.Join(err, wrong)
}

// warnings lists what has no effect in the characters' files, such as patterns of a lorebook that cannot be run.
func warnings(c *app.Config, characters []*character.Character) (lines []string) {
	for _, ch := range characters {
		var all []string
		for _, p := range ch.Warnings {
			all = append(all, p.String())
		}
		all = append(all, overBudget(ch, c.Get("OPENAI_MODEL"))...)
		if more := len(all) - mostWarnings; more > 0 {
			all = append(all[:mostWarnings], fmt.Sprintf("and %d more of %s", more, ch.ID))
		}
		for _, line := range all {
			lines = append(lines, "note                 "+line)
		}
	}
	return lines
}

// knowledge lists the characters' files of lore, and how they are used.
func knowledge(characters []*character.Character) (lines []string) {
	for _, ch := range characters {
		for _, f := range ch.Knowledge {
			lines = append(lines, fmt.Sprintf("lore                 %s/%s", ch.ID, describeKnowledge(f)))
		}
	}
	return lines
}

func describeKnowledge(f character.KnowledgeFile) string {
	if f.Always {
		return fmt.Sprintf("%s: %d bytes, in every prompt", f.Name, f.Bytes)
	}
	return fmt.Sprintf("%s: %d bytes, looked up, in %d passages", f.Name, f.Bytes, len(recall.CutPassages(f.Name, f.Text)))
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

// printTable prints every setting and where it comes from.
func printTable(out io.Writer, c *app.Config) {
	width := 0
	for _, v := range c.Values {
		width = max(width, len(v.Name))
	}
	for _, v := range c.Values {
		fmt.Fprintf(out, "%-*s  %-43s %s\n", width, v.Name, v.Displayed(), cmp.Or(v.Source, "not set"))
	}
}

// modelPlan says which model will answer, as far as that is known without asking a server.
func modelPlan(c *app.Config, ch *character.Character) string {
	base, name := c.Get("OPENAI_BASE_URL"), cmp.Or(ch.Model.Name, c.Get("OPENAI_MODEL"))
	switch {
	case base == "" && c.Get("OPENAI_API_KEY") == "":
		return "No model is set: one on this machine is used if its server runs at the start (" + llm.LocalServers + "). Otherwise answers are made from lookups alone."
	case name == "" && cmp.Or(base, llm.OpenAI) == llm.OpenAI:
		return "OPENAI_MODEL is not set: " + llm.OpenAIModel + " answers, the usual one at OpenAI."
	case name == "":
		return "OPENAI_MODEL is not set: the first model that its server lists answers."
	}
	return name + " answers."
}
