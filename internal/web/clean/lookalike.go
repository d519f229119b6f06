package clean

import "strings"

// confusables maps letters and brackets that look like the Latin ones delimiters are written with. It is
// the part of Unicode's confusables (UTS 39) that the words in question need.
var confusables = strings.NewReplacer(
	"а", "a", "α", "a", "ѕ", "s", "ꜱ", "s", "у", "y", "γ", "y", "т", "t", "τ", "t", "е", "e", "ε", "e", "м", "m",
	"і", "i", "ι", "i", "ı", "i", "н", "h", "һ", "h", "п", "n", "ո", "n", "и", "u", "υ", "u", "ц", "u", "ѵ", "v", "ν", "v",
	"о", "o", "ο", "o", "օ", "o", "р", "p", "ρ", "p", "ӏ", "l", "ѡ", "w", "ԝ", "w", "ь", "b", "с", "c", "ϲ", "c", "г", "r", "ԁ", "d",
	"ɡ", "g", "ƃ", "b", "ʙ", "b", "ᴀ", "a", "ᴇ", "e", "ᴍ", "m", "ᴏ", "o", "ᴛ", "t", "ʏ", "y", "ɪ", "i", "ɴ", "n", "ᴜ", "u", "ᴅ", "d", "ʟ", "l", "ʀ", "r", "ғ", "f", "ᴄ", "c", "ᴠ", "v", "ᴘ", "p", "к", "k", "х", "x", "ғ", "f", "ſ", "s",
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
