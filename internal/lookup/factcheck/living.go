package factcheck

import (
	"maps"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
	"familiar/internal/text/lazyregexp"
)

var (
	// livingPattern is how pages about a person who is alive begin.
	livingPattern = lazyregexp.New(`(?i)` + lang.All().FactCheck.Alive.String() + `|\(\*\s?\d|\p{Lu}[\pL'’-]+, \d\d, `)
	// lifespan has a birth and a death.
	lifespan   = lazyregexp.New(`\([^()]{0,60}\b\d{4}\)?\s*[–-]\s*(?:[^()]{0,30} )?\d{4}\)|†`)
	deathWords = text.Set(lang.All().FactCheck.Deaths)
	// beforeDeath are words between a person and the word for their death.
	beforeDeath = text.Set(lang.All().FactCheck.BeforeDeath)
)

// firstPart is how much of a page says what it is about, in characters.
const firstPart = 1500

// aboutLiving reports whether the statement is about a person who, by the pages, is alive: it names somebody whose page
// begins as such pages do. One page that tells of the person's death decides against it.
func aboutLiving(statement string, pages []Page) bool {
	names := namesOf(statement, pages)
	lives := false
	for _, p := range pages {
		if p.Text == "" {
			continue
		}
		s := p.Title + "\n" + text.Truncate(p.Text, firstPart)
		if !text.Intersects(text.Keys(text.Words(s)), names) {
			continue
		}
		born := livingPattern.FindStringIndex(s)
		if span := lifespan.FindStringIndex(s); span != nil && (born == nil || span[0] <= born[0]) || reportsDeath(s, names) {
			return false
		}
		lives = lives || born != nil
	}
	return lives
}

// reportsDeath reports whether a text says that somebody with one of these names died: the name itself stands beside
// the word for it.
func reportsDeath(s string, names map[string]bool) bool {
	words := text.Words(s)
	for i, w := range words {
		if !deathWords[w.Key] {
			continue
		}
		before, behind := i-1, i+1
		for before >= 0 && beforeDeath[words[before].Key] {
			before--
		}
		for behind < len(words) && beforeDeath[words[behind].Key] {
			behind++
		}
		if behind < len(words) && names[words[behind].Key] {
			return true
		}
		// "Ada's father died" tells of another person.
		if before >= 0 && names[words[before].Key] && words[before].Upper && !text.Possessive(s[words[before].Start:words[before].End]) {
			return true
		}
	}
	return false
}

// namesOf returns the names in a statement: its words with capitals. In one without capitals, those are names that have
// one in the title of a page.
func namesOf(statement string, pages []Page) map[string]bool {
	names, words := map[string]bool{}, text.ContentWords(statement)
	for _, w := range words {
		names[w.Key] = names[w.Key] || w.Upper
	}
	if statement == strings.ToLower(statement) {
		for _, p := range pages {
			for _, w := range text.ContentWords(p.Title) {
				if _, is := names[w.Key]; is {
					names[w.Key] = names[w.Key] || w.Upper
				}
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return names
}
