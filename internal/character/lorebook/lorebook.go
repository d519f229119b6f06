// Package lorebook is what a character knows of its world, in entries that enter the prompt when they are spoken of.
//
// A [Book] is a file, lorebooks/*.toml in a character's folder (file.go). [Compile] makes a [Set] of several, and says what cannot be
// done; decorator.go reads the @@decorators that stand in front of an entry's text. [Set.Scan] looks through the last messages and
// decides which entries fire, and why; group.go chooses within inclusion groups. What it means is that of SillyTavern's world info, and
// of the lorebooks of the Character Card specifications.
//
// Nothing here reads a clock, a store or chance: the caller brings all of it.
package lorebook

import (
	"fmt"
	"regexp"
	"strings"

	"familiar/internal/text/jsregexp"
)

// Limits of a set. What is beyond is reported by Compile, and left out.
const (
	MostEntries  = 20_000
	mostKeys     = 200 // of an entry
	mostSteps    = 10  // of recursion, unless a book says fewer
	deepestScan  = 100 // messages
	longestScan  = 32 << 10
	mostPatterns = 200_000 // bytes, in all books
)

// Book is a lorebook as its file says it.
type Book struct {
	Name          string `toml:"name,omitempty"`
	Description   string `toml:"description,omitempty"`
	ScanDepth     *int   `toml:"scan_depth,omitempty"`   // messages; none: 2
	TokenBudget   int    `toml:"token_budget,omitempty"` // 0: what the mode has for lorebooks
	Recursive     bool   `toml:"recursive,omitempty"`    // the texts of entries that fire are searched, too
	MaxSteps      int    `toml:"max_steps,omitempty"`    // how often all is searched; 0: 10 times
	CaseSensitive bool   `toml:"case_sensitive,omitempty"`
	WholeWords    bool   `toml:"whole_words,omitempty"`
	GroupScoring  bool   `toml:"group_scoring,omitempty"`

	MinActivations      int `toml:"min_activations,omitempty"`       // entries: while fewer fire, older messages are searched, one more each time
	MinActivationsDepth int `toml:"min_activations_depth,omitempty"` // messages that are searched so; 0: 100

	Entries []Entry `toml:"entry,omitempty"`

	File string `toml:"-"` // without its ending; what is kept of an entry is kept under it
}

// Entry is one entry. A pointer that is nil leaves the choice to the book.
type Entry struct {
	ID        string   `toml:"id,omitempty"` // of no other entry of the book; empty: its number
	Comment   string   `toml:"comment,omitempty"`
	Off       bool     `toml:"off,omitempty"`
	Keys      []string `toml:"keys,omitempty"` // words, or /pattern/flags
	Secondary []string `toml:"secondary_keys,omitempty"`
	Logic     Logic    `toml:"logic,omitempty"` // of the secondary keys; empty: AndAny
	Regex     bool     `toml:"regex,omitempty"` // keys are patterns without slashes
	Constant  bool     `toml:"constant,omitempty"`
	Order     int      `toml:"order,omitempty"`    // the higher, the later in the prompt, and the sooner in the budget
	Priority  *int     `toml:"priority,omitempty"` // in the budget, in place of Order
	Position  Position `toml:"position,omitempty"` // empty: BeforeChar
	Outlet    string   `toml:"outlet,omitempty"`   // of InOutlet: its name
	Depth     *int     `toml:"depth,omitempty"`    // of AtDepth: messages from the end; none: 4
	Role      Role     `toml:"role,omitempty"`     // of AtDepth; empty: System

	ScanDepth     *int     `toml:"scan_depth,omitempty"`
	CaseSensitive *bool    `toml:"case_sensitive,omitempty"`
	WholeWords    *bool    `toml:"whole_words,omitempty"`
	Match         []string `toml:"match,omitempty"` // texts of the card that are searched, too: description, personality, scenario, depth, examples

	NonRecursable       bool `toml:"non_recursable,omitempty"`        // texts of other entries do not make it fire
	PreventRecursion    bool `toml:"prevent_recursion,omitempty"`     // its text makes no other fire
	DelayUntilRecursion int  `toml:"delay_until_recursion,omitempty"` // fires by other entries' texts alone, in this round of recursion or later

	Probability  *int     `toml:"probability,omitempty"`   // percent; none: 100
	Groups       []string `toml:"groups,omitempty"`        // of each group one entry fires
	GroupWeight  *int     `toml:"group_weight,omitempty"`  // none: 100
	GroupFirst   bool     `toml:"group_first,omitempty"`   // it wins its groups, by order
	GroupScoring *bool    `toml:"group_scoring,omitempty"` // the one with the most keys wins
	IgnoreBudget bool     `toml:"ignore_budget,omitempty"`

	Sticky   int `toml:"sticky,omitempty"`   // messages for which it goes on after it fired
	Cooldown int `toml:"cooldown,omitempty"` // messages after that in which it cannot fire
	Delay    int `toml:"delay,omitempty"`    // messages that the chat must have

	Characters []string `toml:"characters,omitempty"` // names or ids; empty: all
	Except     []string `toml:"except,omitempty"`

	Content string `toml:"content,multiline,omitempty"`
}

