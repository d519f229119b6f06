package websearch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// calendar are the words for days, weeks, months and years seen from now. The cue is the unit and how many of it
// away: "d-1" is yesterday. A cue of "" keeps a phrase from being taken for a shorter one.
var calendar = table(map[string]string{
	"d-2": "the day before yesterday, day before yesterday, vorgestern, avant-hier, anteayer, antes de ayer, anteontem, l'altro ieri, позавчера, 一昨日, おととい, 前天",
	"d-1": "yesterday, last night, yesterday evening, gestern, gestern abend, hier soir, ayer, anoche, ontem, ontem a noite, ieri, ieri sera, вчера, вчера вечером, gisteren, wczoraj, 昨日, 昨夜, 昨天",
	"d0":  "today, tonight, this evening, this morning, this afternoon, heute, heute abend, heute nacht, aujourd'hui, ce soir, ce matin, hoy, esta noche, hoje, esta noite, oggi, stasera, vandaag, сегодня, сегодня вечером, dzisiaj, 今日, 今夜, 今天",
	"d1":  "tomorrow, tomorrow night, tomorrow morning, morgen, morgen abend, demain, demain soir, manana, amanha, domani, завтра, jutro, 明日, 明天",
	"d2":  "the day after tomorrow, day after tomorrow, ubermorgen, apres-demain, pasado manana, depois de amanha, dopodomani, послезавтра, 明後日, 后天",
	"w-1": "last week, last weekend, letzte woche, vorige woche, letztes wochenende, la semaine derniere, semaine derniere, le week-end dernier, la semana pasada, semana pasada, na semana passada, semana passada, la settimana scorsa, на прошлой неделе, 先週, 上周",
	"w0":  "this week, this weekend, diese woche, dieses wochenende, cette semaine, ce week-end, esta semana, este fin de semana, este fim de semana, questa settimana, на этой неделе, 今週, 本周",
	"w1":  "next week, next weekend, nachste woche, kommende woche, nachstes wochenende, la semaine prochaine, semaine prochaine, la semana que viene, la proxima semana, semana que vem, na proxima semana, proxima semana, la settimana prossima, на следующей неделе, 来週, 下周",
	"m-1": "last month, letzten monat, vorigen monat, le mois dernier, mois dernier, el mes pasado, mes pasado, no mes passado, mes passado, il mese scorso, в прошлом месяце, 先月, 上个月",
	"m0":  "this month, diesen monat, ce mois-ci, este mes, questo mese, в этом месяце, 今月, 这个月",
	"m1":  "next month, nachsten monat, kommenden monat, le mois prochain, mois prochain, el mes que viene, el proximo mes, no proximo mes, mes que vem, il mese prossimo, в следующем месяце, 来月, 下个月",
	"y-1": "last year, letztes jahr, voriges jahr, im letzten jahr, l'annee derniere, annee derniere, el ano pasado, ano pasado, no ano passado, ano passado, l'anno scorso, в прошлом году, 去年, 昨年",
	"y0":  "this year, dieses jahr, in diesem jahr, cette annee, este ano, quest'anno, в этом году, 今年",
	"y1":  "next year, nachstes jahr, im nachsten jahr, l'annee prochaine, annee prochaine, el ano que viene, el proximo ano, no proximo ano, ano que vem, l'anno prossimo, в следующем году, 来年, 明年",
	"":    "por la manana, de la manana, pela manha, morgen fruh",
})

// weekdays are the names of the days from Sunday on, and how the last and the next one of a name are called.
var weekdays = func() phrases {
	rows := map[string]string{}
	for _, l := range []struct{ names, last, next string }{
		{"sunday monday tuesday wednesday thursday friday saturday", "last %s", "next %s"},
		{"sonntag montag dienstag mittwoch donnerstag freitag samstag", "letzten %s, vorigen %s, am letzten %s", "nachsten %s, kommenden %s, am nachsten %s"},
		{"dimanche lundi mardi mercredi jeudi vendredi samedi", "%s dernier", "%s prochain"},
		{"domingo lunes martes miercoles jueves viernes sabado", "el %s pasado, el pasado %s, %s pasado", "el proximo %s, el %s que viene, proximo %s"},
		{"domingo segunda terca quarta quinta sexta sabado", "%s passada, %s-feira passada, na %s passada, na %s-feira passada, ultima %s", "proxima %s, na proxima %s, %s que vem"},
		{"воскресенье понедельник вторник среду четверг пятницу субботу", "в прошлую %s, в прошлый %s, в прошлое %s", "в следующую %s, в следующий %s, в следующее %s"},
		{"日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日", "先週の%s", "来週の%s"},
	} {
		for i, name := range strings.Fields(l.names) {
			for dir, patterns := range map[string]string{"<": l.last, ">": l.next} {
				cue := dir + strconv.Itoa(i)
				rows[cue] += "," + strings.ReplaceAll(patterns, "%s", name)
			}
		}
	}
	return table(rows)
}()

