package clean

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"familiar/internal/text/lang"
	"familiar/internal/text/lazyregexp"
)

// Brackets are the signs that may open a reference: the square bracket, and those of other scripts or of mathematics that look
// like it or that models were taught to cite with. ClosingBrackets are those that close it.
const (
	Brackets        = "[［【〔〖⟦⁅❲⟬⦋⦍⦏⦗〘〚﹝〈⟨"
	ClosingBrackets = "]］】〕〗⟧⁆❳⟭⦌⦎⦐⦘〙〛﹞〉⟩"
)

// zeros are those of the digits in which a number is read, and digit is one of them.
const (
	zeros = "0０٠۰०০"
	digit = `[0-9０-９٠-٩۰-۹०-९০-৯]`
)

// reference is a number, or a list of them, in such brackets: [1], [^1], [ 1 ], [1, 3-5], ［１］, [source 1], [1a], [1?]. Marks of
// styles around the number change nothing for a reader, nor does a backslash. A dagger or a second number behind a
// colon is another system's: 【4:0†source】.
var reference = lazyregexp.New(`^[\` + Brackets + `][ \t*_~|\\` + "`" + `]*` +
	`(?i:(?:` + lang.All().Clean.ReferenceLabels.String() + `)[ \t.:#]*)?` +
	`([#^]?` + digit + `{1,3}[a-c]?(?:(?:[ \t]*(?:[,;&/+—–-]|and|to)[ \t]*|[ \t]+)[#^]?` + digit + `{1,3}[a-c]?)*)` +
	`((?::[0-9]+)?(?:†[^\` + ClosingBrackets + `\n]{0,80})?)` +
	`[ \t?？*_~|\\` + "`" + `]*[\` + ClosingBrackets + `]`)

var (
	// span is one number of a list, or a range of them.
	span = lazyregexp.New(`([0-9]+)(?:[ \t]*[–-][ \t]*[#^]?([0-9]+))?`)
	// listWord is what stands before a list of numbers that is none of references.
	listWord = lazyregexp.New(`(?i)(?:\b(?:interval|range|array|list|vector|tuple|set)s?|[=∈])\s*$`)
	// lettered is a footnote of an encyclopaedia. With a space before it, it is an editor's word: "[a] man".
	lettered = lazyregexp.New(`^\[[a-z]\]`)
)

const (
	longestReference = 200 // bytes
	longestRange     = 99
)

// ReferenceAt reads the reference that begins at s[i] and returns where it ends and its numbers, each once; 0 if there is
// none. [2024] is a year, and [0, 1] and "the range [3, 9]" are lists. A reference of another system has no numbers.
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

// listed reads "1, 3-5".
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

// Unreferenced takes a page's own references out of its words: beside sources that are numbered here they would be read
// as these. The result has none, whatever their going puts together.
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
