// Package card reads and writes the character cards of other programs: Character Card V1, V2 (TavernAI, SillyTavern) and V3, as JSON, in
// the text chunks of a PNG (png.go) or in a CHARX archive (charx.go), and lorebooks that stand alone (book.go).
//
// [Read] takes any of them from bytes that a stranger made: sizes, depth and names are bounded, nothing in them is run or fetched, and
// what cannot be read is an error with its cause. [Card.Folder] makes a character's folder of a card and says what has no counterpart
// there; the card itself is kept beside it to the last field, so that [Export] gives it back.
//
// The specifications: https://github.com/malfoyslastname/character-card-spec-v2 and https://github.com/kwaroran/character-card-spec-v3.
package card

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MostBytes is how large a file may be.
	MostBytes = 96 << 20
	mostJSON  = 16 << 20 // bytes of a card without its files
	deepest   = 200      // lists and objects in one another
)

// object is a JSON object whose values are kept as they were written.
type object map[string]json.RawMessage

// Card is a character card.
type Card struct {
	Version int               // 1, 2 or 3, as it came
	Top     object            // of the whole, without data
	Data    object            // name, description and so on; a V1 card has them here, too
	Image   []byte            // the PNG that it came in, without the card; nil: none
	Files   map[string][]byte // of its archive, by path
	Notes   []string          // what was odd in the file

	changed map[string]bool // fields that are not as they came
}

// Lorebook is a lorebook that stands alone.
type Lorebook struct {
	Name  string // as it says; may be empty
	Top   object // the whole
	World bool   // world info of SillyTavern, and not the lorebook of a specification
}

// Name is what the character is called.
func (c *Card) Name() string { return name(c.Data.text("name")) }

// Read reads a file, whatever it is called: a card or a lorebook, of which the other is nil.
func Read(data []byte) (*Card, *Lorebook, error) {
	switch {
	case len(data) > MostBytes:
		return nil, nil, fmt.Errorf("the file has more than %d MiB; a card is seldom larger than 10", MostBytes>>20)
	case bytes.HasPrefix(data, []byte(pngMagic)):
		return readPNG(data)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("\xff\xd8\xff")) && bytes.Contains(data, []byte("PK\x05\x06")):
		return readCHARX(data)
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")), bytes.HasPrefix(data, []byte("RIFF")), bytes.HasPrefix(data, []byte("GIF8")):
		return nil, nil, errors.New("it is a picture that holds no card: cards come as PNG, and programs that save pictures anew drop them; get the original file")
	}
	return readJSON(data)
}

// readJSON reads a card or a lorebook as JSON.
func readJSON(data []byte) (*Card, *Lorebook, error) {
	top, err := parse(data)
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
		return nil, &Lorebook{Name: book.text("name"), Top: top}, nil
	case spec == "chara_card_v2", spec == "chara_card_v3":
		return cardOf(top, spec)
	case spec != "":
		return nil, nil, fmt.Errorf("the spec %q is not known; there are chara_card_v2, chara_card_v3 and lorebook_v3", short(spec))
	case top["entries"] != nil && top["first_mes"] == nil:
		return nil, &Lorebook{Name: top.text("name"), Top: top, World: top.isObject("entries")}, nil
	case top["lorebookVersion"] != nil:
		return nil, nil, errors.New("it is a lorebook of NovelAI, which is not read; import it into SillyTavern and export it there")
	case top["char_name"] != nil && top["name"] == nil:
		return nil, nil, errors.New("it is a character of Pygmalion or text-generation-webui, which is not read; import it into SillyTavern and export it there")
	case top["name"] != nil && (top["description"] != nil || top["first_mes"] != nil || top["personality"] != nil):
		c := &Card{Version: 1, Top: object{}, Data: object{}}
		for key, value := range top {
			if slices.Contains(fieldsV1, key) {
				c.Data[key] = value
			} else {
				c.Top[key] = value
			}
		}
		return checked(c)
	}
	return nil, nil, errors.New("it is JSON, but neither a character card nor a lorebook: it has no spec, no entries, and no name with a description")
}

// fieldsV1 are the fields of a V1 card.
var fieldsV1 = []string{"name", "description", "personality", "scenario", "first_mes", "mes_example"}

func cardOf(top object, spec string) (*Card, *Lorebook, error) {
	data, err := top.object("data")
	if err != nil {
		return nil, nil, fmt.Errorf("the card has no data: %w", err)
	}
	c := &Card{Version: 2, Top: top, Data: data}
	delete(top, "data")
	if spec == "chara_card_v3" {
		c.Version = 3
		if v := top.text("spec_version"); v > "3.0" {
			c.Notes = append(c.Notes, "the card is of version "+short(v)+" of its specification, which is newer than 3.0: what is new in it is kept, and nothing is made of it")
		}
	}
	return checked(c)
}

