package backend

import (
	"encoding/json"
	"familiar/internal/text"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of the strings in a reply, in characters. A backend is not trusted to be brief.
const (
	maxTitle   = 300
	maxSnippet = 1000
	maxProse   = 8000
)

// line turns plain text into one line. Control characters and invalid bytes become spaces, runs of spaces become one,
// and text after max characters is cut. It does not make text safe for a prompt.
func line(s string, max int) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			gap = n > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			n, gap = n+1, false
		}
		if n >= max {
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSuffix(b.String(), " ")
}

// prose is line for text of several paragraphs, one per line.
func prose(s string, max int) string {
	var kept []string
	for paragraph := range strings.Lines(s) {
		paragraph = line(paragraph, max)
		if paragraph == "" {
			continue
		}
		kept = append(kept, paragraph)
		if max -= utf8.RuneCountInString(paragraph) + 1; max <= 0 {
			break
		}
	}
	return strings.Join(kept, "\n")
}

// unmark removes the markup from a snippet and unescapes its entities once. A tag that HTML does not know is text, so
// "List<String>" stays whole.
func unmark(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for hidden := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if text := z.Text(); !hidden {
				b.Write(text)
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			token := z.Token()
			hidden = token.Type == html.StartTagToken && (token.DataAtom == atom.Script || token.DataAtom == atom.Style)
			switch token.DataAtom {
			case 0:
				b.WriteString(raw)
			case atom.Br, atom.P, atom.Div, atom.Li, atom.Pre, atom.Blockquote, atom.H1, atom.H2, atom.H3, atom.Tr, atom.Td:
				b.WriteByte(' ')
			}
		}
	}
}

// unmarkdown removes common Markdown and HTML from the beginning of a page or a post. Pictures are dropped.
func unmarkdown(s string) string {
	s = unmark(cutWords(s, maxProse))
	s = markdownImage.ReplaceAllString(s, "")
	s = markdownLink.ReplaceAllString(s, "$1")
	s = markdownLine.ReplaceAllString(s, "")
	s = markdownStrong.ReplaceAllString(s, "$2")
	return strings.NewReplacer("`", "", "|", " ", "\\", "", "\u200b", "").Replace(s)
}

var (
	markdownImage  = text.NewLazyRegexp(`!\[[^\]]*\]\([^)]*\)`)
	markdownLink   = text.NewLazyRegexp(`\[([^\]]*)\]\([^)]*\)`)
	markdownLine   = text.NewLazyRegexp(`(?m)^[ \t]*(#{1,6} |>+ ?|[-*+] |(?:[-*_] ?){3,}$)+`)
	markdownStrong = text.NewLazyRegexp(`(\*\*|~~)([^*~\n]+)(?:\*\*|~~)`)
)

// absolute resolves an address against the page that contains it; it returns "" if the address is invalid.
func absolute(address, page string) string {
	base, err := url.Parse(page)
	if err != nil {
		return ""
	}
	address = strings.TrimSpace(address)
	if strings.HasPrefix(address, "//") {
		base.Scheme = "https" // all pages have it today
	}
	u, err := base.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	u.User = nil
	return u.String()
}

// cutWords shortens a query to at most max characters, at a space if there is one.
func cutWords(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	s = string([]rune(s)[:max])
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	return s
}

// untable returns a passage in words. If the passage is JSON, these are its names and values in order.
func untable(passage string) string {
	if !strings.HasPrefix(passage, "{") && !strings.HasPrefix(passage, "[") || !json.Valid([]byte(passage)) {
		return passage
	}
	var words []string
	for tokens := json.NewDecoder(strings.NewReader(passage)); ; {
		token, err := tokens.Token()
		if err != nil {
			return strings.Join(words, " ")
		}
		if _, bracket := token.(json.Delim); !bracket && token != nil {
			words = append(words, fmt.Sprint(token))
		}
	}
}

