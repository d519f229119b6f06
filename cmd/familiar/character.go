package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
)

type characterCommand struct {
	New   characterNew   `cmd:"" help:"Make a blank character for you to write."`
	List  characterList  `cmd:"" help:"List the characters."`
	Show  characterShow  `cmd:"" help:"Show a character's parts, and its part of the prompt."`
	Check characterCheck `cmd:"" help:"Check the characters' files for errors."`
}

type characterNew struct {
	Name string `arg:"" help:"The character's name."`
}

//go:embed newcharacter/persona.md
var newPersona string

//go:embed newcharacter/character.toml
var newConfig string

// Run makes a folder with a commented persona and configuration.
func (n characterNew) Run(_ context.Context, p *program) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	name := strings.Join(strings.Fields(n.Name), " ")
	id := app.FolderID(name)
	if id == "" {
		return app.Problems{fmt.Sprintf("no name of a folder can be made of %q: use some letters or digits of ASCII, and write the name into its character.toml", n.Name)}
	}
	if name == id { // typed as a folder's name
		first, size := utf8.DecodeRuneInString(name)
		name = string(unicode.ToUpper(first)) + strings.ReplaceAll(name[size:], "-", " ")
	}
	place := filepath.Join(app.Resolve(p.dir, settings.Get("FAMILIAR_CHARACTERS")), id)
	if app.IsCharacter(settings, p.dir, id) || app.Exists(place) {
		return app.Problems{fmt.Sprintf("there is a character %s already; choose another name, or change that one: familiar character show %s", id, id)}
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return fmt.Errorf("make folder %s: %w", place, err)
	}
	files := map[string][]byte{
		"persona.md":     []byte(newPersona),
		"character.toml": []byte(strings.Replace(newConfig, `name = ""`, "name = "+strconv.Quote(name), 1)),
	}
	if err := app.WriteFiles(place, files); err != nil {
		return err
	}
	if _, err := character.Load(app.Shelf(settings, p.dir), id); err != nil {
		return err
	}
	fmt.Fprintf(p.out, `%s is a character now, in %s.
  persona.md      who it is: write that first
  character.toml  how it behaves; every line may stay as it is

To talk to it here:        familiar chat --character %s
To see what is wrong:      familiar character check %s
To make it the default on Discord: FAMILIAR_CHARACTER=%s; in one channel: /character use:%s
`, name, place, id, id, id, id)
	return nil
}

type characterList struct{}

// Run lists every character, where its files are and whether it is valid.
func (characterList) Run(_ context.Context, p *program) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	ids, err := character.List(app.Shelf(settings, p.dir))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, id := range ids {
		name, state := "–", "in order"
		c, err := character.Load(app.Shelf(settings, p.dir), id)
		switch {
		case err != nil:
			state = "not in order: familiar character check " + id
		case len(c.Warnings) > 0:
			name, state = c.Name, fmt.Sprintf("in order, notes: %d", len(c.Warnings))
		default:
			name = c.Name
		}
		if id == settings.Get("FAMILIAR_CHARACTER") {
			state += ", the default"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", id, name, homeOf(settings, p.dir, id), state)
	}
	return table.Flush()
}

// homeOf returns the folder of a character's files, or "built in".
func homeOf(settings *app.Config, dir, id string) string {
	own := settings.Get("FAMILIAR_CHARACTERS")
	if app.IsDir(filepath.Join(app.Resolve(dir, own), id)) {
		return filepath.Join(own, id)
	}
	return "built in"
}

type characterShow struct {
	ID     string `arg:"" optional:"" help:"The folder's name. Default: FAMILIAR_CHARACTER."`
	Prompt bool   `help:"Print the character's part of the prompt."`
}

