// Package card reads, runs and writes what other programs know of a character: character cards, lorebooks, macros and
// find-and-replace scripts.
//
// # Cards
//
// [Read] takes a card in any of the formats in use: Character Card V1, V2 (TavernAI, SillyTavern) and V3. The card is JSON, text chunks of
// a PNG, or a CHARX archive. [Card.Encode] writes it in another version or format. Fields that this package does not know survive both
// ways.
//
// [Card.Folder] takes a card apart into plain files that a person can edit, and reports what has no place there.
// [Export] puts the edited files back into the card.
//
// # Lorebooks
//
// A lorebook is a list of entries that enter the prompt when the chat mentions one of their keys. A [Book] comes from a
// card ([Card.Book]), from a file of another program ([Read]), or from a TOML file ([ParseBook]). [NewScanner] makes
// several books ready, and [Scanner.Scan] decides which entries fire, and says why.
//
// # Macros and scripts
//
// [Macros.Expand] replaces macros such as {{char}} and {{random::a::b}}. A [Rewriter] applies a character's
// find-and-replace scripts.
//
// # Limits
//
// Cards come from strangers. The package bounds the size, depth and names of everything it reads. It refuses a file that exceeds them, and
// the error says so. It fetches nothing and runs no code from a card; patterns run for a limited time. It has no clock and no source of
// chance of its own: the caller provides both. All functions may be called from several goroutines; each type says whether its values may
// be shared.
//
// # Sources
//
// It follows the [Character Card V2] and [Character Card V3] specifications. It also follows SillyTavern's documentation of [world info],
// [macros] and [regex scripts].
//
// [Character Card V2]: https://github.com/malfoyslastname/character-card-spec-v2
// [Character Card V3]: https://github.com/kwaroran/character-card-spec-v3
// [world info]: https://docs.sillytavern.app/usage/core-concepts/worldinfo/
// [macros]: https://docs.sillytavern.app/usage/core-concepts/macros/
// [regex scripts]: https://docs.sillytavern.app/extensions/regex/
package card

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// MaxBytes is the size of the largest file that [Read] accepts, and of all that it unpacks.
const MaxBytes = 12 << 20

const (
	maxJSON    = 3 << 20 // bytes of a card without its files
	maxNesting = 200     // lists and objects inside one another
	maxValues  = 100_000 // in them; a name costs about 400 bytes of memory
	maxObjects = 20_000  // lists and objects in all; an entry of a lorebook has two to four
	maxName    = 64      // characters of a name
)

// Card is a character card. It belongs to one goroutine.
type Card struct {
	Version int               // of the specification: 1, 2 or 3, as the card came
	Image   []byte            // the PNG that the card came in, without the card; nil if it came in another format
	Files   map[string][]byte // the files of its archive, by path
	Notes   []string          // what is odd about the file, a sentence each

	top     object          // the whole card, without data
	data    object          // name, description and so on, in every version
	changed map[string]bool // fields of data that differ from the card as it came
	came    []byte          // its file
	format  Format          // of that file
}

// Lorebook is a lorebook that came in a file of its own: SillyTavern's world info, or lorebook_v3 of the
// specifications.
type Lorebook struct {
	Book        Book
	Unsupported []string // what the file asks for and Book cannot say

	source object
}

// field is a field that the specifications give a card.
type field struct {
	name   string
	since  int    // the first version that has it
	blank  any    // what a card must have in its place; nil: it may be missing
	file   string // the file of a character's folder that holds this text; empty: none
	unused bool   // no file of the folder says it
	why    string // for unused fields; may be empty
}

// fields lists them, in the order in which a folder's report names them.
var fields = []field{
	{name: "name", since: 1, blank: ""},
	{name: "nickname", since: 3},
	{name: "description", since: 1, blank: "", file: "persona.md"},
	{name: "personality", since: 1, blank: "", file: "personality.md"},
	{name: "scenario", since: 1, blank: "", file: "scenario.md"},
	{name: "mes_example", since: 1, blank: "", file: "examples.md"},
	{name: "system_prompt", since: 2, blank: "", file: "system.md"},
	{name: "post_history_instructions", since: 2, blank: "", file: "post_history.md"},
	{name: "first_mes", since: 1, blank: ""},
	{name: "alternate_greetings", since: 2, blank: []string{}},
	{name: "group_only_greetings", since: 3, blank: []string{}},
	{name: "character_book", since: 2},
	{name: "assets", since: 3},
	{name: "extensions", since: 2, blank: object{}},
	{name: "creator_notes", since: 2, blank: "", unused: true, why: "notes by its creator, which are not for the prompt"},
	{name: "creator_notes_multilingual", since: 3, unused: true, why: "the creator's notes in other languages"},
	{name: "tags", since: 2, blank: []string{}, unused: true},
	{name: "creator", since: 2, blank: "", unused: true},
	{name: "character_version", since: 2, blank: ""},
	{name: "source", since: 3, unused: true},
	{name: "creation_date", since: 3, unused: true},
	{name: "modification_date", since: 3, unused: true},
}

