package calendar

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Back reads how far back somebody wants to look, which is all that s says: "3h", "2 days", "yesterday", "since Monday", in any language of
// the tables. Other than in a sentence, a word that means something else in another language is taken for a time: "hier".
func Back(s string, now time.Time) (from time.Time, ok bool) {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	if d, err := time.ParseDuration(strings.ReplaceAll(s, " ", "")); err == nil {
		return now.Add(-d), d > 0
	}
	bare := withoutSince(s)
	if m := amount.FindStringSubmatch(bare); m != nil {
		n, _ := strconv.Atoi(m[1])
		return before(now, n, amountUnits[text.Fold(m[2])])
	}
	if day, ok := weekdayOf(bare); ok {
		from, ok = (Moment{which: '<', unit: 'd', n: day}).day(now)
		return midnight(from), ok
	}
	if n, ok := aloneDays[bare]; ok {
		return midnight(now.AddDate(0, 0, n)), true
	}
	for _, s := range []string{s, bare, "last " + bare, "the last " + strings.TrimPrefix(bare, "last ")} {
		if found, _, ok := Past(s, text.Words(s), now); ok {
			return found.From, true
		}
	}
	return time.Time{}, false
}

// aloneDays are words for days that are too short, or mean too much else, for the tables.
var aloneDays = map[string]int{"hier": -1, "avant-hier": -2, "anteayer": -2, "anteontem": -2, "一昨日": -2, "おととい": -2, "きのう": -1}

// amount is a number of units of time, with nothing around it but words for what is past.
var (
	amountUnits = text.ByWord(map[string]lang.Words{
		"i": "min mins minute minutes minuten minuto minutos 分 分間 分前",
		"h": "h hr hrs hour hours std stunde stunden heure heures hora horas 時間 時間前",
		"d": "d day days tag tage tagen jour jours dia dias día días 日 日間 日前",
		"w": "w week weeks woche wochen semaine semaines semana semanas 週間 週間前",
		"m": "month months monat monate monaten mois mes meses mês か月 ヶ月 か月前 ヶ月前",
	})
	amount = regexp.MustCompile(`^(?:(?:the |die |den |les |las |los |os |as )?(?:last|past|letzten|vergangenen|derniers|dernières|últimos|últimas|hace|há|ha|il y a|vor) )?(\d{1,4}) ?([^\d\s]+)(?: (?:ago|atrás|passadas|pasadas|passados|pasados))?$`)
)

func before(now time.Time, n int, unit string) (time.Time, bool) {
	switch {
	case n < 1:
	case unit == "i":
		return now.Add(-time.Duration(n) * time.Minute), true
	case unit == "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case unit == "d":
		return now.AddDate(0, 0, -n), true
	case unit == "w":
		return now.AddDate(0, 0, -7*n), true
	case unit == "m":
		return now.AddDate(0, -n, 0), true
	}
	return time.Time{}, false
}

// withoutSince takes away what says no more than that it is from then until now.
func withoutSince(s string) string {
	first, rest, more := strings.Cut(s, " ")
	if more && sinceWords[text.Fold(first)] {
		s = rest
		for _, article := range []string{"el ", "le ", "la ", "a ", "o "} {
			s = strings.TrimPrefix(s, article)
		}
	}
	for _, particle := range []string{"から", "以来"} {
		s = strings.TrimSuffix(s, particle)
	}
	return s
}

// weekdayOf returns the number of a day of the week, also by the names that mean too much else for the tables.
func weekdayOf(s string) (day int, ok bool) {
	if day, ok = Weekday(text.Fold(s)); ok {
		return day, true
	}
	day, ok = aloneWeekdays[strings.TrimSuffix(strings.TrimSuffix(s, "-feira"), "日")]
	return day, ok
}

var aloneWeekdays = map[string]int{
	"segunda": 1, "terça": 2, "quarta": 3, "quinta": 4, "sexta": 5,
	"日曜": 0, "月曜": 1, "火曜": 2, "水曜": 3, "木曜": 4, "金曜": 5, "土曜": 6,
}
