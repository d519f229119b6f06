// Package calendar reads words for times seen from now, such as "yesterday", "last Friday" and "3 days ago", and gives
// their dates.
//
// relative.go finds the words: [At] gives each time a cue, its unit and how many of it away. absolute.go makes dates of
// cues: [Absolute] writes them into a text, and [Day] returns the day that a question is about.
package calendar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text"
)

// Calendar are the words for days, weeks, months and years seen from now. The cue is the unit and how many of it
// away: "d-1" is yesterday. A cue of "" keeps a phrase from being taken for a shorter one.
var Calendar = text.Compile(map[string]string{
	"d-2": "the day before yesterday, day before yesterday, vorgestern, avant-hier, anteayer, antes de ayer, anteontem, l'altro ieri, позавчера, 一昨日, おととい, 前天",
	"d-1": "yesterday, last night, yesterday evening, gestern, gestern abend, hier soir, ayer, anoche, ontem, ontem a noite, ieri, ieri sera, вчера, вчера вечером, gisteren, wczoraj, dun, 昨日, 昨夜, 昨天, 어제",
	"d0":  "today, tonight, this evening, this morning, this afternoon, heute, heute abend, heute nacht, aujourd'hui, ce soir, ce matin, hoy, esta noche, hoje, esta noite, oggi, stasera, vandaag, сегодня, сегодня вечером, dzisiaj, bugun, 今日, 今夜, 今天, 오늘",
	"d1":  "tomorrow, tomorrow night, tomorrow morning, morgen, morgen abend, demain, demain soir, manana, amanha, domani, завтра, jutro, yarin, 明日, 明天, 내일",
	"d2":  "the day after tomorrow, day after tomorrow, ubermorgen, apres-demain, pasado manana, depois de amanha, dopodomani, послезавтра, 明後日, 后天",
	"w-1": "last week, letzte woche, vorige woche, la semaine derniere, semaine derniere, la semana pasada, semana pasada, na semana passada, semana passada, la settimana scorsa, на прошлой неделе, 先週, 上周",
	"w0":  "this week, diese woche, cette semaine, esta semana, questa settimana, на этой неделе, 今週, 本周",
	"w1":  "next week, nachste woche, kommende woche, la semaine prochaine, semaine prochaine, la semana que viene, la proxima semana, semana que vem, na proxima semana, proxima semana, la settimana prossima, на следующей неделе, 来週, 下周",
	"e-1": "last weekend, letztes wochenende, le week-end dernier, el fin de semana pasado, o fim de semana passado, lo scorso fine settimana",
	"e0":  "this weekend, dieses wochenende, am wochenende, ce week-end, este fin de semana, este fim de semana, questo fine settimana",
	"e1":  "next weekend, nachstes wochenende, kommendes wochenende, le week-end prochain, el proximo fin de semana, o proximo fim de semana, il prossimo fine settimana",
	"m-1": "last month, letzten monat, vorigen monat, le mois dernier, mois dernier, el mes pasado, mes pasado, no mes passado, mes passado, il mese scorso, в прошлом месяце, 先月, 上个月",
	"m0":  "this month, diesen monat, ce mois-ci, este mes, questo mese, в этом месяце, 今月, 这个月",
	"m1":  "next month, nachsten monat, kommenden monat, le mois prochain, mois prochain, el mes que viene, el proximo mes, no proximo mes, mes que vem, il mese prossimo, в следующем месяце, 来月, 下个月",
	"q-1": "last quarter, letztes quartal, im letzten quartal, le trimestre dernier, au trimestre dernier, el trimestre pasado, o trimestre passado",
	"q0":  "this quarter, the current quarter, dieses quartal, ce trimestre, este trimestre, neste trimestre",
	"q1":  "next quarter, nachstes quartal, im nachsten quartal, le trimestre prochain, au trimestre prochain, el proximo trimestre, o proximo trimestre",
	"y-1": "last year, letztes jahr, voriges jahr, im letzten jahr, l'annee derniere, annee derniere, el ano pasado, ano pasado, no ano passado, ano passado, l'anno scorso, в прошлом году, 去年, 昨年",
	"y0":  "this year, dieses jahr, in diesem jahr, cette annee, este ano, quest'anno, в этом году, 今年",
	"y1":  "next year, nachstes jahr, im nachsten jahr, l'annee prochaine, annee prochaine, el ano que viene, el proximo ano, no proximo ano, ano que vem, l'anno prossimo, в следующем году, 来年, 明年",
	"":    "por la manana, de la manana, pela manha, morgen fruh",
})

