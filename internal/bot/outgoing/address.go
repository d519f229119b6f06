package outgoing

import (
	"regexp"
	"strings"
	"unicode"
)

// Addresses that Split does not cut.

// addresses finds the links that Discord makes, with the angle brackets around them; at the end of a text, also what may be
// the beginning of one.
func addresses(text string) spans {
	var out spans
	for at := 0; ; {
		i := strings.Index(text[at:], ":/")
		if i < 0 {
			break
		}
		start, end := addressAt(text, at, at+i)
		if start < end {
			out = append(out, []int{start, end})
		}
		at = max(end, at+i+1)
	}
	from := max(0, len(text)-longestBegun)
	if at := begun.FindStringIndex(text[from:]); at != nil {
		out = append(out, []int{from + at[0], from + at[1]})
	}
	return out
}

// longestBegun is the length of the beginning of an address, in bytes: "<https:".
const longestBegun = 7

var begun = regexp.MustCompile(`(?i)<?h(?:t(?:tp?|tps)?)?:?$`)

// addressAt returns the address whose scheme ends at colon, not before from: it is empty if there is none. Other schemes than
// these are no links for Discord, and the guard leaves none of those that are for other programs.
func addressAt(text string, from, colon int) (start, end int) {
	switch {
	case hasScheme(text[from:colon], "https"):
		start = colon - len("https")
	case hasScheme(text[from:colon], "http"):
		start = colon - len("http")
	default:
		return colon, colon
	}
	angle := start > from && text[start-1] == '<'
	length := strings.IndexFunc(text[colon:], func(r rune) bool { return r == '<' || angle && r == '>' || unicode.IsSpace(r) })
	if end = colon + length; length < 0 {
		end = len(text)
	}
	if angle {
		start--
		end += len(">") * strings.Count(text[end:min(len(text), end+1)], ">")
	}
	return start, end
}

func hasScheme(s, scheme string) bool {
	return len(s) >= len(scheme) && strings.EqualFold(s[len(s)-len(scheme):], scheme)
}

// tooLong returns the end of the address that text begins with, if it does not fit in room; else 0.
func tooLong(text string, room int) int {
	colon := strings.Index(CutUnits(text, room), ":/")
	if colon < 0 {
		return 0
	}
	start, end := addressAt(text, 0, colon)
	if start > 0 || end == 0 || Units(text[:end]) <= room {
		return 0
	}
	return end
}
