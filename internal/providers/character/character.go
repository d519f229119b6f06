// Package character reads a character from its folder and offers it to the prompt.
//
//	characters/<id>/character.toml      how it behaves; every key may be left out
//	characters/<id>/persona.md          who it is; required
//	characters/<id>/modes/<mode>.md     how it writes in a mode; optional
//	characters/<id>/notes.md            what it knows in short; optional
//	characters/<id>/lore/*.md           what it can look up, see package recall; optional
//	characters/<id>/lorebooks/*.toml    entries that keywords add to the prompt, see package card; optional
//	characters/<id>/rewrites.toml       patterns that are replaced in its words, see package card; optional
//	characters/<id>/expressions/*.png   pictures of its moods, also as JPEG and WebP; optional
//	characters/<id>/greetings/<n>.md    its first messages; greetings/group/<n>.md among several characters; optional
//	characters/_default/…               defaults for the files above; its character.toml has every key
//
// personality.md, scenario.md, examples.md, system.md, post_history.md and depth_prompt.md are optional persona parts. `familiar import`
// writes them from the cards of other programs.
//
// [Load] is strict and reports all problems at once.
//
//   - load.go assembles the [Character]. Its [Overlay] puts the operator's folder over the characters built into the program.
//   - config.go has the keys of character.toml, and file.go reads one file over another, key by key.
//   - check.go rejects values out of range.
//   - parts.go reads the persona parts, greetings, lorebooks and rewrites, and knowledge.go reads the notes and lore.
//   - expressions.go has the pictures of its moods.
//   - provider.go has the [Provider], which offers all this to the prompt. lorebooks.go scans the lorebooks for it.
package character

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/card"
	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Character is a character, checked and complete. It is never changed and safe for concurrent use.
type Character struct {
	ID      string // the folder's name
	Name    string
	Called  string // the value of {{char}}: its nickname, or else its name
	Version string // the value of {{charVersion}}
	Aliases []string

	Mode          turn.Mode // the default mode of a channel
	Modes         map[turn.Mode]Limits
	Web           Web
	Docs          []Docs
	Window        int    // messages of recent history
	Buttons       bool   // its replies have buttons
	Retract       string // what happens to a reply whose question is deleted: "delete", "redact", or "auto": redact if somebody replied to it
	Reactions     Reactions
	ChatterPerDay int // unasked messages in a channel in a day, at most
	Server        Server
	FilterRecall  bool // the side model may remove what was recalled
	// ServerProfile makes the bot use the character's name and Picture in servers whose character it is. Picture is a PNG; empty: none.
	ServerProfile bool
	Picture       []byte

	Expressions Expressions    // pictures of its moods
	Voice       Voice          // for replies that are said aloud
	Avatar      string         // https URL of its picture; empty: the bot's
	Location    *time.Location // of the times shown

	Model     Model // the model that answers
	SideModel Model // the model that reads pages
	Texts     Texts

	Persona      string               // persona.md, with macros
	Parts        Parts                // further parts of the persona
	Greetings    Greetings            // its first messages
	Lore         *card.Scanner        // its lorebooks
	Notes        string               // notes.md with macros, if it is short enough for every prompt
	Knowledge    []KnowledgeFile      // notes.md and lore/*.md
	Rewrites     *card.Rewriter       // replacements in its words
	Warnings     []Problem            // mistakes that do not stop it from loading
	Instructions map[turn.Mode]string // modes/<mode>.md with macros; a mode without instructions is missing

	Sum [sha256.Size]byte // of its files; equal files give equal sums

	calledByName bool
	looksBack    bool // its part of the prompt depends on the last messages
	patterns     []*regexp.Regexp
}

// Limits are the limits of a mode.
type Limits struct {
	Total    int // tokens
	Deadline time.Duration
	Layers   map[turn.Layer]int // tokens
	Web      bool               // the web may be asked
	Think    ModelRole          // notes what matters before the answer
	Recast   ModelRole          // rewrites the answer
}

// ModeFor returns the mode of a channel with its limits. It is the character's own if none is set or the name is unknown.
func (c *Character) ModeFor(channel store.Channel) (turn.Mode, Limits) {
	if limits, ok := c.Modes[turn.Mode(channel.Mode)]; ok {
		return turn.Mode(channel.Mode), limits
	}
	return c.Mode, c.Modes[c.Mode]
}

// PromptTokens is how many tokens a prompt of the character may have.
func (c *Character) PromptTokens() int { return c.Modes[c.Mode].Total }

// ModelRole names the model for a step besides the answer. It is "" if the step is off.
type ModelRole string

// The models.
const (
	BySide ModelRole = "side"
	ByMain ModelRole = "main"
)

// Reactions are the settings for emoji reactions.
type Reactions struct {
	Follow bool   // people's reactions to its messages matter
	Seen   string // emoji that shows that an answer has begun; empty: none
	Reply  bool   // a reply that is one emoji becomes a reaction
}

