package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pictographic is Extended_Pictographic of UTS 51 (emoji-data.txt): what may wear a presentation selector and
// be joined to its like.
var pictographic = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00A9, Hi: 0x00AE, Stride: 5}, {Lo: 0x203C, Hi: 0x203C, Stride: 1}, {Lo: 0x2049, Hi: 0x2049, Stride: 1},
		{Lo: 0x2122, Hi: 0x2122, Stride: 1}, {Lo: 0x2139, Hi: 0x2139, Stride: 1}, {Lo: 0x2194, Hi: 0x2199, Stride: 1},
		{Lo: 0x21A9, Hi: 0x21AA, Stride: 1}, {Lo: 0x231A, Hi: 0x231B, Stride: 1}, {Lo: 0x2328, Hi: 0x2328, Stride: 1},
		{Lo: 0x2388, Hi: 0x2388, Stride: 1}, {Lo: 0x23CF, Hi: 0x23CF, Stride: 1}, {Lo: 0x23E9, Hi: 0x23F3, Stride: 1},
		{Lo: 0x23F8, Hi: 0x23FA, Stride: 1}, {Lo: 0x24C2, Hi: 0x24C2, Stride: 1}, {Lo: 0x25AA, Hi: 0x25AB, Stride: 1},
		{Lo: 0x25B6, Hi: 0x25B6, Stride: 1}, {Lo: 0x25C0, Hi: 0x25C0, Stride: 1}, {Lo: 0x25FB, Hi: 0x25FE, Stride: 1},
		{Lo: 0x2600, Hi: 0x2605, Stride: 1}, {Lo: 0x2607, Hi: 0x2612, Stride: 1}, {Lo: 0x2614, Hi: 0x2685, Stride: 1},
		{Lo: 0x2690, Hi: 0x2705, Stride: 1}, {Lo: 0x2708, Hi: 0x2712, Stride: 1}, {Lo: 0x2714, Hi: 0x2716, Stride: 2},
		{Lo: 0x271D, Hi: 0x271D, Stride: 1}, {Lo: 0x2721, Hi: 0x2721, Stride: 1}, {Lo: 0x2728, Hi: 0x2728, Stride: 1},
		{Lo: 0x2733, Hi: 0x2734, Stride: 1}, {Lo: 0x2744, Hi: 0x2744, Stride: 1}, {Lo: 0x2747, Hi: 0x2747, Stride: 1},
		{Lo: 0x274C, Hi: 0x274E, Stride: 2}, {Lo: 0x2753, Hi: 0x2755, Stride: 1}, {Lo: 0x2757, Hi: 0x2757, Stride: 1},
		{Lo: 0x2763, Hi: 0x2767, Stride: 1}, {Lo: 0x2795, Hi: 0x2797, Stride: 1}, {Lo: 0x27A1, Hi: 0x27A1, Stride: 1},
		{Lo: 0x27B0, Hi: 0x27B0, Stride: 1}, {Lo: 0x27BF, Hi: 0x27BF, Stride: 1}, {Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2B05, Hi: 0x2B07, Stride: 1}, {Lo: 0x2B1B, Hi: 0x2B1C, Stride: 1}, {Lo: 0x2B50, Hi: 0x2B55, Stride: 5},
		{Lo: 0x3030, Hi: 0x3030, Stride: 1}, {Lo: 0x303D, Hi: 0x303D, Stride: 1}, {Lo: 0x3297, Hi: 0x3299, Stride: 2},
	},
	R32: []unicode.Range32{
		{Lo: 0x1F000, Hi: 0x1F0FF, Stride: 1}, {Lo: 0x1F10D, Hi: 0x1F10F, Stride: 1}, {Lo: 0x1F12F, Hi: 0x1F12F, Stride: 1},
		{Lo: 0x1F16C, Hi: 0x1F171, Stride: 1}, {Lo: 0x1F17E, Hi: 0x1F17F, Stride: 1}, {Lo: 0x1F18E, Hi: 0x1F18E, Stride: 1},
		{Lo: 0x1F191, Hi: 0x1F19A, Stride: 1}, {Lo: 0x1F1AD, Hi: 0x1F1E5, Stride: 1}, {Lo: 0x1F201, Hi: 0x1F20F, Stride: 1},
		{Lo: 0x1F21A, Hi: 0x1F21A, Stride: 1}, {Lo: 0x1F22F, Hi: 0x1F22F, Stride: 1}, {Lo: 0x1F232, Hi: 0x1F23A, Stride: 1},
		{Lo: 0x1F23C, Hi: 0x1F23F, Stride: 1}, {Lo: 0x1F249, Hi: 0x1F3FA, Stride: 1}, {Lo: 0x1F400, Hi: 0x1F53D, Stride: 1},
		{Lo: 0x1F546, Hi: 0x1F64F, Stride: 1}, {Lo: 0x1F680, Hi: 0x1F6FF, Stride: 1}, {Lo: 0x1F774, Hi: 0x1F77F, Stride: 1},
		{Lo: 0x1F7D5, Hi: 0x1F7FF, Stride: 1}, {Lo: 0x1F80C, Hi: 0x1F80F, Stride: 1}, {Lo: 0x1F848, Hi: 0x1F84F, Stride: 1},
		{Lo: 0x1F85A, Hi: 0x1F85F, Stride: 1}, {Lo: 0x1F888, Hi: 0x1F88F, Stride: 1}, {Lo: 0x1F8AE, Hi: 0x1F8FF, Stride: 1},
		{Lo: 0x1F90C, Hi: 0x1F93A, Stride: 1}, {Lo: 0x1F93C, Hi: 0x1F945, Stride: 1}, {Lo: 0x1F947, Hi: 0x1FAFF, Stride: 1},
		{Lo: 0x1FC00, Hi: 0x1FFFD, Stride: 1},
	},
}

