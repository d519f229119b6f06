package need

import (
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// tellers are the words before a verb that make it no order.
var tellers = text.Set(lang.All().Order.NotImperative)

// urging are the words before an order that is given within a sentence.
var urging = text.Set(lang.All().Order.Before)

// ordered finds an order to search, or not to: "search", "dont" or "".
func ordered(s string, words, body []text.Word) string {
	order := ""
	for _, f := range Orders.FindAll(s, words) {
		switch {
		case f.Cue == "dont" && forbids(s, words, body, f), f.Cue == "aside" && setsAside(s, words, body, f):
			return "dont"
		case f.Cue != "search", f.From > 0 && f.To > f.From+1 && words[f.From].Upper && words[f.To-1].Upper:
			continue // "Look Up" is a title
		}
		before := words[clauseOf(s, words, f.From):f.From]
		switch {
		case has(before, refusing) && !has(before, wondering):
			return "dont" // "never search the web for me", "I don't need you to look it up"
		case has(before, telling), f.To < len(words) && noObject[words[f.To].Key]:
			continue // told, not asked for: "we should look it up", "search engines"
		}
		atStart := f.From <= len(words)-len(body) || f.To == f.From || len(before) == 0 || urging[words[f.From-1].Key] // f.to == f.from: found in a script without spaces
		if atStart || f.To == len(words) && f.To-f.From > 1 || f.To-f.From >= 3 {
			order = "search"
		}
	}
	return order
}

// clauseOf returns where the part of a sentence begins that the word at i is in.
func clauseOf(s string, words []text.Word, i int) int {
	for i > 0 && !apart(s, words, i) {
		i--
	}
	return i
}

func has(words []text.Word, any map[string]bool) bool {
	return slices.ContainsFunc(words, func(w text.Word) bool { return any[w.Key] })
}

var (
	// refusing and wondering tell "I don't need you to look it up" from "why didn't you look it up?".
	refusing  = text.Set(lang.All().Order.Refusals)
	wondering = text.Set(lang.All().Order.AsksWhy)
	// telling are the words of a clause in which a search is told of.
	telling = text.Set(lang.All().Order.Reports)
	// noObject are what no order is about: a thing that searches, and what only a device has.
	noObject = text.Set(lang.All().Order.NotSearched)
)

// forbids tells "please don't search" from "they do not look happy".
func forbids(s string, words, body []text.Word, f text.Match) bool {
	switch {
	case f.From == 0 || f.To == f.From || f.From <= len(words)-len(body) || apart(s, words, f.From) || urging[words[f.From-1].Key]:
		return true
	case words[f.From].Upper && words[f.To-1].Upper:
		return false // "who directed Don't Look It Up"
	}
	return !tellers[words[f.From-1].Key]
}

// setsAside tells words that order nothing to be searched where they stand by themselves, "who was Nero? from memory",
// from the same words as a part of what is asked: "files from memory cards".
func setsAside(s string, words, body []text.Word, f text.Match) bool {
	begins := f.From <= len(words)-len(body) || apart(s, words, f.From) || urging[words[f.From-1].Key]
	ends := f.To == len(words) || apart(s, words, f.To) || slices.Contains([]string{"wh", "aux", "get"}, Opening(s, words[f.To:], words[f.To:]))
	return begins && ends
}

// apart reports whether a mark stands before the word at i.
func apart(s string, words []text.Word, i int) bool {
	return i > 0 && i < len(words) && strings.ContainsAny(s[words[i-1].End:max(words[i-1].End, words[i].Start)], ",.;:!?()–—")
}

// addressed is a name at a message's beginning, of somebody who is spoken to.
var addressed = regexp.MustCompile(`^[\pL\d_\-\[\]|` + "`" + `^{}\\]{2,24}([:,>]) `)

// toAnother reports whether a message is spoken to somebody else: "bob: how do I mount it?". "ok, how high is it?" is not.
func toAnother(s string, words []text.Word) bool {
	m := addressed.FindStringSubmatchIndex(s)
	if m == nil || len(checks.FindAll(s[:m[1]], text.Words(s[:m[1]]))) > 0 {
		return false
	}
	if s[m[2]] != ',' || len(words) == 0 {
		return true
	}
	polite, _ := Leads.Prefix(words)
	return polite == 0 && !Everyday(words[0].Key) && !fillers[words[0].Key]
}

// fillers are what a sentence begins with before a comma, beside the words that the tables know.
var fillers = text.Set(lang.All().Order.Fillers)
