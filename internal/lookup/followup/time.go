package followup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// timeAt returns how many words at words[at:] are a time: one seen from now, a day of the week, a year, or a month with
// its day or year. Some of them are a time only behind a preposition.
func timeAt(words []text.Word, at int) int {
	n, cue := calendar.At(words, at)
	if n > 0 && cue != "" {
		return n
	}
	if n, cue = need.Times.Prefix(words[at:]); cue == "day" || cue == "week" || cue == "year" {
		return n
	}
	if n, _ := calendar.AtOnce.Prefix(words[at:]); n > 0 {
		return n
	}
	if _, is := calendar.DayNumber[words[at].Key]; is {
		return 1
	}
	year := func(i int) bool {
		return i < len(words) && text.YearPattern.MatchString(words[i].Key) && len(words[i].Key) == 4
	}
	switch {
	case year(at):
		return 1
	case text.MonthNames[words[at].Key] == 0:
	case year(at + 1):
		return 2
	case at+1 < len(words) && text.Numeric(words[at+1].Key) && year(at+2):
		return 3
	case at > 0 && text.Prepositions[words[at-1].Key] && words[at].Upper:
		return 1
	}
	return 0
}

// timeIn returns the range of the first time in a text, with its preposition.
func timeIn(words []text.Word) (from, to int) {
	for i := range words {
		if n := timeAt(words, i); n > 0 {
			if from = i; i > 0 && text.Prepositions[words[i-1].Key] {
				from--
			}
			return from, i + n
		}
	}
	return 0, 0
}

// isTime reports whether words are a time and nothing else: "tomorrow", "on Sunday", "the day after tomorrow".
func isTime(words []text.Word) bool {
	from, to := timeIn(words)
	return from == 0 && to == len(words) && to > 0
}

// inTime puts a time in the place of the one that stands in old[from:to], or behind all.
func inTime(before string, old []text.Word, from, to int, rest string, added []text.Word) string {
	switch {
	case to == 0:
		return before + " " + rest
	case text.Prepositions[old[from].Key] && len(added) == 1 && text.Numeric(added[0].Key) == text.Numeric(old[from+1].Key) && (text.Numeric(added[0].Key) || added[0].Upper):
		from++ // "2022" for "2018", "Monday" for "Sunday": the preposition stays
	}
	return replaced(before, old, from, to, rest)
}

// neighbours are the words for the time before or after one that was named: the unit, and the way.
var neighbours = text.Compile(map[string]string{
	"d-1": "the day before, day before, the previous day, der tag davor, am tag davor, la veille, le jour d'avant, el dia anterior, el dia antes, o dia anterior, il giorno prima",
	"d1":  "the day after, day after, the day after that, the next day, next day, the following day, der tag danach, am tag danach, le lendemain, le jour d'apres, le jour suivant, el dia siguiente, al dia siguiente, el dia despues, no dia seguinte, o dia seguinte, il giorno dopo",
	"w-1": "the week before, week before, the previous week, die woche davor, la semaine d'avant, la semana anterior, la settimana prima",
	"w1":  "the week after, week after, the week after that, the following week, die woche danach, la semaine d'apres, la semana siguiente, la settimana dopo",
	"m-1": "the month before, month before, the previous month, der monat davor, im monat davor, le mois d'avant, el mes anterior",
	"m1":  "the month after, month after, the month after that, the following month, der monat danach, im monat danach, le mois d'apres, el mes siguiente",
	"y-1": "the year before, year before, the previous year, das jahr davor, im jahr davor, l'annee d'avant, el ano anterior, o ano anterior, no ano anterior, годом раньше",
	"y1":  "the year after, year after, the year after that, the following year, das jahr danach, im jahr danach, l'annee d'apres, el ano siguiente, o ano seguinte, no ano seguinte, годом позже",
	"o-1": "the one before, the one before that, the previous one, the last one before that",
	"o1":  "the one after, the one after that, the next one",
})

