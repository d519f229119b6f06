package privacy

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/text/lazyregexp"
)

// digitRun is a number, in parts or not, with the signs that people put between the parts of a telephone number.
var digitRun = lazyregexp.New(`\+?\(?\d(?:(?:[\d ()./_‐-―−-]|,\d)*\d)?`)

// removePhones takes telephone numbers out of s.
func removePhones(s string) string {
	var out strings.Builder
	copied := 0
	for _, at := range digitRun.FindAllStringIndex(s, -1) {
		if isPhone(s[at[0]:at[1]], s[:at[0]]) {
			out.WriteString(s[copied:at[0]] + " ")
			copied = at[1]
		}
	}
	return out.String() + s[copied:]
}

// isPhone tells a telephone number, in any of the ways in which they are written, from years, dates, versions, scores
// and plain numbers. In doubt it is one: from nine digits in parts or ten in a row, with an area code that begins with
// a zero, or, from six digits, where the words before say so.
func isPhone(run, before string) bool {
	parts := strings.FieldsFunc(run, func(r rune) bool { return r < '0' || r > '9' })
	n := len(strings.Join(parts, ""))
	beside, _ := utf8.DecodeLastRuneInString(before)
	if run[0] == '+' && beside != '+' && !unicode.IsLetter(beside) && !unicode.IsDigit(beside) { // "C++20 2023" is none
		return n >= 7
	}
	switch {
	case n < 6 || areDates(parts) || isQuantity(run, parts) || isVersion(run, parts) || scores.MatchString(run) || isISBN(parts, before):
		return false
	case n >= 10 || announcesPhone(before, n >= 7 && len(parts) > 1) || areaCode.MatchString(run):
		return true
	case n == 9:
		return parts[0][0] == '0' || len(parts) > 1
	}
	return n >= 7 && len(parts) > 1 && len(parts[0]) > 2 && parts[0][0] == '0' && parts[0][1] != '0'
}

// areDates reports whether parts are years, each with a day and a month at most.
func areDates(parts []string) bool {
	years, others := 0, 0
	for _, p := range parts {
		n, _ := strconv.Atoi(p)
		switch {
		case len(p) == 4 && 1000 <= n && n < 2200, len(p) == 8 && 1000_01_01 <= n && n < 2200_00_00 && n/100%100 <= 12 && n%100 <= 31:
			years++
		case len(p) <= 2:
			others++
		default:
			return false
		}
	}
	return years > 0 && others <= 2*years
}

var (
	decimal     = lazyregexp.New(`^(?:0|[1-9]\d{0,2})\.\d{5,}$`)
	inThousands = lazyregexp.New(`^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$|^[1-9](?:[ .]\d{3})+$|^[1-9]\d{0,2}(?:[ .]\d{3})*[ .]000$`)
	scores      = lazyregexp.New(`^(?:0|[1-9]\d{0,2})[‐-―−-](?:0|[1-9]\d{0,2})(?:[ /]+(?:0|[1-9]\d{0,2})[‐-―−-](?:0|[1-9]\d{0,2}))+$`)
)

// isQuantity reports whether a run is a plain number: a decimal one, one in thousands, a round one, or several small ones.
func isQuantity(run string, parts []string) bool {
	digits := strings.Join(parts, "")
	small := len(parts) > 3 && len(digits) < 2*len(parts) && digits[0] != '0'
	return decimal.MatchString(run) || inThousands.MatchString(run) || small || len(parts) == 1 && strings.HasSuffix(run, "00000")
}

// isVersion reports whether a run is a version or an IP address: four parts or more with dots between them.
// "1.212.555.0123" is none.
func isVersion(run string, parts []string) bool {
	if len(parts) < 4 || strings.Count(run, ".") != len(parts)-1 {
		return false
	}
	address := true
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || len(p) > 1 && p[0] == '0' {
			return false
		}
		address = address && n < 256
	}
	last := parts[len(parts)-3:]
	dialled := len(last[0]) == 3 && len(last[1]) == 3 && len(last[2]) >= 3
	return address || !dialled
}

// isISBN reports whether a run is the number of a book, by its check digit or by the word before it.
func isISBN(parts []string, before string) bool {
	digits := strings.Join(parts, "")
	if words := text.Words(before); len(words) > 0 && slices.ContainsFunc(words[max(0, len(words)-2):], func(w text.Word) bool { return w.Key == "isbn" || w.Key == "issn" || w.Key == "ean" }) {
		return true
	}
	if len(digits) != 13 || digits[:3] != "978" && digits[:3] != "979" {
		return false
	}
	sum := 0
	for i := range digits {
		sum += int(digits[i]-'0') * (1 + 2*(i%2))
	}
	return sum%10 == 0
}

// areaCode is one in brackets, with a number behind it.
var areaCode = lazyregexp.New(`^\(\d{2,5}\) ?\d`)

// announcesPhone reports whether one of the last three words before a number says that it is a telephone number. The word
// "number" alone says so of one in several parts.
func announcesPhone(before string, inParts bool) bool {
	words := text.Words(before)
	for i := max(0, len(words)-3); i < len(words); i++ {
		if phoneWords[words[i].Key] || numberNouns[words[i].Key] && (inParts || i > 0 && owners[words[i-1].Key]) {
			return true
		}
	}
	return false
}
