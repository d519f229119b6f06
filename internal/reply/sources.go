package reply

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// SmallType begins a line that Discord shows in small type. Code writes such lines below the character's text. The
// guard removes it from the reply's own lines.
const SmallType = "-# "

var (
	// oneCitation is the one form that the guard leaves, and its mark.
	oneCitation = text.NewLazyRegexp(`\[(\d{1,2})\??\]`)
	// citations are several, with the links they may be and the space before. Behind a word there may be an index.
	citations = text.NewLazyRegexp(`(?: +|(^|[^\w)\] ]))(?:\[\d{1,2}\??\](?:\(<[^\[<>\s]*>\))?)+`)
)

// Sources lists the sources that the guarded body cites, one per line. If it cites none, it lists all that were read. As
// for the guard, a number directly after a word is a citation. In code it may be an index, but an extra source does no
// harm. l may be nil. language is the language of the texts for missing parts.
func Sources(l *turn.Lookup, body, language string, secrets *redact.Redactor) (lines []string, cited bool) {
	sources, cited := Cited(l, body)
	for _, s := range sources {
		if secrets.Found(sourceLine(language, s)) { // a mask in its place could complete an address
			s.Title, s.Site = "", ""
		}
		lines = append(lines, secrets.String(sourceLine(language, s)))
	}
	return lines, cited
}

// Brief lists the sources in one line, by site name: "[1] example.org · [2] example.net". It is empty without sources.
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

// Cited returns the sources that the guarded body cites. If it cites none, it returns all.
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

// Texts for missing parts of a source.
const (
	Undated        = "undated"
	AddressTooLong = "(its address is too long to show)"
)

func sourceLine(language string, s turn.Source) string {
	date := Say(language, Undated)
	if !s.Published.IsZero() {
		date = day(s.Published)
	}
	link := "<" + s.URL + ">"
	switch {
	case s.URL == "": // what was said at a terminal
		link = ""
	case len(s.URL) > longestShown:
		link = Say(language, AddressTooLong)
	}
	return strings.TrimSpace(fmt.Sprintf("[%d] %s · %s · %s %s", s.N, Inert(s.Title, 80), Inert(strings.TrimPrefix(s.Site, "www."), 60), date, link))
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Inert returns a stranger's text as one line of at most limit characters, without formatting or links in Discord. It
// removes marks before the guard looks, because that may complete a link, and again afterwards, because the guard
// writes some.
func Inert(s string, limit int) string {
	guarded, _ := Rules{}.Guard(unmark(clean.Line(s, limit)))
	return unmark(guarded)
}

// unmark removes the characters of Markdown and mentions.
func unmark(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~`|<>[]()@#\\", r) {
			return -1
		}
		return r
	}, s)
}

// OwnWords returns the character's own words in a post, without citations and sources. History must not teach the model
// to write them.
func OwnWords(post string) string {
	return strings.TrimSpace(citations.ReplaceAllString(Unlinked(Body(post)), "$1"))
}

// Body returns a post without the lines that code added below it.
func Body(post string) string {
	var kept []string
	for line := range strings.SplitSeq(post, "\n") {
		if !strings.HasPrefix(line, SmallType) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
