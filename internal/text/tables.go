package text

import (
	"regexp"
)

var SpelledNumbers = Set("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen half quarter double triple")

var Negations = Set("not never no none nobody nothing neither nor without cannot nicht kein keine keinen nie niemals ne pas jamais aucun ningun ninguna nunca jamas nao nenhum non mai nessun niet geen не нет никогда")

func Denies(s string) bool {
	for _, w := range Words(s) {
		if Negations[w.Key] {
			return true
		}
	}
	return false
}

// YearPattern is one from 1000 to 2099.
var YearPattern = regexp.MustCompile(`\b(1[0-9]{3}|20[0-9]{2})\b`)

// StopWords carry no meaning in a search.
var StopWords = Set("a an the is are was were be been being am do does did has have had will would can could should shall may might must of in on at to for from by with about as into and or but if than then so that this these those it its there here " +
	"who what when where which whose whom why how many much i me my we us our you your he she they them his her their him not no just also please tell know find show give get " +
	"der die das ein eine einer eines einem einen den dem des und oder ist sind war waren wird werden hat haben in im am an auf zu zum zur von mit fur bei nach aus wer was wann wo wie warum welche welcher welches viele viel es " +
	"le la les un une des du de et ou est sont etait qui que quoi quand quel quelle combien comment pourquoi dans sur pour par avec au aux en " +
	"el los las una del y o es son fue era quien cual cuando donde cuanto cuantos como por para con al se " +
	"os um uma do da dos das e sao foi quem qual onde quanto quantos no na nos nas com ao " +
	"il lo gli di della del chi cosa quando dove quanto perche per con nel sono " +
	"и в на с из по за для от до о об это как что кто где когда какой какая какие сколько почему был была были есть")

// Prepositions are the prepositions that a slot begins with.
var Prepositions = Set("in at for on to from near of by with during since im am fur nach aus bei von vom under over below above via against without unter uber gegen ohne sous contre sans contra sin pour dans en a au aux de du des del do da dos das em para desde nel per в на из для w na dla")

// Pronouns stand for somebody or something named before. The value tells what: "he" a person, "it" a thing, and
// with an s the owner of something.
var Pronouns = map[string]string{
	"he": "he", "she": "he", "him": "he", "his": "he's", "her": "he's", "hers": "he's",
	"it": "it", "its": "it's", "they": "it", "them": "it", "their": "it's", "that": "it", "this": "it",
	"sie": "he", "er": "he", "ihn": "he", "ihm": "he", "elle": "he", "lui": "he", "ella": "he", "ele": "he", "ela": "he", "он": "he", "она": "he", "его": "he's", "ее": "he's",
	"there": "there", "dort": "there", "alli": "there", "alla": "there", "там": "there",
}
