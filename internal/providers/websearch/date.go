package websearch

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// date is a date as far as it is given; 0 is what is not.
type date struct{ year, month, day int }

// monthNames in several languages, by their first letters, which tell them apart.
var monthNames = func() map[string]int {
	names := map[string]int{}
	for i, row := range [12]string{
		"january jan januar janvier enero janeiro gennaio januari января",
		"february feb februar fevrier febrero fevereiro febbraio februari февраля",
		"march mar marz mars marzo marco maart марта",
		"april apr avril abril aprile апреля",
		"may mai mayo maio maggio mei мая",
		"june jun juni juin junio junho giugno июня",
		"july jul juli juillet julio julho luglio июля",
		"august aug aout agosto augustus августа",
		"september sep sept septembre septiembre setembro settembre сентября",
		"october oct oktober octobre octubre outubro ottobre oktober октября",
		"november nov novembre noviembre novembro ноября",
		"december dec dezember decembre diciembre dezembro dicembre декабря",
	} {
		for _, name := range strings.Fields(row) {
			names[fold(name)] = i + 1
		}
	}
	return names
}()

// datePatterns match the ways to write a date; the order of the groups is told by their letters.
var datePatterns = []struct {
	order   string
	pattern *regexp.Regexp
}{
	{"ymd", regexp.MustCompile(`\b([12]\d{3})[-/.](\d{1,2})[-/.](\d{1,2})\b`)},
	{"ymd", regexp.MustCompile(`([12]\d{3})年(\d{1,2})月(\d{1,2})日`)},
	{"dmy", regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(\p{L}{3,10})\.?,?\s+(?:de\s+)?([12]\d{3})\b`)},
	{"mdy", regexp.MustCompile(`\b(\p{L}{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+([12]\d{3})\b`)},
	{"my", regexp.MustCompile(`\b(\p{L}{3,10})\.?,?\s+(?:of\s+|de\s+)?([12]\d{3})\b`)},
	{"dm", regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(\p{L}{3,10})\b`)},
	{"md", regexp.MustCompile(`\b(\p{L}{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?\b`)},
}

// datesIn returns the dates of s, and s without them, so that their parts are not checked again one by one.
func datesIn(s string) (found []date, rest string) {
	for _, p := range datePatterns {
		s = p.pattern.ReplaceAllStringFunc(s, func(m string) string {
			d, ok := parseDate(p.order, p.pattern.FindStringSubmatch(m)[1:])
			if !ok {
				return m
			}
			found = append(found, d)
			return " ; " // so that what stood on both sides stays apart
		})
	}
	return found, s
}

func parseDate(order string, parts []string) (d date, ok bool) {
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if order[i] == 'm' && err != nil {
			n = monthNames[fold(part)]
		}
		switch order[i] {
		case 'y':
			d.year = n
		case 'm':
			d.month = n
		case 'd':
			d.day = n
		}
	}
	return d, 1 <= d.month && d.month <= 12 && d.day <= 31 && (d.day > 0 || !strings.Contains(order, "d"))
}

// relative are the words for days seen from now; the cue is how many days away.
var relative = table(map[string]string{
	"0":  "today, tonight, right now, now, currently, this evening, this morning, this afternoon, heute, jetzt, heute abend, aujourd'hui, maintenant, ce soir, hoy, ahora, esta noche, hoje, agora, oggi, adesso, vandaag, сегодня, сейчас, dzisiaj, bugun, 今日, 今, 今天, 现在, 오늘, 지금",
	"1":  "tomorrow, morgen, demain, manana, amanha, domani, завтра, jutro, yarin, 明日, 明天, 내일",
	"-1": "yesterday, last night, gestern, hier soir, ayer, ontem, ieri, вчера, wczoraj, dun, 昨日, 昨天, 어제",
})

// dayAsked returns the day that a question names in words like "tomorrow", or the zero date.
func dayAsked(text string, words []word, now time.Time) date {
	for _, f := range relative.in(text, words) {
		if n, err := strconv.Atoi(f.cue); err == nil {
			day := now.AddDate(0, 0, n)
			return date{day.Year(), int(day.Month()), day.Day()}
		}
	}
	return date{}
}
