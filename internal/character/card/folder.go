package card

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/character/lorebook"

	"github.com/pelletier/go-toml/v2"
)

// Room is what a mode has for a character's texts, in tokens.
type Room struct {
	Mode                                    string
	Total, Character, DepthInject, Lorebook int
}

// Options are what [Card.Folder] takes to make a folder.
type Options struct {
	Rooms  []Room           // the modes, as they are by default
	Tokens func(string) int // counts; nil: a quarter of the bytes
	From   string           // name of the file
}

// Folder is a character's folder, ready to be written.
type Folder struct {
	Files  map[string][]byte // by path in the folder
	Icon   []byte            // the picture that the card has for the character, as it came; nil: none
	Report Report
}

// Report says what became of a card.
type Report struct {
	Notes []string // what was odd in the file
	Used  []string // where things went
	Kept  []string // what has no counterpart, and is kept for export alone
}

// Where the card itself is kept, in a character's folder.
const (
	Dir       = "card"
	jsonFile  = Dir + "/card.json"
	imageFile = Dir + "/image.png"
	filesDir  = Dir + "/files"
	BookFile  = "lorebooks/card.toml"

	rewritesFile = "rewrites.toml"
)

// unsaid is the persona of a character whose card does not describe it.
const unsaid = "You are {{char}}."

// parts are the texts of a card, by where they go.
var parts = []struct{ file, field string }{
	{"persona.md", "description"}, {"personality.md", "personality"}, {"scenario.md", "scenario"}, {"examples.md", "mes_example"}, {"system.md", "system_prompt"},
	{"post_history.md", "post_history_instructions"},
}

// settled is what character.toml says of an imported character.
type settled struct {
	Name     string                  `toml:"name"`
	Nickname string                  `toml:"nickname,omitempty"`
	Mode     string                  `toml:"mode"`
	Depth    *settledDepth           `toml:"depth_prompt,omitempty"`
	Modes    map[string]*settledMode `toml:"modes,omitempty"`
}

type settledDepth struct {
	Depth int    `toml:"depth"`
	Role  string `toml:"role"`
}

type settledMode struct {
	Total  int            `toml:"total"`
	Layers map[string]int `toml:"layers"`
}

// Folder makes a character's folder of a card. The error says what is too much of it.
func (c *Card) Folder(o Options) (*Folder, error) {
	f := &folderOf{card: c, options: o, Folder: Folder{Files: map[string][]byte{}, Report: Report{Notes: slices.Clone(c.Notes)}}}
	if err := f.long(); err != nil {
		return nil, err
	}
	f.texts()
	f.greetings()
	if err := f.book(); err != nil {
		return nil, err
	}
	f.rewrites()
	f.settle()
	f.icon()
	f.rest()
	if err := f.original(); err != nil {
		return nil, err
	}
	return &f.Folder, nil
}

const mostText = 255 << 10 // bytes

// folderOf is the state of making one.
type folderOf struct {
	Folder
	card    *Card
	options Options
	depth   *settledDepth
	lore    int // tokens that lorebooks should have
}

func (f *folderOf) used(format string, values ...any) {
	f.Report.Used = append(f.Report.Used, fmt.Sprintf(format, values...))
}

func (f *folderOf) kept(format string, values ...any) {
	f.Report.Kept = append(f.Report.Kept, fmt.Sprintf(format, values...))
}

func (f *folderOf) put(name, text string) {
	f.Files[name] = []byte(strings.TrimSpace(text) + "\n")
}

// long says which text of the card is longer than a file of a character may be.
func (f *folderOf) long() error {
	texts := slices.Concat(greetings(f.card.Data), f.card.Data.texts("group_only_greetings"))
	for _, p := range parts {
		texts = append(texts, f.card.Data.text(p.field))
	}
	if prompt, ok := depthPrompt(f.card.Data); ok {
		texts = append(texts, prompt.text("prompt"))
	}
	for _, text := range texts {
		if len(text) > mostText {
			return fmt.Errorf("a text of the card has %d KiB, at most %d are read: %q; shorten it", len(text)>>10, mostText>>10, short(text))
		}
	}
	return nil
}

// texts puts the texts of the card into their files.
func (f *folderOf) texts() {
	data := f.card.Data
	for _, p := range parts {
		if value := data[p.field]; len(value) > 0 && value[0] != '"' && string(value) != "null" {
			f.kept("%s: it is no text", p.field)
		}
		if text := data.text(p.field); strings.TrimSpace(text) != "" {
			f.put(p.file, text)
			f.used("%s → %s", p.field, p.file)
		}
	}
	if f.Files["persona.md"] == nil {
		f.put("persona.md", unsaid)
		f.Report.Notes = append(f.Report.Notes, "the card has no description; persona.md says only its name: write more there")
	}
	if prompt, ok := depthPrompt(data); ok {
		role := prompt.text("role")
		if role != "user" && role != "assistant" {
			role = "system"
		}
		f.depth = &settledDepth{Depth: or(prompt.whole("depth", 0, 200), 4), Role: role}
		f.put("depth_prompt.md", prompt.text("prompt"))
		f.used("extensions.depth_prompt → depth_prompt.md")
	}
}

