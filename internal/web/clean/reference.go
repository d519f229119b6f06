package clean

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
)

// Brackets are the characters that may open a reference. They are the square bracket, and similar brackets of other scripts and of
// mathematics. Some are from the citations that models were trained on. ClosingBrackets are those that close it.
const (
	Brackets        = "[［【〔〖⟦⁅❲⟬⦋⦍⦏⦗〘〚﹝〈⟨"
	ClosingBrackets = "]］】〕〗⟧⁆❳⟭⦌⦎⦐⦘〙〛﹞〉⟩"
)

// zeros are the zeros of the digits in which numbers are read. digit matches one digit.
const (
	zeros = "0０٠۰०০"
	digit = `[0-9０-９٠-٩۰-۹०-९০-৯]`
)

// reference is a number, or a list of numbers, in such brackets. Examples are [1], [^1], [ 1 ], [1, 3-5], ［１］, [source 1], [1a], [1?].
// Style marks around the number and a backslash change nothing for a reader. A dagger or a second number after a colon belongs to another
// system: 【4:0†source】.
var reference = text.LazyRegexpOf(func() string {
	return `^[\` + Brackets + `][ \t*_~|\\` + "`" + `]*` +
		`(?i:(?:` + text.AllTables().Clean.ReferenceLabels.String() + `)[ \t.:#]*)?` +
		`([#^]?` + digit + `{1,3}[a-c]?(?:(?:[ \t]*(?:[,;&/+—–-]|and|to)[ \t]*|[ \t]+)[#^]?` + digit + `{1,3}[a-c]?)*)` +
		`((?::[0-9]+)?(?:†[^\` + ClosingBrackets + `\n]{0,80})?)` +
		`[ \t?？*_~|\\` + "`" + `]*[\` + ClosingBrackets + `]`
})

var (
	// span is one number of a list, or a range.
	span = text.NewLazyRegexp(`([0-9]+)(?:[ \t]*[–-][ \t]*[#^]?([0-9]+))?`)
	// listWord matches a word before a list of numbers that are not references.
	listWord = text.NewLazyRegexp(`(?i)(?:\b(?:interval|range|array|list|vector|tuple|set)s?|[=∈])\s*$`)
	// lettered is a footnote of an encyclopedia. After a space, it is an editor's insertion: "[a] man".
	lettered = text.NewLazyRegexp(`^\[[a-z]\]`)
)

const (
	longestReference = 200 // bytes
	longestRange     = 99
)

// ReferenceAt parses the reference that begins at s[i]. It returns its end and its numbers, each once. The end is 0 if
// there is no reference. [2024] is a year, and [0, 1] and "the range [3, 9]" are lists. A reference of another system
// has no numbers.
func ReferenceAt(s string, i int) (end int, numbers []int) {
	if r, _ := utf8.DecodeRuneInString(s[i:]); !strings.ContainsRune(Brackets, r) {
		return 0, nil
	}
	m := reference.FindStringSubmatch(s[i:min(len(s), i+longestReference)])
	if m == nil {
		return 0, nil
	}
	numbers = listed(m[1])
	if len(numbers) > 1 && (slices.Contains(numbers, 0) || listWord.MatchString(s[max(0, i-16):i])) {
		return 0, nil
	}
	if m[2] != "" {
		numbers = nil
	}
	return i + len(m[0]), numbers
}

// listed parses "1, 3-5".
func listed(group string) []int {
	group = strings.Map(func(r rune) rune {
		for _, zero := range zeros {
			if zero <= r && r < zero+10 {
				return r - zero + '0'
			}
		}
		return r
	}, group)
	var out []int
	for _, m := range span.FindAllStringSubmatch(group, -1) {
		first, _ := strconv.Atoi(m[1])
		last, err := strconv.Atoi(m[2])
		if err != nil || last-first > longestRange || first-last > longestRange {
			last = first
		}
		for n := min(first, last); n <= max(first, last); n++ {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// Unreferenced removes a page's own references from its words. Among sources that are numbered here, they would be
// mistaken for these. The result contains none, even if a removal joins other parts.
func Unreferenced(s string) string {
	for {
		before := s
		if s = unreferenced(s); s == before {
			return s
		}
	}
}

func unreferenced(s string) string {
	var out strings.Builder
	copied := 0
	for i := 0; i < len(s); {
		next := strings.IndexAny(s[i:], Brackets)
		if next < 0 {
			break
		}
		i += next
		end, _ := ReferenceAt(s, i)
		if end == 0 && i > 0 && s[i-1] != ' ' && lettered.MatchString(s[i:]) {
			end = i + len("[a]")
		}
		if end == 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		if end == len(s) || strings.IndexByte(" .,;:!?)\n", s[end]) >= 0 {
			out.WriteString(strings.TrimRight(s[copied:i], " "))
		} else {
			out.WriteString(s[copied:i])
		}
		i, copied = end, end
	}
	return out.String() + s[copied:]
}
