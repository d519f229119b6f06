package reply

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The judge parses posts independently of the guard, by Discord's published Markdown rules. A block of code extends to the next three
// backticks wherever they are, and inline code may span lines. Quotations, headings and list items are parsed separately.

// passage is a part of a post: shown as written, or parsed for formatting.
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

// block returns the part of a line's start that is parsed separately.
func block(s string) (inner string, length int) {
	line, _, _ := strings.Cut(s, "\n")
	if mark := strings.TrimLeft(line[:min(len(line), 40)], " "); mark == "" || strings.IndexByte(">#-*0123456789", mark[0]) < 0 {
		return "", 0
	}
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

// codeAt returns the length of the code at the start of s.
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
	webScheme   = regexp.MustCompile(`(?i)https?://`)
	bareScheme  = regexp.MustCompile(`://[.,:;!?'"*_~|)\]}>\\` + "`" + `]*$`)
	loneFence   = regexp.MustCompile("^\\s*(?:`{3,}[^`]*|~{3,}.*)$")
)

// ownLinks are the links that the reply may have.
var ownLinks = sample().URLs

// judge reports what is wrong with the posts of a guarded text. Where posts are shorter than Discord's, code may be cut, which is
// none then: mentions are not judged.
func judge(guarded string, posts []string, limit int) error {
	own := ownLinks
	for n, post := range posts {
		if strings.TrimSpace(post) == "" || len(utf16.Encode([]rune(post))) > limit {
			return fmt.Errorf("post %d is blank or too long", n)
		}
		for _, p := range discord(post, false) {
			if p.code || limit < 2000 || !strings.ContainsAny(p.text, "@<") {
			} else if m := liveMention.FindString(p.text); m != "" {
				return fmt.Errorf("post %d has the live mention %q", n, m)
			}
			if !strings.Contains(p.text, ":/") {
				continue
			}
			for _, link := range liveLink.FindAllString(p.text, -1) {
				if bareScheme.MatchString(link) {
					continue
				}
				if m := webScheme.FindStringIndex(link); m != nil && link[0] != '<' && strings.Index(link, "://") == m[1]-3 {
					link = link[m[0]:] // letters before it do not matter
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

// leaked searches the letters and digits of s for the secret.
func leaked(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
	for _, form := range bareForms {
		if strings.Contains(s, form) {
			return form
		}
	}
	return ""
}

// bareForms are the forms of the secret: as written, reversed, in base64 and hexadecimal, in lower case without other
// characters.
var bareForms = []string{"hunter2token0123456789", "9876543210nekot2retnuh", "ahvudgvymi10b2tlbi0wmtizndu2nzg5", "68756e746572322d746f6b656e2d30313233343536373839"}

// moved reports what the posts have lost, repeated or reordered. Lines of fences may come and go.
func moved(guarded string, posts []string) error {
	if want := inked(guarded, false); want == inked(strings.Join(posts, "\n"), false) {
		return nil
	}
	text, posted := []rune(inked(guarded, false)), []rune(inked(strings.Join(posts, "\n"), false))
	if i := missed([]rune(inked(guarded, true)), posted); i >= 0 {
		return fmt.Errorf("lost: the posts end at %d of %d characters", i, len(text))
	}
	if i := missed([]rune(inked(strings.Join(posts, "\n"), true)), text); i >= 0 {
		return fmt.Errorf("doubled: the text ends at %d of %d characters of the posts", i, len(posted))
	}
	return nil
}

// inked returns a text without white space and fences and, on request, without the lines of fences.
func inked(text string, noFences bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !noFences || !loneFence.MatchString(strings.TrimRight(line, "\r\n")) {
			b.WriteString(line)
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '`' || r == '~' {
			return -1
		}
		return r
	}, b.String())
}

// missed returns the first character of what that is missing from all, in order; -1 if there is none.
func missed(what, all []rune) int {
	for i, r := range what {
		next := slices.Index(all, r)
		if next < 0 {
			return i
		}
		all = all[next+1:]
	}
	return -1
}
