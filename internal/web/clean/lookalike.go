package clean

import "strings"

// brackets maps signs that look like the brackets and strokes which delimiters are written with.
var brackets = strings.NewReplacer(
	"〈", "<", "〉", ">", "⟨", "<", "⟩", ">", "❮", "<", "❯", ">", "˂", "<", "˃", ">", "ᐸ", "<", "ᐳ", ">", "‹", "<", "›", ">", "«", "<<", "»", ">>",
	"∣", "|", "ǀ", "|", "│", "|", "‐", "-", "‑", "-", "–", "-", "−", "-",
)

// Lookalikes is D5: it counts the lines of s that are no delimiter by their characters, but look like one. It is a hint for
// the record; nothing is rewritten, because the same letters spell words in other languages. The lines of speakers are
// D3's.
func Lookalikes(s string) int {
	if plainASCII(s) {
		return 0
	}
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		if !plainASCII(line) && delimits(skeleton(line)) && !delimits(strings.ToLower(line)) {
			n++
		}
	}
	return n
}

func delimits(line string) bool {
	return strings.Contains(line, "web-search-results") || strings.Contains(line, "<|") || strings.Contains(line, "[inst]") || strings.Contains(line, "<<sys")
}
