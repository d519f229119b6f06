package main

import (
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

	"familiar/internal/character/card"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	pictures "familiar/internal/web/picture"

	"golang.org/x/text/unicode/norm"
)

type importCommand struct {
	File  string `arg:"" help:"The card (PNG, JSON or CHARX), or a lorebook (JSON)."`
	Card  string `placeholder:"ID" help:"Folder of the character; for a lorebook, the character that it is for. For a card, its name if left out."`
	Force bool   `help:"Write over what is there. A character's folder is replaced as a whole."`
}

const avatarBytes = 256 << 10

// Run makes a character's folder of a card, or adds a lorebook to one, and prints what became of it.
func (i importCommand) Run(ctx context.Context, p *program) error {
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	data, err := readCard(resolve(p.dir, i.File))
	if err != nil {
		return err
	}
	c, book, err := card.Read(data)
	if err != nil {
		return problems{fmt.Sprintf("%s: %v", i.File, err)}
	}
	root := resolve(p.dir, settings.get("FAMILIAR_CHARACTERS"))
	if book != nil {
		return i.addBook(p, settings, root, book)
	}
	return i.addCard(ctx, p, settings, root, c)
}

// readCard reads a file that is not too large.
func readCard(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, problems{err.Error()}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, card.MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// addCard makes the folder beside the others and moves it to its place when it is whole and in order.
func (i importCommand) addCard(ctx context.Context, p *program, settings *config, root string, c *card.Card) error {
	counter := &llm.Counter{}
	folder, err := c.Folder(card.Options{Rooms: rooms(settings, p.dir), Tokens: counter.Count, From: filepath.Base(i.File)})
	if err != nil {
		return problems{fmt.Sprintf("%s: %v", i.File, err)}
	}
	id, err := i.folderID(c.Name())
	if err != nil {
		return err
	}
	place := filepath.Join(root, id)
	if _, err := os.Lstat(place); err == nil && !i.Force {
		return problems{fmt.Sprintf("%s is there already; choose another folder with --card, or write over it with --force", place)}
	}
	if folder.Icon != nil {
		shrinker := &pictures.Shrinker{}
		avatar, err := shrinker.Avatar(ctx, folder.Icon, avatarBytes)
		if err != nil {
			folder.Report.Notes = append(folder.Report.Notes, fmt.Sprintf("the picture is not shown as avatar: %v", err))
		} else {
			folder.Files["avatar.png"] = avatar
		}
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", root, err)
	}
	made, err := os.MkdirTemp(root, ".import-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(made)
	if err := errors.Join(os.Chmod(made, 0o755), writeFiles(made, folder.Files)); err != nil {
		return err
	}
	loaded, err := loadMade(settings, p.dir, made, id)
	if err != nil {
		return problems{"the character that this would make is not in order:\n" + err.Error()}
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

// rooms are the modes of a character that says nothing of them.
func rooms(settings *config, dir string) (all []card.Room) {
	one, err := character.Load(shelf(settings, dir), settings.get("FAMILIAR_CHARACTER"))
	if err != nil {
		return nil
	}
	for _, mode := range turn.Modes() {
		l := one.Modes[mode]
		all = append(all, card.Room{Mode: string(mode), Total: l.Total, Character: l.Layers[turn.Character], DepthInject: l.Layers[turn.DepthInject], Lorebook: l.Layers[turn.Lorebook]})
	}
	return all
}

// folderID is the folder's name: what was asked for, or what is left of the character's name.
func (i importCommand) folderID(name string) (string, error) {
	if i.Card != "" {
		if slug(i.Card) != i.Card {
			return "", problems{fmt.Sprintf("--card: %q is no name of a folder; use small letters, digits and - in between", i.Card)}
		}
		return i.Card, nil
	}
	if id := slug(name); id != "" {
		return id, nil
	}
	return "", problems{"no name of a folder can be made of the character's name; choose one with --card"}
}

// slug is what of a name can be a folder's: small letters and digits of ASCII, with - in between.
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

// writeFiles writes files into a folder, and nowhere else.
func writeFiles(dir string, files map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", path.Dir(name), err)
		}
		if err := root.WriteFile(name, files[name], 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// made shows a folder under the name that it will have.
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

// loadMade loads a character from the folder that it is made in.
func loadMade(settings *config, dir, at, id string) (*character.Character, error) {
	return character.Load(made{FS: shelf(settings, dir), dir: os.DirFS(at), id: id}, id)
}

// replaceFolder moves a folder to its place. One that is there goes only when the new one is.
func replaceFolder(made, place string) error {
	old := ""
	if _, err := os.Lstat(place); err == nil {
		old = filepath.Join(filepath.Dir(place), fmt.Sprintf(".replaced-%s-%d", filepath.Base(place), time.Now().UnixNano()))
		if err := os.Rename(place, old); err != nil {
			return fmt.Errorf("move the old folder away: %w", err)
		}
	}
	if err := os.Rename(made, place); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, place))
		}
		return fmt.Errorf("move the new folder to its place: %w", err)
	}
	if old != "" {
		return os.RemoveAll(old)
	}
	return nil
}

// addBook adds a lorebook to a character.
func (i importCommand) addBook(p *program, settings *config, root string, book *card.Lorebook) error {
	if i.Card == "" {
		return problems{"it is a lorebook; say with --card which character it is for, or --card _default for all"}
	}
	place := filepath.Join(root, i.Card)
	if info, err := os.Stat(place); i.Card != "_default" && (slug(i.Card) != i.Card && !isCharacter(settings, p.dir, i.Card) || err != nil || !info.IsDir()) {
		return problems{fmt.Sprintf("there is no character's folder %s; import its card first, or make the folder with a persona.md", place)}
	}
	stem := slug(strings.TrimSuffix(filepath.Base(i.File), filepath.Ext(i.File)))
	if stem == "" {
		stem = "lorebook"
	}
	files, b, missing, err := card.Standalone(book, stem)
	if err != nil {
		return problems{fmt.Sprintf("%s: %v", i.File, err)}
	}
	if _, err := os.Lstat(filepath.Join(place, "lorebooks", stem+".toml")); err == nil && !i.Force {
		return problems{fmt.Sprintf("%s has a lorebook %s.toml already; call the file otherwise, or write over it with --force", i.Card, stem)}
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", place, err)
	}
	if err := writeFiles(place, files); err != nil {
		return err
	}
	report(p.out, fmt.Sprintf("%s has a lorebook with %d entries now, in %s.", i.Card, len(b.Entries), filepath.Join(place, "lorebooks", stem+".toml")), card.Report{Kept: missing}, nil)
	if i.Card == "_default" {
		return nil
	}
	loaded, err := character.Load(shelf(settings, p.dir), i.Card)
	if err != nil {
		return problems{err.Error()}
	}
	report(p.out, "", card.Report{}, loaded.Warnings)
	return nil
}

func isCharacter(settings *config, dir, id string) bool {
	ids, err := character.List(shelf(settings, dir))
	return err == nil && slices.Contains(ids, id)
}

// report prints what became of a card.
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
	Card  string   `placeholder:"ID" help:"A character, which is written as a card, in place of what is kept."`
	File  string   `arg:"" optional:"" help:"Where to write it; a card as .json, .png or .charx. Prints JSON if left out."`
	V2    bool     `name:"v2" help:"Write version 2 of the specification of cards; version 3 if left out, and both in a PNG."`
	Only  []string `placeholder:"KIND" help:"Kinds of what is kept, separated by commas: turns, messages, memories, …; all if left out."`
	Since string   `placeholder:"DAY" help:"What is kept from this day on: 2026-11-22."`
	Force bool     `help:"Write over a file that is there."`
}

