package utterance

import (
	"strings"

	"familiar/internal/text"
)

// Order is what a message says in so many words about searching.
type Order string

// The orders; the table of orders names them so.
const (
	NoOrder  Order = ""
	Search   Order = "search" // "look it up"
	NoSearch Order = "dont"   // "don't search"
)

// Order finds an order to search, or not to.
func (u Utterance) Order() Order {
	order := NoOrder
	for _, f := range u.Find(Orders) {
		switch {
		case f.Cue == "dont" && u.forbids(f), f.Cue == "aside" && u.standsApart(f):
			return NoSearch
		case f.Cue != "search" || f.From > 0 && f.To > f.From+1 && u.isTitle(f):
			continue
		}
		before := u.Words[u.clauseStart(f.From):f.From]
		switch {
		case text.ContainsAny(before, refusals) && !text.ContainsAny(before, asksWhy):
			return NoSearch // "never search the web for me", "I don't need you to look it up"
		case text.ContainsAny(before, reports), f.To < len(u.Words) && notSearched[u.Words[f.To].Key]:
			continue // "we should look it up", "search engines"
		}
		if length := f.To - f.From; u.mayBeginOrder(f.From) || f.To == len(u.Words) && length > 1 || length >= 3 {
			order = Search
		}
	}
	return order
}

// forbids tells "please don't search" from "they do not look happy".
func (u Utterance) forbids(f text.Match) bool {
	return u.mayBeginOrder(f.From) || !u.isTitle(f) && !notImperative[u.Words[f.From-1].Key]
}

// standsApart tells "who was Nero? from memory", which forbids a search, from "files from memory cards".
func (u Utterance) standsApart(f text.Match) bool {
	return u.mayBeginOrder(f.From) && (f.To == len(u.Words) || u.afterMark(f.To) || u.Suffix(f.To).Form() != NoForm)
}

// isTitle reports whether a phrase is written as a title: "who directed Don't Look It Up".
func (u Utterance) isTitle(f text.Match) bool { return u.Words[f.From].Upper && u.Words[f.To-1].Upper }

// mayBeginOrder reports whether the word at i stands where orders begin: behind the courtesies, a mark, or a word like
// "please". A phrase that was found in a script without spaces stands at 0.
func (u Utterance) mayBeginOrder(i int) bool {
	return i <= len(u.Words)-len(u.Body) || u.afterMark(i) || beforeOrder[u.Words[i-1].Key]
}

// clauseStart returns where the clause begins that the word at i is in.
func (u Utterance) clauseStart(i int) int {
	for i > 0 && !u.afterMark(i) {
		i--
	}
	return i
}

// afterMark reports whether a punctuation mark stands before the word at i.
func (u Utterance) afterMark(i int) bool {
	if i == 0 || i == len(u.Words) {
		return false
	}
	end := u.Words[i-1].End
	return strings.ContainsAny(u.Text[end:max(end, u.Words[i].Start)], ",.;:!?()–—")
}
