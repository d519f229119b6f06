// Package reply decides what a character's reply may hold and cuts it into posts. It is the last step between a model and
// a channel, and it treats every text as an attacker's. It is pure: no store, no model, no Discord.
//
// A reply passes three steps. While it grows, the first two are repeated on more and more of it:
//
//   - [Rules] say what the reply of one turn may hold. [Rules.Guard] removes everything else: images, labels, citations
//     and secrets (guard.go), links and mentions (link.go). In code (code.go) it looks only for links and secrets.
//     [Rules.Visible] returns how much of a growing reply may pass through the guard (stream.go).
//   - [Marker.Mark] writes [n?] for a citation that its page does not support (cite.go).
//   - [Split] cuts the Markdown into messages (split.go), measured in Discord's [Units].
//
// Code writes the lines below a reply: [Sources] lists what it cites, and [OwnWords] returns a post without them
// (sources.go).
//
// The program's own sentences, such as notices and answers to commands, are translated by [Say] (translate.go). Each
// language has a file, such as de.toml for German, with English sentences on the left and translations on the right. A
// sentence without a translation stays English. A test of package bot compares the sentences in the code with the files:
// a change to a sentence must change every file.
package reply

import (
	"unicode/utf16"

	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

// Rules say what the reply of one turn may hold. Only these fields decide; nothing in the text does.
//
// The rules have the project's numbers. The door does the second half of O5 and O6: it suppresses embeds and allows no
// mentions. O1 keeps a reply from leaking secrets.
type Rules struct {
	URLs      map[string]bool  // allowed addresses in the form of guard.Canonical
	Citations int              // highest valid [n]; 0: none
	Secrets   *redact.Redactor // may be nil
}

var typedURL = text.NewLazyRegexp(`https?://[^\s<>"]+`)

// RulesFor returns the rules for the reply to a request. They allow the addresses that a person typed or that were read.
// l is nil if there was no lookup.
func RulesFor(r turn.Request, l *turn.Lookup, secrets *redact.Redactor) Rules {
	rules := Rules{URLs: make(map[string]bool), Secrets: secrets}
	allow := func(address string) {
		if c, ok := guard.Canonical(address); ok {
			rules.URLs[c] = true
		}
	}
	typed := r.Message.Text
	if r.Parent != nil && r.Parent.ByPerson() {
		typed += "\n" + r.Parent.Text
	}
	for _, u := range typedURL.FindAllString(typed, -1) {
		allow(u[:trimMarks(u, 0, len(u))])
	}
	if l != nil {
		rules.Citations = len(l.Sources)
		for _, s := range l.Sources {
			allow(s.URL)
			for _, posted := range s.Links {
				allow(posted)
			}
		}
	}
	return rules
}

// Units returns the length of s in UTF-16 units, in which Discord counts.
func Units(s string) int { return len(utf16.Encode([]rune(s))) }

// CutUnits returns the beginning of s in at most n UTF-16 units, without half a character.
func CutUnits(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}
