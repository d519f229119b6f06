package evidence

import (
	"familiar/internal/text"
)

// kind is the type of answer that a question asks for.
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
	overview kind = "summary"
)

// asking are the words that ask for a kind.
var asking = text.Compile(map[string]string{
	string(someone):  "who, whom, whose, which person, which actor, which actress, which player, what player, which president, wer, wen, wem, wessen, qui, quien, quienes, quem, chi, кто, kto, 誰, 谁, 누구",
	string(someTime): "when, what year, which year, in what year, what date, what day, what time, how long ago, since when, what month, wann, seit wann, welches jahr, quand, en quelle annee, cuando, en que ano, quando, когда, в каком году, kiedy, いつ, 何年, 什么时候, 哪年, 언제",
	string(someSpot): "where, what city, which city, what country, which country, what state, which state, what place, wo, woher, wohin, dans quel pays, donde, onde, dove, где, откуда, gdzie, どこ, 哪里, 어디",
	string(amount):   "how many, how much, how old, how tall, how far, how long, how high, how big, how fast, how deep, how often, how hot, how cold, what percentage, what number, population, price of, cost of, wie viel, wie viele, wie alt, wie hoch, wie weit, wie lange, wie gross, combien, quel age, cuanto, cuantos, cuantas, cuanta, quanto, quantos, quantas, quanti, quante, сколько, ile, いくら, いくつ, 多少, 几, 몇, 얼마",
	string(reason):   "why, how come, reason for, warum, wieso, pourquoi, por que, perche, почему, dlaczego, なぜ, 为什么, 왜",
	string(manner):   "how to, how do, how does, how did, how can, wie kann, wie funktioniert, comment, como, come si, как",
	string(overview): "summarize, summarise, summary, sum up, tldr, tl dr, recap, outline, fasse zusammen, fass zusammen, zusammenfassen, zusammenfassung, resumer, resumir, resumen, resumo, riassumi, riassunto, подведи итог, кратко, 要約, 总结, 摘要, 요약",
	string(meaning):  "what is, what are, define, meaning of, what does, was ist, was bedeutet, qu'est-ce, que es, o que e, cos'e, что такое, とは, 什么是",
})

// answerType returns the type of answer that a question asks for.
func answerType(question string) kind {
	words := text.Words(question)
	best, at := anything, len(words)+1
	for _, f := range asking.FindAll(question, words) {
		// The first phrase wins, and "how many" over the "how" inside it. But "what is" yields to what follows: in "what
		// is the summary of" the end says what is wanted.
		if f.From < at || f.From == at && best == meaning || kind(f.Cue) == overview && best == meaning {
			best, at = kind(f.Cue), f.From
		}
	}
	return best
}
