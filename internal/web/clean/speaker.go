package clean

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text"
)

// The beginning of a line that reads as a speaker's label: "system:", "> **Assistant** (admin):", "[10:54] user:".

// roles are the names of speakers in chat templates, and names that people give to models.
var roles = map[string]bool{
	"system": true, "assistant": true, "user": true, "tool": true, "developer": true, "human": true,
	"ai": true, "model": true, "function": true, "bot": true, "chatbot": true, "gpt": true, "chatgpt": true, "llm": true,
}

var (
	beforeRole = map[string]bool{"the": true, "ai": true, "new": true, "language": true, "chat": true}
	afterRole  = map[string]bool{
		"message": true, "messages": true, "prompt": true, "instruction": true, "instructions": true, "override": true, "turn": true, "response": true, "reply": true,
		"role": true, "admin": true, "administrator": true, "assistant": true, "model": true, "bot": true, "call": true, "result": true, "output": true, "input": true,
	}
	clockTime = text.NewLazyRegexp(`^[^\pL\pN]*[0-9]{1,4}(?:[-./][0-9]{1,2}){0,2}[ T]?(?:[0-9]{1,2})?[:.][0-9]{2}(?:[:.][0-9]{2})?(?: ?[AaPp][Mm])?[^\pL\pN]*`)
	// beside matches what follows a name in brackets or after another sign: "(admin)", "#2", "to=search".
	beside = text.NewLazyRegexp(`\s*[(\[{‹<«"#|=*_~].*$|\s+to=.*$`)
)

// colons are the characters that look like a colon.
const colons = ":：﹕︓∶ː꞉։׃܃܄᠄⁚⁝ꓽ"

func isColon(c rune) bool {
	return c == ':' || c > unicode.MaxASCII && strings.ContainsRune(colons, c)
}

// head is the part of a line before its colon. start and end are the positions of its first letter and after its last
// letter.
type head struct {
	line              string
	start, end, colon int
}

// headOf returns the head of a line that may name a speaker. It skips a time before the name.
func headOf(line string) (head, bool) {
	from := 0
	if near := line[:min(len(line), headLength)]; strings.ContainsAny(near, "0123456789") {
		from = len(clockTime.FindString(near))
	}
	colon := strings.IndexFunc(line[from:], isColon)
	if colon < 0 || colon > headLength {
		return head{}, false
	}
	h := head{line: line, colon: from + colon}
	notLetter := func(c rune) bool { return !unicode.IsLetter(c) }
	word := strings.TrimLeftFunc(line[from:h.colon], notLetter)
	h.start = h.colon - len(word)
	h.end = h.start + len(strings.TrimRightFunc(word, notLetter))
	return h, h.end > h.start
}

// names reports whether the head is a role or one of names, which are skeletons. Compatibility forms of letters (full
// width, mathematical) and similar letters count as letters (D5).
func (h head) names(names []string) bool {
	label := h.line[h.start:h.colon]
	if isSpeaker(strings.ToLower(label), names) {
		return true
	}
	return !plainASCII(label) && isSpeaker(skeleton(label), names)
}

func isSpeaker(label string, names []string) bool {
	trim := func(s string) string {
		return strings.TrimFunc(s, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	}
	bare := trim(beside.ReplaceAllString(label, ""))
	if slices.Contains(names, trim(label)) || slices.Contains(names, bare) {
		return true
	}
	words := strings.Fields(bare)
	for len(words) > 1 && beforeRole[words[0]] {
		words = words[1:]
	}
	return len(words) > 0 && len(words) <= 3 && roles[words[0]] && !slices.ContainsFunc(words[1:], func(w string) bool { return !afterRole[w] })
}

// skeleton returns a text as it looks: without accents, and with Latin letters in place of similar ones.
func skeleton(s string) string {
	if plainASCII(s) {
		return strings.ToLower(s)
	}
	s = brackets.Replace(strings.Map(text.LatinLookalike, strings.ToLower(norm.NFKC.String(s))))
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.M, c) || changesToNothing(c) {
			return gone
		}
		return c
	}, norm.NFKD.String(s))
}