// whichOf are the days of the week, the months and the seasons with a word for which of them is meant: "last Friday", "this
// summer", "next May". The cue is "<", "=" or ">", what it is, and its number, from Sunday, January or spring on.
var whichOf = func() text.Phrases {
	rows := map[string]string{}
	for _, l := range []struct{ days, months, seasons, last, this, next string }{
		{"sunday monday tuesday wednesday thursday friday saturday", "january february march april may june july august september october november december", "spring summer autumn winter",
			"last %s", "this %s, this coming %s", "next %s"},
		{"", "", "- - fall -", "last %s", "this %s", "next %s"},
		{"sonntag montag dienstag mittwoch donnerstag freitag samstag", "januar februar marz april mai juni juli august september oktober november dezember", "fruhling sommer herbst winter",
			"letzten %s, vorigen %s, am letzten %s, im letzten %s", "diesen %s, in diesem %s", "nachsten %s, kommenden %s, am nachsten %s, im nachsten %s"},
		{"dimanche lundi mardi mercredi jeudi vendredi samedi", "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre", "printemps ete automne hiver",
			"%s dernier", "ce %s, cet %s", "%s prochain"},
		{"domingo lunes martes miercoles jueves viernes sabado", "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", "primavera verano otono invierno",
			"el %s pasado, el pasado %s, %s pasado", "este %s", "el proximo %s, el %s que viene, proximo %s"},
		{"domingo segunda terca quarta quinta sexta sabado", "", "",
			"%s passada, %s-feira passada, na %s passada, na %s-feira passada, ultima %s", "nesta %s, esta %s", "proxima %s, na proxima %s, %s que vem"},
		{"воскресенье понедельник вторник среду четверг пятницу субботу", "", "",
			"в прошлую %s, в прошлый %s, в прошлое %s", "в эту %s, в этот %s, в это %s", "в следующую %s, в следующий %s, в следующее %s"},
		{"日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日", "", "", "先週の%s", "今週の%s", "来週の%s"},
	} {
		for kind, names := range map[string]string{"d": l.days, "m": l.months, "s": l.seasons} {
			for i, name := range strings.Fields(names) {
				for dir, patterns := range map[string]string{"<": l.last, "=": l.this, ">": l.next} {
					if name != "-" {
						rows[dir+kind+strconv.Itoa(i)] += "," + strings.ReplaceAll(patterns, "%s", name)
					}
				}
			}
		}
	}
	return text.Compile(rows)
}()

// DayRows are the names of the days in several languages, from Sunday on.
var DayRows = []string{
	"Sunday Monday Tuesday Wednesday Thursday Friday Saturday", "Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag", "dimanche lundi mardi mercredi jeudi vendredi samedi",
	"domingo lunes martes miércoles jueves viernes sábado", "domenica lunedì martedì mercoledì giovedì venerdì sabato", "воскресенье понедельник вторник среду четверг пятницу субботу",
}

// DayNumber are the days of the week by their names, from Sunday on.
var DayNumber = func() map[string]int {
	days := map[string]int{}
	for _, row := range DayRows {
		for i, name := range strings.Fields(row) {
			days[text.Fold(name)] = i
		}
	}
	return days
}()

// sinceWords are those behind which a day of the week is the last of that name: "since Monday".
var sinceWords = text.Set("since seit depuis desde")

// spelledCounts are small numbers numbers in words, and units those that time is counted in, by the letters of the calendar's cues.
var (
	spelledCounts = byRow("a an one ein eine einem einer einen un une una um uma один одну", "two zwei deux dos dois duas due два две", "three drei trois tres tre три",
		"four vier quatre cuatro quatro quattro четыре", "five funf cinq cinco cinque пять", "six sechs seis sei шесть", "seven sieben sept siete sete sette семь",
		"eight acht huit ocho oito otto восемь", "nine neun neuf nueve nove девять", "ten zehn dix diez dez dieci десять")
	units = func() map[string]string {
		all := map[string]string{}
		for unit, row := range map[string]string{
			"d": "day days tag tage tagen jour jours dia dias giorno giorni день дня дней", "w": "week weeks woche wochen semaine semaines semana semanas settimana settimane неделю недели недель",
			"m": "month months monat monate monaten mois mes meses mese mesi месяц месяца месяцев", "y": "year years jahr jahre jahren an ans annee annees ano anos anno anni год года лет",
		} {
			for w := range text.Set(row) {
				all[w] = unit
			}
		}
		return all
	}()
)