// Run prints the parts of a character.
func (s characterShow) Run(ctx context.Context, p *program) error {
	settings, c, err := s.load(p)
	if err != nil {
		return err
	}
	if s.Prompt {
		return printPrompt(ctx, p.out, c)
	}
	fmt.Fprintf(p.out, "files                %s", homeOf(settings, p.dir, c.ID))
	describeCharacter(p.out, c)
	for _, use := range usesOf(c, settings.Get("OPENAI_MODEL")) {
		fmt.Fprintf(p.out, "tokens               %s: %d of %d in %s\n", use.layer, use.used, use.room, use.mode)
	}
	if n := len(c.Greetings.Texts) + len(c.Greetings.Group); n > 0 {
		fmt.Fprintf(p.out, "greetings            %d\n", n)
	}
	for _, f := range c.Knowledge {
		fmt.Fprintf(p.out, "lore                 %s\n", describeKnowledge(f))
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(p.out, "note                 %s\n", w)
	}
	return nil
}

func (s characterShow) load(p *program) (*app.Config, *character.Character, error) {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return nil, nil, err
	}
	c, err := character.Load(app.Shelf(settings, p.dir), cmp.Or(s.ID, settings.Get("FAMILIAR_CHARACTER")))
	if err != nil {
		return nil, nil, app.Problems{err.Error()}
	}
	return settings, c, nil
}

// printPrompt prints the character's part of the prompt, in its usual mode.
func printPrompt(ctx context.Context, out io.Writer, c *character.Character) error {
	parts, err := (&character.Provider{Character: c}).Contribute(ctx, turn.Request{Mode: c.Mode})
	if err != nil {
		return err
	}
	for _, part := range parts {
		fmt.Fprintf(out, "── %s\n%s\n\n", strings.TrimPrefix(part.Source, "character:"), part.Text)
	}
	return nil
}

type characterCheck struct {
	ID string `arg:"" optional:"" help:"The folder's name. Default: all characters."`
}

// Run prints errors and warnings about characters.
func (k characterCheck) Run(_ context.Context, p *program) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	ids := []string{k.ID}
	if k.ID == "" {
		if ids, err = character.List(app.Shelf(settings, p.dir)); err != nil {
			return err
		}
	}
	var wrong error
	for _, id := range ids {
		c, err := character.Load(app.Shelf(settings, p.dir), id)
		if err != nil {
			wrong = app.JoinProblems(wrong, err)
			continue
		}
		notes := overBudget(c, settings.Get("OPENAI_MODEL"))
		for _, w := range c.Warnings {
			notes = append(notes, w.String())
		}
		fmt.Fprintf(p.out, "%s is in order.\n", id)
		for _, note := range notes {
			fmt.Fprintf(p.out, "  note: %s\n", note)
		}
	}
	return wrong
}

// use is how much of a layer's budget a character's own texts take.
type use struct {
	mode       turn.Mode
	layer      turn.Layer
	used, room int // tokens
}

// usesOf counts what a character's own texts take in each mode.
func usesOf(c *character.Character, model string) (all []use) {
	count := (&llm.Counter{Model: cmp.Or(c.Model.Name, model)}).Count
	texts := character.Provider{Character: c, Count: count}
	for _, mode := range turn.Modes() {
		parts, _ := texts.Contribute(context.Background(), turn.Request{Mode: mode}) // only a store makes it fail
		used := map[turn.Layer]int{}
		for _, part := range parts {
			used[part.Layer] += count(part.Text)
		}
		for _, layer := range []turn.Layer{turn.Character, turn.AuthorNote} {
			if used[layer] > 0 {
				all = append(all, use{mode, layer, used[layer], c.Modes[mode].Layers[layer]})
			}
		}
	}
	return all
}

// overBudget reports where a character's own texts exceed a budget and are therefore cut in every turn.
func overBudget(c *character.Character, model string) (lines []string) {
	for _, u := range usesOf(c, model) {
		if u.used > u.room {
			lines = append(lines, fmt.Sprintf("%s: in the mode %s its texts take %d tokens of %s, which has %d: the rest is cut. Shorten them, or raise modes.%s.layers.%s and total",
				c.ID, u.mode, u.used, u.layer, u.room, u.mode, u.layer))
		}
	}
	return lines
}