// fieldOf returns the field of that name, or nil if no specification has it.
func fieldOf(name string) *field {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &fields[i]
}

// Name returns the character's name on one line of at most 64 characters.
func (c *Card) Name() string { return oneName(c.data.text("name")) }

// Text returns a text of the card by its name in the specifications, such as "description" or "system_prompt". It is
// empty if the card has no such text.
func (c *Card) Text(field string) string { return c.data.text(field) }

// Greetings returns the messages with which the character may open a chat: first_mes, then the alternate greetings.
func (c *Card) Greetings() []string {
	others := c.data.texts("alternate_greetings")
	if first := c.data.text("first_mes"); first != "" || len(others) > 0 {
		return append([]string{first}, others...)
	}
	return nil
}

// Book returns the lorebook inside the card, and what it asks for that a Book cannot say. A card without a lorebook has
// an empty book. The error says that the lorebook has too many entries.
func (c *Card) Book() (b Book, unsupported []string, err error) {
	top, err := c.data.object("character_book")
	if err != nil {
		return Book{}, nil, nil
	}
	b, unsupported, err = bookOf(top, inCard)
	if err != nil {
		return b, nil, fmt.Errorf("the card's lorebook: %w", err)
	}
	return b, unsupported, nil
}

// oneName puts a name on one line and cuts it to the length that a name may have.
func oneName(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(s); len(runes) > maxName {
		s = strings.TrimSpace(string(runes[:maxName]))
	}
	return s
}

// Read reads a card or a lorebook; the other result is nil. It recognises the format by the content and never by a
// name. The error says why the file is neither, in words for the person who chose it.
func Read(data []byte) (*Card, *Lorebook, error) {
	c, book, err := read(data)
	if c != nil {
		c.came = data
	}
	return c, book, err
}

// archiveEnd is at the end of an archive. An empty one has nothing before it.
const archiveEnd = "PK\x05\x06"

func read(data []byte) (*Card, *Lorebook, error) {
	jpeg := bytes.HasPrefix(data, []byte("\xff\xd8\xff"))
	switch {
	case len(data) > MaxBytes:
		return nil, nil, fmt.Errorf("the file has more than %d MiB; a card is seldom larger than 10", MaxBytes>>20)
	case bytes.HasPrefix(data, []byte(pngMagic)):
		return readPNG(data)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte(archiveEnd)), jpeg && bytes.Contains(data, []byte(archiveEnd)):
		return readCHARX(data)
	case jpeg, bytes.HasPrefix(data, []byte("RIFF")), bytes.HasPrefix(data, []byte("GIF8")):
		return nil, nil, errors.New("it is a picture that holds no card: cards come as PNG, and programs that save a picture again drop them; get the original file")
	}
	return readJSON(data)
}

// readJSON reads a card or a lorebook as JSON.
func readJSON(data []byte) (*Card, *Lorebook, error) {
	top, err := parseObject(data)
	if err != nil {
		return nil, nil, err
	}
	spec := top.text("spec")
	switch {
	case spec == "lorebook_v3":
		book, err := top.object("data")
		if err != nil {
			return nil, nil, fmt.Errorf("the lorebook has no data: %w", err)
		}
		return lorebookOf(top, book, inCard)
	case spec == "chara_card_v2", spec == "chara_card_v3":
		return cardOf(top, spec)
	case spec != "":
		return nil, nil, fmt.Errorf("the spec %q is not known; there are chara_card_v2, chara_card_v3 and lorebook_v3", short(spec))
	case top["entries"] != nil && top["first_mes"] == nil:
		form := inCard
		if top.isObject("entries") {
			form = inWorld
		}
		return lorebookOf(top, top, form)
	case top["lorebookVersion"] != nil:
		return nil, nil, errors.New("it is a lorebook of NovelAI, which is not read; import it into SillyTavern and export it there")
	case top["char_name"] != nil && top["name"] == nil:
		return nil, nil, errors.New("it is a character of Pygmalion or text-generation-webui, which is not read; import it into SillyTavern and export it there")
	case top["name"] != nil && (top["description"] != nil || top["first_mes"] != nil || top["personality"] != nil):
		return cardOfV1(top)
	}
	return nil, nil, errors.New("it is JSON, but neither a character card nor a lorebook: it has no spec, no entries, and no name with a description")
}