func byRow(rows ...string) map[string]int {
	all := map[string]int{}
	for i, row := range rows {
		for w := range text.Set(row) {
			all[w] = i + 1
		}
	}
	return all
}

// What stands before or behind a number of days that lie in the past or ahead. "In" is more often said of how long
// something takes, and is heard only where lasting finds no word of that.
var (
	pastBefore  = text.Compile(map[string]string{"-": "vor, il y a, hace"})
	pastBehind  = text.Set("ago fa назад atras")
	aheadBefore = text.Compile(map[string]string{"+": "dans, dentro de, daqui a, tra, fra, через", "in": "in"})
	lasting     = text.Set("how can could possible take took learn wie kann konnte moglich lernen")
	ahead       = text.Set("will is are happening going next upcoming wird werden ist sind kommt")
)

// countedAt reads "3 days ago" and "in two weeks" at the beginning of words[at:]: how many words that are, and their cue.
func countedAt(words []text.Word, at int) (n int, cue string) {
	rest := words[at:]
	n, sign := pastBefore.Prefix(rest)
	if n == 0 {
		n, sign = aheadBefore.Prefix(rest)
	}
	if n+1 >= len(rest) {
		return 0, ""
	}
	count, unit, end := spelledCounts[rest[n].Key], units[rest[n+1].Key], n+2
	if text.Numeric(rest[n].Key) {
		count, _ = strconv.Atoi(rest[n].Key)
	}
	switch {
	case count == 0 || count > 5000 || unit == "":
		return 0, ""
	case n == 0 && end < len(rest) && pastBehind[rest[end].Key]:
		end, sign = end+1, "-"
	case n == 0:
		return 0, ""
	case sign == "in" && (count < 2 || unit == "m" || unit == "y" || text.ContainsAny(words, lasting) || !text.ContainsAny(words, ahead)):
		return 0, ""
	}
	if sign != "-" {
		sign = ""
	}
	return end, unit + sign + strconv.Itoa(count)
}

// endsPhrase reports whether no noun follows, unless behind a mark: "next winter" is a time, and "next winter olympics"
// is none.
func endsPhrase(words []text.Word, at int) bool {
	return at >= len(words) || text.StopWords[words[at].Key] || text.Prepositions[words[at].Key] || words[at].Start > words[at-1].End+1
}

// At reads the words for a time seen from now that begin at words[at]: how many they are, and the time's cue. The cue is
// "" for words that only look like a time.
func At(words []text.Word, at int) (n int, cue string) {
	n, cue = Calendar.Prefix(words[at:])
	if m, c := whichOf.Prefix(words[at:]); m > n && (c[1] == 'd' || endsPhrase(words, at+m)) {
		n, cue = m, c
	}
	if m, c := countedAt(words, at); m > n {
		n, cue = m, c
	}
	if n == 0 && at > 0 && sinceWords[words[at-1].Key] {
		if day, ok := DayNumber[words[at].Key]; ok {
			return 1, "<d" + strconv.Itoa(day)
		}
	}
	return n, cue
}

// DayLike returns the name of a day of the week, from Sunday on, in the language of another day's name. The number may
// be that of a day in the week before or after.
func DayLike(name string, number int) string {
	for _, row := range DayRows {
		if names := strings.Fields(row); slices.ContainsFunc(names, func(n string) bool { return text.Fold(n) == name }) {
			return names[(number+7)%7]
		}
	}
	return name
}

// UnspacedMoments are the phrases of scripts without spaces, the longest first.
var UnspacedMoments = func() []text.Phrase {
	all := slices.Concat(whichOf.Inside, Calendar.Inside)
	slices.SortStableFunc(all, func(a, b text.Phrase) int { return cmp.Compare(len(b.Words[0]), len(a.Words[0])) })
	return all
}()

// AtOnce are the words for now.
var AtOnce = text.Compile(map[string]string{"d0": "right now, now, currently, jetzt, maintenant, ahora, agora, adesso, сейчас, 今, 现在, 지금"})