// Logic says what the secondary keys do.
type Logic string

// How the secondary keys count.
const (
	AndAny Logic = "and_any" // one of them must be there
	AndAll Logic = "and_all"
	NotAny Logic = "not_any" // none may be there
	NotAll Logic = "not_all" // one of them must be missing
)

// Position is where an entry stands in the prompt.
type Position string

// The positions.
const (
	BeforeChar     Position = "before_char"
	AfterChar      Position = "after_char"
	NoteTop        Position = "note_top" // above the instructions of the mode, which are the author's note
	NoteBottom     Position = "note_bottom"
	AtDepth        Position = "at_depth" // between the messages
	BeforeExamples Position = "before_examples"
	AfterExamples  Position = "after_examples"
	InPersonality  Position = "personality"
	InScenario     Position = "scenario"
	InOutlet       Position = "outlet" // where {{outlet::name}} stands, and nowhere else
)

// Role is whose message an entry at a depth is.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Problem is what cannot be done, or makes no sense, in a book. It keeps nothing else from working.
type Problem struct {
	Book, Entry string
	Text, Cure  string
}

// Set is the entries of several books, ready to be searched for. It is never changed.
type Set struct {
	entries  []*entry // in the order in which they come into the budget
	steps    int
	levels   []int          // of DelayUntilRecursion, in order
	budgets  map[string]int // of books that have one
	counts   bool           // some entry needs to know how many messages there are
	remember bool           // some entry needs to know when it fired
	greets   bool

	atLeast int // entries that are to fire
	widest  int // messages that are searched in the beginning …
	most    int // … and in the end, where too few fire
}

// Empty reports whether there is nothing to search for.
func (s *Set) Empty() bool { return s == nil || len(s.entries) == 0 }

// Counts reports whether Scan needs to know how many messages there are.
func (s *Set) Counts() bool { return s != nil && s.counts }

// Remembers reports whether Scan needs to know when entries fired.
func (s *Set) Remembers() bool { return s != nil && s.remember }

// Greets reports whether Scan needs to know the greeting.
func (s *Set) Greets() bool { return s != nil && s.greets }

// Depth is how many messages Scan looks at.
func (s *Set) Depth() (n int) {
	for _, e := range s.entries {
		n = max(n, e.depth)
	}
	if s.atLeast > 0 {
		n = max(n, s.most)
	}
	return n
}

