package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// gone replaces a dropped character.
const gone = -1

// invisible is T4 beyond the general categories: characters that are letters or symbols by category but look blank.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00AD, Hi: 0x00AD, Stride: 1}, // soft hyphen
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061C, Hi: 0x061C, Stride: 1}, // Arabic letter mark
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, // Mongolian variation selectors and vowel separator
		{Lo: 0x200B, Hi: 0x200F, Stride: 1}, // zero-width space, joiners, direction marks
		{Lo: 0x2060, Hi: 0x206F, Stride: 1}, // word joiner, invisible operators, old format controls
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // Braille blank
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1}, // byte-order mark
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xFFF0, Hi: 0xFFFB, Stride: 1}, // interlinear annotation and its unassigned neighbours
	},
	R32: []unicode.Range32{
		{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, // shorthand format controls
		{Lo: 0x1D173, Hi: 0x1D17A, Stride: 1}, // musical format controls
	},
}

// judge applies rules T2 to T7 to one character. It returns the replacement and the rule, or "" for no rule.
func judge(c rune) (rune, string) {
	switch {
	case common(c):
		return c, ""
	case c == '\v', c == '\f', c == 0x85, c == 0x2028, c == 0x2029:
		return '\n', "T6"
	case c == '\r':
		return '\n', "" // common in text from older systems, so not reported
	case c < 0x20, c >= 0x7F && c < 0xA0:
		return gone, "T6"
	case c >= 0xE0000 && c <= 0xE0FFF:
		return gone, "T2"
	case c >= 0xFE00 && c <= 0xFE0F:
		return gone, "T3"
	case c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069:
		return gone, "T5"
	case unicode.In(c, invisible, unicode.Cf, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point):
		return gone, "T4"
	case c == 0xA0:
		return ' ', "" // as common as the space
	case unicode.Is(unicode.Zs, c):
		return ' ', "T7"
	}
	return c, ""
}

// common reports whether no rule applies to a character and it is not a combining mark. It knows only the characters of
// most text; for all others it returns false, and the tables decide.
func common(c rune) bool {
	switch {
	case c < 0x7F:
		return c >= 0x20 || c == '\n' || c == '\t'
	case c < 0x300:
		return c > 0xA0 && c != 0xAD
	case c < 0x2010:
		return c >= 0x384 && c <= 0x482 || c >= 0x48A && c <= 0x52F || c >= 0x5D0 && c <= 0x5EA || c >= 0x620 && c <= 0x64A
	case c < 0x3000:
		return c <= 0x2027 || c >= 0x2030 && c <= 0x205E || c >= 0x20A0 && c <= 0x20BF
	case c < 0xAC00:
		return c >= 0x3001 && c <= 0x3029 || c >= 0x3041 && c <= 0x3096 || c >= 0x30A1 && c <= 0x30FF || c >= 0x3400 && c <= 0x9FFF
	}
	return c <= 0xD7A3 || c >= 0xFF01 && c <= 0xFF9F
}

// starts reports whether a character never composes with the one before it and has no other form. Text with only such
// characters is canonically composed and has no combining marks. Checking that with Unicode's tables takes four times as
// long as all other rules together.
func starts(c rune) bool {
	const anoTeleia = 0x387 // its canonical form is a middle dot
	return common(c) && c != anoTeleia
}

// fold applies T1 to T7. If joiners is set, it keeps what a reply needs for emoji and for words of other scripts.
func fold(s string, r *Report, joiners bool) string {
	var b strings.Builder
	b.Grow(len(s))
	copied := 0
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		if common(c) {
			i += size
			continue
		}
		b.WriteString(s[copied:i])
		switch next, rule := judge(c); {
		case invalidAt(s[i:]):
			// A run of invalid bytes becomes one character.
			for i+size < len(s) && invalidAt(s[i+size:]) {
				size++
			}
			b.WriteRune(utf8.RuneError)
			r.add("T1", 1)
		case c == '\r' && strings.HasPrefix(s[i+size:], "\n"):
			// The newline that follows replaces both.
		case next == gone && joiners && joins(b.String(), s[i:]) > 0:
			size = joins(b.String(), s[i:])
			b.WriteString(s[i : i+size])
		case next == gone:
			r.add(rule, 1)
		default:
			if rule != "" {
				r.add(rule, 1)
			}
			b.WriteRune(next)
		}
		i += size
		copied = i
	}
	b.WriteString(s[copied:])
	return b.String()
}

func invalidAt(s string) bool {
	c, size := utf8.DecodeRuneInString(s)
	return c == utf8.RuneError && size == 1
}

// plain reports whether Text would not change s. This is the fast path for nearly all text, so it reads s once, byte by
// byte.
func plain(s string, most int) bool {
	composed := true
	chars, line, newlines, run := 0, 0, 1, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < utf8.RuneSelf {
			switch byteClass[c] {
			case control:
				return false
			case newline:
				if newlines++; newlines > blankLines+1 {
					return false
				}
				chars, line, run = chars+1, 0, 0
				continue
			case coded:
				if run++; run >= encodedRun {
					return false
				}
			case other:
				run = 0
				if c == ':' && i >= 4 && schemeEnds(s[:i]) || c == '[' && i > 0 && s[i-1] == '!' {
					return false
				}
			}
			if c != ' ' && c != '\t' {
				newlines = 0
			}
			chars, line = chars+1, line+1
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !common(r) && (r == utf8.RuneError && size == 1 || changes(r)) {
				return false
			}
			i += size - 1
			composed = composed && starts(r)
			run, newlines = 0, 0
			chars, line = chars+1, line+1
		}
		if line > lineLength || chars > most {
			return false
		}
	}
	return composed || norm.NFC.IsNormalString(s) && !hasExcessMarks(s)
}

func changes(c rune) bool { next, _ := judge(c); return next != c }

// plainASCII reports whether s contains only printable ASCII, newlines and tabs.
func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || byteClass[s[i]] == control {
			return false
		}
	}
	return true
}

// Classes of ASCII bytes for plain.
const (
	other   = iota // ends a run of encoded data
	coded          // may be part of encoded data
	newline        //
	control        // must be removed
)

var byteClass = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case c == '\n':
			t[c] = newline
		case c != '\t' && c < 0x20 || c == 0x7F:
			t[c] = control
		case encodes(byte(c)):
			t[c] = coded
		}
	}
	return t
}()

// pictographic is Extended_Pictographic of UTS 51 (emoji-data.txt): characters that may have a presentation selector and
// be joined with each other.
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

// joining are the scripts that need joiners for their spelling: cursive scripts, and those that stack consonants.
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

// The three flags that UTS 51 writes in tags. Any other text in tags is smuggled.
var tagFlags = [...]string{
	"\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", // England
	"\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", // Scotland
	"\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F", // Wales
}

// joins returns how many bytes at the start of rest may stay, judging by the text before them. They are a presentation selector or a joiner
// in a sequence of emoji, or a flag. A joiner inside a word that needs it may stay, too. before contains only what was kept, so two
// consecutive invisible characters never pass.
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
