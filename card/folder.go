package card

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Folder is a character's folder: plain files that a person can edit. Its card directory keeps the card as it came, for
// [Export].
type Folder struct {
	Files  map[string][]byte // by path in the folder
	Icon   []byte            // the card's picture of the character, as it came; nil: none
	Moods  []Picture         // the card's pictures of the character's moods, as they came
	Report Report
}

// Picture is a picture of a mood, by the name that the card gives it.
type Picture struct {
	Name string
	Data []byte
}

// Report says what became of a card, a line each.
type Report struct {
	Notes []string // what is odd about the file
	Used  []string // which field went into which file
	Kept  []string // what has no place in a file and is kept for Export
}

// FolderOptions are what [Card.Folder] needs to know.
type FolderOptions struct {
	Source  string           // the name of the card's file
	Tokens  func(string) int // counts the tokens of a text; nil: a quarter of the bytes
	Budgets []Budget         // by default
}

// Budget is the room that a mode of the program gives a character's texts, in tokens. A card that needs more gets more
// in its character.toml.
type Budget struct {
	Mode                                    string
	Total, Character, DepthInject, Lorebook int
}

// KeptDir is the directory of a character's folder that keeps the card as it came.
const KeptDir = "card"

// Where the parts of a card are in a character's folder.
const (
	keptCard = KeptDir + "/card." // the file as it came; its format follows

	booksDir    = "lorebooks"
	bookFile    = booksDir + "/card.toml"
	scriptsFile = "rewrites.toml"
	depthFile   = "depth_prompt.md"
)

const (
	noDescription = "You are {{char}}." // the persona of a card without a description
	maxText       = 255 << 10           // bytes of a text of the card
	maxGreetings  = 100
	maxLore       = 8000 // tokens that a card may take for its lorebook in each prompt
)

// Folder takes the card apart into files. The error says what is too large.
func (c *Card) Folder(o FolderOptions) (*Folder, error) {
	f := &folderMaker{card: c, options: o, Folder: Folder{Files: map[string][]byte{}, Report: Report{Notes: slices.Clone(c.Notes)}}}
	if err := f.checkLengths(); err != nil {
		return nil, err
	}
	f.texts()
	f.greetings()
	if err := f.book(); err != nil {
		return nil, err
	}
	if err := f.scripts(); err != nil {
		return nil, err
	}
	f.settings()
	f.icon()
	f.leftovers()
	f.Files[keptCard+string(c.format)] = c.came
	return &f.Folder, nil
}

// Folder returns the files that a lorebook adds to a character's folder: lorebooks/NAME.toml, and the lorebook as it
// came.
func (l *Lorebook) Folder(name string) (*Folder, error) {
	encoded, err := l.Book.Encode()
	if err != nil {
		return nil, err
	}
	source, err := encodeJSON(l.source)
	if err != nil {
		return nil, err
	}
	return &Folder{
		Files:  map[string][]byte{path.Join(booksDir, name+".toml"): encoded, path.Join(KeptDir, booksDir, name+".json"): source},
		Report: Report{Kept: l.Unsupported},
	}, nil
}

// folderMaker is the state of making a folder.
type folderMaker struct {
	Folder
	card    *Card
	options FolderOptions
	depth   *depthSettings
	lore    int // tokens that the lorebook needs
}

func (f *folderMaker) used(format string, values ...any) {
	f.Report.Used = append(f.Report.Used, fmt.Sprintf(format, values...))
}

func (f *folderMaker) kept(format string, values ...any) {
	f.Report.Kept = append(f.Report.Kept, fmt.Sprintf(format, values...))
}

func (f *folderMaker) put(name, text string) {
	f.Files[name] = []byte(strings.TrimSpace(text) + "\n")
}

func (f *folderMaker) tokens(text string) int { return countTokens(text, f.options.Tokens) }

// checkLengths refuses a card with a text that is too long for a file.
func (f *folderMaker) checkLengths() error {
	texts := slices.Concat(f.card.Greetings(), f.card.data.texts("group_only_greetings"))
	for _, field := range fields {
		if field.file != "" {
			texts = append(texts, f.card.Text(field.name))
		}
	}
	if prompt, ok := f.card.depthPrompt(); ok {
		texts = append(texts, prompt.text("prompt"))
	}
	for _, text := range texts {
		if len(text) > maxText {
			return fmt.Errorf("a text of the card has %d KiB, at most %d are read: %q; shorten it", len(text)>>10, maxText>>10, short(text))
		}
	}
	return nil
}

