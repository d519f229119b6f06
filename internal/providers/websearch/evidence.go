package websearch

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
)

// sentence is one sentence of a page, ranked as evidence.
type sentence struct {
	text  string
	sheet int // index of its page
	place int // from 0, within its page
	terms []string
	score float64
	hits  int // different words of the question in it
}

const (
	maxFact     = 300 // characters of a fact (P3)
	minSentence = 20
	perPage     = 3  // sentences from one page
	brief       = 3  // sentences in all where they are the answer itself
	extended    = 10 // and where a model reads them
	// BM25's usual constants; sentences vary little in length, so b is low.
	bm25k, bm25b = 1.2, 0.4
)

// terms are the words of s that carry meaning, stemmed; in scripts without spaces, pairs of characters.
func terms(s, lang string) []string {
	var out []string
	for _, w := range split(s) {
		if unspaced(s[w.start:w.end]) {
			out = append(out, pairs(s[w.start:w.end])...)
		} else if !stopWords[w.key] && (len(w.key) > 1 || numeric(w.key)) {
			out = append(out, stem(w.key, lang))
		}
	}
	return out
}

func pairs(s string) []string {
	r := []rune(s)
	if len(r) < 3 {
		return []string{s}
	}
	out := make([]string, 0, len(r)-1)
	for i := range len(r) - 1 {
		out = append(out, string(r[i:i+2]))
	}
	return out
}

func stem(w, lang string) string {
	switch lang {
	case "", "en":
		return english.Stem(w, false)
	case "es":
		return spanish.Stem(w, false)
	case "fr":
		return french.Stem(w, false)
	case "ru":
		return russian.Stem(w, false)
	}
	if utf8.RuneCountInString(w) > 6 { // of languages without a stemmer, the beginning of a long word
		return string([]rune(w)[:6])
	}
	return w
}

// rankSentences scores every sentence of the pages that were read as evidence for the question, best first.
//
// day is the one that the question asks about, if it asks about one.
func rankSentences(question, lang string, day date, sheets []sheet) []sentence {
	all := pageSentences(sheets, lang)
	asked := unique(terms(question, lang))
	wanted := answerType(question)
	df, average := statistics(all, asked)
	for i := range all {
		s := &all[i]
		s.score = bm25(s, asked, df, len(all), average)
		s.score += leading(s.place) + wanted.bonus(s.text, question)
		s.score *= 1 - 0.04*float64(min(sheets[s.sheet].rank, 9))
		if sheets[s.sheet].answer {
			s.score += 3
		}
		if day != (date{}) && s.on(day) {
			s.score += 4
		}
	}
	slices.SortStableFunc(all, func(a, b sentence) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return all
}

// on reports whether the sentence names that day.
func (s *sentence) on(day date) bool {
	found, _ := datesIn(s.text)
	return slices.Contains(found, day)
}

// leading is the worth of standing at the beginning: pages say what matters first.
func leading(place int) float64 { return 3 / (1 + 0.6*float64(place)) }

func pageSentences(sheets []sheet, lang string) []sentence {
	var all []sentence
	for i := range sheets {
		if !sheets[i].good() {
			continue
		}
		place := 0
		for _, text := range splitSentences(sheets[i].page.Text) {
			n := utf8.RuneCountInString(text)
			if n < minSentence && !unspaced(text) && !sheets[i].answer {
				continue
			}
			if n > maxFact {
				text = cut(text, maxFact)
			}
			if !wordy(text) && !sheets[i].answer {
				continue
			}
			all = append(all, sentence{text: text, sheet: i, place: place, terms: terms(text, lang)})
			place++
		}
	}
	return all
}

// wordy tells sentences from the crumbs of menus and tables: at least a third are letters.
func wordy(s string) bool {
	letters, all := 0, 0
	for _, r := range s {
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters*2 > all
}

func statistics(all []sentence, asked []string) (df map[string]int, average float64) {
	df = make(map[string]int, len(asked))
	total := 0
	for i := range all {
		total += len(all[i].terms)
		for _, t := range asked {
			if slices.Contains(all[i].terms, t) {
				df[t]++
				all[i].hits++
			}
		}
	}
	return df, float64(total)/float64(max(1, len(all))) + 1
}

func bm25(s *sentence, asked []string, df map[string]int, n int, average float64) float64 {
	score := 0.0
	for _, t := range asked {
		tf := 0.0
		for _, have := range s.terms {
			if have == t {
				tf++
			}
		}
		if tf == 0 {
			continue
		}
		idf := math.Log(1 + (float64(n)-float64(df[t])+0.5)/(float64(df[t])+0.5))
		score += idf * tf * (bm25k + 1) / (tf + bm25k*(1-bm25b+bm25b*float64(len(s.terms))/average))
	}
	return score
}

// selectSentences takes the best: a few of each page, none twice, and none that shares no word with the
// question unless it opens its page.
// Of a page that is the answer, such as a forecast, it takes more.
func selectSentences(ranked []sentence, asked []string, sheets []sheet, limit int) []sentence {
	var out []sentence
	taken := map[int]int{}
	for _, s := range ranked {
		if len(out) == limit {
			break
		}
		answer := sheets[s.sheet].answer
		if !answer && (taken[s.sheet] == perPage || len(asked) > 0 && s.hits == 0 && s.place > 0 || alike(s, out)) {
			continue
		}
		taken[s.sheet]++
		out = append(out, s)
	}
	return out
}

// alike reports whether the same page has said the same already.
func alike(s sentence, before []sentence) bool {
	for _, b := range before {
		if b.sheet == s.sheet && jaccard(b.terms, s.terms) > 0.7 {
			return true
		}
	}
	return false
}

func jaccard(a, b []string) float64 {
	a, b = unique(a), unique(b)
	both := 0
	for _, t := range a {
		if slices.Contains(b, t) {
			both++
		}
	}
	if either := len(a) + len(b) - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}

func unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