// Web is how the character uses the web.
type Web struct {
	Enabled      bool
	Allow, Deny  []string // domains with their subdomains; an empty Allow allows all; Deny wins
	DeniedTopics []string
	BlockRole    string // "user" or "system"
	BlockBytes   int
	Queries      int // per turn
	Pages        int // per turn
	PerDomain    int // pages per turn of one registrable domain
	PerMinute    int // searches of the character in a minute; 0: unlimited
	PerSession   int // lookups in a channel in half an hour; 0: unlimited
	PerDay       int // lookups of a person in a day; 0: unlimited
	Deadline     time.Duration
	Depth        string              // "basic", "advanced", or empty: as the operator configured it
	Backends     []string            // search backends that may be asked; none: all
	Trusted      map[string][]string // sites by intent: their pages come first
	TrustedOnly  []string            // intents for which no other pages are read
}

// Model overrides what the operator configured. Zero values override nothing.
type Model struct {
	Name        string  `toml:"model"`
	Temperature float32 `toml:"temperature"`
	MaxTokens   int     `toml:"max_tokens"`
}

// Voice is how the character speaks.
type Voice struct {
	Name  string `toml:"name"`  // as the speech service calls it; empty: the operator's
	Habit bool   `toml:"habit"` // every reply is said aloud
}

// Texts are what the character says when no model can answer. [Character.Fill] puts names into them. Those from Hello on may be empty.
type Texts struct {
	NoModel     string `toml:"no_model"`     // no model is configured
	RateLimited string `toml:"rate_limited"` // the model asks for a pause
	ModelDown   string `toml:"model_down"`   // the model cannot be reached or fails
	TooSlow     string `toml:"too_slow"`     // the model did not answer in time
	Quota       string `toml:"used_up"`      // today's quota is used up
	Placeholder string `toml:"placeholder"`  // shown until the first words arrive
	Hello       string `toml:"hello"`        // to a greeting
	Thanks      string `toml:"thanks"`       // to thanks
	Bye         string `toml:"bye"`          // to a farewell
	Mood        string `toml:"mood"`         // to "how are you?"
	Sad         string `toml:"sad"`          // to somebody who feels bad
	Who         string `toml:"who"`          // to "who are you?"
	Can         string `toml:"can"`          // to "what can you do?"
	Morning     string `toml:"morning"`      // a good morning, of itself
	Birthday    string `toml:"birthday"`     // a birthday wish to {{user}}
	Mute        string `toml:"mute"`         // to what only a model can answer, once no_model was said
	Empty       string `toml:"empty"`        // the model said nothing
	NoWeb       string `toml:"no_web"`       // the web cannot be reached; also below a model's words
}

// Names returns the names that address the character when they are words of a message.
func (c *Character) Names() []string {
	if !c.calledByName {
		return nil
	}
	names := append([]string{c.Name}, c.Aliases...)
	if c.Called != c.Name {
		names = append(names, c.Called)
	}
	return names
}

// NamedAt returns where a lower-case text first contains one of the character's names as a separate word. It returns -1 if there is none.
func (c *Character) NamedAt(folded string) int {
	first := -1
	for _, name := range c.Names() {
		if name = strings.ToLower(name); name == "" {
			continue
		}
		if i := wordAt(folded, name); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

func wordAt(text, word string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return start
		}
		from = end
	}
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// Patterns returns the expressions that match messages for the character. The caller must not change the slice.
func (c *Character) Patterns() []*regexp.Regexp { return c.patterns }

// Fill replaces the macros {{char}} and {{user}} with the character's name and with user, or "you" if that is empty.
func (c *Character) Fill(text, user string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	user = cmp.Or(user, "you")
	return strings.NewReplacer(
		"{{char}}", c.Called, "{{Char}}", c.Called, "{{CHAR}}", c.Called,
		"{{user}}", user, "{{User}}", user, "{{USER}}", user,
	).Replace(text)
}

// Server has the settings for questions about what was said in a server.
type Server struct {
	Enabled       bool
	DiscordSearch bool // Discord's own search is asked too
}

// Invalid is the error of a character that cannot be loaded. It has all its problems.
type Invalid struct {
	Problems []Problem // never empty
}

// Problems returns the mistakes that an error of [Load] is about. Another error is one problem without a place.
func Problems(err error) []Problem {
	var invalid *Invalid
	if errors.As(err, &invalid) {
		return invalid.Problems
	}
	return []Problem{{Text: err.Error()}}
}

// Problem is a mistake in a file.
type Problem struct {
	File   string // path as the operator knows it
	Line   int    // from 1; 0: no particular line
	Column int    // in bytes, from 1
	Key    string // dotted; may be empty
	Text   string // what is wrong
	Cure   string // what to do about it; may be empty
}

func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Text)
	if p.Cure != "" {
		b.WriteString("; " + p.Cure)
	}
	return strings.TrimPrefix(b.String(), ": ") // without a file
}

// Error lists all problems, each on a line.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// inOrder sorts problems by file and place.
func inOrder(ps []Problem) {
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i], ps[j]
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0
	})
}
