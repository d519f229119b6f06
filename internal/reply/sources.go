package reply

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// SmallType begins a line that Discord shows in small type. Code writes such lines below the character's text. The
// guard removes it from the reply's own lines.
const SmallType = "-# "

var (
	// oneCitation is the one form that the guard leaves, and its mark.
	oneCitation = text.NewLazyRegexp(`\[(\d{1,2})\??\]`)
	// citations are several, with the links they may be and the space before. After a word there may be an index.
	citations = text.NewLazyRegexp(`(?: +|(^|[^\w)\] ]))(?:\[\d{1,2}\??\](?:\(<[^\[<>\s]*>\))?)+`)
)

// Sources lists the sources that the guarded body cites, one per line. If it cites none, it lists all that were read. As
// for the guard, a number directly after a word is a citation. In code it may be an index, but an extra source does no
// harm. l may be nil. language is the language of the texts for missing parts.
func Sources(l *turn.Lookup, body, language string, secrets *clean.Redactor) (lines []string, cited bool) {
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
func Brief(l *turn.Lookup, body string, secrets *clean.Redactor) (line string, cited bool) {
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
	date := Sentence(Undated).In(language)
	if !s.Published.IsZero() {
		date = day(s.Published)
	}
	link := "<" + s.URL + ">"
	switch {
	case s.URL == "": // what was said at a terminal
		link = ""
	case len(s.URL) > longestShown:
		link = Sentence(AddressTooLong).In(language)
	}
	return strings.TrimSpace(fmt.Sprintf("[%d] %s · %s · %s %s", s.N, Inert(s.Title, 80), Inert(strings.TrimPrefix(s.Site, "www."), 60), date, link))
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Inert returns a stranger's text as one line of at most limit characters, without formatting or links in Discord. It removes marks before
// the guard looks, because that may complete a link. It does so again afterwards, because the guard writes some.
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

// Unlabelled removes the time and the name that a model writes before its words when it imitates the other messages. An example is "[10:53]
// **Sage:** ". undecided means that the text may still become such a label.
// The first of the names that is there counts.
func Unlabelled(text string, names ...string) (rest string, undecided bool) {
	text = strings.TrimLeft(text, " \n")
	for _, name := range names {
		if name == "" {
			continue
		}
		if rest, undecided = unlabelled(text, name); undecided || rest != text {
			return rest, undecided
		}
	}
	return text, false
}

func unlabelled(text, name string) (rest string, undecided bool) {
	rest = text
	if strings.HasPrefix(rest, "[") && len(rest) <= longestStamp && !strings.Contains(rest, "]") {
		return text, true
	}
	if stamp, after, closed := strings.Cut(rest, "]"); closed && strings.HasPrefix(stamp, "[") && len(stamp) < longestStamp && strings.Contains(stamp, ":") {
		rest = strings.TrimLeft(after, " ")
	}
	rest = strings.TrimPrefix(rest, "**")
	if len(rest) < len(name) {
		return text, strings.EqualFold(rest, name[:len(rest)])
	}
	if !strings.EqualFold(rest[:len(name)], name) {
		return text, false
	}
	rest = strings.TrimPrefix(rest[len(name):], "**")
	after, labelled := strings.CutPrefix(rest, ":")
	if !labelled {
		return text, rest == "" || rest == "*"
	}
	return strings.TrimLeft(strings.TrimPrefix(after, "**"), " \n"), after == "" || after == "*"
}

// longestStamp is the length of the longest time in brackets, rounded up: "[2026-11-21 10:53]".
const longestStamp = 20

const longestThreadName = 100 // characters

// ThreadName returns the name of a thread for a message: the message's words without mentions and secrets, or "".
func ThreadName(m turn.Message, secrets *clean.Redactor) string {
	text := m.Text
	for _, mention := range m.Mentions {
		text = strings.ReplaceAll(text, mention, "")
	}
	text = strings.Join(strings.Fields(secrets.String(text)), " ")
	if utf8.RuneCountInString(text) > longestThreadName {
		text = strings.TrimSpace(string([]rune(text)[:longestThreadName-1])) + "…"
	}
	return text
}

// PlainEmoji removes variants and skin tones from an emoji.
func PlainEmoji(emoji string) string {
	return strings.Map(func(r rune) rune {
		if r == variant || r == textVariant || isSkinTone(r) {
			return -1
		}
		return r
	}, emoji)
}

// PlainName removes from a name what Discord reads as markup or a mention. The result may be empty.
func PlainName(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~|`<>@#[]()\\\n\r", r) {
			return -1
		}
		return r
	}, name))
}

// sentence is what code says in the language of a message.
type sentence = Sentence

const (
	lastName sentence = "%s and %s" // the names of people, and the last of them
	somebody sentence = "somebody"  // a person whose name cannot be shown
)

// List joins names in a language, as in "Ana, Ben and Cy". It removes what Discord reads as markup. A name that is empty then becomes
// "somebody".
func List(language string, names []string) string {
	for i, name := range names {
		names[i] = cmp.Or(PlainName(name), somebody.In(language))
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return Receipt(language, string(lastName), strings.Join(names[:last], ", "), names[last])
}

const (
	variant, textVariant = '\uFE0F', '\uFE0E'
	joiner               = '\u200D'
)

func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// IsEmoji reports whether a text is exactly one Unicode emoji.
func IsEmoji(text string) bool {
	signs, flags, joined := 0, 0, false
	for _, r := range strings.TrimSpace(text) {
		switch {
		case r == joiner:
			if signs == 0 {
				return false
			}
			joined = true
			continue
		case r == variant, isSkinTone(r) && signs > 0:
		case isFlagLetter(r):
			flags++
		case unicode.Is(unicode.So, r) && r >= 0x2000:
			if !joined {
				signs++
			}
		default:
			return false
		}
		joined = false
	}
	return !joined && (signs == 1 && flags == 0 || signs == 0 && flags == 2)
}
