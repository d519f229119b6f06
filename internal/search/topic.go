package search

import (
	"slices"
	"strings"
	"unicode"
)

// question holds, for a language, the words that a question or an order to explain begins with, and the small
// words that may follow them before the thing itself comes.
type question struct{ first, then []string }

func questions() map[string]question {
	set := func(first, then string) question { return question{strings.Fields(first), strings.Fields(then)} }
	return map[string]question{
		"en": set("who whos who's what whats what's which where wheres where's when define explain tell describe",
			"is are was were does do did the a an me us about of meaning exactly please mean"),
		"de": set("wer was wo wann welche welcher welches erkläre erklär definiere erzähl",
			"ist sind war waren bedeutet heißt der die das den dem ein eine einen mir uns über von bitte eigentlich"),
		"fr": set("qui que quoi quand où quel quelle qu'est-ce qu’est-ce c'est c’est définis explique",
			"est est-ce sont était étaient que quoi qu'est-ce c'est le la les l' un une des moi de du"),
		"es": set("quién quien quiénes qué que cuál cuándo dónde define explica",
			"es son era fue fueron significa el la los las un una me de sobre"),
		"it": set("chi cosa che cos'è cos’è quando dove definisci spiega",
			"è sono era fu erano significa il lo la i gli le un uno una mi di"),
		"pt": set("quem o que qual quando onde define defina explique",
			"que é são era foi eram significa o a os as um uma me de sobre"),
		"nl": set("wie wat waar wanneer welke definieer leg",
			"is zijn was waren betekent de het een mij uit over"),
	}
}

// topic is what a question is about: "Who was Ada Lovelace?" is "Ada Lovelace". An encyclopedia wants all the words
// of a query on the page, and no page about her has "who". What is not a question stays as it is.
func topic(text, language string) string {
	base, _ := locale(language)
	known := questions()
	q, ok := known[base]
	if !ok {
		q = known["en"]
	}
	all := strings.Fields(strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune(`()"`, r)
	}))
	rest := all
	for i, word := range all {
		word = strings.ToLower(word)
		if !slices.Contains(q.first, word) && (i == 0 || !slices.Contains(q.then, word)) {
			break
		}
		rest = all[i+1:]
	}
	if len(rest) == 0 {
		rest = all
	}
	return strings.Join(rest, " ")
}