// checked refuses a card that no character can be made of.
func checked(c *Card) (*Card, *Lorebook, error) {
	if strings.TrimSpace(c.Data.text("name")) == "" {
		return nil, nil, errors.New("the card has no name; write one into its field name")
	}
	return c, nil, nil
}

// parse reads one JSON object. Its values are kept as they stand there.
func parse(data []byte) (object, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	switch {
	case len(data) > mostJSON:
		return nil, fmt.Errorf("the card has %d MiB of JSON; at most %d are read", len(data)>>20, mostJSON>>20)
	case len(data) == 0:
		return nil, errors.New("the file is empty")
	case data[0] != '{':
		return nil, errors.New("it is neither a PNG, nor a CHARX archive, nor a JSON object")
	case !utf8.Valid(data):
		return nil, errors.New("the JSON is not UTF-8 text; save it as UTF-8")
	case nesting(data) > deepest:
		return nil, fmt.Errorf("the JSON is nested more than %d deep, which no card is", deepest)
	}
	var top object
	if err := json.Unmarshal(data, &top); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("the JSON is broken at byte %d: %w", syntax.Offset, err)
		}
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return top, nil
}

// nesting is how deep lists and objects are in one another.
func nesting(data []byte) (deepest int) {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// text is a value that is a text, or "".
func (o object) text(key string) string {
	var s string
	if json.Unmarshal(o[key], &s) != nil {
		return ""
	}
	return s
}

// number is a value that is a number, or a text or a truth that stands for one.
func (o object) number(key string) (float64, bool) {
	var n float64
	raw := bytes.Trim(o[key], `"`)
	switch {
	case string(raw) == "true":
		return 1, true
	case len(raw) == 0, string(raw) == "null", string(raw) == "false":
		return 0, false
	case json.Unmarshal(raw, &n) != nil:
		return 0, false
	}
	return n, true
}

// whole is a whole number within bounds, or nil.
func (o object) whole(key string, low, high int) *int {
	n, ok := o.number(key)
	if !ok {
		return nil
	}
	i := int(min(max(n, float64(low)), float64(high)))
	return &i
}

// truth is a value that is true or false, or nil.
func (o object) truth(key string) *bool {
	var b *bool
	if json.Unmarshal(o[key], &b) != nil {
		return nil
	}
	return b
}

func (o object) is(key string) bool {
	b := o.truth(key)
	return b != nil && *b
}

// texts is a list of texts. One text alone is taken apart at its commas. What is no text in it is left out.
func (o object) texts(key string) (all []string) {
	var list []json.RawMessage
	if json.Unmarshal(o[key], &list) != nil {
		if s := o.text(key); s != "" {
			return commas(s)
		}
		return nil
	}
	for _, raw := range list {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

func commas(list string) (items []string) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func (o object) object(key string) (object, error) {
	var inner object
	if o[key] == nil {
		return nil, fmt.Errorf("%s is missing", key)
	}
	if err := json.Unmarshal(o[key], &inner); err != nil || inner == nil {
		return nil, fmt.Errorf("%s is no object", key)
	}
	return inner, nil
}

func (o object) isObject(key string) bool {
	return bytes.HasPrefix(bytes.TrimSpace(o[key]), []byte("{"))
}

// rawList is a list of anything.
func (o object) rawList(key string) (all []json.RawMessage) {
	if json.Unmarshal(o[key], &all) != nil {
		return nil
	}
	return all
}

// objects is a list of objects, or an object of them in the order of their keys. What is none in it is left out.
func (o object) objects(key string) (all []object) {
	if o.isObject(key) {
		inner, _ := o.object(key)
		for _, k := range inOrder(inner) {
			if one, err := inner.object(k); err == nil {
				all = append(all, one)
			}
		}
		return all
	}
	var list []json.RawMessage
	if json.Unmarshal(o[key], &list) != nil {
		return nil
	}
	for _, raw := range list {
		var one object
		if json.Unmarshal(raw, &one) == nil && one != nil {
			all = append(all, one)
		}
	}
	return all
}

// encode writes JSON as people can read it, with no sign changed that need not be.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return out.Bytes(), nil
}

func raw(v any) json.RawMessage {
	data, _ := encode(v) // of texts and lists of them
	return bytes.TrimSpace(data)
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return s
}
