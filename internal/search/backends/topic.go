package backends

import (
	"slices"
	"strings"
	"unicode"

	"familiar/internal/search"
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
		"pl": set("kto co gdzie kiedy jaki jaka jakie zdefiniuj wyjaśnij", "to jest są był była było były znaczy mi o"),
		"ru": set("кто что где когда какой какая какое определи объясни расскажи", "такой такая такое такие это есть был была было были значит мне о об про"),
		"uk": set("хто що де коли який яка яке поясни розкажи", "такий така таке такі це є був була було були означає мені про"),
	}
}

// topic is what a question is about: "Who was Ada Lovelace?" is "Ada Lovelace". An encyclopedia wants all the words
// of a query on the page, and no page about her has "who". What is not a question stays as it is.
func topic(text, language string) string {
	base, _ := locale(languageOf(language, text))
	text = withoutAsking(text)
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

// withoutAsking drops what asks in the languages in which it is joined to the thing itself: "東京タワーとは何ですか" is about
// 東京タワー, "什么是黑洞" about 黑洞.
func withoutAsking(text string) string {
	bare := strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	for ending := range strings.FieldsSeq("とは何ですか とは何でしょうか とは何 とは誰ですか とは誰 って何ですか って何 って誰 は何ですか は誰ですか について教えて とは 是什么 是什麼 是谁 是誰") {
		if rest, ok := strings.CutSuffix(bare, ending); ok && rest != "" {
			return rest
		}
	}
	for beginning := range strings.FieldsSeq("什么是 什麼是 谁是 誰是") {
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
	for _, how := range []string{
		"how do i ", "how do you ", "how do we ", "how can i ", "how can you ", "how could i ", "how should i ", "how would i ", "how to ",
		"what do people say about ", "what do people think about ", "what do people think of ", "what do users say about ",
		"wie kann ich ", "wie mache ich ", "wie man ", "comment faire ", "comment puis-je ", "cómo puedo ", "cómo ", "как мне ", "как ",
	} {
		if len(text) > len(how) && strings.EqualFold(text[:len(how)], how) {
			text = text[len(how):]
			break
		}
	}
	return topic(text, q.Language)
}
