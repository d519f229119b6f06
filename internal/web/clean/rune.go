package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// gone is what a dropped character becomes.
const gone = -1

// invisible is T4 beyond the general categories: characters that are letters or symbols by name and blank by look.
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

// judge is rules T2 to T7 for one character: what becomes of it, and the rule that says so ("" for none).
func judge(c rune) (rune, string) {
	switch {
	case common(c):
		return c, ""
	case c == '\v', c == '\f', c == 0x85, c == 0x2028, c == 0x2029:
		return '\n', "T6"
	case c == '\r':
		return '\n', "" // every text from an older system has them: not worth a report
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
		return ' ', "" // as common as the blank itself
	case unicode.Is(unicode.Zs, c):
		return ' ', "T7"
	}
	return c, ""
}

// common says, for the characters that most text is made of, that no rule concerns them and that they are
// no combining marks. It errs on the side of no: the tables decide about the rest.
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

// starts says that a character composes with none before it and is not written in another way. Text of nothing else is
// canonically composed and has no combining marks; to find that out from Unicode's tables takes four times as long as
// all other rules together.
func starts(c rune) bool {
	const anoTeleia = 0x387 // is written as a middle dot
	return common(c) && c != anoTeleia
}

// fold is T1 to T7. With joiners, what a reply needs for emoji and for words of other scripts stays.
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
			// One sign for a run of bad bytes.
			for i+size < len(s) && invalidAt(s[i+size:]) {
				size++
			}
			b.WriteRune(utf8.RuneError)
			r.add("T1", 1)
		case c == '\r' && strings.HasPrefix(s[i+size:], "\n"):
			// The newline that follows stands for both.
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

// plain says that Text has nothing to do on s: the way out for nearly all text, so it reads s once, byte by byte.
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

// plainASCII says that s is made of nothing but printable ASCII, newlines and tabs.
func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || byteClass[s[i]] == control {
			return false
		}
	}
	return true
}

// Classes of ASCII bytes, for plain.
const (
	other   = iota // ends a run of encoded data
	coded          // may be part of encoded data
	newline        //
	control        // must go
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
