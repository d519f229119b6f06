package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text/confusable"

	"golang.org/x/text/unicode/norm"
)

// A view is a text as secrets are looked for in it, with the place in the text that each of its bytes comes from. What a
// reader does not see, or sees through, is not in it: marks of styles, white space, invisible characters, accents, case,
// letters of other alphabets that look Latin, percent signs and the like before the number of a character.
type view struct {
	text     []byte
	from, to []int // of the characters of the text that the bytes come from; nil unless places
	places   bool
	numbered bool // characters were written as their numbers
}

// A kind of view has the characters that it reports to be in it.
type kind struct {
	holds  func(rune) bool
	ascii  [utf8.RuneSelf]byte // the character as it is in the view; 0: it is not
	digits bool                // of a character that is written as its number, the number is taken and not the character
}

var (
	// dense views have letters and digits alone, so that nothing between them hides a secret.
	dense = kindOf(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	// digits views are dense ones of texts in which some pairs of digits look like a character's number and are not.
	digits = func() *kind {
		k := *dense
		k.digits = true
		return &k
	}()
	// shown views are for secrets that have too few letters and digits for dense ones.
	shown = kindOf(func(r rune) bool {
		return !unicode.IsSpace(r) && unicode.IsPrint(r) && !strings.ContainsRune("*_~|`\\>#", r)
	})
)

func kindOf(holds func(rune) bool) *kind {
	k := &kind{holds: holds}
	for r := range k.ascii {
		if holds(rune(r)) {
			k.ascii[r] = byte(unicode.ToLower(rune(r)))
		}
	}
	return k
}

// unseen finds what Discord does not show of Markdown: a link's target, the language of a block of code, an emoji's number;
// and the numbers of sources, which a reader passes over.
func unseen(s string) (spans [][]int) {
	inBlock := false
	for i := 0; i < len(s); {
		next := strings.IndexAny(s[i:], "]`<[")
		if next < 0 {
			break
		}
		i += next
		near := s[i:min(len(s), i+longestUnseen)]
		length := 0
		switch {
		case strings.HasPrefix(near, "]("):
			length = targetLength(near)
		case strings.HasPrefix(near, "```"):
			if inBlock = !inBlock; !inBlock || !tag.MatchString(near) {
				i += len("```")
				continue
			}
			length = len(tag.FindString(near))
		case near[0] != ']':
			length = len(tag.FindString(near[:min(len(near), longestTag)]))
		}
		if length > 0 {
			spans = append(spans, []int{i, i + length})
		}
		i += max(length, 1)
	}
	return spans
}

const (
	longestUnseen = 2100 // bytes of a link's target
	longestTag    = 100
)

var tag = regexp.MustCompile("^(?:```[A-Za-z0-9_+.#-]*\n|<a?:\\w+:[0-9]+>|\\[[0-9]{1,2}\\??\\])")

// targetLength returns the length of "](target)", which s begins with; 0 if the target does not end on its line.
func targetLength(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '\n':
			return 0
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// read returns the view of s, without the stretches hidden, in the place of buf. Only where places are wanted it says where its bytes
// come from: that takes sixteen times the room.
func (k *kind) read(buf []byte, s string, hidden [][]int, places bool) view {
	v := view{text: slices.Grow(buf[:0], len(s)), places: places}
	if places {
		v.from, v.to = make([]int, 0, len(s)), make([]int, 0, len(s))
	}
	var decomposed []byte
	for i := 0; i < len(s); {
		if len(hidden) > 0 && i >= hidden[0][0] {
			i, hidden = max(i, hidden[0][1]), hidden[1:]
			continue
		}
		i = k.plain(&v, s, i, hidden)
		if i == len(s) || len(hidden) > 0 && i >= hidden[0][0] {
			continue
		}
		r, size := rune(s[i]), 1
		switch {
		case r == '%' || r == '\\' || r == '0':
			if n, length := numbered(s[i:]); length > 0 {
				r, size, v.numbered = n, length, true
				if k.digits && length > len("0x") {
					r, size = ' ', length-len("73")
				}
			}
		case r >= utf8.RuneSelf:
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r < utf8.RuneSelf:
			if c := k.ascii[r]; c != 0 {
				v.text = append(v.text, c)
				v.place(i, i+size, 1)
			}
		case r != utf8.RuneError:
			decomposed = norm.NFKD.AppendString(decomposed[:0], s[i:i+size])
			for _, r := range string(decomposed) {
				r = confusable.Latin(unicode.ToLower(r))
				for _, first := range signs {
					if r >= first && r < first+26 {
						r += 'a' - first
					}
				}
				if k.holds(r) && !unicode.Is(unicode.M, r) {
					v.add(i, i+size, string(r))
				}
			}
		}
		i += size
	}
	return v
}

// plain reads the ASCII characters from i on, as far as they are no beginning of a number, and returns where they end.
func (k *kind) plain(v *view, s string, i int, hidden [][]int) int {
	end := len(s)
	if len(hidden) > 0 {
		end = hidden[0][0]
	}
	for ; i < end; i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c == '%' || c == '\\' || c == '0' {
			break
		}
		if c = k.ascii[c]; c != 0 {
			v.text = append(v.text, c)
			v.place(i, i+1, 1)
		}
	}
	return i
}

func (v *view) add(from, to int, character string) {
	v.text = append(v.text, character...)
	v.place(from, to, len(character))
}

// place notes where n bytes come from.
func (v *view) place(from, to, n int) {
	if !v.places {
		return
	}
	for range n {
		v.from, v.to = append(v.from, from), append(v.to, to)
	}
}

// numbered reads a character that is written as its number in hexadecimal: %73, \x73, \u0073, 0x73. Of a longer number, as
// 0x736b, it reads the beginning as nothing, and the digits are left. The size is 0 if there is none.
func numbered(s string) (r rune, size int) {
	switch {
	case len(s) < 3:
		return 0, 0
	case s[0] == '%':
		size = 1
	case s[0] == '\\' && s[1] == 'x':
		size = 2
	case strings.HasPrefix(s, `\u00`):
		size = 4
	case s[0] == '0' && (s[1] == 'x' || s[1] == 'X'):
		if size = 2; len(s) > 4 && isHex(s[2]) && isHex(s[3]) && isHex(s[4]) {
			return ' ', size
		}
	}
	if size == 0 || len(s) < size+2 || !isHex(s[size]) || !isHex(s[size+1]) {
		return 0, 0
	}
	n := hexDigit(s[size])<<4 | hexDigit(s[size+1])
	if n >= utf8.RuneSelf {
		return 0, 0
	}
	return n, size + 2
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }

func hexDigit(b byte) rune {
	if b <= '9' {
		return rune(b - '0')
	}
	return rune(b|0x20-'a') + 10
}

// signs are the first of alphabets of emoji: the signs of flags, and letters in black circles and squares.
var signs = [...]rune{0x1F1E6, 0x1F150, 0x1F170}

// views calls do with each view in which a form may be found, and those forms, until it returns false. The view is good until do returns.
func (r *Redactor) views(s string, places bool, do func(v view, forms *forms) bool) {
	buf, _ := r.bufs.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer r.bufs.Put(buf)
	look := func(k *kind, hidden [][]int, forms *forms) (on, numbered bool) {
		v := k.read(*buf, s, hidden, places)
		*buf = v.text
		return do(v, forms), v.numbered
	}
	hidden := unseen(s)
	for _, h := range [][][]int{nil, hidden} {
		on, numbered := look(dense, h, &r.dense)
		if on && numbered {
			on, _ = look(digits, h, &r.dense)
		}
		if on && len(r.shown.all) > 0 {
			on, _ = look(shown, h, &r.shown)
		}
		if !on || len(hidden) == 0 {
			return
		}
	}
}

// secretsIn returns where secrets are in s, in order, without those within others.
func (r *Redactor) secretsIn(s string) (spans [][2]int) {
	for _, f := range r.plain.all {
		for at := 0; ; at += len(f) {
			i := strings.Index(s[at:], f)
			if i < 0 {
				break
			}
			at += i
			spans = append(spans, [2]int{at, at + len(f)})
		}
	}
	r.views(s, true, func(v view, forms *forms) bool {
		for _, f := range forms.all {
			for at := 0; ; at += len(f) {
				i := bytes.Index(v.text[at:], []byte(f))
				if i < 0 {
					break
				}
				at += i
				spans = append(spans, [2]int{v.from[at], v.to[at+len(f)-1]})
			}
		}
		return true
	})
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && s[0] < merged[n-1][1] {
			merged[n-1][1] = max(merged[n-1][1], s[1])
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// leading is how many characters of a secret may be shown before it is clear that they are its beginning.
const leading = 3

// Begun returns how much of a growing text holds no more than the first characters of what may become a secret: its length if
// it does not end in one. For a longer text it returns no less.
func (r *Redactor) Begun(s string) int {
	end := len(s)
	if r == nil {
		return end
	}
	r.views(s, true, func(v view, forms *forms) bool {
		for _, f := range forms.all {
			if n := overlap(v.text, []byte(f)); n > leading {
				end = min(end, v.from[len(v.text)-n+leading])
			}
		}
		return true
	})
	return end
}

// overlap returns the length of the longest end of text that form begins with and goes on from.
func overlap(text, form []byte) int {
	if len(text) >= len(form) {
		text = text[len(text)-len(form)+1:]
	}
	for n := len(text); n > leading; n-- {
		if bytes.Equal(text[len(text)-n:], form[:n]) {
			return n
		}
	}
	return 0
}
