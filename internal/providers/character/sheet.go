package character

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/character/lorebook"
	"familiar/internal/character/macro"
	"familiar/internal/character/rewrite"
	"familiar/internal/context/turn"
)

// Sheet is what the cards of other programs say apart, macros not yet filled in. Any may be empty.
type Sheet struct {
	Personality string // personality.md
	Scenario    string // scenario.md
	Examples    string // examples.md: how it speaks; <START> begins one
	System      string // system.md: behind the rules of every character, before all else
	PostHistory string // post_history.md: behind the conversation
	DepthPrompt string // depth_prompt.md: between the last messages
	Depth       int    // of that, in messages from the end
	Role        string // of that
}

// Greetings are the words with which a character may begin, macros not yet filled in.
type Greetings struct {
	Texts   []string
	Group   []string // offered beside them where several characters speak
	First   int      // the one that new threads begin with
	Threads bool     // they do
}

const (
	maxBook       = 8 << 20 // bytes
	mostBooks     = 20
	mostGreetings = 100
)

// fields are the files of a sheet.
func (s *Sheet) fields() map[string]*string {
	return map[string]*string{
		"personality.md": &s.Personality, "scenario.md": &s.Scenario, "examples.md": &s.Examples, "system.md": &s.System,
		"post_history.md": &s.PostHistory, "depth_prompt.md": &s.DepthPrompt,
	}
}

// Field returns a text by the name that macros and lorebooks have for it.
func (c *Character) Field(name string) string {
	switch name {
	case "description":
		return c.Persona
	case "personality":
		return c.Sheet.Personality
	case "scenario":
		return c.Sheet.Scenario
	case "examples":
		return c.Sheet.Examples
	case "system":
		return c.Sheet.System
	case "post_history":
		return c.Sheet.PostHistory
	case "depth":
		return c.Sheet.DepthPrompt
	}
	return ""
}

func (l *loading) sheet(id string, c *Character) {
	fields := c.Sheet.fields()
	for _, name := range sortedKeys(fields) {
		*fields[name], _ = l.text(path.Join(id, name), false)
	}
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (l *loading) greetings(id string, c *Character) {
	c.Greetings.Texts = l.numbered(path.Join(id, "greetings"))
	c.Greetings.Group = l.numbered(path.Join(id, "greetings", "group"))
}

// numbered reads 0.md, 1.md and so on. A number that is missing ends it, and what comes behind it is reported.
func (l *loading) numbered(dir string) (texts []string) {
	entries, _ := fs.ReadDir(l.fsys, dir) // without any, there is nothing to read
	names := map[string]bool{}
	for _, e := range entries {
		if number, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			if n, err := strconv.Atoi(number); err != nil || n < 0 || strconv.Itoa(n) != number || n >= mostGreetings {
				l.problem(spot{file: where(l.fsys, path.Join(dir, e.Name()))}, "", "is no greeting", fmt.Sprintf("call them 0.md, 1.md and so on, up to %d.md", mostGreetings-1))
				continue
			}
			names[number] = true
		}
	}
	for i := 0; names[strconv.Itoa(i)]; i++ {
		name := strconv.Itoa(i)
		delete(names, name)
		text, ok := l.text(path.Join(dir, name+".md"), true)
		if ok {
			texts = append(texts, text)
		}
	}
	for _, name := range sortedKeys(names) {
		l.problem(spot{file: where(l.fsys, path.Join(dir, name+".md"))}, "", "one before it is missing", "number them from 0.md on without gaps")
	}
	return texts
}

// books reads the lorebooks of the character, and those of the defaults, which all characters have.
func (l *loading) books(id string) (books []lorebook.Book) {
	for _, owner := range []string{id, defaultsID} {
		dir := path.Join(owner, "lorebooks")
		entries, _ := fs.ReadDir(l.fsys, dir)
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".toml")
			if !ok || strings.HasPrefix(name, ".") {
				continue
			}
			file := path.Join(dir, e.Name())
			if len(books) == mostBooks {
				l.problem(spot{file: where(l.fsys, file)}, "", "is one too many", fmt.Sprintf("a character may have %d lorebooks, those of %s included", mostBooks, defaultsID))
				return books
			}
			if owner == defaultsID {
				name = defaultsID + "/" + name
			}
			if book, ok := l.book(name, file); ok {
				books = append(books, book)
			}
		}
	}
	return books
}

func (l *loading) book(name, file string) (lorebook.Book, bool) {
	data, ok := l.readMost(file, true, maxBook)
	if !ok {
		return lorebook.Book{}, false
	}
	if p, bad := notUTF8(where(l.fsys, file), data); bad {
		l.problems = append(l.problems, p)
		return lorebook.Book{}, false
	}
	book, mistakes := lorebook.Parse(name, data)
	for _, m := range mistakes {
		l.problem(spot{where(l.fsys, file), m.Line, m.Column}, m.Key, m.Text, "")
	}
	return book, len(mistakes) == 0
}