// Layouts of publication times that give the instant. time.Parse accepts fractions of seconds in all of them.
var instantLayouts = [...]string{time.RFC3339, time.RFC1123, time.RFC1123Z, "01/02/2006, 03:04 PM, -0700 MST", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05-0700"}

// Layouts that give the day, or the hour without a zone. None can be read in two ways.
var dayLayouts = [...]string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly, "Jan 2, 2006", "January 2, 2006", "Monday, January 2, 2006",
	"2 Jan 2006", "2 January 2006", "02.01.2006", "2.1.2006",
}

// dated reads a publication time from a service's texts. It reads timestamps, days, and ages such as "3 hours ago", counted back from now.
// The first text with an hour wins, else the first with a day. Vaguer ages ("2 months ago") and times after tomorrow are not dates.
func dated(now time.Time, texts ...string) (at time.Time, dayOnly bool) {
	for _, text := range texts {
		t, day := dateOf(now, strings.TrimSpace(text))
		switch {
		case t.Year() <= 1900 || t.After(now.Add(48*time.Hour)):
		case !day:
			return t, false
		case at.IsZero():
			at, dayOnly = t, true
		}
	}
	return at, dayOnly
}

func dateOf(now time.Time, text string) (at time.Time, dayOnly bool) {
	if len(text) > 64 {
		return time.Time{}, false
	}
	for _, layout := range instantLayouts {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// time.Parse accepts unknown zone abbreviations without understanding them. Midnight is how a timestamp field
		// shows a day.
		if zone, offset := t.Zone(); offset == 0 && zone != "" && zone != "UTC" && zone != "GMT" || t.Equal(dayOf(t.UTC())) {
			return dayOf(t), true
		}
		return t, false
	}
	for _, layout := range dayLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return dayOf(t), true
		}
	}
	return ageOf(now, strings.ToLower(text))
}

func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// agePattern matches a number and a unit. A second number makes it something else.
var agePattern = text.NewLazyRegexp(`^[^\d]*(\d{1,3}|\ban?\b) ?(\pL+)\.?[^\d]*$`)

// Units of ages in the languages in which services are asked.
const (
	minuteWords    = "m min mins minute minutes minuten minuto minutos minuti minuut 分前 分钟前 分鐘前"
	hourWords      = "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren 時間前 小时前 小時前 시간"
	dayWords       = "d day days tag tagen jour jours día días dia dias giorno giorni dag dagen 日前 天前 일"
	yesterdayWords = "yesterday gestern hier ayer ontem ieri gisteren 昨日 昨天 어제"
)

// ageOf reads ages such as "3 hours ago", "vor 2 Tagen" and "il y a 5 minutes".
func ageOf(now time.Time, text string) (at time.Time, dayOnly bool) {
	is := func(words, word string) bool { return slices.Contains(strings.Fields(words), word) }
	now = now.UTC()
	if is(yesterdayWords, text) {
		return dayOf(now.AddDate(0, 0, -1)), true
	}
	m := agePattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1 // "an hour ago"
	}
	switch unit := m[2]; {
	case is(minuteWords, unit):
		return now.Add(-time.Duration(n) * time.Minute).Truncate(time.Minute), false
	case is(hourWords, unit):
		return now.Add(-time.Duration(n) * time.Hour).Truncate(time.Hour), false
	case is(dayWords, unit):
		return dayOf(now.AddDate(0, 0, -n)), true
	}
	return time.Time{}, false
}

// since returns the time of the oldest page wanted by Query.Fresh; zero means no limit.
func since(now time.Time, fresh string) time.Time {
	switch fresh {
	case "day":
		return now.AddDate(0, 0, -1)
	case "week":
		return now.AddDate(0, 0, -7)
	case "month":
		return now.AddDate(0, -1, 0)
	case "year":
		return now.AddDate(-1, 0, 0)
	}
	return time.Time{}
}

// span returns Query.Fresh as one letter after a prefix, as Google ("qdr:w") and Brave ("pw") write it.
func span(prefix, fresh string) string {
	if since(time.Time{}, fresh).IsZero() {
		return ""
	}
	return prefix + fresh[:1]
}
