package text

import (
	"regexp"
	"strings"
	"unicode"
)

// Span is a part of a text, in bytes.
type Span struct{ From, To int }

// NumberSpans returns where the numbers of s stand, as they are written: with separators, decimals, or as a time of day.
func NumberSpans(s string) (all []Span) {
	for i := 0; i < len(s); i++ {
		if IsDigit(s[i]) {
			end := numberEnd(s, i)
			all = append(all, Span{i, end})
			i = end
		}
	}
	return all
}

// Numbers returns the numbers of s in canonical form: "1,234.50" and "1 234,5" are "1234.5". A blank joins digits only
// as a separator of thousands.
func Numbers(s string) []string {
	if !ASCII(s) {
		s = strings.Map(ASCIIDigit, s)
	}
	var out []string
	for _, at := range NumberSpans(s) {
		m := s[at.From:at.To]
		if strings.ContainsAny(m, " ’'") && !thousands.MatchString(m) {
			for _, part := range strings.FieldsFunc(m, func(r rune) bool { return r == ' ' || r == '’' || r == '\'' }) {
				out = append(out, CanonicalNumber(part))
			}
			continue
		}
		out = append(out, CanonicalNumber(m))
	}
	return out
}

// numberEnd returns where the number that begins at i ends.
func numberEnd(s string, i int) int {
	for {
		for i < len(s) && IsDigit(s[i]) {
			i++
		}
		sep := 1
		switch {
		case i == len(s):
			return i
		case strings.HasPrefix(s[i:], "’"):
			sep = len("’")
		case strings.IndexByte(".,:' ", s[i]) < 0:
			return i
		}
		if i+sep >= len(s) || !IsDigit(s[i+sep]) {
			return i
		}
		i += sep
	}
}

var thousands = regexp.MustCompile(`^\d{1,3}(?:[ ’']\d{3})+(?:[.,]\d+)?$`)

// ASCIIDigit returns the ASCII digit for a decimal digit of any script, a blank for one of those that separate
// thousands, and any other character as it is.
func ASCIIDigit(r rune) rune {
	switch {
	case r > unicode.MaxASCII && unicode.IsDigit(r):
		for zero := r; ; zero-- { // decimal digits come in blocks of ten, from zero up
			if !unicode.IsDigit(zero-1) || r-zero == 9 {
				return '0' + (r - zero)
			}
		}
	case r == '\u00a0' || r == '\u202f' || r == '\u2009':
		return ' '
	}
	return r
}

var (
	withoutBlanks = strings.NewReplacer(" ", "", "’", "", "'", "")
	withoutMarks  = strings.NewReplacer(".", "", ",", "")
)

// CanonicalNumber writes a number without separators of thousands and with a dot before the fraction. What follows a
// single comma or dot is a fraction unless it has three digits and the group before it is not zero.
func CanonicalNumber(m string) string {
	if !strings.ContainsFunc(m, func(r rune) bool { return r < '0' || r > '9' }) {
		return trimZeros(m)
	}
	m = withoutBlanks.Replace(m)
	i := strings.LastIndexAny(m, ".,")
	if i < 0 {
		return trimZeros(m)
	}
	head, tail := m[:i], m[i+1:]
	plainHead := withoutMarks.Replace(head)
	grouped := strings.Count(head, m[i:i+1]) > 0 || len(tail) == 3 && !strings.ContainsAny(head, ".,") && head != "0" && len(head) <= 3
	if grouped {
		return trimZeros(plainHead + tail)
	}
	if tail = strings.TrimRight(tail, "0"); tail == "" {
		return trimZeros(plainHead)
	}
	return trimZeros(plainHead) + "." + tail
}

func trimZeros(s string) string {
	if t := strings.TrimLeft(s, "0"); t != "" {
		return t
	}
	return "0"
}
