package card

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Character is what the files of a character's folder say now.
type Character struct {
	Name, Nickname string
	Version        string
	Texts          map[string]string // by file: persona.md, personality.md and so on
	Greetings      []string
	GroupGreetings []string
	Avatar         []byte // a PNG, for a card that came without a picture; nil: none
}

// Export writes the card of a character's folder in version 2 or 3. It contains what now says, and the folder's
// lorebooks; everything else is as it came. A card without changes is the file that came, unless another format or an
// older version is asked for. A folder without a card makes a new one. Notes name what the card does not contain.
func Export(folder fs.FS, now Character, version int, format Format) (out []byte, notes []string, err error) {
	c, err := openKept(folder)
	if err != nil {
		return nil, nil, err
	}
	notes = c.update(folder, now)
	if c.came != nil && len(c.changed) == 0 && format == c.format && version >= c.Version {
		return c.came, notes, nil
	}
	if format == JSON && len(c.Files) > 0 {
		notes = append(notes, fmt.Sprintf("%d files of the card are not in JSON: export it as .charx or .png", len(c.Files)))
	}
	out, err = c.Encode(version, format)
	return out, notes, err
}

// openKept reads the card that a folder keeps, or returns an empty one.
func openKept(folder fs.FS) (*Card, error) {
	for _, format := range []Format{JSON, PNG, CHARX} {
		data, err := fs.ReadFile(folder, keptCard+string(format))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the card: %w", err)
		}
		c, _, err := Read(data)
		if err != nil {
			return nil, fmt.Errorf("read %s%s: %w", keptCard, format, err)
		}
		if c != nil {
			return c, nil
		}
	}
	return &Card{top: object{}, data: object{}}, nil
}

// update writes what has changed into the card, and returns what it could not write.
func (c *Card) update(folder fs.FS, now Character) (notes []string) {
	if c.Name() != now.Name {
		c.set("name", now.Name)
	}
	if oneName(c.Text("nickname")) != now.Nickname {
		c.set("nickname", now.Nickname)
	}
	if oneName(c.Text("character_version")) != now.Version {
		c.set("character_version", now.Version)
	}
	for _, f := range fields {
		if f.file != "" {
			c.updateText(f.name, now.Texts[f.file])
		}
	}
	if !slices.EqualFunc(firstGreetings(c.Greetings()), now.Greetings, sameText) {
		first, others := "", []string{}
		if len(now.Greetings) > 0 {
			first, others = now.Greetings[0], append(others, now.Greetings[1:]...)
		}
		c.set("first_mes", first)
		c.set("alternate_greetings", others)
	}
	if !slices.EqualFunc(firstGreetings(c.data.texts("group_only_greetings")), now.GroupGreetings, sameText) {
		c.set("group_only_greetings", append([]string{}, now.GroupGreetings...))
	}
	c.updateDepth(now.Texts[depthFile])
	if c.Image == nil {
		c.Image = now.Avatar
	}
	return append(c.updateBook(folder), c.scriptNote(folder)...)
}

func (c *Card) set(field string, value any) {
	if c.changed == nil {
		c.changed = map[string]bool{}
	}
	c.data[field], c.changed[field] = raw(value), true
}

// updateText writes a text of the card, if it has changed.
func (c *Card) updateText(field, text string) {
	was := c.Text(field)
	if !sameText(was, text) && !(field == "description" && sameText(was, "") && sameText(text, noDescription)) {
		c.set(field, strings.TrimSpace(text))
	}
}

// updateDepth writes the text of the depth prompt, if it has changed.
func (c *Card) updateDepth(text string) {
	prompt, _ := c.depthPrompt()
	if sameText(prompt.text("prompt"), text) {
		return
	}
	ext, err := c.data.object("extensions")
	if err != nil {
		ext = object{}
	}
	if prompt == nil {
		prompt = object{}
	}
	prompt["prompt"] = raw(strings.TrimSpace(text))
	ext["depth_prompt"] = raw(prompt)
	c.set("extensions", ext)
}

// updateBook writes the folder's lorebooks into the card, if they have changed.
func (c *Card) updateBook(folder fs.FS) (notes []string) {
	top, err := c.data.object("character_book")
	if err != nil {
		top = object{}
	}
	came, _, err := bookOf(top, inCard)
	b, found, notes := folderBook(folder, err == nil && len(came.Entries) > 0)
	if found && !sameBook(came, b) {
		c.set("character_book", updateBook(top, b))
	}
	return notes
}

// folderBook returns the folder's lorebook for the card. It is the card's own if it came with one, or else all of them.
func folderBook(folder fs.FS, hasOwn bool) (b Book, found bool, notes []string) {
	entries, _ := fs.ReadDir(folder, booksDir) // no directory means no lorebooks
	for _, e := range entries {
		file := path.Join(booksDir, e.Name())
		if !strings.HasSuffix(file, ".toml") {
			continue
		}
		if hasOwn && file != bookFile {
			notes = append(notes, file+" is not in the card, which has a lorebook of its own")
			continue
		}
		data, err := fs.ReadFile(folder, file)
		one, wrong := ParseBook("", data)
		if err != nil || len(wrong) > 0 {
			notes = append(notes, file+" could not be read")
			continue
		}
		if !found {
			b, found = one, true
			continue
		}
		b.Entries = append(b.Entries, one.Entries...)
	}
	return b, found, notes
}

// sameBook reports whether two books say the same.
func sameBook(a, b Book) bool {
	x, errX := a.Encode()
	y, errY := b.Encode()
	return errX == nil && errY == nil && string(x) == string(y)
}

// scriptNote says that the folder's scripts differ from the card's, which keeps its own.
func (c *Card) scriptNote(folder fs.FS) []string {
	data, _ := fs.ReadFile(folder, scriptsFile) // no file means no scripts
	var was []byte
	if all, _ := c.scripts(); len(all) > 0 {
		was, _ = EncodeScripts(all)
	}
	if string(was) == string(data) {
		return nil
	}
	return []string{scriptsFile + " is not as it came: the card has the regex scripts that it came with"}
}

// sameText reports whether two texts differ at most in the white space around them and in their line ends.
func sameText(a, b string) bool {
	normal := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return normal(a) == normal(b)
}
