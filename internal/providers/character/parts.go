package character

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"familiar/card"
	"familiar/internal/context/turn"
)

// Parts are the parts of a persona that cards of other programs keep apart, with macros. Any may be empty.
type Parts struct {
	Personality string // personality.md
	Scenario    string // scenario.md
	Examples    string // examples.md: how it speaks; <START> begins an example
	System      string // system.md: follows the rules of every character
	PostHistory string // post_history.md: follows the conversation
	DepthPrompt string // depth_prompt.md: between the last messages
	Depth       int    // of DepthPrompt, in messages from the end
	Role        string // of DepthPrompt
}

// Greetings are the possible first messages of a character, with macros.
type Greetings struct {
	Texts   []string
	Group   []string // offered too if several characters speak
	First   int      // index of the greeting for new threads
	Threads bool     // new threads begin with a greeting
}

const (
	maxBook      = 8 << 20 // bytes
	maxBooks     = 20
	maxGreetings = 100
)

// Written returns the texts of the character's own files, with macros.
func (c *Character) Written() string {
	all := append([]string{c.Persona, c.Notes, fmt.Sprint(c.Texts)}, c.Greetings.Texts...)
	for _, text := range c.Parts.fields() {
		all = append(all, *text)
	}
	for _, text := range c.Instructions {
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// fields returns the texts by their file names.
func (s *Parts) fields() map[string]*string {
	return map[string]*string{
		"personality.md": &s.Personality, "scenario.md": &s.Scenario, "examples.md": &s.Examples, "system.md": &s.System,
		"post_history.md": &s.PostHistory, "depth_prompt.md": &s.DepthPrompt,
	}
}

// Field returns a text of the character by the name that macros and lorebooks use.
func (c *Character) Field(name string) string {
	switch name {
	case "description":
		return c.Persona
	case "personality":
		return c.Parts.Personality
	case "scenario":
		return c.Parts.Scenario
	case "examples":
		return c.Parts.Examples
	case "system":
		return c.Parts.System
	case "post_history":
		return c.Parts.PostHistory
	case "depth":
		return c.Parts.DepthPrompt
	case "version":
		return c.Version
	}
	return ""
}

func (l *loading) parts(id string, c *Character) {
	fields := c.Parts.fields()
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

// numbered reads 0.md, 1.md and so on, up to the first missing number. It reports files after a gap.
func (l *loading) numbered(dir string) (texts []string) {
	entries, _ := fs.ReadDir(l.fsys, dir) // the directory is optional
	names := map[string]bool{}
	for _, e := range entries {
		if number, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			if n, err := strconv.Atoi(number); err != nil || n < 0 || strconv.Itoa(n) != number || n >= maxGreetings {
				l.problem(spot{file: where(l.fsys, path.Join(dir, e.Name()))}, "", "is not a greeting", fmt.Sprintf("call them 0.md, 1.md and so on, up to %d.md", maxGreetings-1))
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
		l.problem(spot{file: where(l.fsys, path.Join(dir, name+".md"))}, "", "the greeting before it is missing", "number them from 0.md on without gaps")
	}
	return texts
}

// books reads the lorebooks of the character and of the defaults. All characters share the latter.
func (l *loading) books(id string) (books []card.Book) {
	for _, owner := range []string{id, defaultsID} {
		dir := path.Join(owner, "lorebooks")
		entries, _ := fs.ReadDir(l.fsys, dir)
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".toml")
			if !ok || strings.HasPrefix(name, ".") {
				continue
			}
			file := path.Join(dir, e.Name())
			if len(books) == maxBooks {
				l.problem(spot{file: where(l.fsys, file)}, "", "is one too many", fmt.Sprintf("a character may have %d lorebooks, including those of %s", maxBooks, defaultsID))
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

func (l *loading) book(name, file string) (card.Book, bool) {
	data, ok := l.readMost(file, true, maxBook)
	if !ok {
		return card.Book{}, false
	}
	if p, bad := notUTF8(where(l.fsys, file), data); bad {
		l.problems = append(l.problems, p)
		return card.Book{}, false
	}
	book, mistakes := card.ParseBook(name, data)
	for _, m := range mistakes {
		l.problem(spot{where(l.fsys, file), m.Line, m.Column}, m.Key, m.Text, "")
	}
	return book, len(mistakes) == 0
}

func (l *loading) scripts(id string) []card.Script {
	file := path.Join(id, rewritesFile)
	data, ok := l.read(file, false)
	if !ok {
		return nil
	}
	scripts, mistakes := card.ParseScripts(data)
	for _, m := range mistakes {
		l.problem(spot{where(l.fsys, file), m.Line, m.Column}, m.Key, m.Text, "")
	}
	return scripts
}

const rewritesFile = "rewrites.toml"

// compile compiles the lorebooks and the scripts and collects warnings.
func (l *loading) compile(c *Character, books []card.Book, scripts []card.Script) {
	warn := func(file, key, text, cure string) {
		c.Warnings = append(c.Warnings, Problem{File: where(l.fsys, file), Key: key, Text: text, Cure: cure})
	}
	set, wrong := card.NewScanner(books, c.Called, c.Name, c.ID)
	c.Lore = set
	for _, p := range wrong {
		warn(bookFile(c.ID, p.Book), p.Key, p.Text, p.Cure)
	}
	rules, broken := card.NewRewriter(scripts)
	c.Rewrites = rules
	for _, p := range broken {
		warn(path.Join(c.ID, rewritesFile), p.Key, p.Text, p.Cure)
	}
	fields := c.Parts.fields()
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
		for _, m := range card.MacrosIn(texts[name]).Unknown {
			warn(path.Join(c.ID, name), "", "unknown macro {{"+m+"}} is left as it is", "")
		}
		if all := card.MacrosIn(texts[name]).Varying; len(all) > 0 && (slices.Contains(steady, name) || strings.HasPrefix(name, "modes/")) {
			warn(path.Join(c.ID, name), "", fmt.Sprintf("{{%s}} changes with every turn, so the model's server cannot reuse the prompt after it", all[0]),
				"put it into depth_prompt.md or post_history.md, which come near the end")
		}
	}
	lasts := func(file, part, text string) {
		if all := card.MacrosIn(text).Variables; len(all) > 0 {
			warn(file, part, "variables last for one turn: {{"+all[0]+"}} does not see earlier turns", "")
		}
	}
	for _, name := range sortedKeys(texts) {
		lasts(path.Join(c.ID, name), "", texts[name])
	}
	for _, b := range books {
		for _, e := range b.Entries {
			lasts(bookFile(c.ID, b.File), "entry "+cmp.Or(e.ID, e.Comment), e.Content)
			for _, m := range card.MacrosIn(e.Content).Unknown {
				warn(bookFile(c.ID, b.File), "entry "+cmp.Or(e.ID, e.Comment), "unknown macro {{"+m+"}} is left as it is", "")
			}
		}
	}
	c.looksBack = !set.Empty()
	for _, text := range texts {
		c.looksBack = c.looksBack || len(card.MacrosIn(text).Varying) > 0
	}
}

// steady lists the files at the beginning of the prompt. The instructions for a mode are there too.
var steady = []string{"persona.md", "personality.md", "scenario.md", "examples.md", "system.md"}

// bookFile returns the path of a lorebook.
func bookFile(id, book string) string {
	if name, ok := strings.CutPrefix(book, defaultsID+"/"); ok {
		id, book = defaultsID, name
	}
	return path.Join(id, "lorebooks", book+".toml")
}

// Greeting returns greeting n with its macros expanded for the author of a request, and whether it exists. The group's greetings follow the
// others.
func (c *Character) Greeting(n int, r turn.Request) (string, bool) {
	all := append(slices.Clip(c.Greetings.Texts), c.Greetings.Group...)
	if n < 0 || n >= len(all) {
		return "", false
	}
	env := c.macros(r)
	return strings.TrimSpace(env.Expand(all[n])), true
}

// These say until when patterns may run in a turn. What comes later keeps a part of [card.PatternTime] that is longer than one search.
const (
	forBooks   = card.PatternTime * 5 / 10
	forEarlier = card.PatternTime * 7 / 10 // scripts over entries and earlier answers
	forDrafts  = card.PatternTime * 85 / 100
)

// clock returns the clock of a turn for patterns that may run until then.
func clock(r turn.Request, until time.Duration) card.Clock {
	return card.Clock{Spent: r.Patterns, Most: until}
}

// counted returns a request whose patterns are counted together.
func counted(r turn.Request) turn.Request {
	if r.Patterns == nil {
		r.Patterns = new(atomic.Int64)
	}
	return r
}

// Reworded returns the character's answer to a request after its scripts for replies. A draft is still being written.
func (c *Character) Reworded(r turn.Request, text string, draft bool) string {
	if !c.Rewrites.Applies(card.OnReply) {
		return text
	}
	env, until := c.macros(r), card.PatternTime
	if draft {
		until = forDrafts
	}
	return c.Rewrites.Apply(card.OnReply, text, 0, env.Expand, clock(r, until))
}

// macros returns the values of macros in an answer to a request.
func (c *Character) macros(r turn.Request) card.Macros {
	env := card.Macros{User: nameOf(r), Now: r.Message.At, Chat: r.ChannelID, Turn: r.ID}
	c.fill(&env)
	return env
}

// Earlier returns what applies the character's scripts for history to its earlier answers, at each depth of a turn's prompt. It is nil if
// there are no such scripts.
func (c *Character) Earlier() func(turn.Request) func(text string, depth int) string {
	if !c.Rewrites.Applies(card.OnHistory) {
		return nil
	}
	return func(r turn.Request) func(string, int) string {
		r = counted(r)
		return func(text string, depth int) string {
			var env card.Macros
			c.fill(&env)
			return c.Rewrites.Apply(card.OnHistory, text, depth, env.Expand, clock(r, forEarlier))
		}
	}
}

// fill completes the values of macros.
func (c *Character) fill(env *card.Macros) {
	env.Char, env.Field, env.Greetings = c.Called, c.Field, c.Greetings.Texts
	env.User = cmp.Or(env.User, somebody)
	env.Chat += "\n" + c.ID
	env.Now = env.Now.In(c.Location)
}

// namesUser reports whether a text at the head of a mode's prompts has {{user}}.
func (c *Character) namesUser(mode turn.Mode) bool {
	s := &c.Parts
	return slices.ContainsFunc([]string{c.Persona, s.Personality, s.Scenario, s.Examples, s.System, c.Notes, c.Instructions[mode]}, func(text string) bool {
		return strings.Contains(strings.ToLower(text), "{{user")
	})
}
