package card

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Limits of lorebooks. NewScanner reports what exceeds them and leaves it out.
const (
	maxEntries      = 20_000
	maxKeys         = 200       // of an entry
	maxRounds       = 10        // of a scan, unless a book sets fewer
	maxDepth        = 100       // messages that are searched
	maxMessageBytes = 32 << 10  // of messages that are searched
	maxPatternBytes = 200_000   // of the patterns of all books
	patternCost     = 50        // bytes of it that each pattern takes besides its source
	maxNumber       = 1_000_000 // for numbers without a limit of their own
)

// Book is a lorebook: entries that enter the prompt when the chat mentions their keys. It is written as TOML.
type Book struct {
	Name        string `toml:"name,omitempty"`
	Description string `toml:"description,omitempty"`

	// ScanDepth is how many messages are searched for keys; nil means 2.
	ScanDepth *int `toml:"scan_depth,omitempty"`
	// TokenBudget is how many tokens the book's entries may take in a prompt; 0 means as many as Chat.Budget.
	TokenBudget int `toml:"token_budget,omitempty"`
	// Recursive has the texts of entries that fire searched as well.
	Recursive bool `toml:"recursive,omitempty"`
	// MaxSteps is the number of rounds of a recursive scan, at most and by default 10.
	MaxSteps int `toml:"max_steps,omitempty"`

	CaseSensitive bool `toml:"case_sensitive,omitempty"`
	WholeWords    bool `toml:"whole_words,omitempty"`
	GroupScoring  bool `toml:"group_scoring,omitempty"`

	// MinActivations is how many entries should fire. While fewer do, a scan goes back one more message at a time.
	MinActivations int `toml:"min_activations,omitempty"`
	// MinActivationsDepth is how many messages such a scan may reach; 0 means 100, which is the most.
	MinActivationsDepth int `toml:"min_activations_depth,omitempty"`

	Entries []Entry `toml:"entry,omitempty"`

	// File names the book in problems, results and the ids of entries. It is not part of the file.
	File string `toml:"-"`
}

// Entry is an entry of a lorebook. Where a pointer is nil, the book decides.
type Entry struct {
	// ID is unique in its book; empty means the entry's number, from 0.
	ID      string `toml:"id,omitempty"`
	Comment string `toml:"comment,omitempty"` // for people; never in a prompt
	Off     bool   `toml:"off,omitempty"`

	// Keys make the entry fire when the chat contains one. A key is a piece of text, or /pattern/flags as JavaScript writes it.
	Keys []string `toml:"keys,omitempty"`
	// Secondary keys count as Logic says, once a key has been found.
	Secondary []string `toml:"secondary_keys,omitempty"`
	Logic     Logic    `toml:"logic,omitempty"` // empty: AndAny
	// Regex makes every key a pattern, also one without slashes.
	Regex bool `toml:"regex,omitempty"`
	// Constant entries fire without a key.
	Constant bool `toml:"constant,omitempty"`
	// Order sorts entries. The highest is last in the prompt, and first to get a part of the budget.
	Order int `toml:"order,omitempty"`
	// Priority replaces Order for the budget.
	Priority *int     `toml:"priority,omitempty"`
	Position Position `toml:"position,omitempty"` // empty: BeforeChar
	Outlet   string   `toml:"outlet,omitempty"`   // its name, for InOutlet
	Depth    *int     `toml:"depth,omitempty"`    // messages from the end, for AtDepth; nil: 4
	Role     Role     `toml:"role,omitempty"`     // for AtDepth; empty: System

	ScanDepth     *int  `toml:"scan_depth,omitempty"`
	CaseSensitive *bool `toml:"case_sensitive,omitempty"`
	WholeWords    *bool `toml:"whole_words,omitempty"`
	// Match names texts of the card that are searched too; see [Fields].
	Match []string `toml:"match,omitempty"`

	// NonRecursable entries ignore keys in the texts of other entries.
	NonRecursable bool `toml:"non_recursable,omitempty"`
	// PreventRecursion keeps this entry's text from making others fire.
	PreventRecursion bool `toml:"prevent_recursion,omitempty"`
	// DelayUntilRecursion, if above 0, is the first round of recursion in which the entry may fire.
	DelayUntilRecursion int `toml:"delay_until_recursion,omitempty"`

	// Probability is a percentage; nil means 100.
	Probability *int `toml:"probability,omitempty"`
	// Groups are inclusion groups: one entry of each group fires.
	Groups []string `toml:"groups,omitempty"`
	// GroupWeight is the entry's share when chance picks from a group; nil means 100.
	GroupWeight *int `toml:"group_weight,omitempty"`
	// GroupFirst lets the entry win its groups without chance, the highest Order first.
	GroupFirst bool `toml:"group_first,omitempty"`
	// GroupScoring removes the entry if another of the group matches more keys.
	GroupScoring *bool `toml:"group_scoring,omitempty"`
	IgnoreBudget bool  `toml:"ignore_budget,omitempty"`

	// Triggers are the only causes of a message with which the entry fires; empty means all. See the function [Triggers].
	Triggers []string `toml:"triggers,omitempty"`

	Sticky   int `toml:"sticky,omitempty"`   // messages for which it keeps firing
	Cooldown int `toml:"cooldown,omitempty"` // messages after that in which it does not fire
	Delay    int `toml:"delay,omitempty"`    // messages that the chat must have before it

	// Characters are the names or ids of the only characters that have the entry; empty means all.
	Characters []string `toml:"characters,omitempty"`
	// Except are the names or ids of characters that do not have it.
	Except []string `toml:"except,omitempty"`

	// Content is the text for the prompt. Lines at its beginning may be decorators, such as "@@depth 4".
	Content string `toml:"content,multiline,omitempty"`
}