func (l *loading) scripts(id string) []rewrite.Script {
	file := path.Join(id, rewritesFile)
	data, ok := l.read(file, false)
	if !ok {
		return nil
	}
	scripts, mistakes := rewrite.Parse(data)
	for _, m := range mistakes {
		l.problem(spot{where(l.fsys, file), m.Line, m.Column}, m.Key, m.Text, "")
	}
	return scripts
}

const rewritesFile = "rewrites.toml"

// compile makes the lorebooks and the scripts ready, and gathers what does not do what it says.
func (l *loading) compile(c *Character, books []lorebook.Book, scripts []rewrite.Script) {
	warn := func(file, key, text, cure string) {
		c.Warnings = append(c.Warnings, Problem{File: where(l.fsys, file), Key: key, Text: text, Cure: cure})
	}
	set, wrong := lorebook.Compile(books, c.Called, c.Name, c.ID)
	c.Lore = set
	for _, p := range wrong {
		warn(bookFile(c.ID, p.Book), "entry "+p.Entry, p.Text, p.Cure)
	}
	rules, broken := rewrite.Compile(scripts, c.Called)
	c.Rewrites = rules
	for _, p := range broken {
		warn(path.Join(c.ID, rewritesFile), "script "+p.Script, p.Text, p.Cure)
	}
	fields := c.Sheet.fields()
	texts := map[string]string{"persona.md": c.Persona}
	for name, text := range fields {
		texts[name] = *text
	}
	for i, text := range c.Greetings.Texts {
		texts[fmt.Sprintf("greetings/%d.md", i)] = text
	}
	for i, text := range c.Greetings.Group {
		texts[fmt.Sprintf("greetings/group/%d.md", i)] = text
	}
	for mode, text := range c.Instructions {
		texts["modes/"+string(mode)+".md"] = text
	}
	for _, name := range sortedKeys(texts) {
		for _, m := range macro.Unknown(texts[name]) {
			warn(path.Join(c.ID, name), "", "there is no macro {{"+m+"}}, so it stays as it is", "")
		}
		if all := macro.Varying(texts[name]); len(all) > 0 && (slices.Contains(steady, name) || strings.HasPrefix(name, "modes/")) {
			warn(path.Join(c.ID, name), "", fmt.Sprintf("{{%s}} is another word in each turn, so the model's server reads the prompt anew from there", all[0]),
				"put it into depth_prompt.md or post_history.md, which stand near the end")
		}
	}
	lasts := func(file, part, text string) {
		if all := macro.Variables(text); len(all) > 0 {
			warn(file, part, "variables last for one turn: {{"+all[0]+"}} knows nothing of the turn before", "")
		}
	}
	for _, name := range sortedKeys(texts) {
		lasts(path.Join(c.ID, name), "", texts[name])
	}
	for _, b := range books {
		for _, e := range b.Entries {
			lasts(bookFile(c.ID, b.File), "entry "+cmp.Or(e.ID, e.Comment), e.Content)
			for _, m := range macro.Unknown(e.Content) {
				warn(bookFile(c.ID, b.File), "entry "+cmp.Or(e.ID, e.Comment), "there is no macro {{"+m+"}}, so it stays as it is", "")
			}
		}
	}
	c.looksBack = !set.Empty()
	for _, text := range texts {
		c.looksBack = c.looksBack || len(macro.Varying(text)) > 0
	}
}

// steady are the files that open the prompt, beside the instructions for a mode.
var steady = []string{"persona.md", "personality.md", "scenario.md", "examples.md", "system.md"}

// bookFile is where a lorebook is.
func bookFile(id, book string) string {
	if name, ok := strings.CutPrefix(book, defaultsID+"/"); ok {
		id, book = defaultsID, name
	}
	return path.Join(id, "lorebooks", book+".toml")
}

// Greeting returns one of the greetings with its macros filled in, the group's behind the others, and whether there is such a one.
func (c *Character) Greeting(n int, env macro.Env) (string, bool) {
	all := append(slices.Clip(c.Greetings.Texts), c.Greetings.Group...)
	if n < 0 || n >= len(all) {
		return "", false
	}
	c.fill(&env)
	return strings.TrimSpace(macro.Expand(all[n], &env)), true
}

// Rewritten is a text as the character's scripts for a place leave it.
func (c *Character) Rewritten(on rewrite.Place, text string, depth int, env macro.Env) string {
	c.fill(&env)
	return c.Rewrites.Apply(on, text, depth, func(s string) string { return macro.Expand(s, &env) })
}

// fill completes what macros stand for.
func (c *Character) fill(env *macro.Env) {
	env.Char, env.Field = c.Called, c.Field
	env.User = cmp.Or(env.User, somebody)
	env.Chat += "\n" + c.ID
	env.Now = env.Now.In(c.Location)
}

// UserName is a person's name as macros and prompts hold it: one short line.
func UserName(a turn.Author) string { return userName(a) }