// entry is an entry with what its book and its decorators make of it.
type entry struct {
	Entry
	book   string
	id     string // with the book
	number int    // in the order of the files
	text   string // without decorators

	primary, secondary, additional, exclude, excludeAll []key

	depth       int  // of the scan
	fixed       bool // however few entries fire
	recursive   bool
	scoring     bool
	probability int
	weight      int
	position    Position
	at          int // depth in the prompt
	marks       decorators
}

// key is one key, ready to be looked for.
type key struct {
	text    string         // as it is written
	pattern *regexp.Regexp // nil: words
	words   string         // folded as the text is
	macros  bool           // words hold macros, which are expanded in each scan
	exact   bool           // case counts
	whole   bool           // only whole words
}

// compiling gathers what Compile finds.
type compiling struct {
	problems []Problem
	patterns int // bytes
}

func (c *compiling) problem(book, entry, text, cure string) {
	c.problems = append(c.problems, Problem{Book: book, Entry: entry, Text: text, Cure: cure})
}

// Compile makes a set of books for a character that has these names; the first stands for {{char}} in keys.
func Compile(books []Book, names ...string) (*Set, []Problem) {
	c := &compiling{}
	s := &Set{steps: mostSteps, budgets: map[string]int{}}
	for _, b := range books {
		if b.TokenBudget > 0 {
			s.budgets[b.File] = b.TokenBudget
		}
		if b.MaxSteps > 0 {
			s.steps = min(s.steps, b.MaxSteps)
		}
		if b.MinActivations > 0 {
			s.atLeast, s.most = max(s.atLeast, b.MinActivations), max(s.most, clamp(or(positive(b.MinActivationsDepth), deepestScan), 1, deepestScan))
		}
		ids := map[string]bool{}
		for i := range b.Entries {
			if len(s.entries) == MostEntries {
				c.problem(b.File, "", fmt.Sprintf("has more entries than are read, with the books before it %d", MostEntries), "split it between characters")
				break
			}
			e := c.entry(b, i, names)
			if ids[e.id] {
				c.problem(b.File, e.Entry.ID, "has the id of another entry, so its times cannot be kept", "give it one of its own")
				e.id += fmt.Sprintf("#%d", i)
			}
			ids[e.id] = true
			if e.number = len(s.entries); !e.Off && e.mayBe(names) {
				s.entries = append(s.entries, e)
				if !e.fixed {
					s.widest = max(s.widest, e.depth)
				}
			}
		}
	}
	s.order()
	return s, c.problems
}

func (c *compiling) entry(b Book, i int, names []string) *entry {
	e := &entry{Entry: b.Entries[i], book: b.File, recursive: b.Recursive}
	if e.ID == "" {
		e.ID = fmt.Sprint(i)
	}
	e.id = b.File + "/" + e.ID
	e.text, e.marks = decorate(e.Content)
	e.depth = clamp(or(e.ScanDepth, or(b.ScanDepth, 2)), 0, deepestScan)
	if e.marks.scanDepth != nil {
		e.depth = clamp(*e.marks.scanDepth, 0, deepestScan)
	}
	e.fixed = e.ScanDepth != nil || e.marks.scanDepth != nil
	e.scoring = or(e.GroupScoring, b.GroupScoring)
	e.probability, e.weight = or(e.Probability, 100), max(0, or(e.GroupWeight, 100))
	if e.marks.probability != nil {
		e.probability = *e.marks.probability
	}
	if e.marks.priority != nil {
		e.Priority = e.marks.priority
	}
	e.place()
	e.Constant = e.Constant && !e.Regex || e.marks.constant
	e.PreventRecursion = e.PreventRecursion || e.marks.preventRecursion
	e.NonRecursable = e.NonRecursable || e.marks.nonRecursable
	e.recursive = (e.recursive || e.marks.recursive) && !e.NonRecursable
	c.keys(b, e, names)
	if len(e.primary) == 0 && !e.Off && !e.Constant && !e.marks.activate {
		c.problem(b.File, e.ID, "has no key that could make it fire, and is not constant", "give it keys, or off = true")
	}
	if e.DelayUntilRecursion > 0 && !e.recursive {
		c.problem(b.File, e.ID, "waits for recursion, which its book or its non_recursable keeps from it, so it never fires", "set recursive = true in the book")
	}
	for _, d := range Decorators(e.Content) {
		c.problem(b.File, e.ID, "nothing is made of the decorator "+short(d), "")
	}
	return e
}

