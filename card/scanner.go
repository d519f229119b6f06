package card

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Scanner finds the entries of lorebooks that a chat calls for. It never changes, so goroutines may share it. A nil
// Scanner has no entries.
type Scanner struct {
	entries []*entry // in the order in which they get a part of the budget
	rounds  int
	delays  []int          // the different values of DelayUntilRecursion, in order
	budgets map[string]int // of books that have one, by Book.File

	needsLength, needsFirings, needsGreeting bool

	minFired    int // entries that should fire
	messages    int // that are searched at first …
	maxMessages int // … and at most, while too few entries fire
}

// NewScanner makes lorebooks ready for a character with these names and ids, which Entry.Characters and Entry.Except may
// use. Entries that cannot work are left out, each with a problem.
func NewScanner(books []Book, names ...string) (*Scanner, []Problem) {
	c := &compiler{names: names, entries: map[string]string{}}
	s := &Scanner{rounds: maxRounds, budgets: map[string]int{}}
	for _, b := range books {
		if b.TokenBudget > 0 {
			s.budgets[b.File] = b.TokenBudget
		}
		if b.MaxSteps > 0 {
			s.rounds = min(s.rounds, b.MaxSteps)
		}
		if b.MinActivations > 0 {
			depth := maxDepth
			if b.MinActivationsDepth > 0 {
				depth = min(b.MinActivationsDepth, maxDepth)
			}
			s.minFired, s.maxMessages = max(s.minFired, b.MinActivations), max(s.maxMessages, depth)
		}
		s.add(c, b)
	}
	s.sort()
	return s, c.problems
}

// add adds the entries of a book that are for the character.
func (s *Scanner) add(c *compiler, b Book) {
	c.book = b
	ids := map[string]bool{}
	others := maps.Clone(c.entries)
	for i := range b.Entries {
		if len(s.entries) == maxEntries {
			c.problem("", fmt.Sprintf("has too many entries; with the books before it, at most %d are read", maxEntries), "split it between characters")
			return
		}
		e := c.entry(i)
		if ids[e.id] {
			c.problem(e.ID, "has the id of another entry, so its times cannot be kept", "give it an id of its own")
			e.id += fmt.Sprintf("#%d", i)
		}
		ids[e.id] = true
		if e.Off || !e.isFor(c.names) {
			continue
		}
		text := strings.Join(append(slices.Clone(e.Keys), string(e.Position), e.Content), "\n")
		if other, twice := others[text]; twice { // a card holds a lorebook, and its file is imported, too
			c.problem(e.ID, "is in the lorebook "+other+", too, and counts once", "remove one of them")
			continue
		}
		c.entries[text] = b.File
		s.entries = append(s.entries, e)
		if !e.fixedDepth {
			s.messages = max(s.messages, e.depth)
		}
	}
}

// sort brings the entries into the order of the budget: constant entries first, then by priority or order.
func (s *Scanner) sort() {
	slices.SortStableFunc(s.entries, func(a, b *entry) int {
		if a.Constant != b.Constant {
			return toInt(b.Constant) - toInt(a.Constant)
		}
		return cmp.Or(toInt(a.marks.trimFirst)-toInt(b.marks.trimFirst), cmp.Compare(or(b.Priority, b.Order), or(a.Priority, a.Order)))
	})
	for _, e := range s.entries {
		s.needsLength = s.needsLength || e.Delay > 0 || e.marks.onlyAfter != nil || e.marks.onlyEvery != nil
		s.needsFirings = s.needsFirings || e.lasting()
		s.needsGreeting = s.needsGreeting || e.marks.greeting != nil
		if n := e.DelayUntilRecursion; n > 0 && !slices.Contains(s.delays, n) {
			s.delays = append(s.delays, n)
		}
	}
	slices.Sort(s.delays)
}

// Empty reports whether there are no entries.
func (s *Scanner) Empty() bool { return s == nil || len(s.entries) == 0 }

// NeedsLength reports whether the result depends on Chat.Length and Chat.Own.
func (s *Scanner) NeedsLength() bool { return s != nil && s.needsLength }

// NeedsFirings reports whether the result depends on Chat.Fired.
func (s *Scanner) NeedsFirings() bool { return s != nil && s.needsFirings }

// NeedsGreeting reports whether the result depends on Chat.Greeting.
func (s *Scanner) NeedsGreeting() bool { return s != nil && s.needsGreeting }

// Depth returns how many messages Scan may search, at most 100.
func (s *Scanner) Depth() (n int) {
	if s == nil {
		return 0
	}
	for _, e := range s.entries {
		n = max(n, e.depth)
	}
	return max(n, s.maxMessages)
}

// entry is an entry together with what its book and its decorators say about it.
type entry struct {
	Entry
	book string
	id   string // with the book
	text string // without decorators

	primary, secondary              []key
	additional, exclude, excludeAll [][]key // a list for each decorator

	depth       int  // messages that are searched
	fixedDepth  bool // also while too few entries fire
	recursive   bool
	scoring     bool
	probability int
	weight      int
	position    Position
	at          int // depth in the prompt
	marks       decorators
}

// key is a key that is ready to be searched for.
type key struct {
	text   string   // as it is written
	find   *pattern // nil: the key is words
	words  string   // folded as the text is
	macros bool     // words hold macros, which each scan expands
	exact  bool     // case counts
	whole  bool     // only whole words count
}

