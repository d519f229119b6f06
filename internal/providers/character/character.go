// Package character reads a character from its folder and offers it to the prompt.
//
//	characters/<id>/character.toml      how it behaves; every key may be left out
//	characters/<id>/persona.md          who it is; required
//	characters/<id>/modes/<mode>.md     how it writes in a mode; optional
//	characters/<id>/notes.md            what it knows in short; optional
//	characters/<id>/lore/*.md           what is looked up of its world, see package lore; optional
//	characters/<id>/lorebooks/*.toml    what it knows of its world, see package lorebook; optional
//	characters/<id>/rewrites.toml       what is found and replaced in its words, see package rewrite; optional
//	characters/<id>/greetings/<n>.md    with which words it begins; greetings/group/<n>.md among several characters; optional
//	characters/_default/…               the same for what a character leaves out; character.toml holds every key
//
// Beside persona.md there may be personality.md, scenario.md, examples.md, system.md, post_history.md and depth_prompt.md: what the
// cards of other programs say apart (sheet.go). `familiar import` writes them. knowledge.go reads notes.md and lore.
//
// [Load] is strict and says everything at once: file.go reads a TOML file key by key over the defaults and
// finds unknown keys and wrong types with their places, check.go finds values out of range, load.go puts the
// [Character] together. [Overlay] lays the operator's folder over the characters built into the program.
// [Provider] is the context provider; world.go looks the lorebooks up for it.
package character

import (
	"cmp"
	"crypto/sha256"
	"regexp"
	"strings"
	"time"

	"familiar/internal/character/lore"
	"familiar/internal/character/lorebook"
	"familiar/internal/character/rewrite"
	"familiar/internal/context/turn"
)

// Character is one character, checked and complete. It is read by many turns at once and never changed.
type Character struct {
	ID      string // the folder's name
	Name    string
	Called  string // what {{char}} stands for: its nickname, or else its name
	Aliases []string

	Mode          turn.Mode // of a channel for which nobody has set one
	Modes         map[turn.Mode]Limits
	Web           Web
	Docs          []Docs
	Window        int    // messages of recent history
	Buttons       bool   // its replies have buttons
	Retract       string // what becomes of a reply whose question is deleted: "delete", "redact", or "auto": redact where somebody replied to it
	Reactions     Reactions
	ChatterPerDay int // how often it may join in unasked in a channel in a day
	Server        Server
	FilterRecall  bool // the side model may leave out what was recalled
	// ServerProfile: in a server whose character it is, the bot goes by its name and Picture, a PNG from its folder, if there is one.
	ServerProfile bool
	Picture       []byte

	Avatar   string         // https URL of its picture; empty: the bot's
	Location *time.Location // in which times are shown

	Model     Model // the model that answers
	SideModel Model // the model that reads pages
	Texts     Texts

	Persona      string               // persona.md, macros not yet filled in
	Sheet        Sheet                // what cards of other programs say apart
	Greetings    Greetings            // with which it begins
	Lore         *lorebook.Set        // what it knows of its world
	Notes        string               // notes.md, if it is short enough to stand in every prompt; macros not yet filled in
	Library      *lore.Library        // lore/*.md, and notes.md if it is longer; nil: there is none
	Knowledge    []KnowledgeFile      // the files of both
	Rewrites     *rewrite.Rules       // what is found and replaced in its words
	Warnings     []Problem            // what keeps it from nothing, but does not do what it says
	Instructions map[turn.Mode]string // modes/<mode>.md, likewise; a mode without any is missing

	Sum [sha256.Size]byte // of its files: two that are loaded from the same files have the same

	calledByName bool
	looksBack    bool // it takes the last messages to write its part of the prompt
	patterns     []*regexp.Regexp
}

// Limits are a mode's.
type Limits struct {
	Total    int // tokens
	Deadline time.Duration
	Layers   map[turn.Layer]int // tokens
	Web      bool               // whether the web may be asked at all
	Think    Who                // notes what matters before the answer
	Recast   Who                // words the answer anew
}

// Who is a model that does something beside the answer, or "" for none.
type Who string

// The models.
const (
	BySide Who = "side"
	ByMain Who = "main"
)

// Reactions are those of people to its messages, and its own.
type Reactions struct {
	Follow bool   // people's are taken notice of
	Seen   string // emoji that shows that an answer has begun; empty: none
	Reply  bool   // a reply that is one emoji becomes a reaction
}

// Web is how the character uses the web.
type Web struct {
	Enabled      bool
	Allow, Deny  []string // domains with all below them; an empty Allow allows all; Deny wins
	DeniedTopics []string
	BlockRole    string // "user" or "system"
	BlockBytes   int
	Queries      int // per turn
	Pages        int // per turn
	PerDomain    int // pages per turn of one registrable domain
	PerMinute    int // searches of the character in a minute; 0: any number
	PerSession   int // lookups in a channel in half an hour; 0: any number
	PerDay       int // lookups of a person in a day; 0: any number
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

// Texts are what the character says where no model can speak for it. Fill puts names into them.
type Texts struct {
	NoModel     string `toml:"no_model"`     // no model is configured
	RateLimited string `toml:"rate_limited"` // the model asks for a pause
	ModelDown   string `toml:"model_down"`   // the model cannot be reached or fails
	TooSlow     string `toml:"too_slow"`     // the model did not answer in time
	Quota       string `toml:"used_up"`      // as much as there may be was used today
	Placeholder string `toml:"placeholder"`  // shown until the first words arrive
}

// Names returns what the character answers to when it is written as a word of its own.
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

// Patterns returns the expressions that make a message one for the character. The caller must not change
// the slice.
func (c *Character) Patterns() []*regexp.Regexp { return c.patterns }

// Fill replaces the macros {{char}} and {{user}} by the character's name and by user, or "you" if that is
// empty.
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

// Server says whether questions about what was said in a server are answered from there.
type Server struct {
	Enabled       bool
	DiscordSearch bool // Discord's own search is asked, too
}