// texts writes the card's texts.
func (f *folderMaker) texts() {
	for _, field := range fields {
		if field.file == "" {
			continue
		}
		if value := f.card.data[field.name]; len(value) > 0 && value[0] != '"' && !isNull(value) {
			f.kept("%s: it is no text", field.name)
		}
		if text := f.card.Text(field.name); strings.TrimSpace(text) != "" {
			f.put(field.file, text)
			f.used("%s → %s", field.name, field.file)
		}
	}
	if f.Files["persona.md"] == nil {
		f.put("persona.md", noDescription)
		f.Report.Notes = append(f.Report.Notes, "the card has no description; persona.md says only its name: write more there")
	}
	if prompt, ok := f.card.depthPrompt(); ok {
		role := prompt.text("role")
		if role != string(User) && role != string(Assistant) {
			role = string(System)
		}
		f.depth = &depthSettings{Depth: or(prompt.whole("depth", 0, 200), 4), Role: role}
		f.put(depthFile, prompt.text("prompt"))
		f.used("extensions.depth_prompt → " + depthFile)
	}
}

// depthPrompt returns SillyTavern's prompt between the last messages, and whether it has a text.
func (c *Card) depthPrompt() (object, bool) {
	ext, err := c.data.object("extensions")
	if err != nil {
		return nil, false
	}
	prompt, err := ext.object("depth_prompt")
	return prompt, err == nil && strings.TrimSpace(prompt.text("prompt")) != ""
}

// greetings writes the greetings, each into a file.
func (f *folderMaker) greetings() {
	for _, list := range []struct {
		dir, field string
		texts      []string
	}{
		{"greetings", "first_mes and alternate_greetings", f.card.Greetings()},
		{"greetings/group", "group_only_greetings", f.card.data.texts("group_only_greetings")},
	} {
		for i, text := range firstGreetings(list.texts) {
			f.put(path.Join(list.dir, fmt.Sprintf("%d.md", i)), text)
		}
		if len(list.texts) > maxGreetings {
			f.kept("greetings after the first %d", maxGreetings)
		}
		if n := len(list.texts); n > 0 {
			f.used("%s → %s/ (%d)", list.field, list.dir, min(n, maxGreetings))
		}
	}
}

func firstGreetings(all []string) []string { return all[:min(len(all), maxGreetings)] }

// book writes the card's lorebook.
func (f *folderMaker) book() error {
	b, unsupported, err := f.card.Book()
	if _, none := f.card.data.object("character_book"); err != nil || none != nil {
		return err
	}
	if f.Files[bookFile], err = b.Encode(); err != nil {
		return err
	}
	for _, what := range unsupported {
		f.kept("in the lorebook: %s", what)
	}
	constant := 0
	for _, e := range b.Entries {
		if e.Constant && !e.Off {
			constant += f.tokens(e.Content)
		}
	}
	f.lore = max(b.TokenBudget, constant)
	f.used("character_book → %s (%d entries)", bookFile, len(b.Entries))
	return nil
}

// scripts writes the card's regex scripts.
func (f *folderMaker) scripts() error {
	all, unsupported := f.card.scripts()
	for _, what := range unsupported {
		f.kept("in the regex script %s", what)
	}
	if len(all) == 0 {
		return nil
	}
	data, err := EncodeScripts(all)
	if err != nil {
		return err
	}
	f.Files[scriptsFile] = data
	f.used("extensions.regex_scripts → %s (%d)", scriptsFile, len(all))
	return nil
}

// scripts reads the card's regex scripts, and returns what has no counterpart.
func (c *Card) scripts() (all []Script, unsupported []string) {
	ext, err := c.data.object("extensions")
	if err != nil {
		return nil, nil
	}
	for i, o := range ext.objects("regex_scripts") {
		s, missing := scriptOf(o)
		name := s.Name
		if name == "" {
			name = fmt.Sprint(i + 1)
		}
		for _, what := range missing {
			unsupported = append(unsupported, short(name)+": "+what)
		}
		if len(s.On) > 0 && s.Find != "" {
			all = append(all, s)
		}
	}
	return all, unsupported
}

// settings is the character.toml of a folder.
type settings struct {
	Name     string                   `toml:"name"`
	Nickname string                   `toml:"nickname,omitempty"`
	Version  string                   `toml:"version,omitempty"`
	Mode     string                   `toml:"mode"`
	Depth    *depthSettings           `toml:"depth_prompt,omitempty"`
	Modes    map[string]*modeSettings `toml:"modes,omitempty"`
}

type depthSettings struct {
	Depth int    `toml:"depth"`
	Role  string `toml:"role"`
}

type modeSettings struct {
	Total  int            `toml:"total"`
	Layers map[string]int `toml:"layers"`
}

