// Package confusable knows letters of other alphabets that a reader takes for Latin ones: the part of Unicode's confusables
// (UTS 39, https://www.unicode.org/reports/tr39/) that keys and delimiters can be written with. It rewrites nothing by itself,
// because the same letters spell words in other languages.
package confusable

// Latin returns the small Latin letter that a small letter of another alphabet, or a small capital, looks like; r if there is none.
func Latin(r rune) rune {
	if latin := letters[r]; latin != 0 {
		return latin
	}
	return r
}

var letters = func() map[rune]rune {
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
}()
