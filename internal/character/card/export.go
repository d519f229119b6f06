package card

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Format is what a card is written as.
type Format string

// The formats.
const (
	JSON  Format = "json"
	PNG   Format = "png"
	CHARX Format = "charx"
)

// Now is what a character's files say, where that may be other than what the card said.
type Now struct {
	Name, Nickname string
	Texts          map[string]string // by file: persona.md, personality.md and so on
	Greetings      []string
	Group          []string
	Avatar         []byte // PNG, for a card that came without a picture; nil: none
}

// Export writes the card of a character's folder in version 2 or 3. What the operator has changed since the import is in it; all else
// is as it came. Notes say what could not be.
func Export(folder fs.FS, now Now, version int, format Format) (out []byte, notes []string, err error) {
	c, err := kept(folder)
	if err != nil {
		return nil, nil, err
	}
	notes = c.update(folder, now)
	data, err := c.encode(version)
	if err != nil {
		return nil, nil, err
	}
	switch format {
	case CHARX:
		out, err = writeCHARX(data, c.Files)
	case PNG:
		out, err = c.png(data, now)
	default:
		out = data
		if len(c.Files) > 0 {
			notes = append(notes, fmt.Sprintf("%d files of the card are not in JSON: export it as .charx or .png", len(c.Files)))
		}
	}
	return out, notes, err
}

// kept reads the card that is kept in a folder; an empty one where there is none.
func kept(folder fs.FS) (*Card, error) {
	c := &Card{Top: object{}, Data: object{}, Files: map[string][]byte{}}
	data, err := fs.ReadFile(folder, jsonFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the card: %w", err)
	}
	if c.Top, err = parse(data); err != nil {
		return nil, fmt.Errorf("read %s: %w", jsonFile, err)
	}
	if c.Data, err = c.Top.object("data"); err != nil {
		return nil, fmt.Errorf("read %s: %w", jsonFile, err)
	}
	delete(c.Top, "data")
	if c.Image, err = fs.ReadFile(folder, imageFile); err != nil {
		c.Image = nil
	}
	err = fs.WalkDir(folder, filesDir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		body, err := fs.ReadFile(folder, name)
		c.Files[strings.TrimPrefix(name, filesDir+"/")] = body
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of the card: %w", err)
	}
	return c, nil
}

// update writes what has changed into the card.
func (c *Card) update(folder fs.FS, now Now) (notes []string) {
	set := func(field, text string) {
		if same(c.Data.text(field), text) || field == "description" && same(text, unsaid) && same(c.Data.text(field), "") {
			if c.Data[field] == nil {
				c.Data[field] = raw("")
			}
			return
		}
		c.set(field, strings.TrimSpace(text))
	}
	if name(c.Data.text("name")) != now.Name {
		c.set("name", now.Name)
	}
	if name(c.Data.text("nickname")) != now.Nickname {
		c.set("nickname", now.Nickname)
	}
	for _, p := range parts {
		set(p.field, now.Texts[p.file])
	}
	if !slices.EqualFunc(head(greetings(c.Data)), now.Greetings, same) {
		all := append(slices.Clone(now.Greetings), "")
		c.set("first_mes", all[0])
		c.set("alternate_greetings", slices.Concat([]string{}, now.Greetings[min(1, len(now.Greetings)):]))
	}
	if !slices.EqualFunc(head(c.Data.texts("group_only_greetings")), now.Group, same) {
		c.set("group_only_greetings", slices.Concat([]string{}, now.Group))
	}
	c.updateDepth(now.Texts["depth_prompt.md"])
	return append(c.updateBook(folder), c.scriptNote(folder)...)
}

func (c *Card) set(field string, value any) {
	if c.changed == nil {
		c.changed = map[string]bool{}
	}
	c.Data[field], c.changed[field] = raw(value), true
}

func head(all []string) []string { return all[:min(len(all), mostGreetings)] }

// updateDepth writes the text of the depth prompt, if that has changed.
func (c *Card) updateDepth(text string) {
	prompt, _ := depthPrompt(c.Data)
	if same(prompt.text("prompt"), text) {
		return
	}
	ext, err := c.Data.object("extensions")
	if err != nil {
		ext = object{}
	}
	if prompt == nil {
		prompt = object{}
	}
	prompt["prompt"] = raw(strings.TrimSpace(text))
	ext["depth_prompt"] = rawOf(prompt)
	c.Data["extensions"] = rawOf(ext)
}

// scriptNote says whether the scripts are not those of the card any more: the card is given back with those that it came with.
func (c *Card) scriptNote(folder fs.FS) []string {
	data, err := fs.ReadFile(folder, rewritesFile)
	f := &folderOf{card: c, Folder: Folder{Files: map[string][]byte{}}}
	f.rewrites()
	if was := f.Files[rewritesFile]; err == nil && string(was) != string(data) || err != nil && was != nil {
		return []string{rewritesFile + " is not as it came: the card has the regex scripts that it came with"}
	}
	return nil
}

// same reports whether two texts are one to a file, which begins and ends without white space and has the line ends of this system.
func same(a, b string) bool { return normal(a) == normal(b) }

func normal(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// required are the fields that a card must have, with what stands there where nothing is known.
func required(version int) map[string]any {
	all := map[string]any{
		"name": "", "description": "", "personality": "", "scenario": "", "first_mes": "", "mes_example": "", "creator_notes": "", "system_prompt": "",
		"post_history_instructions": "", "alternate_greetings": []string{}, "tags": []string{}, "creator": "", "character_version": "", "extensions": map[string]any{},
	}
	if version == 3 {
		all["group_only_greetings"] = []string{}
	}
	return all
}

// encode writes the card as JSON of a version. Fields that the version does not have stay where they are.
func (c *Card) encode(version int) ([]byte, error) {
	whole, data := maps.Clone(c.Top), maps.Clone(c.Data)
	for field, value := range required(version) {
		if data[field] == nil {
			data[field] = raw(value)
		}
	}
	spec, number := "chara_card_v3", "3.0"
	if version == 2 {
		spec, number = "chara_card_v2", "2.0"
	}
	if whole.text("spec") != spec { // else its own number stays, which may be of a newer one
		whole["spec"], whole["spec_version"] = raw(spec), raw(number)
	}
	for field := range c.changed {
		if whole[field] != nil { // a copy for older programs
			whole[field] = data[field]
		}
	}
	whole["data"] = rawOf(data)
	return encode(whole)
}

// png puts the card into its picture, in both versions, with its files.
func (c *Card) png(data []byte, now Now) ([]byte, error) {
	image := c.Image
	if image == nil {
		image = now.Avatar
	}
	if image == nil {
		return nil, errors.New("the character has no picture to put the card into; put an avatar.png into its folder, or export it as .json or .charx")
	}
	older, err := c.encode(2)
	if err != nil {
		return nil, err
	}
	newer, err := c.encode(3)
	if err != nil {
		return nil, err
	}
	texts := []chunkText{{"chara", older}, {"ccv3", newer}}
	if string(data) == string(older) { // version 2 alone was asked for
		texts = texts[:1]
	}
	for _, p := range slices.Sorted(maps.Keys(c.Files)) {
		texts = append(texts, chunkText{assetPrefix + p, c.Files[p]})
	}
	return embed(image, texts...)
}

func rawOf(o object) json.RawMessage { return raw(map[string]json.RawMessage(o)) }
