// Package factcheck decides whether pages support or contradict a statement, by counting and by rules.
//
// Verdicts: [Statement] finds the statement in a question. [StanceOf] (stance.go) says whether one page is for or against it. match.go
// finds the best sentences. The page is for the statement if one of them has all of its points (points.go). It is against it by the rules of
// contradict.go. Two things that are compared are read by relation.go.
// [Verdict] counts the stances, each site once, and copies of a page not at all. Of a living person it says nothing on thin evidence.
//
// Conflicts: [FindConflicts] (conflict.go) finds claims of different sources that contradict each other, by the dates
// and numbers in them (figures.go).
//
// Citations: [Verifier] (verifier.go) asks a model about the citations of a reply, as a second opinion beside package
// evidence.
package factcheck

import (
	"maps"
	"math"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/text"
)

const (
	agreeing    = 2   // sites needed for a verdict on a thing, if none disagrees
	independent = 3   // … on a person, or if one does
	sureEnough  = 0.7 // least confidence for a verdict about a living person
)

// Page is a page that may be for or against a statement. A page that was not read has no Text.
type Page struct {
	Title, Text string
	Domain      string // registrable domain

	Framing *evidence.Layout // of the text; nil: the page means every sentence
}

// Verdict returns the verdict of the pages' stances on a statement, and its confidence from 0 to 1.
func Verdict(statement string, stances []Stance, pages []Page) (label turn.VerdictLabel, confidence float64) {
	count := map[bool]int{}
	for i, s := range stances {
		if !s.repeats(stances[:i]) {
			count[s.Against]++
		}
	}
	person, lives := aboutPerson(statement, pages)
	least := agreeing
	if person {
		least = independent
	}
	label, confidence = majority(count[false], count[true], least)
	if confidence < sureEnough && lives {
		return turn.VerdictUnverified, 0
	}
	return label, confidence
}

// majority makes a verdict of the numbers of independent sites for and against. If none disagrees, least of them are
// enough. The confidence grows with their agreement and number.
func majority(pro, contra, least int) (label turn.VerdictLabel, confidence float64) {
	n := pro + contra
	agreement := float64(max(pro, contra)) / math.Max(1, float64(n))
	confidence = math.Round(100*min(0.95, max(0.5, 0.7*agreement+0.3*float64(min(n, 10))/10))) / 100
	switch {
	case pro >= least && contra == 0, pro >= independent && pro > 2*contra:
		return turn.VerdictSupports, confidence
	case contra >= least && pro == 0, contra >= independent && contra > 2*pro:
		return turn.VerdictContradicts, confidence
	}
	return turn.VerdictInconclusive, math.Round(100*(0.3+0.2*float64(min(n, 5))/5)) / 100
}

// What surrounds the statement in a question: a lead and a tail, words of doubt, and where it was heard.
var (
	leadPattern = text.LazyRegexpOf(func() string {
		return `(?i)^.*?(?:^|[^\pL])(?:` + text.AllTables().FactCheck.Lead.String() + `)(?:$|[^\pL])[\s:,–-]*`
	})
	tailPattern = text.LazyRegexpOf(func() string {
		return `(?i)(?:[\s,–-]*\b(?:` + text.AllTables().FactCheck.Tail.String() + `)|[,–-]\s*(?:` + text.AllTables().FactCheck.Tag.String() + `))?[\s?!.]*$`
	})
	doubtPattern = text.LazyRegexpOf(func() string {
		return `(?i)^(?:` + text.AllTables().FactCheck.Auxiliaries.String() + `)\s+|\b(?:` + text.AllTables().FactCheck.Adverbs.String() + `)\s+`
	})
	hearsayPattern = text.LazyRegexpOf(func() string { return `(?i)^(?:` + text.AllTables().FactCheck.Hearsay.String() + `)\s+` })
)

// Statement returns the statement that a question asks about: X of "is it true that X?". A question without one is
// returned unchanged.
func Statement(question string) string {
	s := tailPattern.ReplaceAllString(question, "")
	if rest := leadPattern.ReplaceAllString(s, ""); rest != "" {
		s = rest
	}
	s = doubtPattern.ReplaceAllString(hearsayPattern.ReplaceAllString(s, ""), "")
	if s = strings.TrimSpace(s); s == "" {
		return question
	}
	return s
}

var (
	// livingPattern matches the beginnings of pages about living people.
	livingPattern = text.LazyRegexpOf(func() string {
		return `(?i)` + text.AllTables().FactCheck.Alive.String() + `|\(\*\s?\d|\p{Lu}[\pL'’-]+, \d\d, `
	})
	// lifespan matches a birth and a death.
	lifespan   = text.NewLazyRegexp(`\([^()]{0,60}\b\d{4}\)?\s*[–-]\s*(?:[^()]{0,30} )?\d{4}\)|†`)
	deathWords = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Deaths })
	// beforeDeath are words between a person and the word for the person's death.
	beforeDeath = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.BeforeDeath })
)

// firstPart is how many characters at the top of a page say what it is about.
const firstPart = 1500

// nameBefore is how many bytes before the words for a life are searched for the name.
const nameBefore = 80

// aboutPerson reports whether the statement names a person, and one who is alive, according to the pages. One page that
// reports the person's death decides.
func aboutPerson(statement string, pages []Page) (person, lives bool) {
	names := namesOf(statement, pages)
	named := func(s string, at []int) bool {
		return at != nil && text.Intersects(text.Keys(text.Words(s[max(0, at[0]-nameBefore):at[1]])), names)
	}
	for _, p := range pages {
		if p.Text == "" {
			continue
		}
		s := p.Title + "\n" + text.Truncate(p.Text, firstPart)
		born, span := livingPattern.FindStringIndex(s), lifespan.FindStringIndex(s)
		if named(s, span) && (born == nil || span[0] <= born[0]) || reportsDeath(s, names) {
			return true, false
		}
		lives = lives || named(s, born)
	}
	return lives, lives
}

// reportsDeath reports whether a text says that somebody with one of the names died. The name is next to the word for death.
func reportsDeath(s string, names map[string]bool) bool {
	words := text.Words(s)
	for i, w := range words {
		if !deathWords()[w.Key] {
			continue
		}
		before, behind := i-1, i+1
		for before >= 0 && beforeDeath()[words[before].Key] {
			before--
		}
		for behind < len(words) && beforeDeath()[words[behind].Key] {
			behind++
		}
		if behind < len(words) && names[words[behind].Key] {
			return true
		}
		// "Ada's father died" is about another person.
		if before >= 0 && names[words[before].Key] && words[before].Upper && !text.Possessive(s[words[before].Start:words[before].End]) {
			return true
		}
	}
	return false
}

// namesOf returns the names in a statement: its capitalised words. A statement without capitals takes them from the
// titles of the pages.
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