// place finds out where the entry stands: its decorators have the say.
func (e *entry) place() {
	e.position, e.at = e.Position, or(e.Depth, 4)
	if e.position == "" {
		e.position = BeforeChar
	}
	switch {
	case e.marks.position != "":
		e.position = e.marks.position
	case e.marks.depth != nil:
		e.position, e.at = AtDepth, max(0, *e.marks.depth)
	}
	if e.marks.role != "" {
		e.Role = e.marks.role
	}
}

func (c *compiling) keys(b Book, e *entry, names []string) {
	exact, whole := or(e.CaseSensitive, b.CaseSensitive), or(e.WholeWords, b.WholeWords)
	if e.marks.wholeWords != nil {
		whole = *e.marks.wholeWords
	}
	list := func(texts []string) (keys []key) {
		for i, text := range texts {
			if i == mostKeys {
				c.problem(b.File, e.ID, fmt.Sprintf("has more than %d keys; the others are not looked for", mostKeys), "split the entry")
				break
			}
			if k, ok := c.key(b, e, text, names); ok {
				k.exact, k.whole = exact, whole
				keys = append(keys, k)
			}
		}
		return keys
	}
	e.primary, e.additional, e.exclude, e.excludeAll = list(e.Keys), list(e.marks.additionalKeys), list(e.marks.excludeKeys), list(e.marks.excludeAll)
	if !e.Regex {
		e.secondary = list(e.Secondary)
	}
	for _, keys := range [][]key{e.primary, e.secondary, e.additional, e.exclude, e.excludeAll} {
		for i := range keys {
			keys[i].words = folded(keys[i].words, keys[i].exact)
		}
	}
}

// key reads one key. Where it is a pattern that cannot be run, the others of the entry go on.
func (c *compiling) key(b Book, e *entry, text string, names []string) (key, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return key{}, false
	}
	pattern, flags, literal := jsregexp.Literal(text)
	if e.Regex && !literal {
		pattern, literal = text, true
	}
	if !literal {
		return key{text: text, words: text, macros: strings.Contains(text, "{{")}, true
	}
	if c.patterns += len(pattern); c.patterns > mostPatterns {
		c.problem(b.File, e.ID, "its pattern is one too many: all patterns together are too long", "split the books between characters")
		return key{}, false
	}
	if len(names) > 0 {
		for _, macro := range []string{"{{char}}", "{{Char}}", "{{CHAR}}"} {
			pattern = strings.ReplaceAll(pattern, macro, regexp.QuoteMeta(names[0]))
		}
	}
	if strings.Contains(pattern, "{{user}}") {
		c.problem(b.File, e.ID, "a name that people choose is not put into a pattern: "+text, "write the key without {{user}}")
		return key{}, false
	}
	re, err := jsregexp.Compile(pattern, flags)
	if err != nil {
		c.problem(b.File, e.ID, fmt.Sprintf("the key %s is not looked for: %v", short(text), err), "write it as RE2 can, see https://go.dev/s/re2syntax")
		return key{}, false
	}
	return key{text: text, pattern: re}, true
}

func short(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return s
}

// mayBe reports whether the entry is for a character of these names.
func (e *entry) mayBe(names []string) bool {
	in := func(list []string) bool {
		for _, one := range list {
			for _, name := range names {
				if strings.EqualFold(one, name) {
					return true
				}
			}
		}
		return false
	}
	return (len(e.Characters) == 0 || in(e.Characters)) && !in(e.Except)
}

func or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

// positive is nil for what is not said.
func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }
