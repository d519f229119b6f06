package outgoing

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"familiar/internal/catalogue"
	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/web/clean"
)

// SmallType begins a line that Discord sets in small type: what the code says beside the character. The guard takes it off a
// reply's own lines.
const SmallType = "-# "

var (
	// oneCitation is the one form that the guard leaves, and its mark.
	oneCitation = regexp.MustCompile(`\[(\d{1,2})\??\]`)
	// citations are several, with the links they may be and the space before. Behind a word there may be an index.
	citations = regexp.MustCompile(`(?: +|(^|[^\w)\] ]))(?:\[\d{1,2}\??\](?:\(<[^\[<>\s]*>\))?)+`)
)

// Sources lists what the guarded body cites or, when it cites nothing, what was read for it, a line for each source. A number
// directly behind a word counts, as for the guard; in code it may be an index, but a source that is listed for nothing does
// no harm. There may have been no lookup. What is missing of a source is said in a language.
func Sources(l *turn.Lookup, body, language string, secrets *redact.Redactor) (lines []string, cited bool) {
	sources, cited := Cited(l, body)
	for _, s := range sources {
		if secrets.Found(sourceLine(language, s)) { // a mask in its place could set an address free
			s.Title, s.Site = "", ""
		}
		lines = append(lines, secrets.String(sourceLine(language, s)))
	}
	return lines, cited
}

// Brief is the same in one line, by the names of the sites: "[1] example.org · [2] example.net". It is empty without sources.
func Brief(l *turn.Lookup, body string, secrets *redact.Redactor) (line string, cited bool) {
	sources, cited := Cited(l, body)
	var each []string
	for _, s := range sources {
		site := Inert(strings.TrimPrefix(s.Site, "www."), 60)
		if secrets.Found(site) {
			site = ""
		}
		each = append(each, strings.TrimSpace(fmt.Sprintf("[%d] %s", s.N, site)))
	}
	return strings.Join(each, " · "), cited
}

// Cited returns the sources that the guarded body cites or, when it cites none, all of them.
func Cited(l *turn.Lookup, body string) (sources []turn.Source, cited bool) {
	if l == nil || len(l.Sources) == 0 {
		return nil, false
	}
	numbers := make(map[int]bool)
	for _, m := range oneCitation.FindAllStringSubmatch(body, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= len(l.Sources) {
			numbers[n] = true
		}
	}
	for _, s := range l.Sources {
		if len(numbers) == 0 || numbers[s.N] {
			sources = append(sources, s)
		}
	}
	return sources, len(numbers) > 0
}

// What a line of a source says where something is missing.
const (
	Undated        = "undated"
	AddressTooLong = "(its address is too long to show)"
)

func sourceLine(language string, s turn.Source) string {
	date := catalogue.Say(language, Undated)
	if !s.Published.IsZero() {
		date = day(s.Published)
	}
	link := "<" + s.URL + ">"
	if len(s.URL) > longestShown {
		link = catalogue.Say(language, AddressTooLong)
	}
	return fmt.Sprintf("[%d] %s · %s · %s %s", s.N, Inert(s.Title, 80), Inert(strings.TrimPrefix(s.Site, "www."), 60), date, link)
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Inert returns a stranger's text as one line of at most limit characters that Discord formats in no way and makes no link
// of. The marks go before the guard looks, because a link may be put together by their going, and once more because it
// writes some.
func Inert(s string, limit int) string {
	guarded, _ := Rules{}.Guard(unmark(clean.Line(s, limit)))
	return unmark(guarded)
}

// unmark takes out what markdown and mentions are made of.
func unmark(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~`|<>[]()@#\\", r) {
			return -1
		}
		return r
	}, s)
}

// OwnWords returns what a post says in the character's own words, without citations and sources: history must not teach the
// model to write them.
func OwnWords(post string) string {
	return strings.TrimSpace(citations.ReplaceAllString(Body(post), "$1"))
}

// Body returns a post without the lines that code wrote below it.
func Body(post string) string {
	var kept []string
	for line := range strings.SplitSeq(post, "\n") {
		if !strings.HasPrefix(line, SmallType) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