// absolute replaces the words for days, weeks, months and years seen from now by their dates, and returns what it
// replaced: "yesterday → 19 November 2026". In quotation marks and in names with capitals they stay: "The Day After
// Tomorrow".
func absolute(text, lang string, now time.Time) (string, []string) {
	var steps []string
	put := func(phrase, cue string) string {
		with := dated(cue, lang, now)
		steps = append(steps, phrase+" → "+with)
		return with
	}
	for _, t := range []phrases{weekdays, calendar} { // of scripts without spaces, the longest first
		inside := slices.Clone(t.inside)
		slices.SortStableFunc(inside, func(a, b phrase) int { return cmp.Compare(len(b.words[0]), len(a.words[0])) })
		for _, p := range inside {
			if strings.Contains(text, p.words[0]) {
				text = strings.ReplaceAll(text, p.words[0], put(p.words[0], p.cue))
			}
		}
	}
	words := split(text)
	var out strings.Builder
	last := 0
	for i := 0; i < len(words); i++ {
		n, cue := calendar.at(words[i:])
		if m, day := weekdays.at(words[i:]); m > n {
			n, cue = m, day
		}
		if n == 0 || words[i].start < last {
			continue
		}
		title := i > 0 && words[i].upper || strings.Count(text[:words[i].start], `"`)%2 == 1
		if end := words[i+n-1].end; cue != "" && !title {
			out.WriteString(text[last:words[i].start] + put(text[words[i].start:end], cue))
			last = end
		}
		i += n - 1
	}
	return out.String() + text[last:], steps
}

// dated words a cue of the calendar as a date.
func dated(cue, lang string, now time.Time) string {
	n, _ := strconv.Atoi(cue[1:])
	switch cue[0] {
	case '<', '>':
		away := (n - int(now.Weekday()) + 7) % 7 // to the next day of that name, today included
		if cue[0] == '<' {
			away -= 7
		} else if away == 0 {
			away = 7
		}
		return dayWords(now.AddDate(0, 0, away), lang)
	case 'd':
		return dayWords(now.AddDate(0, 0, n), lang)
	case 'w':
		return monthWords(now.AddDate(0, 0, 7*n), lang)
	case 'm': // from the first: the last of a month has no fellow in every other
		return monthWords(time.Date(now.Year(), now.Month()+time.Month(n), 1, 12, 0, 0, 0, now.Location()), lang)
	}
	return strconv.Itoa(now.Year() + n)
}

// months are their names as they stand in a date.
var months = map[string][]string{
	"de": strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
	"fr": strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
	"es": strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
	"pt": strings.Fields("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
	"it": strings.Fields("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
	"ru": strings.Fields("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
}

func dayWords(t time.Time, lang string) string {
	switch lang {
	case "ja", "zh":
		return fmt.Sprintf("%d年%d月%d日", t.Year(), t.Month(), t.Day())
	case "de":
		return fmt.Sprintf("%d. %s", t.Day(), monthWords(t, lang))
	case "es", "pt":
		return fmt.Sprintf("%d de %s de %d", t.Day(), months[lang][t.Month()-1], t.Year())
	}
	return fmt.Sprintf("%d %s", t.Day(), monthWords(t, lang))
}

func monthWords(t time.Time, lang string) string {
	switch {
	case lang == "ja" || lang == "zh":
		return fmt.Sprintf("%d年%d月", t.Year(), t.Month())
	case months[lang] != nil:
		return fmt.Sprintf("%s %d", months[lang][t.Month()-1], t.Year())
	}
	return t.Format("January 2006")
}
