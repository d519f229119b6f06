package outgoing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The judge reads posts as Discord shows them, by a reading of its own: that of Discord's open Markdown rules, where a block of code
// goes to the next three backticks wherever they are, inline code over line ends, and a quotation, a heading and an item of a list are
// read by themselves.

// A passage is a part of a post: shown as it is written, or read for marks.
type passage struct {
	text string
	code bool
}

var (
	quoted     = regexp.MustCompile(`^ *> +`)
	quotedRest = regexp.MustCompile(`^ *>>> +`)
	headed     = regexp.MustCompile(`^ *(?:#{1,3}|-#) +`)
	listed     = regexp.MustCompile(`^ *(?:[*-]|[0-9]+\.) +`)
)

// discord splits a post into passages.
func discord(post string, nested bool) (all []passage) {
	var prose strings.Builder
	flush := func() {
		if prose.Len() > 0 {
			all = append(all, passage{prose.String(), false})
			prose.Reset()
		}
	}
	lineStart := true
	for i := 0; i < len(post); {
		rest := post[i:]
		if lineStart && !nested {
			inner, length := block(rest)
			if length > 0 {
				flush()
				all = append(all, discord(inner, true)...)
				i += length
				continue
			}
		}
		lineStart = false
		if length := codeAt(rest); length > 0 {
			flush()
			all = append(all, passage{rest[:length], true})
			i += length
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		if r == '\\' && len(rest) > 1 {
			if next, n := utf8.DecodeRuneInString(rest[1:]); !unicode.IsLetter(next) && !unicode.IsDigit(next) && !unicode.IsSpace(next) {
				prose.WriteString(rest[:size+n])
				i += size + n
				continue
			}
		}
		if r == '`' { // a run that begins no code
			size = len(rest) - len(strings.TrimLeft(rest, "`"))
		}
		prose.WriteString(rest[:size])
		lineStart = r == '\n'
		i += size
	}
	flush()
	return all
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// block reads what is read by itself at the start of a line.
func block(s string) (inner string, length int) {
	line, _, _ := strings.Cut(s, "\n")
	switch {
	case quotedRest.MatchString(s):
		return s[len(quotedRest.FindString(s)):], len(s)
	case quoted.MatchString(s):
		for length < len(s) && quoted.MatchString(s[length:]) {
			line, _, more := strings.Cut(s[length:], "\n")
			inner += line[len(quoted.FindString(line)):] + "\n"
			length += len(line) + b2i(more)
		}
		return inner, length
	case headed.MatchString(s):
		return line, min(len(s), len(line)+1)
	case listed.MatchString(s):
		for length < len(s) {
			line, _, more := strings.Cut(s[length:], "\n")
			if length > 0 && !strings.HasPrefix(line, " ") && !listed.MatchString(line) {
				break
			}
			inner += line + "\n"
			length += len(line) + b2i(more)
		}
		return inner, length
	}
	return "", 0
}

// codeAt returns the length of the code that s begins with.
func codeAt(s string) int {
	if !strings.HasPrefix(s, "`") {
		return 0
	}
	if strings.HasPrefix(s, "```") && len(s) > 4 {
		if i := strings.Index(s[4:], "```"); i >= 0 {
			return 4 + i + 3
		}
	}
	run := len(s) - len(strings.TrimLeft(s, "`"))
	for n := run; n > 0; n-- {
		for j := n + 1; j+n <= len(s); j++ {
			if s[j-1] != '`' && strings.Trim(s[j:j+n], "`") == "" && (j+n == len(s) || s[j+n] != '`') {
				return j + n
			}
		}
	}
	return 0
}

var (
	liveMention = regexp.MustCompile(`(?i)@(?:everyone|here)|<@[!&]?[0-9]+>|<#[0-9]+>|</[^<>\n]+:[0-9]+>|<t:-?[0-9]+(?::[a-z])?>|<id:[a-z]+>`)
	liveLink    = regexp.MustCompile(`(?i)<https?:/[^ >]+>|[a-z][a-z0-9+.-]*://[^\s<]+`)
	bareScheme  = regexp.MustCompile(`://[.,:;!?'"*_~|)\]}>\\` + "`" + `]*$`)
	loneFence   = regexp.MustCompile("^\\s*(?:`{3,}[^`]*|~{3,}.*)$")
)

// judge reports what is wrong with the posts of a guarded text.
func judge(guarded string, posts []string) error {
	own := sample().URLs
	for n, post := range posts {
		if strings.TrimSpace(post) == "" {
			return fmt.Errorf("post %d is blank", n)
		}
		for _, p := range discord(post, false) {
			if m := liveMention.FindString(p.text); m != "" && !p.code {
				return fmt.Errorf("post %d has the live mention %q", n, m)
			}
			for _, link := range liveLink.FindAllString(p.text, -1) {
				if bareScheme.MatchString(link) {
					continue
				}
				plain := strings.TrimRight(strings.TrimSuffix(strings.TrimPrefix(link, "<"), ">"), ".,:;!?'\"*_~|)]}>\\`")
				if whole := strings.Trim(link, "<>"); !own[whole] && !own[plain] && !own[plain+")"] {
					return fmt.Errorf("post %d has the live link %q", n, link)
				}
			}
		}
	}
	if what := leaked(strings.Join(posts, "\n")); what != "" {
		return fmt.Errorf("the posts hold the secret: %s", what)
	}
	return moved(guarded, posts)
}

// leaked looks for the secret in letters and digits alone.
func leaked(s string) string {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	s = bare(s)
	for _, form := range forms() {
		if strings.Contains(s, bare(form)) {
			return form
		}
	}
	return ""
}

// moved reports what the posts have lost of the text, have twice, or have in another order. Lines of fences come and go.
func moved(guarded string, posts []string) error {
	visible := func(texts ...string) string {
		var b strings.Builder
		for _, text := range texts {
			for line := range strings.Lines(text) {
				if !loneFence.MatchString(strings.TrimRight(line, "\r\n")) {
					b.WriteString(line)
				}
			}
			b.WriteString("\n")
		}
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == '`' || r == '~' {
				return -1
			}
			return r
		}, b.String())
	}
	want, got := []rune(visible(guarded)), []rune(visible(posts...))
	if slices.Equal(want, got) {
		return nil
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	return fmt.Errorf("%d characters became %d; from %d: %q, want %q", len(want), len(got), i, string(got[i:min(len(got), i+40)]), string(want[i:min(len(want), i+40)]))
}