// lorebookOf reads a lorebook. source is the whole file, and book the object with the entries.
func lorebookOf(source, book object, form bookForm) (*Card, *Lorebook, error) {
	b, unsupported, err := bookOf(book, form)
	if err != nil {
		return nil, nil, err
	}
	return nil, &Lorebook{Book: b, Unsupported: unsupported, source: source}, nil
}

// cardOfV1 reads a card of version 1, which has its fields at the top. Those of later versions count, too.
func cardOfV1(top object) (*Card, *Lorebook, error) {
	c := &Card{Version: 1, top: top, data: object{}, format: JSON}
	for key, value := range top {
		if fieldOf(key) != nil {
			c.data[key] = value
		}
	}
	return named(c)
}

func cardOf(top object, spec string) (*Card, *Lorebook, error) {
	data, err := top.object("data")
	if err != nil {
		return nil, nil, fmt.Errorf("the card has no data: %w", err)
	}
	c := &Card{Version: 2, top: top, data: data, format: JSON}
	delete(top, "data")
	if spec == "chara_card_v3" {
		c.Version = 3
		if v := top.text("spec_version"); v > "3.0" {
			c.Notes = append(c.Notes, "the card follows version "+short(v)+" of its specification, which is newer than 3.0: its new fields are kept, but have no effect")
		}
	}
	return named(c)
}

// named refuses a card without a name.
func named(c *Card) (*Card, *Lorebook, error) {
	if strings.TrimSpace(c.data.text("name")) == "" {
		return nil, nil, errors.New("the card has no name; write one into its field name")
	}
	return c, nil, nil
}

// Format is a file format of a card.
type Format string

// The formats, named as their files end.
const (
	JSON  Format = "json"
	PNG   Format = "png"
	CHARX Format = "charx"
)

// Encode writes the card in version 2 or 3 of the specification. Fields of another version stay as they are.
//
// A PNG needs the card's Image. It holds the card in version 2 and, if version is 3, in version 3 too. JSON leaves out
// Files; the other formats hold them.
func (c *Card) Encode(version int, format Format) ([]byte, error) {
	data, err := c.encode(version)
	switch {
	case err != nil:
		return nil, err
	case format == CHARX:
		return writeCHARX(data, c.Files)
	case format == PNG:
		return c.encodePNG(version)
	}
	return data, nil
}

// encode writes the card as JSON.
func (c *Card) encode(version int) ([]byte, error) {
	whole, data := object{}, object{}
	maps.Copy(whole, c.top)
	maps.Copy(data, c.data)
	for _, f := range fields {
		if f.blank != nil && f.since <= max(version, 2) && data[f.name] == nil {
			data[f.name] = raw(f.blank)
		}
	}
	spec, number := "chara_card_v3", "3.0"
	if version == 2 {
		spec, number = "chara_card_v2", "2.0"
	}
	if whole.text("spec") != spec { // otherwise spec_version stays, which may be newer
		whole["spec"], whole["spec_version"] = raw(spec), raw(number)
	}
	for name := range c.changed {
		if whole[name] != nil { // some programs repeat the fields at the top for readers of version 1
			whole[name] = data[name]
		}
	}
	whole["data"] = raw(data)
	return encodeJSON(whole)
}

// encodePNG puts the card into its picture.
func (c *Card) encodePNG(version int) ([]byte, error) {
	if c.Image == nil {
		return nil, errors.New("the character has no picture to put the card into; put an avatar.png into its folder, or export it as .json or .charx")
	}
	var texts []chunkText
	for _, chunk := range []struct {
		keyword string
		version int
	}{{"chara", 2}, {"ccv3", 3}} {
		if chunk.version <= version {
			data, err := c.encode(chunk.version)
			if err != nil {
				return nil, err
			}
			texts = append(texts, chunkText{chunk.keyword, data})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		texts = append(texts, chunkText{assetPrefix + path, c.Files[path]})
	}
	return embed(c.Image, texts...)
}