// Logic says what secondary keys require.
type Logic string

// What secondary keys may require.
const (
	AndAny Logic = "and_any" // at least one is found
	AndAll Logic = "and_all" // all are found
	NotAny Logic = "not_any" // none is found
	NotAll Logic = "not_all" // at least one is missing
)

// logics are in the order of SillyTavern's numbers.
var logics = []Logic{AndAny, NotAll, NotAny, AndAll}

// Position is a place in the prompt.
type Position string

// The positions.
const (
	BeforeChar     Position = "before_char"
	AfterChar      Position = "after_char"
	NoteTop        Position = "note_top"    // above the author's note
	NoteBottom     Position = "note_bottom" // below the author's note
	AtDepth        Position = "at_depth"    // between the messages
	BeforeExamples Position = "before_examples"
	AfterExamples  Position = "after_examples"
	InPersonality  Position = "personality" // by decorators only
	InScenario     Position = "scenario"    // by decorators only
	InOutlet       Position = "outlet"      // where {{outlet::name}} calls for it
)

// tavernPositions are in the order of SillyTavern's numbers.
var tavernPositions = []Position{BeforeChar, AfterChar, NoteTop, NoteBottom, AtDepth, BeforeExamples, AfterExamples, InOutlet}

var positions = append(slices.Clip(tavernPositions), InPersonality, InScenario)

// Role is the author of a message that an entry becomes.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// roles are in the order of SillyTavern's numbers.
var roles = []Role{System, User, Assistant}

// Fields returns the names of the card's texts that [Entry.Match] may name and [Chat.Fields] should hold.
func Fields() []string {
	return []string{"description", "personality", "scenario", "depth", "examples"}
}

// Triggers returns the causes of a message that [Entry.Triggers] may name and [Chat.Trigger] may be.
func Triggers() []string {
	return []string{"normal", "continue", "impersonate", "swipe", "regenerate", "quiet"}
}

// ParseBook reads a lorebook in TOML and names it file. It is strict: unknown keys and values out of range are problems. A book with
// problems should not be used.
func ParseBook(file string, data []byte) (Book, []Problem) {
	b := Book{File: file}
	if wrong := decodeTOML(data, &b); wrong != nil {
		return b, wrong
	}
	return b, b.check()
}

// Encode writes the book as TOML, for [ParseBook].
func (b Book) Encode() ([]byte, error) {
	var out bytes.Buffer
	e := toml.NewEncoder(&out)
	e.SetIndentTables(false)
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("write lorebook: %w", err)
	}
	return out.Bytes(), nil
}

// check returns the values that are not allowed.
func (b *Book) check() (all []Problem) {
	wrong := func(key, format string, values ...any) {
		all = append(all, Problem{Key: key, Text: fmt.Sprintf(format, values...)})
	}
	for _, n := range []struct {
		key   string
		value int
	}{{"min_activations", b.MinActivations}, {"min_activations_depth", b.MinActivationsDepth}} {
		if n.value < 0 {
			wrong(n.key, "%d is out of range; use 0 or more", n.value)
		}
	}
	for i, e := range b.Entries {
		e.check(func(key, format string, values ...any) {
			wrong(fmt.Sprintf("entry[%d].%s", i, key), format, values...)
		})
	}
	return all
}

func (e *Entry) check(wrong func(key, format string, values ...any)) {
	if !slices.Contains(logics, e.Logic) && e.Logic != "" {
		wrong("logic", "%q is not allowed; use one of and_any, and_all, not_any, not_all", e.Logic)
	}
	if !slices.Contains(positions, e.Position) && e.Position != "" {
		wrong("position", "%q is not allowed; use one of %s", e.Position, joined(positions))
	}
	if (e.Position == InOutlet) != (strings.TrimSpace(e.Outlet) != "") {
		wrong("outlet", "must name the outlet if position is \"outlet\", and must be empty otherwise")
	}
	if !slices.Contains(roles, e.Role) && e.Role != "" {
		wrong("role", "%q is not allowed; use one of %s", e.Role, joined(roles))
	}
	for _, name := range e.Match {
		if !slices.Contains(Fields(), name) {
			wrong("match", "%q is not allowed; use one of %s", name, joined(Fields()))
		}
	}
	for _, name := range e.Triggers {
		if !slices.Contains(Triggers(), name) {
			wrong("triggers", "%q is not allowed; use one of %s", name, joined(Triggers()))
		}
	}
	if p := or(e.Probability, 100); p < 0 || p > 100 {
		wrong("probability", "%d is out of range; use 0 to 100", p)
	}
	for _, n := range []struct {
		key   string
		value int
	}{
		{"sticky", e.Sticky}, {"cooldown", e.Cooldown}, {"delay", e.Delay}, {"delay_until_recursion", e.DelayUntilRecursion},
		{"depth", or(e.Depth, 0)}, {"scan_depth", or(e.ScanDepth, 0)},
	} {
		if n.value < 0 {
			wrong(n.key, "%d is out of range; use 0 or more", n.value)
		}
	}
}

func joined[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}
