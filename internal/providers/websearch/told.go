package websearch

import (
	"regexp"
	"slices"
	"strings"
)

// tellers are the words before a verb that make it no order.
var tellers = set("i we he she they it did does will would who why when how where people many some most ich je yo eu io я")

// urging are the words before an order that is given within a sentence.
var urging = set("please pls but and so just you ok okay answer reply respond tell me say bitte aber und antworte sag mais et reponds pero y responde mas e rispondi но и ответь")

// ordered finds an order to search, or not to: "search", "dont" or "".
func ordered(s string, words, body []word) string {
	order := ""
	for _, f := range orders.in(s, words) {
		switch {
		case f.cue == "dont" && forbids(s, words, body, f), f.cue == "aside" && setsAside(s, words, body, f):
			return "dont"
		case f.cue != "search", f.from > 0 && f.to > f.from+1 && words[f.from].upper && words[f.to-1].upper:
			continue // "Look Up" is a title
		}
		before := words[clauseOf(s, words, f.from):f.from]
		switch {
		case has(before, refusing) && !has(before, wondering):
			return "dont" // "never search the web for me", "I don't need you to look it up"
		case has(before, telling), f.to < len(words) && noObject[words[f.to].key]:
			continue // told, not asked for: "we should look it up", "search engines"
		}
		atStart := f.from <= len(words)-len(body) || f.to == f.from || len(before) == 0 || urging[words[f.from-1].key] // f.to == f.from: found in a script without spaces
		if atStart || f.to == len(words) && f.to-f.from > 1 || f.to-f.from >= 3 {
			order = "search"
		}
	}
	return order
}

// clauseOf returns where the part of a sentence begins that the word at i is in.
func clauseOf(s string, words []word, i int) int {
	for i > 0 && !apart(s, words, i) {
		i--
	}
	return i
}

func has(words []word, any map[string]bool) bool {
	return slices.ContainsFunc(words, func(w word) bool { return any[w.key] })
}

var (
	// refusing and wondering tell "I don't need you to look it up" from "why didn't you look it up?".
	refusing  = set("not never nie nicht jamais nunca nao никогда не")
	wondering = set("why did does who warum pourquoi porque почему")
	// telling are the words of a clause in which a search is told of.
	telling = set("i we he she they it did do does should would could must let told asked used people ich wir er sie je nous yo eu io я мы")
	// noObject are what no order is about: a thing that searches, and what only a device has.
	noObject = set("engine bar history box party warrant term result my our your")
)

// forbids tells "please don't search" from "they do not look happy".
func forbids(s string, words, body []word, f found) bool {
	switch {
	case f.from == 0 || f.to == f.from || f.from <= len(words)-len(body) || apart(s, words, f.from) || urging[words[f.from-1].key]:
		return true
	case words[f.from].upper && words[f.to-1].upper:
		return false // "who directed Don't Look It Up"
	}
	return !tellers[words[f.from-1].key]
}

// setsAside tells words that order nothing to be searched where they stand by themselves, "who was Nero? from memory",
// from the same words as a part of what is asked: "files from memory cards".
func setsAside(s string, words, body []word, f found) bool {
	begins := f.from <= len(words)-len(body) || apart(s, words, f.from) || urging[words[f.from-1].key]
	ends := f.to == len(words) || apart(s, words, f.to) || slices.Contains([]string{"wh", "aux", "get"}, opening(s, words[f.to:], words[f.to:]))
	return begins && ends
}

// apart reports whether a mark stands before the word at i.
func apart(s string, words []word, i int) bool {
	return i > 0 && i < len(words) && strings.ContainsAny(s[words[i-1].end:max(words[i-1].end, words[i].start)], ",.;:!?()–—")
}

// onlyOrder reports whether words order a search and say not for what: "look it up", "can you check online?". What is
// to be found then stands in the message before.
func onlyOrder(words []word) bool {
	ordered := false
	for from := 0; from < len(words); {
		n, _ := leads.at(words[from:])
		if m, cue := orders.at(words[from:]); m > 0 && cue == "search" {
			n, ordered = m, true
		}
		if n == 0 && !besideAnew[words[from].key] && !tailWords[words[from].key] {
			return false
		}
		from += max(1, n)
	}
	return ordered
}

// tailWords may end such an order.
var tailWords = set("online web internet net for me us mal fur mich moi pour me per por mim")

// addressed is a name at a message's beginning, of somebody who is spoken to.
var addressed = regexp.MustCompile(`^[\pL\d_\-\[\]|` + "`" + `^{}\\]{2,24}([:,>]) `)

// toAnother reports whether a message is spoken to somebody else: "bob: how do I mount it?". "ok, how high is it?" is not.
func toAnother(s string, words []word) bool {
	m := addressed.FindStringSubmatchIndex(s)
	if m == nil || len(checks.in(s[:m[1]], split(s[:m[1]]))) > 0 {
		return false
	}
	if s[m[2]] != ',' || len(words) == 0 {
		return true
	}
	polite, _ := leads.at(words)
	return polite == 0 && !everyday(words[0].key) && !fillers[words[0].key]
}

// fillers are what a sentence begins with before a comma, beside the words that the tables know.
var fillers = set("ah oh wow wait anyway anyways honestly seriously basically exactly first firstly second secondly third finally lastly now again true great nice cool fine alright sorry lol haha hmm hm um uh huh yeah yep yes no nope nah sure right ok okay meanwhile however though still maybe perhaps " +
	"ja nein doch also na gut genau oui non bon alors si bueno pues vale sim nao bom entao va bene allora да нет ладно хорошо ну")