// compiler makes entries ready and gathers problems.
type compiler struct {
	names        []string // of the character
	book         Book     // that is being read
	problems     []Problem
	patternBytes int
	beyond       *entry            // the last whose patterns were too many
	entries      map[string]string // the books of entries, by their keys, positions and texts
}

// problem reports a problem of an entry, or of the book if the entry is empty.
func (c *compiler) problem(entry, text, cure string) {
	p := Problem{Book: c.book.File, Text: text, Cure: cure}
	if entry != "" {
		p.Key = "entry " + entry
	}
	c.problems = append(c.problems, p)
}

// entry makes the i-th entry of the book ready.
func (c *compiler) entry(i int) *entry {
	b := &c.book
	e := &entry{Entry: b.Entries[i], book: b.File}
	if e.ID == "" {
		e.ID = fmt.Sprint(i)
	}
	e.id = b.File + "/" + e.ID
	e.text, e.marks = decorate(e.Content)
	m := &e.marks
	e.depth = clamp(or(m.scanDepth, or(e.ScanDepth, or(b.ScanDepth, 2))), 0, maxDepth)
	e.fixedDepth = e.ScanDepth != nil || m.scanDepth != nil
	e.scoring = or(e.GroupScoring, b.GroupScoring)
	e.probability, e.weight = or(m.probability, or(e.Probability, 100)), max(0, or(e.GroupWeight, 100))
	e.Priority = cmp.Or(m.priority, e.Priority)
	e.Constant = e.Constant && !e.Regex || m.constant
	e.PreventRecursion = e.PreventRecursion || m.preventRecursion
	e.NonRecursable = e.NonRecursable || m.nonRecursable
	e.recursive = (b.Recursive || m.recursive) && !e.NonRecursable
	e.place()
	c.keys(e)
	if len(e.primary) == 0 && !e.Off && !e.Constant && !m.activate {
		c.problem(e.ID, "has no key that could make it fire, and is not constant", "give it keys, or set off = true")
	}
	if e.DelayUntilRecursion > 0 && !e.recursive {
		c.problem(e.ID, "waits for recursion, but its book or its non_recursable rules that out, so it may never fire", "set recursive = true in the book")
	}
	for _, d := range ignoredDecorators(e.Content) {
		c.problem(e.ID, "the decorator "+shorten(d, 60)+" has no effect", "")
	}
	return e
}

// place sets the entry's place in the prompt. Decorators override the entry's fields.
func (e *entry) place() {
	e.position, e.at = cmp.Or(e.Position, BeforeChar), or(e.Depth, 4)
	switch {
	case e.marks.position != "":
		e.position = e.marks.position
	case e.marks.depth != nil:
		e.position, e.at = AtDepth, *e.marks.depth
	}
	e.Role = cmp.Or(e.marks.role, e.Role)
}

// keys makes the entry's keys ready.
func (c *compiler) keys(e *entry) {
	exact, whole := or(e.CaseSensitive, c.book.CaseSensitive), or(e.marks.wholeWords, or(e.WholeWords, c.book.WholeWords))
	list := func(texts []string) (keys []key) {
		for i, text := range texts {
			if i == maxKeys {
				c.problem(e.ID, fmt.Sprintf("has more than %d keys; only the first %d are searched for", maxKeys, maxKeys), "split the entry")
				break
			}
			if k, ok := c.key(e, text); ok {
				k.exact, k.whole, k.words = exact, whole, folded(k.words, exact)
				keys = append(keys, k)
			}
		}
		return keys
	}
	lists := func(texts [][]string) (all [][]key) {
		for _, one := range texts {
			all = append(all, list(one))
		}
		return all
	}
	e.primary = list(e.Keys)
	e.additional, e.exclude, e.excludeAll = lists(e.marks.additionalKeys), lists(e.marks.excludeKeys), lists(e.marks.excludeAll)
	if !e.Regex {
		e.secondary = list(e.Secondary)
	}
}

// key makes a key ready. A pattern that cannot run is a problem; the entry's other keys stay.
func (c *compiler) key(e *entry, text string) (key, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return key{}, false
	}
	source, flags, isPattern := patternLiteral(text)
	if e.Regex && !isPattern {
		source, isPattern = text, true
	}
	if !isPattern {
		return key{text: text, words: text, macros: strings.Contains(text, "{{")}, true
	}
	if c.patternBytes += len(source) + patternCost; c.patternBytes > maxPatternBytes {
		if c.beyond != e {
			c.problem(e.ID, "its pattern is one too many: the patterns of all books together are too long", "split the books between characters")
		}
		c.beyond = e
		return key{}, false
	}
	find, err := newPattern(source, flags, Escaped)
	if err != nil {
		c.problem(e.ID, fmt.Sprintf("the key %s is not looked for: %v", shorten(text, 60), err), "correct the pattern; it is read as JavaScript reads it")
		return key{}, false
	}
	return key{text: text, find: find}, true
}

// isFor reports whether a character with these names has the entry.
func (e *entry) isFor(names []string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(one string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(one, name) })
		})
	}
	return (len(e.Characters) == 0 || in(e.Characters)) && !in(e.Except)
}

// lasting reports whether the entry's firing matters in later turns.
func (e *entry) lasting() bool {
	return e.Sticky > 0 || e.Cooldown > 0 || e.marks.keepAfterMatch || e.marks.onceOnly
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }
