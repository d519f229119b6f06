package claim

import (
	_ "embed"
	"slices"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/text"
)

//go:embed cite.model
var citeFile []byte

// CiteModel returns the model that is built in.
var CiteModel = sync.OnceValue(func() *linear.Model { return linear.MustParse(citeFile) })

// checkLittle is beside the names of the other checks: too little of a sentence stands together on the pages.
const checkLittle = "too little of it"

// mostNames is how many missing names are counted.
const mostNames = 3

// SupportFeatures returns what the model sees of the last sentence of a text and the pages that it cites: how much of
// the sentence stands together on one of them, and how many of its names, and which of its exact things, on none. No
// feature is a word. Without features there is nothing to judge: the sentence claims nothing, or it and the pages are
// not in English, which is all that the model has seen.
func SupportFeatures(s string, cited []*Page) []linear.Feature {
	sentence := Cited(s)
	if !checkable(sentence) {
		return nil
	}
	missing, _ := missingThings(sentence, cited)
	return supportFeatures(sentence, cited, missing)
}

func supportFeatures(sentence string, cited []*Page, missing []string) []linear.Feature {
	l := text.Language(sentence, text.Words(sentence))
	if l != "" && l != "en" || slices.ContainsFunc(cited, func(p *Page) bool { return p.language() != "en" }) {
		return nil
	}
	terms := termsOf(sentence)
	covered := make([]bool, len(terms))
	for _, p := range cited {
		p.cover(terms, covered)
	}
	near, names := 0, 0
	for i, t := range terms {
		if covered[i] {
			near++
		} else if t.name && !slices.ContainsFunc(cited, func(p *Page) bool { return len(p.places()[t.stem]) > 0 }) {
			names++
		}
	}
	features := []linear.Feature{
		{Name: "words together", Value: float64(near+1) / float64(len(terms)+1)},
		{Name: "names missing", Value: float64(min(names, mostNames)) / mostNames},
	}
	for _, check := range []string{checkQuote, checkDate, checkNumber} {
		if slices.Contains(missing, check) {
			features = append(features, linear.Feature{Name: check + " missing", Value: 1})
		}
	}
	return features
}
