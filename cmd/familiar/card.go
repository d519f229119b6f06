package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"familiar/internal/app"
	"familiar/internal/providers/character"

	"familiar/card"
)

type importCommand struct {
	File  string `arg:"" help:"The card (PNG, JSON or CHARX), a lorebook (JSON), or pictures of moods (zip or folder)."`
	Card  string `placeholder:"ID" help:"The character's folder; for a lorebook or pictures, the character that gets them. Without it, a card's folder is named after the character."`
	Force bool   `help:"Overwrite what is there. A character's folder is replaced as a whole."`
}

// Run makes a character's folder from a card, or adds a lorebook to one, and reports what was used.
func (i importCommand) Run(ctx context.Context, p *program) error {
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	data, err := readCard(app.Resolve(p.dir, i.File))
	if err != nil {
		return err
	}
	got, err := app.Import{File: filepath.Base(i.File), Data: data, ID: i.Card, Replace: i.Force}.Import(ctx, settings, p.dir)
	if e := (*app.ImportError)(nil); errors.As(err, &e) {
		return i.refused(e)
	}
	if err == nil {
		i.report(p, got)
	}
	return err
}

// readCard reads a file up to [card.MaxBytes]. A folder is read as a zip of its files.
func readCard(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, app.Problems{err.Error()}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return readFolder(name)
	}
	data, err := io.ReadAll(io.LimitReader(f, card.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// readFolder returns the files of a folder as a zip.
func readFolder(dir string) ([]byte, error) {
	var b bytes.Buffer
	w, size := zip.NewWriter(&b), int64(0)
	err := filepath.WalkDir(dir, func(name string, f fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !f.IsDir() && !f.Type().IsRegular() {
			return app.Problems{name + " is not a plain file; take it out of the folder"}
		}
		info, err := f.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > card.MaxBytes {
			return app.Problems{fmt.Sprintf("%s holds more than %d MiB; name a folder of pictures alone", dir, card.MaxBytes>>20)}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close()); err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	return b.Bytes(), nil
}

// report prints what was made.
func (i importCommand) report(p *program, got app.Imported) {
	switch {
	case got.Pack:
		report(p.out, fmt.Sprintf("%s has %d pictures of its moods now, in %s. /mode pictures:on shows them in a channel.", got.ID, got.Faces, got.Place), got.Report, nil)
	case got.Book == nil:
		report(p.out, fmt.Sprintf("%s is now the character %s, in %s.", got.Loaded.Name, got.ID, got.Place), got.Report, got.Loaded.Warnings)
		if n := len(got.Loaded.Greetings.Texts); n > 0 {
			fmt.Fprintf(p.out, "\nIt has %d greetings: /character use:%s greeting:0 has it say the first.\n", n+len(got.Loaded.Greetings.Group), got.ID)
		}
	default:
		report(p.out, fmt.Sprintf("%s has a lorebook with %d entries now, in %s.", got.ID, len(got.Book.Book.Entries), got.Place), got.Report, nil)
		if got.Loaded != nil {
			report(p.out, "", card.Report{}, got.Loaded.Warnings)
		}
	}
}

// refused says what a person at a terminal can do about a refusal.
func (i importCommand) refused(e *app.ImportError) error {
	switch e.Refusal {
	case app.Unnamed:
		return app.Problems{string(e.Refusal) + "; choose one with --card"}
	case app.BadID:
		return app.Problems{fmt.Sprintf("--card: %q is no name of a folder; use small letters, digits and - in between", e.ID)}
	case app.WhoseBook:
		return app.Problems{"it is a lorebook; say with --card which character it is for, or --card _default for all"}
	case app.NoCharacter:
		return app.Problems{fmt.Sprintf("there is no character's folder %s; import its card first, make the folder with a persona.md, or name another with --card; a character that comes with the program has none until familiar init copies it", e.Place)}
	case app.Faulty:
		return app.Problems{e.Text}
	case app.Taken:
		if filepath.Ext(e.Place) == ".toml" {
			return app.Problems{fmt.Sprintf("%s has a lorebook %s already; call the file otherwise, or write over it with --force", e.ID, filepath.Base(e.Place))}
		}
		return app.Problems{fmt.Sprintf("%s is there already; choose another folder with --card, or write over it with --force", e.Place)}
	}
	return app.Problems{fmt.Sprintf("%s: %v", i.File, e)}
}

// report prints which parts of a card are used.
func report(out io.Writer, first string, r card.Report, warnings []character.Problem) {
	if first != "" {
		fmt.Fprintln(out, first)
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"", r.Used}, {"To know:", r.Notes}, {"No counterpart, kept for familiar export:", r.Kept}} {
		if len(part.lines) > 0 && part.title != "" {
			fmt.Fprintln(out, "\n"+part.title)
		}
		for _, line := range part.lines {
			fmt.Fprintln(out, "  "+line)
		}
	}
	if len(warnings) > 0 {
		fmt.Fprintln(out, "\nWhat does not do what it says:")
	}
	for n, w := range warnings {
		if n == mostWarnings {
			fmt.Fprintf(out, "  and %d more: familiar config check\n", len(warnings)-n)
			break
		}
		fmt.Fprintln(out, "  "+w.String())
	}
}

type exportCommand struct {
	Card  string   `placeholder:"ID" help:"Write this character as a card, instead of the data."`
	File  string   `arg:"" optional:"" help:"Where to write it; a card as .json, .png or .charx. Prints JSON if left out."`
	V2    bool     `name:"v2" help:"Write version 2 of the specification of cards; version 3 if left out, and both in a PNG."`
	Only  []string `placeholder:"KIND" help:"Kinds of data, separated by commas: turns, messages, memories, …; all if left out."`
	Since string   `placeholder:"DAY" help:"Only data from this day on: 2026-11-22."`
	Force bool     `help:"Overwrite an existing file."`
}

// Run writes a character as a card, or everything that is kept.
func (e exportCommand) Run(ctx context.Context, p *program, stop stopper) error {
	if e.Card == "" {
		return e.data(ctx, p, stop)
	}
	settings, err := app.ReadConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	files := app.Shelf(settings, p.dir)
	c, err := character.Load(files, e.Card)
	if err != nil {
		return app.Problems{err.Error()}
	}
	folder, err := fs.Sub(files, e.Card)
	if err != nil {
		return fmt.Errorf("open character: %w", err)
	}
	format := card.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(e.File), ".")))
	switch format {
	case "":
		format = card.JSON
	case card.JSON, card.PNG, card.CHARX:
	default:
		return app.Problems{fmt.Sprintf("a card is not written as .%s; use .json, .png or .charx", format)}
	}
	version := 3
	if e.V2 {
		version = 2
	}
	out, notes, err := card.Export(folder, cardNow(c), version, format)
	if err != nil {
		return app.Problems{err.Error()}
	}
	for _, n := range notes {
		fmt.Fprintln(p.err, "familiar:", n)
	}
	if e.File == "" {
		_, err := p.out.Write(out)
		return err
	}
	name := app.Resolve(p.dir, e.File)
	if _, err := os.Lstat(name); err == nil && !e.Force {
		return app.Problems{fmt.Sprintf("%s is there already; write over it with --force", name)}
	}
	if err := os.WriteFile(name, out, 0o644); err != nil {
		return fmt.Errorf("write card: %w", err)
	}
	fmt.Fprintln(p.out, "Written:", name)
	return nil
}

// cardNow returns the card that a character's files make now.
func cardNow(c *character.Character) card.Character {
	nickname := ""
	if c.Called != c.Name {
		nickname = c.Called
	}
	return card.Character{
		Name: c.Name, Nickname: nickname, Version: c.Version, Greetings: c.Greetings.Texts, GroupGreetings: c.Greetings.Group, Avatar: c.Picture,
		Texts: map[string]string{
			"persona.md": c.Persona, "personality.md": c.Parts.Personality, "scenario.md": c.Parts.Scenario, "examples.md": c.Parts.Examples, "system.md": c.Parts.System,
			"post_history.md": c.Parts.PostHistory, "depth_prompt.md": c.Parts.DepthPrompt,
		},
	}
}