func depthPrompt(data object) (object, bool) {
	ext, err := data.object("extensions")
	if err != nil {
		return nil, false
	}
	prompt, err := ext.object("depth_prompt")
	return prompt, err == nil && strings.TrimSpace(prompt.text("prompt")) != ""
}

// all are the greetings of a card: the first, then the others.
func greetings(data object) []string {
	others := data.texts("alternate_greetings")
	if first := data.text("first_mes"); first != "" || len(others) > 0 {
		return append([]string{first}, others...)
	}
	return nil
}

const mostGreetings = 100

func (f *folderOf) greetings() {
	for _, list := range []struct {
		dir, field string
		texts      []string
	}{{"greetings", "first_mes and alternate_greetings", greetings(f.card.Data)}, {"greetings/group", "group_only_greetings", f.card.Data.texts("group_only_greetings")}} {
		for i, text := range list.texts {
			if i == mostGreetings {
				f.kept("greetings behind the first %d", mostGreetings)
				break
			}
			f.put(path.Join(list.dir, fmt.Sprintf("%d.md", i)), text)
		}
		if n := len(list.texts); n > 0 {
			f.used("%s → %s/ (%d)", list.field, list.dir, min(n, mostGreetings))
		}
	}
}

func (f *folderOf) book() error {
	top, err := f.card.Data.object("character_book")
	if err != nil {
		return nil
	}
	b, missing, err := book(top, false)
	if err != nil {
		return fmt.Errorf("the card's lorebook: %w", err)
	}
	if f.Files[BookFile], err = b.Encode(); err != nil {
		return err
	}
	for _, m := range missing {
		f.kept("in the lorebook: %s", m)
	}
	f.lore = b.TokenBudget
	constant := 0
	for _, e := range b.Entries {
		if e.Constant && !e.Off {
			constant += f.tokens(e.Content)
		}
	}
	f.lore = max(f.lore, constant)
	f.used("character_book → %s (%d entries)", BookFile, len(b.Entries))
	return nil
}

// settle writes character.toml. A mode that has too little room for the texts of the card gets more.
func (f *folderOf) settle() {
	data := f.card.Data
	s := settled{Name: name(data.text("name")), Nickname: name(data.text("nickname")), Mode: "full_rp", Depth: f.depth}
	whole := 0
	for _, file := range []string{"persona.md", "personality.md", "scenario.md", "examples.md", "system.md"} {
		if text := f.Files[file]; text != nil {
			whole += f.tokens(string(text)) + 30 // what stands around it
		}
	}
	near := 0
	for _, file := range []string{"depth_prompt.md", "post_history.md"} {
		if text := f.Files[file]; text != nil {
			near += f.tokens(string(text)) + 10
		}
	}
	for _, r := range f.options.Rooms {
		m := settledMode{Total: r.Total, Layers: map[string]int{}}
		for _, l := range []struct {
			name      string
			has, want int
		}{{"character", r.Character, whole}, {"depth_inject", r.DepthInject, near + r.DepthInject*flag(near > 0)}, {"lorebook", r.Lorebook, min(f.lore, mostLore)}} {
			if l.want > l.has {
				m.Layers[l.name] = (l.want + 99) / 100 * 100
				m.Total += m.Layers[l.name] - l.has
			}
		}
		if len(m.Layers) > 0 {
			if s.Modes == nil {
				s.Modes = map[string]*settledMode{}
			}
			s.Modes[r.Mode] = &m
		}
	}
	body, _ := toml.Marshal(s) // of texts and numbers
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Made by familiar import from %s. What is not here is as in ../_default/character.toml; the card itself is in %s.\n\n", name(f.options.From), Dir)
	out.Write(body)
	f.Files["character.toml"] = out.Bytes()
	f.used("name%s → character.toml", map[bool]string{true: ", nickname"}[s.Nickname != ""])
}

// mostLore is how many tokens a card may ask for its lorebook in each prompt.
const mostLore = 8000

// name is a name on one line, as long as a name may be.
func name(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(s); len(runes) > 64 {
		s = strings.TrimSpace(string(runes[:64]))
	}
	return s
}

func (f *folderOf) tokens(text string) int {
	if f.options.Tokens == nil {
		return (len(text) + 3) / 4
	}
	return f.options.Tokens(text)
}

// Standalone is the file of a lorebook that stands alone, for a character's folder, with what is kept beside it.
func Standalone(l *Lorebook, file string) (files map[string][]byte, b lorebook.Book, missing []string, err error) {
	b, missing, err = l.Book()
	if err != nil {
		return nil, b, nil, err
	}
	encoded, err := b.Encode()
	if err != nil {
		return nil, b, nil, err
	}
	whole, err := encode(l.Top)
	return map[string][]byte{"lorebooks/" + file + ".toml": encoded, Dir + "/lorebooks/" + file + ".json": whole}, b, missing, err
}
