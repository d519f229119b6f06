package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"

	"familiar/card"
	"familiar/internal/providers/attachment"

	"golang.org/x/text/unicode/norm"
)

type importCommand struct {
	File  string `arg:"" help:"The card (PNG, JSON or CHARX), or a lorebook (JSON)."`
	Card  string `placeholder:"ID" help:"The character's folder; for a lorebook, the character that gets it. Without it, a card's folder is named after the character."`
	Force bool   `help:"Overwrite what is there. A character's folder is replaced as a whole."`
}

const avatarBytes = 256 << 10

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
	c, book, err := card.Read(data)
	if err != nil {
		return app.Problems{fmt.Sprintf("%s: %v", i.File, err)}
	}
	root := app.Resolve(p.dir, settings.Get("FAMILIAR_CHARACTERS"))
	if book != nil {
		return i.addBook(p, settings, root, book)
	}
	return i.addCard(ctx, p, settings, root, c)
}

// readCard reads a file up to [card.MostBytes].
func readCard(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, app.Problems{err.Error()}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, card.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// addCard makes the folder beside the others, and moves it to its place once it is complete and valid.
func (i importCommand) addCard(ctx context.Context, p *program, settings *app.Config, root string, c *card.Card) error {
	counter := &llm.Counter{}
	folder, err := c.Folder(card.FolderOptions{Budgets: budgets(settings, p.dir), Tokens: counter.Count, Source: filepath.Base(i.File)})
	if err != nil {
		return app.Problems{fmt.Sprintf("%s: %v", i.File, err)}
	}
	id, err := i.folderID(c.Name())
	if err != nil {
		return err
	}
	place := filepath.Join(root, id)
	if _, err := os.Lstat(place); err == nil && !i.Force {
		return app.Problems{fmt.Sprintf("%s is there already; choose another folder with --card, or write over it with --force", place)}
	}
	if folder.Icon != nil {
		shrinker := &attachment.Shrinker{}
		avatar, err := shrinker.Avatar(ctx, folder.Icon, avatarBytes)
		if err != nil {
			folder.Report.Notes = append(folder.Report.Notes, fmt.Sprintf("the picture is not shown as avatar: %v", err))
		} else {
			folder.Files["avatar.png"] = avatar
		}
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("make folder %s: %w", root, err)
	}
	made, err := os.MkdirTemp(root, ".import-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(made)
	if err := errors.Join(os.Chmod(made, 0o755), writeFiles(made, folder.Files)); err != nil {
		return err
	}
	loaded, err := loadMade(settings, p.dir, made, id)
	if err != nil {
		return app.Problems{"the character that this would make is not in order:\n" + err.Error()}
	}
	if err := replaceFolder(made, place); err != nil {
		return err
	}
	report(p.out, fmt.Sprintf("%s is now the character %s, in %s.", loaded.Name, id, place), folder.Report, loaded.Warnings)
	if len(loaded.Greetings.Texts) > 0 {
		fmt.Fprintf(p.out, "\nIt has %d greetings: /character use:%s greeting:0 has it say the first.\n", len(loaded.Greetings.Texts)+len(loaded.Greetings.Group), id)
	}
	return nil
}

// budgets returns the budgets of the modes of a character that sets none itself.
func budgets(settings *app.Config, dir string) (all []card.Budget) {
	one, err := character.Load(app.Shelf(settings, dir), settings.Get("FAMILIAR_CHARACTER"))
	if err != nil {
		return nil
	}
	for _, mode := range turn.Modes() {
		l := one.Modes[mode]
		all = append(all, card.Budget{Mode: string(mode), Total: l.Total, Character: l.Layers[turn.Character], DepthInject: l.Layers[turn.DepthInject], Lorebook: l.Layers[turn.Lorebook]})
	}
	return all
}

// folderID returns the folder's name: the one in --card, or one made from the character's name.
func (i importCommand) folderID(name string) (string, error) {
	if i.Card != "" {
		if slug(i.Card) != i.Card {
			return "", app.Problems{fmt.Sprintf("--card: %q is no name of a folder; use small letters, digits and - in between", i.Card)}
		}
		return i.Card, nil
	}
	if id := slug(name); id != "" {
		return id, nil
	}
	return "", app.Problems{"no name of a folder can be made of the character's name; choose one with --card"}
}

// slug makes a folder's name from a name: ASCII small letters and digits, with - in between.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(name)) {
		switch {
		case unicode.Is(unicode.M, r):
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String()[:min(b.Len(), 40)], "-")
}

// writeFiles writes files into a folder. Their names cannot lead outside it.
func writeFiles(dir string, files map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return fmt.Errorf("make folder %s: %w", path.Dir(name), err)
		}
		if err := root.WriteFile(name, files[name], 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// made shows a new folder under its final name.
type made struct {
	fs.FS
	dir fs.FS
	id  string
}

// Open implements fs.FS.
func (m made) Open(name string) (fs.File, error) {
	if rest, ok := strings.CutPrefix(name+"/", m.id+"/"); ok {
		return m.dir.Open(path.Clean(rest))
	}
	return m.FS.Open(name)
}

// loadMade loads a character from the folder that is being made.
func loadMade(settings *app.Config, dir, at, id string) (*character.Character, error) {
	return character.Load(made{FS: app.Shelf(settings, dir), dir: os.DirFS(at), id: id}, id)
}

// replaceFolder moves a folder to its place, and then deletes the previous one.
func replaceFolder(made, place string) error {
	old := ""
	if _, err := os.Lstat(place); err == nil {
		old = filepath.Join(filepath.Dir(place), fmt.Sprintf(".replaced-%s-%d", filepath.Base(place), time.Now().UnixNano()))
		if err := os.Rename(place, old); err != nil {
			return fmt.Errorf("move old folder: %w", err)
		}
	}
	if err := os.Rename(made, place); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, place))
		}
		return fmt.Errorf("move new folder: %w", err)
	}
	if old != "" {
		return os.RemoveAll(old)
	}
	return nil
}