// joining are the scripts whose spelling needs the joiners: cursive ones, and those that stack consonants.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Mandaic, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
}

const (
	zwnj      = '\u200C'
	zwj       = '\u200D'
	textStyle = '\uFE0E'
	emojiLook = '\uFE0F'
	keycap    = '\u20E3'
	blackFlag = '\U0001F3F4'
)

// The three flags of UTS 51 that are written in tags. Any other text in tags is smuggled.
var tagFlags = [...]string{
	"\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", // England
	"\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", // Scotland
	"\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F", // Wales
}

// joins says how many bytes at the start of rest may stay because of what stands before them: a presentation
// selector or a joiner in an emoji sequence, a joiner inside a word that needs it, a flag. 0 means none. Since
// before holds only what was kept, two invisible characters in a row never pass.
func joins(before, rest string) int {
	c, size := utf8.DecodeRuneInString(rest)
	prev, prevSize := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(rest[size:])
	ok := false
	switch c {
	case textStyle, emojiLook:
		ok = unicode.Is(pictographic, prev) || next == keycap && strings.ContainsRune("0123456789#*", prev)
	case zwj:
		base := prev
		if prev == emojiLook || prev >= 0x1F3FB && prev <= 0x1F3FF {
			base, _ = utf8.DecodeLastRuneInString(before[:len(before)-prevSize])
		}
		ok = unicode.Is(pictographic, base) && unicode.Is(pictographic, next) || insideWord(prev, next)
	case zwnj:
		ok = insideWord(prev, next)
	case 0xE0067:
		if prev == blackFlag {
			for _, flag := range tagFlags {
				if strings.HasPrefix(rest, flag) {
					return len(flag)
				}
			}
		}
	}
	if !ok {
		return 0
	}
	return size
}

func insideWord(prev, next rune) bool {
	return (unicode.IsLetter(prev) || unicode.IsMark(prev)) && (unicode.IsLetter(next) || unicode.IsMark(next)) &&
		unicode.In(prev, joining...) && unicode.In(next, joining...)
}
