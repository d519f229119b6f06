package backends

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// How much of a reply's strings is kept, in characters. A backend is not trusted to be brief.
const (
	maxTitle   = 300
	maxSnippet = 1000
	maxProse   = 8000
)

// line makes plain text one line: control characters and invalid bytes become spaces, runs of space become one,
// and what is past max characters is cut. Making text inert for a prompt is the reader's work, not this.
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

// prose is line for text of several paragraphs, one a line.
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

// unmark takes the markup out of a snippet and unescapes its entities, once. A tag that HTML does not know is
// text, so "List<String>" stays whole.
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

// unmarkdown takes the most common Markdown out of the beginning of a page or of what somebody posted, and the HTML that
// may stand in it. Pictures go whole.
func unmarkdown(s string) string {
	s = unmark(cutWords(s, maxProse))
	s = markdownImage.ReplaceAllString(s, "")
	s = markdownLink.ReplaceAllString(s, "$1")
	s = markdownLine.ReplaceAllString(s, "")
	s = markdownStrong.ReplaceAllString(s, "$2")
	return strings.NewReplacer("`", "", "|", " ", "\\", "", "\u200b", "").Replace(s)
}

var (
	markdownImage  = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	markdownLink   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	markdownLine   = regexp.MustCompile(`(?m)^[ \t]*(#{1,6} |>+ ?|[-*+] |(?:[-*_] ?){3,}$)+`)
	markdownStrong = regexp.MustCompile(`(\*\*|~~)([^*~\n]+)(?:\*\*|~~)`)
)

// absolute is an address that may be relative to the page it stands on, in full; "" if it cannot be read.
func absolute(address, page string) string {
	base, err := url.Parse(page)
	if err != nil {
		return ""
	}
	address = strings.TrimSpace(address)
	if strings.HasPrefix(address, "//") {
		base.Scheme = "https" // whatever the page, the others have it
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

// untable is a passage in words: of one that is JSON, its names and values in their order.
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
