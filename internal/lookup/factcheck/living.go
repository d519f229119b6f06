package factcheck

import (
	"maps"
	"regexp"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

var (
	// alive is how pages begin about a person who lives.
	alive = regexp.MustCompile(`(?i)` + lang.All().FactCheck.Alive.String() + `|\(\*\s?\d|\p{Lu}[\pL'’-]+, \d\d, `)
	// lifespan has both ends.
	lifespan = regexp.MustCompile(`\([^()]{0,60}\b\d{4}\)?\s*[–-]\s*(?:[^()]{0,30} )?\d{4}\)|†`)
	ended    = text.Set(lang.All().FactCheck.Deaths)
	// besides are words between a person and what happened to them.
	besides = text.Set(lang.All().FactCheck.BeforeDeath)
)

// over says whether a text says of somebody with one of these names that they died: their own name stands beside it.
func over(s string, names map[string]bool) bool {
	words := text.Words(s)
	for i, w := range words {
		if !ended[w.Key] {
			continue
		}
		before, behind := i-1, i+1
		for before >= 0 && besides[words[before].Key] {
			before--
		}
		for behind < len(words) && besides[words[behind].Key] {
			behind++
		}
		if before >= 0 && names[words[before].Key] && words[before].Upper && !ofTheirs(s[words[before].Start:words[before].End]) || behind < len(words) && names[words[behind].Key] {
			return true
		}
	}
	return false
}

// ofTheirs tells "Ada's" from "Ada": her father is not her.
func ofTheirs(word string) bool {
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s")
}

// firstPart is as much of a page as says what it is about, in bytes.
const firstPart = 1500

// living says whether the statement is about a person who, by the pages, lives: it names somebody whose page begins
// as such pages do. One page that tells of the person's death settles it.
func living(said string, pages []Page) bool {
	names := namesOf(said, pages)
	lives := false
	for _, p := range pages {
		if p.Text == "" {
			continue
		}
		s := p.Title + "\n" + text.Truncate(p.Text, firstPart)
		if !text.Intersects(text.Keys(text.Words(s)), names) {
			continue
		}
		begins := alive.FindStringIndex(s)
		if span := lifespan.FindStringIndex(s); span != nil && (begins == nil || span[0] <= begins[0]) || over(s, names) {
			return false
		}
		lives = lives || begins != nil
	}
	return lives
}

// namesOf are the names in a statement: its words with capitals or, where nobody took the trouble, those that have one
// in the title of a page.
func namesOf(said string, pages []Page) map[string]bool {
	names, words := map[string]bool{}, text.ContentWords(said)
	for _, w := range words {
		if w.Upper {
			names[w.Key] = true
		}
	}
	if said != strings.ToLower(said) {
		return names
	}
	for _, p := range pages {
		titled := map[string]bool{}
		for _, w := range text.ContentWords(p.Title) {
			titled[w.Key] = titled[w.Key] || w.Upper
		}
		for _, w := range words {
			names[w.Key] = names[w.Key] || titled[w.Key]
		}
	}
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return names
}