// around are the words for the times around now by language and unit: the one before it, it and the one after, or of
// days five; then those for times farther ahead and longer ago.
var around = map[string]map[byte][]string{
	"en": {'d': {"the day before yesterday", "yesterday", "today", "tomorrow", "the day after tomorrow", "in %d days", "%d days ago"},
		'w': {"last week", "this week", "next week", "in %d weeks", "%d weeks ago"}, 'm': {"last month", "this month", "next month", "in %d months", "%d months ago"},
		'y': {"last year", "this year", "next year", "in %d years", "%d years ago"}},
	"de": {'d': {"vorgestern", "gestern", "heute", "morgen", "übermorgen", "in %d Tagen", "vor %d Tagen"},
		'w': {"letzte Woche", "diese Woche", "nächste Woche", "in %d Wochen", "vor %d Wochen"}, 'm': {"letzten Monat", "diesen Monat", "nächsten Monat", "in %d Monaten", "vor %d Monaten"},
		'y': {"letztes Jahr", "dieses Jahr", "nächstes Jahr", "in %d Jahren", "vor %d Jahren"}},
	"fr": {'d': {"avant-hier", "hier", "aujourd'hui", "demain", "après-demain", "dans %d jours", "il y a %d jours"},
		'w': {"la semaine dernière", "cette semaine", "la semaine prochaine", "dans %d semaines", "il y a %d semaines"}, 'm': {"le mois dernier", "ce mois-ci", "le mois prochain", "dans %d mois", "il y a %d mois"},
		'y': {"l'année dernière", "cette année", "l'année prochaine", "dans %d ans", "il y a %d ans"}},
	"es": {'d': {"anteayer", "ayer", "hoy", "mañana", "pasado mañana", "dentro de %d días", "hace %d días"},
		'w': {"la semana pasada", "esta semana", "la próxima semana", "dentro de %d semanas", "hace %d semanas"}, 'm': {"el mes pasado", "este mes", "el próximo mes", "dentro de %d meses", "hace %d meses"},
		'y': {"el año pasado", "este año", "el próximo año", "dentro de %d años", "hace %d años"}},
	"pt": {'d': {"anteontem", "ontem", "hoje", "amanhã", "depois de amanhã", "daqui a %d dias", "%d dias atrás"}},
	"it": {'d': {"l'altro ieri", "ieri", "oggi", "domani", "dopodomani", "tra %d giorni", "%d giorni fa"}},
}

// isNeighbour reports whether words are such a time and nothing else.
func isNeighbour(words []text.Word) bool {
	n, _ := neighbours.Prefix(words)
	return n > 0 && n == len(words)
}

// moved turns "and the day after?" into the question before it, of another time.
func moved(before, rest string) (string, bool) {
	words := text.Words(rest)
	n, cue := neighbours.Prefix(words)
	if n == 0 || n < len(words) {
		return "", false
	}
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old := text.Words(before)
	by, _ := strconv.Atoi(cue[1:])
	from, to := timeIn(old)
	if year := text.YearPattern.FindStringIndex(before); year != nil && (cue[0] == 'y' || cue[0] == 'o') {
		if cue[0] == 'y' {
			was, _ := strconv.Atoi(before[year[0]:year[1]])
			return before[:year[0]] + strconv.Itoa(was+by) + before[year[1]:], true
		}
		return replaced(before, old, from, to, map[int]string{-1: "before ", 1: "after "}[by]+before[year[0]:year[1]]), to > from
	}
	if to == 0 {
		with, ok := shifted(cue[0], by, before+" "+rest)
		return before + " " + with, ok
	}
	if day, is := calendar.DayNumber[old[to-1].Key]; is && cue[0] == 'd' {
		return replaced(before, old, to-1, to, weekday(old[to-1].Key, (day+by+7)%7)), true
	}
	at := from
	if text.Prepositions[old[from].Key] {
		at++
	}
	was := 0
	if _, c := calendar.At(old, at); c != "" && c[0] == cue[0] {
		was, _ = strconv.Atoi(c[1:])
	} else if c != "" {
		return "", false
	}
	with, ok := shifted(cue[0], was+by, before+" "+rest)
	return replaced(before, old, from, to, with), ok
}

// shifted words the time so many units from now in the language of a text.
func shifted(unit byte, by int, s string) (string, bool) {
	words := around[text.Language(s, text.Words(s))]
	if words == nil {
		words = around["en"]
	}
	row := words[unit]
	if len(row) == 0 {
		return "", false
	}
	named, now := len(row)-2, (len(row)-3)/2
	switch {
	case 0 <= now+by && now+by < named:
		return row[now+by], true
	case by > 0:
		return fmt.Sprintf(row[named], by), true
	}
	return fmt.Sprintf(row[named+1], -by), true
}

// weekday is the day of a number in the language of another's name.
func weekday(like string, number int) string {
	for _, row := range calendar.DayRows {
		if names := strings.Fields(row); slices.ContainsFunc(names, func(name string) bool { return text.Fold(name) == like }) {
			return names[number]
		}
	}
	return like
}
