// Package outgoing decides what of a model's reply may reach a channel, and in which pieces. It is the last thing between the
// two and takes every text for an attacker's. It is pure: no store, no model, no Discord.
//
// A reply passes three steps. While it grows, the first two are repeated on ever more of it:
//
//   - [Rules] say what one turn's reply may hold. [Rules.Guard] takes everything else out: links (link.go), images and
//     citations (bracket.go), mentions (mention.go), secrets (guard.go). In code (code.go) it looks for links and secrets
//     alone. [Rules.Visible] is how much of a growing reply may go through the guard already (stream.go).
//   - [Marker.Mark] writes [n?] for a citation that its page does not bear out (marks.go).
//   - [Split] cuts the Markdown into messages (split.go), counted in Discord's units (units.go).
//
// What stands below a reply is written by code: [Sources] lists what it cites, and [OwnWords] is a post without all that
// (sources.go).
package outgoing

import (
	"regexp"

	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/web/guard"
)

// Rules are what one turn's reply may hold. What passes is decided by these fields and by nothing the text says.
//
// The rules have the project's numbers. O5 and O6 have a second half in the door, which suppresses embeds and
// allows no mentions; O1 is what keeps a reply from carrying secrets away.
type Rules struct {
	URLs      map[string]bool  // the turn's own, each as guard.Canonical writes it
	Citations int              // highest valid [n]; 0: none
	Secrets   *redact.Redactor // nil: there are none
}

var typedURL = regexp.MustCompile(`https?://[^\s<>"]+`)

// RulesFor allows the reply to a request the addresses that a person typed, and those that were read. There may have been no
// lookup.
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
