package backends

import (
	"strings"
	"unicode"

	"familiar/internal/search"
	"familiar/internal/text/lang"
)

// topic is what a question is about: "Who was Ada Lovelace?" is "Ada Lovelace". An encyclopedia wants all the words
// of a query on the page, and no page about her has "who". What is not a question stays as it is.
func topic(text, language string) string {
	base, _ := locale(languageOf(language, text))
	text = withoutAsking(text)
	words := lang.Of(base)
	if words.Topic.First == "" {
		words = lang.Of("en")
	}
	all := strings.Fields(strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune(`()"`, r)
	}))
	rest := all
	for i, word := range all {
		word = strings.ToLower(word)
		if !words.Question.Things.Has(word) && !words.Topic.First.Has(word) && (i == 0 || !words.Topic.Then.Has(word)) {
			break
		}
		rest = all[i+1:]
	}
	if len(rest) == 0 {
		rest = all
	}
	return strings.Join(rest, " ")
}

// withoutAsking drops what asks in the languages in which it is joined to the thing itself: "東京タワーとは何ですか" is about
// 東京タワー, "什么是黑洞" about 黑洞.
func withoutAsking(text string) string {
	bare := strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	for ending := range strings.FieldsSeq(string(lang.All().Topic.Endings)) {
		if rest, ok := strings.CutSuffix(bare, ending); ok && rest != "" {
			return rest
		}
	}
	for beginning := range strings.FieldsSeq(string(lang.All().Topic.Beginnings)) {
		if rest, ok := strings.CutPrefix(bare, beginning); ok && rest != "" {
			return rest
		}
	}
	return text
}

// problem is topic for the places where people help each other: "How do I sort a slice?" is "sort a slice". They look
// for all the words of a query, and what has been asked there is rarely asked with these.
func problem(q search.Query) string {
	text := strings.TrimSpace(q.Text)
	for how := range strings.SplitSeq(string(lang.All().Topic.Problems), ",") {
		how = strings.TrimSpace(how) + " "
		if len(text) > len(how) && strings.EqualFold(text[:len(how)], how) {
			text = text[len(how):]
			break
		}
	}
	return topic(text, q.Language)
}