func changesToNothing(c rune) bool { next, _ := judge(c); return next == gone }

// Spoken makes a person's words safe in a conversation. They contain no control token of a chat template. No line after
// the first begins with the label of a role or of one of names. Bidi controls end with their lines. Everything else
// stays.
func Spoken(s string, names []string) string {
	s = strings.Map(func(c rune) rune {
		if next, _ := judge(c); next == '\n' {
			return next // anything that looks like the end of a line is one
		}
		return c
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	s = withoutTokens(s)
	if !strings.Contains(s, "\n") {
		return balanced(s)
	}
	skeletons := make([]string, len(names))
	for i, n := range names {
		skeletons[i] = nameSkeleton(n)
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if plain := seen(line); i > 0 {
			if h, ok := headOf(plain); ok && h.names(skeletons) || stamped.MatchString(plain) {
				line = "(quoted) " + line
			}
		}
		lines[i] = balanced(line)
	}
	return strings.Join(lines, "\n")
}

// stamped matches a line that begins like a line of a conversation, with a time in brackets.
var stamped = text.NewLazyRegexp(`^[^\pL\pN]*\[[0-9]{1,2}:[0-9]{2}\]`)

// rawToken matches one of templateTokens at the start of a text with its original brackets.
var rawToken = text.LazyRegexpOf(func() string {
	return `^(?:` + strings.NewReplacer("[^‹›", "[^<>‹›", "‹", "[<＜﹤‹]", "›", "[>＞﹥›]").Replace(templateTokens.String()) + `)`
})

// withoutTokens removes the brackets from control tokens. All tokens begin with a bracket, so it searches only there.
func withoutTokens(s string) string {
	var out strings.Builder
	copied := 0
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		if c == '<' || c == '[' || c == '＜' || c == '﹤' || c == '‹' {
			if token := rawToken.FindString(s[i:]); token != "" {
				out.WriteString(s[copied:i])
				out.WriteString(strings.NewReplacer("[", "(", "]", ")").Replace(strings.Map(bracket, token)))
				size = len(token)
				copied = i + size
			}
		}
		i += size
	}
	if copied == 0 {
		return s
	}
	return out.String() + s[copied:]
}

// seen returns a line without its invisible characters.
func seen(line string) string {
	if plainASCII(line) {
		return line
	}
	return strings.Map(func(c rune) rune {
		if changesToNothing(c) {
			return gone
		}
		return c
	}, line)
}

// balanced closes the bidi controls that a line opens, and drops those that close nothing. So they do not affect other lines.
func balanced(line string) string {
	if !strings.ContainsFunc(line, isBidi) {
		return line
	}
	var out strings.Builder
	var open []rune // the closing control of each
	for _, c := range line {
		switch {
		case c >= 0x202A && c <= 0x202E && c != popFormat:
			open = append(open, popFormat)
		case c >= 0x2066 && c <= 0x2068:
			open = append(open, popIsolate)
		case c == popFormat || c == popIsolate:
			if len(open) == 0 || open[len(open)-1] != c {
				continue
			}
			open = open[:len(open)-1]
		}
		out.WriteRune(c)
	}
	for _, c := range slices.Backward(open) {
		out.WriteRune(c)
	}
	return out.String()
}

const popFormat, popIsolate = 0x202C, 0x2069

func isBidi(c rune) bool { return c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 }

// Alike reports whether two names look the same, ignoring case, accents, and the difference between similar letters.
func Alike(a, b string) bool { return nameSkeleton(a) == nameSkeleton(b) }

func nameSkeleton(s string) string { return strings.Join(strings.Fields(skeleton(s)), " ") }

// Name returns a person's name on one line. It removes invisible characters and bidi controls. Signs that end a label or
// begin a token of a chat template are replaced by similar ones.
func Name(s string, max int) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case isColon(c), unicode.IsSpace(c):
			return ' '
		case strings.ContainsRune("[［【", c):
			return '('
		case strings.ContainsRune("]］】", c):
			return ')'
		case !unicode.IsPrint(c):
			return gone
		}
		return bracket(c)
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if utf8.RuneCountInString(s[:i]) == max {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}