// settings writes character.toml. Modes that have too little room for the card's texts get more.
func (f *folderMaker) settings() {
	sum := func(around int, files ...string) (n int) {
		for _, file := range files {
			if text := f.Files[file]; text != nil {
				n += f.tokens(string(text)) + around
			}
		}
		return n
	}
	whole := sum(30, "persona.md", "personality.md", "scenario.md", "examples.md", "system.md")
	near := sum(10, depthFile, "post_history.md")
	s := settings{Name: f.card.Name(), Nickname: oneName(f.card.Text("nickname")), Version: oneName(f.card.Text("character_version")), Mode: "full_rp", Depth: f.depth}
	for _, b := range f.options.Budgets {
		m := modeSettings{Total: b.Total, Layers: map[string]int{}}
		for _, layer := range []struct {
			name      string
			has, want int
		}{{"character", b.Character, whole}, {"depth_inject", b.DepthInject, near + b.DepthInject*toInt(near > 0)}, {"lorebook", b.Lorebook, min(f.lore, maxLore)}} {
			if layer.want > layer.has {
				m.Layers[layer.name] = (layer.want + 99) / 100 * 100
				m.Total += m.Layers[layer.name] - layer.has
			}
		}
		if len(m.Layers) > 0 {
			if s.Modes == nil {
				s.Modes = map[string]*modeSettings{}
			}
			s.Modes[b.Mode] = &m
		}
	}
	body, _ := toml.Marshal(s) // it holds only texts and numbers
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Made by familiar import from %s. Everything else is as in ../_default/character.toml; the card itself is in %s.\n\n", oneName(f.options.Source), KeptDir)
	out.Write(body)
	f.Files["character.toml"] = out.Bytes()
	from := "name"
	if s.Nickname != "" {
		from += ", nickname"
	}
	if s.Version != "" {
		from += ", character_version"
	}
	f.used("%s → character.toml", from)
}

// icon finds the character's pictures. One is the main icon of a V3 card, or else the picture that the card came in. The others show moods.
func (f *folderMaker) icon() {
	assets := f.card.data.objects("assets")
	isIcon := func(a object) bool { return a.text("type") == "icon" }
	icons := len(slices.DeleteFunc(slices.Clone(assets), func(a object) bool { return !isIcon(a) }))
	f.Icon = f.card.Image
	others := 0
	for _, a := range assets {
		if a.text("type") == "emotion" {
			data, err := f.card.asset(a.text("uri"))
			if name := oneName(a.text("name")); data != nil {
				f.Moods = append(f.Moods, Picture{name, data})
			} else if err != nil {
				f.kept("the picture of a mood %q: %v", name, err)
			}
			continue
		}
		if !isIcon(a) || a.text("name") != "main" && icons > 1 {
			others++
			continue
		}
		data, err := f.card.asset(a.text("uri"))
		switch {
		case err != nil:
			f.kept("the icon of the card: %v", err)
		case data != nil:
			f.Icon = data
		}
	}
	if others > 0 {
		f.kept("assets: %d pictures or other files beside the icon", others)
	}
	if f.Icon != nil {
		f.used("the picture → avatar.png")
	}
}

// asset returns the file at an address of the card; nil means the picture that the card came in. It fetches nothing.
func (c *Card) asset(uri string) ([]byte, error) {
	for _, prefix := range []string{"embeded://", "embedded://", "__asset:"} { // the first is how the specification spells it
		if path, ok := strings.CutPrefix(uri, prefix); ok {
			if data := c.Files[path]; data != nil {
				return data, nil
			}
			return nil, errors.New("its file " + short(path) + " is not in the archive")
		}
	}
	switch {
	case uri == "" || strings.HasPrefix(uri, "ccdefault:"):
		return nil, nil
	case strings.HasPrefix(uri, "data:"):
		head, body, ok := strings.Cut(uri, ",")
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(body))
		if !ok || err != nil || !strings.HasSuffix(head, ";base64") {
			return nil, errors.New("its data URL is not base64")
		}
		return data, nil
	case strings.HasPrefix(uri, "https://"), strings.HasPrefix(uri, "http://"):
		return nil, errors.New("it is at " + short(uri) + ", and nothing is fetched; save it as avatar.png yourself, or write its address into persona.avatar")
	}
	return nil, errors.New("its address " + short(uri) + " leads nowhere")
}

// leftovers reports the parts of the card that are in no file.
func (f *folderMaker) leftovers() {
	data, top := f.card.data, f.card.top
	for _, name := range slices.Sorted(maps.Keys(data)) {
		switch known := fieldOf(name); {
		case isEmpty(data[name]), known != nil && !known.unused:
		case known == nil:
			f.kept("%s: no field of a specification", short(name))
		case known.why != "":
			f.kept("%s: %s", name, known.why)
		default:
			f.kept("%s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if name != "spec" && name != "spec_version" && data[name] == nil && !isEmpty(top[name]) {
			f.kept("%s: it is beside the card", short(name))
		}
	}
	ext, _ := data.object("extensions")
	for _, key := range slices.Sorted(maps.Keys(ext)) {
		switch {
		case key == "depth_prompt", key == "regex_scripts", isEmpty(ext[key]):
		case key == "world" && data["character_book"] != nil: // the name of that book
		case key == "world":
			f.kept("extensions.world: the card goes with the lorebook %q; import that, too", short(ext.text(key)))
		case key == "talkativeness", key == "fav":
			f.kept("extensions.%s: a setting of SillyTavern", key)
		default:
			f.kept("extensions.%s: another program's; its scripts are never run", short(key))
		}
	}
}
