package text

import "sync"

// LatinLookalike returns the lower-case Latin letter that r, a lower-case letter of another alphabet or a small
// capital, looks like. If there is none, it returns r. Use it only for comparisons, because other languages write words
// with these letters.
func LatinLookalike(r rune) rune {
	if latin := letters()[r]; latin != 0 {
		return latin
	}
	return r
}

// letters maps letters of other alphabets to the Latin ones that a reader takes them for. It is the part of Unicode's
// confusables (UTS 39, https://www.unicode.org/reports/tr39/) with which keys and delimiters can be written.
var letters = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	for latin, others := range map[rune]string{
		'a': "аαɑᴀ", 'b': "ьƅƃʙ", 'c': "сϲᴄ", 'd': "ԁᴅ", 'e': "еεᴇ", 'f': "ғ", 'g': "ɡ", 'h': "һн", 'i': "іιıɪ", 'j': "јϳ", 'k': "кκ", 'l': "ӏʟ", 'm': "мᴍ",
		'n': "ոпɴ", 'o': "оοօᴏ", 'p': "рρᴘ", 'q': "ԛ", 'r': "гʀ", 's': "ѕꜱſ", 't': "тτᴛ", 'u': "υսицᴜ", 'v': "νѵᴠ", 'w': "ԝѡ", 'x': "хχ", 'y': "уγʏ", 'z': "ᴢ",
	} {
		for _, r := range others {
			m[r] = latin
		}
	}
	return m
})
