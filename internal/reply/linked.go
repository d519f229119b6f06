package reply

import (
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/redact"
	"familiar/internal/text"
)

// linkedCitation is a citation as Linked writes it.
var linkedCitation = text.NewLazyRegexp(`\[(\[\d{1,2}\??\])\]\(<[^<>\s]*>\)`)

// Linked returns one post in which citations are links to their sources: [[1]](<https://example.org/>). It is for the post alone: records
// and history have the citations as they were, and where Split cuts depends on no link. A citation stays as it is in code, in small type,
// in a link, and where its address would make the post longer than limit UTF-16 units.
func Linked(post string, l *turn.Lookup, secrets *redact.Redactor, limit int) string {
	if l == nil || len(l.Sources) == 0 {
		return post
	}
	room := limit - Units(post)
	var out strings.Builder
	var code codes
	copied := 0
	for i := 0; i < len(post); {
		switch {
		case post[i] == '`':
			ticks, end, open := code.at(post, i)
			if i = max(ticks, end); open {
				i = len(post)
			}
		case post[i] == '-' && lineStart(post[:i]) && strings.HasPrefix(post[i:], SmallType):
			i += max(1, strings.IndexByte(post[i:]+"\n", '\n'))
		case post[i] == '[':
			end := citationAt(post, i)
			if address := addressOf(l, post[i:end], secrets); address != "" && Units(address)+len("[](<>)") <= room {
				out.WriteString(post[copied:i] + "[" + post[i:end] + "](<" + address + ">)")
				room -= Units(address) + len("[](<>)")
				copied = end
			}
			i = max(end, i+1)
		default:
			i++
		}
	}
	return out.String() + post[copied:]
}

// citationAt returns the end of the citation at post[i], or i if there is none or it is part of a link.
func citationAt(post string, i int) int {
	at := oneCitation.FindStringIndex(post[i:min(len(post), i+len("[99?]"))])
	if at == nil || at[0] != 0 || i > 0 && post[i-1] == '[' || strings.HasPrefix(post[i+at[1]:], "(") || strings.HasPrefix(post[i+at[1]:], "]") {
		return i
	}
	return i + at[1]
}

// addressOf returns the address of the source that a citation names, or "" if it may not be shown.
func addressOf(l *turn.Lookup, citation string, secrets *redact.Redactor) string {
	n, _ := strconv.Atoi(strings.Trim(citation, "[]?"))
	for _, s := range l.Sources {
		if s.N == n && len(s.URL) <= longestShown && !strings.ContainsAny(s.URL, "<> \n") && !secrets.Found(s.URL) {
			return s.URL
		}
	}
	return ""
}

// Unlinked returns a post with its citations as they were before Linked.
func Unlinked(post string) string { return linkedCitation.ReplaceAllString(post, "$1") }
