package card

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/character/lorebook"
	"familiar/internal/character/rewrite"

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

// rewrites makes scripts of the card's regex scripts.
func (f *folderOf) rewrites() {
	ext, err := f.card.Data.object("extensions")
	if err != nil {
		return
	}
	var all []rewrite.Script
	for i, o := range ext.objects("regex_scripts") {
		s, missing := script(o)
		name := cmp.Or(s.Name, fmt.Sprint(i+1))
		for _, m := range missing {
			f.kept("in the regex script %s: %s", short(name), m)
		}
		if len(s.On) > 0 && s.Find != "" {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return
	}
	if data, err := rewrite.Encode(all); err == nil {
		f.Files[rewritesFile] = data
		f.used("extensions.regex_scripts → rewrites.toml (%d)", len(all))
	}
}

// script reads a regex script of SillyTavern.
func script(o object) (s rewrite.Script, missing []string) {
	s = rewrite.Script{
		Name: o.text("scriptName"), Off: o.is("disabled"), Find: o.text("findRegex"), Replace: o.text("replaceString"), Trim: o.texts("trimStrings"),
		MinDepth: o.whole("minDepth", -1, 10_000), MaxDepth: o.whole("maxDepth", -1, 10_000),
	}
	shown, sent := o.is("markdownOnly"), o.is("promptOnly")
	for _, place := range placements(o) {
		switch {
		case place == 2 || place == 0:
			if shown || !sent {
				s.On = append(s.On, rewrite.OnReply)
			}
			if sent {
				s.On = append(s.On, rewrite.OnHistory)
			}
		case place == 5 && (sent || !shown):
			s.On = append(s.On, rewrite.OnLore)
		case place == 1:
			missing = append(missing, "what people write is not rewritten")
		case place == 3:
			missing = append(missing, "there are no slash commands of that kind")
		default:
			missing = append(missing, fmt.Sprintf("the place %d is not there", place))
		}
	}
	if strings.Contains(s.Replace, "<") && strings.Contains(s.Replace, ">") && slices.Contains(s.On, rewrite.OnReply) {
		missing = append(missing, "Discord shows HTML as it is written")
	}
	return s, missing
}

func placements(o object) (all []int) {
	list := object{"n": o["placement"]}
	for _, raw := range list.rawList("n") {
		one := object{"n": raw}
		if n := one.whole("n", 0, 100); n != nil && !slices.Contains(all, *n) {
			all = append(all, *n)
		}
	}
	return all
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

// rest says what of the card nothing is made of.
func (f *folderOf) rest() {
	data := f.card.Data
	known := []string{"name", "nickname", "first_mes", "alternate_greetings", "group_only_greetings", "character_book", "extensions", "assets"}
	for _, p := range parts {
		known = append(known, p.field)
	}
	about := map[string]string{
		"creator_notes": "notes of its creator, which no prompt holds", "creator_notes_multilingual": "the same in other languages", "tags": "", "creator": "", "character_version": "", "source": "",
		"creation_date": "", "modification_date": "",
	}
	for _, field := range slices.Sorted(maps.Keys(data)) {
		if slices.Contains(known, field) || empty(data[field]) {
			continue
		}
		why, spoken := about[field]
		switch {
		case !spoken:
			why = ": no field of a specification"
		case why != "":
			why = ": " + why
		}
		f.kept("%s%s", short(field), why)
	}
	for _, field := range slices.Sorted(maps.Keys(f.card.Top)) {
		if field != "spec" && field != "spec_version" && data[field] == nil && !empty(f.card.Top[field]) {
			f.kept("%s: it stands beside the card", short(field))
		}
	}
	ext, _ := data.object("extensions")
	for _, key := range slices.Sorted(maps.Keys(ext)) {
		switch {
		case key == "depth_prompt", key == "regex_scripts", empty(ext[key]):
		case key == "world":
			f.kept("extensions.world: the card goes with the lorebook %q; import that, too", short(ext.text(key)))
		case key == "talkativeness", key == "fav":
			f.kept("extensions.%s: a setting of SillyTavern's", key)
		default:
			f.kept("extensions.%s: it is another program's; its scripts are never run", short(key))
		}
	}
}

func empty(raw []byte) bool {
	return slices.Contains([]string{"", "null", `""`, "[]", "{}", "false"}, string(bytes.TrimSpace(raw)))
}

// original keeps the card as it is.
func (f *folderOf) original() error {
	whole := maps.Clone(f.card.Top)
	if whole == nil {
		whole = object{}
	}
	whole["data"] = rawOf(f.card.Data)
	if f.card.Version == 1 {
		whole["spec"] = raw("chara_card_v1")
	}
	data, err := encode(whole)
	if err != nil {
		return err
	}
	f.Files[jsonFile] = data
	if f.card.Image != nil {
		f.Files[imageFile] = f.card.Image
	}
	for p, body := range f.card.Files {
		f.Files[path.Join(filesDir, p)] = body
	}
	return nil
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
