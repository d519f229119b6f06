// Package attest checks whether messages bear out what a model says of them. It is pure, and errs towards refusing: what it lets
// pass outlives the messages' day, in a summary or in memory, where nobody compares.
//
// A statement names who said it, and one person's messages bear it out alone. So nobody is given the words of another, and two
// messages that are true do not make a third thing that nobody said. Package claim compares the words.
package attest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/lookup/claim"
	"familiar/internal/lookup/quote"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/text/lang"
	"familiar/internal/web/clean"
)

// Why a statement is refused, beside the checks of packages quote and claim.
const (
	NoSource  = "source"   // it rests on no message, or on one that was not shown
	NoSpeaker = "speaker"  // it does not name who wrote them
	Addresses = "to whom"  // it speaks to somebody
	Layout    = "line"     // it is not one line of plain text
	Question  = "question" // it says what was only asked
)

// Name is how a message's writer is called where messages are shown to a model, and so in what that says of them.
func Name(m store.Message) string { return cmp.Or(clean.Name(m.AuthorName, 64), m.AuthorID) }

// Words returns what the writer of a message says in it in words of their own: without quotations, code and addresses, in at
// most so many characters.
func Words(m store.Message, most int) string {
	s := fenced.ReplaceAllString(m.Text, " ")
	var kept []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ">>>") { // the rest is quoted
			break
		}
		if !strings.HasPrefix(line, ">") {
			kept = append(kept, line)
		}
	}
	s = address.ReplaceAllString(strings.Join(kept, "\n"), "(link)")
	return text.Truncate(clean.Spoken(strings.TrimSpace(s), nil), most)
}

var (
	fenced  = regexp.MustCompile("(?s)```.*?(?:```|$)")
	address = regexp.MustCompile(`(?i)<?\b(?:https?|ftp)://\S+|\bwww\.\S+`)
)

// Share is how many of a statement's words, names and numbers aside, must be in the messages: from 0 to 1.
type Share float64

const (
	// Most is for what is shown beside the conversation for some days.
	Most Share = 0.7
	// All is for what is remembered. A small letter may begin a name, too.
	All Share = 1
)

// Check returns those of the messages that bear a statement out, all of one person, or the check by which none do.
func Check(statement string, share Share, sources []store.Message) (by []store.Message, refused string) {
	switch {
	case len(sources) == 0:
		return nil, NoSource
	case statement != clean.Line(statement, utf8.RuneCountInString(statement)):
		return nil, Layout
	}
	if _, failed := quote.Check(statement, statement); failed != "" {
		return nil, failed
	}
	if speaksTo(statement) {
		return nil, Addresses
	}
	refused = NoSpeaker
	for _, own := range byWriter(sources) {
		name := Name(own[0])
		if !names(statement, name) {
			continue
		}
		for _, m := range own {
			if refused = bears(statement, share, name, m); refused == "" {
				return []store.Message{m}, ""
			}
		}
		if len(own) > 1 {
			if refused = bears(statement, share, name, own...); refused == "" {
				return own, ""
			}
		}
	}
	return nil, refused
}

// CheckPerson is [Check] of all words for a statement about a person in one of their own messages: it begins with their name, is about
// nobody else of those who are named, and no question bears it out.
func CheckPerson(statement string, m store.Message, others []string) (refused string) {
	rest, ok := cutName(statement, Name(m))
	if !ok || slices.ContainsFunc(others, func(other string) bool { return names(rest, other) }) {
		return NoSpeaker
	}
	sentences := slices.DeleteFunc(text.Sentences(m.Text), func(s string) bool { return strings.ContainsAny(s, "?？؟") })
	if m.Text = strings.Join(sentences, "\n"); m.Text == "" {
		return Question
	}
	_, refused = Check(statement, All, []store.Message{m})
	return refused
}

// byWriter divides messages by who wrote them, in their order.
func byWriter(all []store.Message) (groups [][]store.Message) {
	for _, m := range all {
		i := slices.IndexFunc(groups, func(g []store.Message) bool { return g[0].AuthorID == m.AuthorID })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

// bears returns the check by which messages of one person do not bear out a statement, or "".
func bears(statement string, share Share, name string, own ...store.Message) string {
	var texts []string
	for _, m := range own {
		texts = append(texts, m.Text)
	}
	return claim.CheckStatement(statement, claim.NewPage(texts...), name, float64(share))
}

// names reports whether a text holds a name, as words of their own.
func names(s, name string) bool {
	wanted, all := text.Words(name), text.Words(s)
	if len(wanted) == 0 {
		return strings.Contains(s, name)
	}
	for i := range all {
		if i+len(wanted) <= len(all) && slices.EqualFunc(wanted, all[i:i+len(wanted)], func(a, b text.Word) bool { return a.Key == b.Key }) {
			return true
		}
	}
	return text.Unspaced(s) && strings.Contains(s, name)
}

// cutName takes a name off the beginning of a statement.
func cutName(s, name string) (rest string, ok bool) {
	if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return s, false
	}
	rest = s[len(name):]
	r, _ := utf8.DecodeRuneInString(rest)
	return rest, !text.InWord(r) || text.Unspaced(rest)
}

// spokenTo are the words for whom one speaks to, by language.
var spokenTo = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, code := range lang.Codes() {
		all[code] = text.Set(lang.Of(code).Grammar.SecondPerson)
	}
	return all
}()

// speaksTo reports whether a text speaks to somebody: who reads it later is not who was spoken to.
func speaksTo(s string) bool {
	words := text.Words(s)
	return text.ContainsAny(words, spokenTo[cmp.Or(text.Language(s, words), "en")])
}
