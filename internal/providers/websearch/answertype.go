package websearch

import (
	"regexp"
	"strings"
)

// kind is what kind of thing answers a question.
type kind string

const (
	anything kind = ""
	someone  kind = "person"
	someTime kind = "time"
	someSpot kind = "place"
	amount   kind = "number"
	reason   kind = "reason"
	manner   kind = "manner"
	meaning  kind = "definition"
)

// asking are the words that ask for a kind.
var asking = table(map[string]string{
	string(someone):  "who, whom, whose, which person, which actor, which actress, which player, what player, which president, wer, wen, wem, wessen, qui, quien, quienes, quem, chi, кто, kto, 誰, 谁, 누구",
	string(someTime): "when, what year, which year, in what year, what date, what day, what time, how long ago, since when, what month, wann, seit wann, welches jahr, quand, en quelle annee, cuando, en que ano, quando, когда, в каком году, kiedy, いつ, 何年, 什么时候, 哪年, 언제",
	string(someSpot): "where, what city, which city, what country, which country, what state, which state, what place, wo, woher, wohin, dans quel pays, donde, onde, dove, где, откуда, gdzie, どこ, 哪里, 어디",
	string(amount):   "how many, how much, how old, how tall, how far, how long, how high, how big, how fast, how deep, how often, how hot, how cold, what percentage, what number, population, price of, cost of, wie viel, wie viele, wie alt, wie hoch, wie weit, wie lange, wie gross, combien, quel age, cuanto, cuantos, cuantas, cuanta, quanto, quantos, quantas, quanti, quante, сколько, ile, いくら, いくつ, 多少, 几, 몇, 얼마",
	string(reason):   "why, how come, reason for, warum, wieso, pourquoi, por que, perche, почему, dlaczego, なぜ, 为什么, 왜",
	string(manner):   "how to, how do, how does, how did, how can, wie kann, wie funktioniert, comment, como, come si, как",
	string(meaning):  "what is, what are, define, meaning of, what does, was ist, was bedeutet, qu'est-ce, que es, o que e, cos'e, что такое, とは, 什么是",
})

func answerType(question string) kind {
	words := split(question)
	best, at := anything, len(words)+1
	for _, f := range asking.in(question, words) {
		// "how many" beats the "how" inside it, what stands first beats what comes later
		if f.from < at || f.from == at && best == meaning {
			best, at = kind(f.cue), f.from
		}
	}
	return best
}

var (
	hasNumber = regexp.MustCompile(`(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|dozen|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)\b`)
	hasTime   = regexp.MustCompile(`(?i)\b(?:1[0-9]{3}|20[0-9]{2})\b|\d{1,2}:\d{2}|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b|年|월|世纪`)
	hasSpot   = regexp.MustCompile(`\b(?:in|at|near|from|on|to|of|located|im|en|à|au|nel|na|no)\s+(?:the\s+)?(?:\p{Lu}[\pL'’-]+)`)
	hasName   = regexp.MustCompile(`\p{Lu}[\pL'’.-]+\s+(?:(?:de|van|von|der|la|of|bin|al)\s+)*\p{Lu}[\pL'’-]+`)
	hasReason = regexp.MustCompile(`(?i)\b(?:because|due to|since|owing to|caused by|as a result|in order to|so that|reason|weil|wegen|parce que|car|porque|perché)\b|потому`)
	hasManner = regexp.MustCompile(`(?i)\b(?:by|using|first|then|through|via|with|step|durch|mit)\b`)
	hasIs     = regexp.MustCompile(`(?i)\b(?:is|are|was|were|means|refers to|defined as|known as|ist|sind|est|sont|es|son|é|è)\b|とは|是`)
)

// bonus is what a sentence gains by holding the kind of thing that was asked for, beyond what the question
// names itself.
func (k kind) bonus(s, question string) float64 {
	switch k {
	case someone:
		return worth(newMatch(hasName, s, question), 1.4)
	case someTime:
		return worth(newMatch(hasTime, s, question), 1.8)
	case someSpot:
		return worth(newMatch(hasSpot, s, question), 1.2)
	case amount:
		return worth(newMatch(hasNumber, s, question), 1.5)
	case reason:
		return worth(hasReason.MatchString(s), 1.5)
	case manner:
		return worth(hasManner.MatchString(s), 0.6)
	case meaning:
		return worth(hasIs.MatchString(s), 0.6)
	}
	return 0
}

func worth(yes bool, n float64) float64 {
	if yes {
		return n
	}
	return 0
}

// newMatch reports whether pattern finds something in s that is not in the question.
func newMatch(pattern *regexp.Regexp, s, question string) bool {
	for _, m := range pattern.FindAllString(s, 8) {
		if !strings.Contains(strings.ToLower(question), strings.ToLower(m)) {
			return true
		}
	}
	return false
}