// Run writes a character as a card, or what is kept.
func (e exportCommand) Run(ctx context.Context, p *program, stop stopper) error {
	if e.Card == "" {
		return e.data(ctx, p, stop)
	}
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	files := shelf(settings, p.dir)
	c, err := character.Load(files, e.Card)
	if err != nil {
		return problems{err.Error()}
	}
	folder, err := fs.Sub(files, e.Card)
	if err != nil {
		return fmt.Errorf("open the character: %w", err)
	}
	format := card.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(e.File), ".")))
	switch format {
	case "":
		format = card.JSON
	case card.JSON, card.PNG, card.CHARX:
	default:
		return problems{fmt.Sprintf("a card is not written as .%s; use .json, .png or .charx", format)}
	}
	version := 3
	if e.V2 {
		version = 2
	}
	out, notes, err := card.Export(folder, cardNow(c), version, format)
	if err != nil {
		return problems{err.Error()}
	}
	for _, n := range notes {
		fmt.Fprintln(p.err, "familiar:", n)
	}
	if e.File == "" {
		_, err := p.out.Write(out)
		return err
	}
	name := resolve(p.dir, e.File)
	if _, err := os.Lstat(name); err == nil && !e.Force {
		return problems{fmt.Sprintf("%s is there already; write over it with --force", name)}
	}
	if err := os.WriteFile(name, out, 0o644); err != nil {
		return fmt.Errorf("write the card: %w", err)
	}
	fmt.Fprintln(p.out, "Written:", name)
	return nil
}

// cardNow is what a character's files say.
func cardNow(c *character.Character) card.Now {
	nickname := ""
	if c.Called != c.Name {
		nickname = c.Called
	}
	return card.Now{
		Name: c.Name, Nickname: nickname, Greetings: c.Greetings.Texts, Group: c.Greetings.Group, Avatar: c.Picture,
		Texts: map[string]string{
			"persona.md": c.Persona, "personality.md": c.Sheet.Personality, "scenario.md": c.Sheet.Scenario, "examples.md": c.Sheet.Examples, "system.md": c.Sheet.System,
			"post_history.md": c.Sheet.PostHistory, "depth_prompt.md": c.Sheet.DepthPrompt,
		},
	}
}
