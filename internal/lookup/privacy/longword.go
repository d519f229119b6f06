package privacy

import (
	"strings"
	"unicode"
)

// pairs are the pairs of letters that German words have most of. About half of a word's are among them, and one of fourteen of a key's.
const pairs = "er en ch de ei nd te in ie ge es ne un st re he an be se ng di sc da is ic le au ss it el al rt ra ns li ha si hr ti ve we ts tz ru or ar ke me tt ll fs gs ht nt eb ig lt sp ig ec rs ck rk rd"

// isLongWord reports whether what has the length of a key is a word, as German makes them of others: letters alone, of which
// the first or that behind a hyphen may be a capital, in pairs as words have them.
func isLongWord(s string) bool {
	all, common := 0, 0
	for part := range strings.SplitSeq(s, "-") {
		for i, r := range part {
			if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
				return false
			}
		}
		part = strings.ToLower(part)
		for i := 0; i+2 <= len(part); i++ {
			all++
			if strings.Contains(pairs, part[i:i+2]) {
				common++
			}
		}
	}
	return 5*common >= 2*all
}