func (i importCommand) addBook(p *program, settings *app.Config, root string, book *card.Lorebook) error {
	if i.Card == "" {
		return app.Problems{"it is a lorebook; say with --card which character it is for, or --card _default for all"}
	}
	place := filepath.Join(root, i.Card)
	if info, err := os.Stat(place); i.Card != "_default" && (slug(i.Card) != i.Card && !isCharacter(settings, p.dir, i.Card) || err != nil || !info.IsDir()) {
		return app.Problems{fmt.Sprintf("there is no character's folder %s; import its card first, or make the folder with a persona.md", place)}
	}
	stem := cmp.Or(slug(strings.TrimSuffix(filepath.Base(i.File), filepath.Ext(i.File))), "lorebook")
	folder, err := book.Folder(stem)
	if err != nil {
		return app.Problems{fmt.Sprintf("%s: %v", i.File, err)}
	}
	if _, err := os.Lstat(filepath.Join(place, "lorebooks", stem+".toml")); err == nil && !i.Force {
		return app.Problems{fmt.Sprintf("%s has a lorebook %s.toml already; call the file otherwise, or write over it with --force", i.Card, stem)}
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return fmt.Errorf("make folder %s: %w", place, err)
	}
	if err := writeFiles(place, folder.Files); err != nil {
		return err
	}
	report(p.out, fmt.Sprintf("%s has a lorebook with %d entries now, in %s.", i.Card, len(book.Book.Entries), filepath.Join(place, "lorebooks", stem+".toml")), folder.Report, nil)
	if i.Card == "_default" {
		return nil
	}
	loaded, err := character.Load(app.Shelf(settings, p.dir), i.Card)
	if err != nil {
		return app.Problems{err.Error()}
	}
	report(p.out, "", card.Report{}, loaded.Warnings)
	return nil
}

func isCharacter(settings *app.Config, dir, id string) bool {
	ids, err := character.List(app.Shelf(settings, dir))
	return err == nil && slices.Contains(ids, id)
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
