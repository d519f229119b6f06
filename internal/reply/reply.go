// Package reply writes the final text of a reply, decides what it may hold, and cuts it into posts. It is the last step between a model and
// a channel, and it treats every text as an attacker's. It is pure: it asks no store and no model, and posts nothing.
//
// [Draft] puts notes, receipts of orders to remember, and sources around the model's words (draft.go). Without a model it says what code can
// say (plain.go), also to people who get no answer. lookup.go says what a lookup found, or why it found nothing. [FinalButtons] are the buttons
// under a reply (buttons.go).
//
// A reply passes three steps. While it grows, the first two are repeated on more and more of it:
//
//   - [Rules] say what the reply of one turn may hold. [Rules.Guard] removes everything else: images, labels, citations
//     and secrets (guard.go), links and mentions (link.go). In code it looks only for links and secrets.
//     [Rules.Visible] returns how much of a growing reply may pass through the guard. [Rules.Shown] applies both (reply.go).
//   - [Marker.Mark] writes [n?] for a citation that its page does not support (cite.go).
//   - [Split] cuts the Markdown into messages (split.go), measured in Discord's [Units].
//
// Code writes the lines below a reply: [Sources] lists what it cites, and [OwnWords] returns a post without them
// (sources.go).
//
// The program's own sentences, such as notices and answers to commands, are translated by [Sentence.In] (translate.go). Each language has a file,
// such as de.toml for German. English sentences are on the left and translations on the right. A sentence without a translation stays
// English. A test of package command compares the sentences in the code with the files. A change to a sentence must change every file.
package reply

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Rules say what the reply of one turn may hold. Only these fields decide; nothing in the text does.
//
// The rules have the project's numbers. The door does the second half of O5 and O6: it suppresses embeds and allows no
// mentions. O1 keeps a reply from leaking secrets.
type Rules struct {
	URLs      map[string]bool // allowed addresses in the form of clean.Canonical
	Citations int             // highest valid [n]; 0: none
	Secrets   *clean.Redactor // may be nil
	Own       string          // what the character's files say; the emojis of a server in it may be shown
}

var typedURL = text.NewLazyRegexp(`https?://[^\s<>"]+`)

// RulesFor returns the rules for the reply to a request. They allow the addresses that a person typed or that were read.
// l is nil if there was no lookup.
func RulesFor(r turn.Request, l *turn.Lookup, secrets *clean.Redactor) Rules {
	rules := Rules{URLs: make(map[string]bool), Secrets: secrets}
	allow := func(address string) {
		if c, ok := clean.Canonical(address); ok {
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

// Streaming (O9).

// longestHold limits how much of a construct is held back, in bytes. A longer one is not a link.
const longestHold = 600

// Visible returns the part of a growing text that may pass through Guard and be shown. Nothing in it can still become a
// link, a mention, a citation or a secret. The part only grows: the result for partial is a prefix of the result for
// any continuation of partial.
func (r Rules) Visible(partial string) string {
	end := min(LastBoundary(partial), openLink(partial))
	end = r.Secrets.Begun(partial[:end])
	for i := 0; i < end; {
		length, wait := construct(partial[i:end])
		if wait {
			return partial[:i]
		}
		i += length
	}
	return partial[:end]
}

// Shown returns the part of a growing text that is shown. A line that may become one of sources waits at its first number.
func (r Rules) Shown(partial string) string {
	shown, _ := r.Guard(r.Visible(partial))
	for i := strings.LastIndexByte(shown, '\n') + 1; i < len(shown); i++ {
		if end, _ := clean.ReferenceAt(shown, i); end > 0 {
			if _, open := listsSource(shown, i, end); open {
				return shown[:i]
			}
		}
	}
	return shown
}

// LastBoundary returns the end of the last complete token. It is after white space, or after a character of a script without spaces. The
// letters of that script occur in no address or secret.
func LastBoundary(s string) int {
	for end := len(s); end > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if unicode.IsSpace(r) || r >= 0x2E80 && r <= 0xFFEF && r != utf8.RuneError {
			return end
		}
		end -= size
	}
	return 0
}

// openLink returns where an unfinished link at the end of s begins, or len(s) if there is none. A link may continue
// over letters of a script without spaces.
func openLink(s string) int {
	from := strings.LastIndexFunc(s, unicode.IsSpace) + 1
	for at := from; ; {
		i := strings.Index(s[at:], ":/")
		if i < 0 {
			return len(s)
		}
		start, end := addressAt(s, from, at+i)
		if start < end && end == len(s) && end-start <= maxLink+maxMarks {
			return start
		}
		at += i + 1
	}
}

// construct reads the start of s and returns how many bytes are settled, or that more text is needed.
func construct(s string) (length int, wait bool) {
	switch s[0] {
	case '`':
		ticks := runOf(s)
		if n := closing(s[len(ticks):], ticks); n >= 0 {
			return 2*len(ticks) + n, false
		}
		return len(ticks), waits(s)
	case '<':
		if len(s) > 1 && s[1] <= ' ' {
			return 1, false
		}
		return 1, strings.IndexByte(s[:min(len(s), longestHold)], '>') < 0 && waits(s)
	case '[':
		return 1, !linkEnded(s) && waits(s)
	}
	if r, size := utf8.DecodeRuneInString(s); strings.ContainsRune(clean.Brackets, r) {
		return size, !strings.ContainsAny(s[size:min(len(s), longestHold)], clean.ClosingBrackets) && waits(s)
	}
	if next := strings.IndexAny(s[1:], "`<"+clean.Brackets); next >= 0 {
		return 1 + next, false
	}
	return len(s), false
}

// waits reports whether s is short enough, and on one line, so that it may still become something.
func waits(s string) bool { return len(s) < longestHold && strings.IndexByte(s, '\n') < 0 }

// linkEnded reports whether "[label]" and a following "(target)" are complete.
func linkEnded(s string) bool {
	depth := 0
	for i := 0; i < min(len(s), longestHold); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i+1 == len(s) || s[i+1] != '(' || strings.IndexByte(s[i+1:], ')') >= 0
			}
		}
	}
	return false
}
