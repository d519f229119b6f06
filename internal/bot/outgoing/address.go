package outgoing

import (
	"regexp"
	"strings"
	"unicode"
)

// Addresses that Split does not cut.

// addresses finds the links that Discord makes, with the angle brackets around them, and whatever else has a scheme; at
// the end of a text, also what may be the beginning of one.
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

// longestBegun limits the beginning of an address, in bytes: the name of its scheme.
const longestBegun = 32

var begun = regexp.MustCompile(`(?i)(?:<[a-z0-9+.-]{0,30}|h(?:t(?:tp?|tps)?)?):?$`)

// addressAt returns the address whose scheme ends at colon, not before from: it is empty if there is no scheme.
func addressAt(text string, from, colon int) (start, end int) {
	from = max(from, colon-longestBegun)
	start = colon
	for start > from && schemeByte(text[start-1]) {
		start--
	}
	for start < colon && !isLetter(text[start]) {
		start++
	}
	if start == colon {
		return start, start
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
