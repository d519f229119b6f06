package clean

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text"
)

// view is a text in the form in which it is searched for secrets. It has the position of each byte in the original. It drops or replaces
// what a reader does not notice: formatting marks, white space, invisible characters, accents and case. It does the same with letters of
// other alphabets that look Latin. So it does with prefixes such as the percent sign of a character's number. References by which HTML
// writes a character go, too.
type view struct {
	text     []byte
	from, to []int // original positions of the characters; nil unless places
	places   bool
	numbered bool // it contained characters written as numbers
}

// kind is a kind of view. The view contains the characters for which holds is true.
type kind struct {
	holds  func(rune) bool
	ascii  [utf8.RuneSelf]byte // the character in the view; 0: none
	digits bool                // keep the digits of a character written as a number, not the character
}

var (
	// dense views contain only letters and digits, so that nothing between them hides a secret.
	dense = kindOf(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	// digits views are dense views for texts in which pairs of digits only look like a character's number.
	digits = func() *kind {
		k := *dense
		k.digits = true
		return &k
	}()
	// shown views are for secrets with too few letters and digits for a dense view.
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

// unseen returns the parts of Markdown that Discord does not show. They are a link's target, the language of a code block and the number of
// an emoji. It also returns citations, which readers skip.
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

var tag = text.NewLazyRegexp("^(?:```[A-Za-z0-9_+.#-]*\n|<a?:\\w+:[0-9]+>|\\[[0-9]{1,2}\\??\\])")

// targetLength returns the length of the "](target)" at the start of s. It returns 0 if the target does not end on its line.
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

// read returns the view of s without the spans in hidden. It reuses buf. It records positions only if places is set,
// because that takes sixteen times the memory.
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
		case r == '&':
			if n, length := referenced(s[i:]); length > 0 {
				r, size = n, length
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
				r = text.LatinLookalike(unicode.ToLower(r))
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

// plain reads ASCII characters from i on, up to the possible start of a number or a reference. It returns where they end.
func (k *kind) plain(v *view, s string, i int, hidden [][]int) int {
	end := len(s)
	if len(hidden) > 0 {
		end = hidden[0][0]
	}
	for ; i < end; i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c == '%' || c == '\\' || c == '0' || c == '&' {
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

// place records the origin of n bytes.
func (v *view) place(from, to, n int) {
	if !v.places {
		return
	}
	for range n {
		v.from, v.to = append(v.from, from), append(v.to, to)
	}
}

// numbered reads a character written as a hexadecimal number: %73, \x73, \u0073, 0x73. Of a longer number such as
// 0x736b it reads the prefix as a space and leaves the digits. The size is 0 if there is none.
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

// referenced reads an ASCII character written as a character reference of HTML: &#43;, &#x2b;, &amp;. The size is 0 if there is none.
func referenced(s string) (r rune, size int) {
	end := strings.IndexByte(s[:min(len(s), longestEscape)], ';')
	if end < 0 {
		return 0, 0
	}
	if c := html.UnescapeString(s[:end+1]); len(c) == 1 {
		return rune(c[0]), end + 1
	}
	return 0, 0
}

// longestEscape limits a reference that is read, in bytes: &#x0000002b; is longer than any program writes.
const longestEscape = 12

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }

func hexDigit(b byte) rune {
	if b <= '9' {
		return rune(b - '0')
	}
	return rune(b|0x20-'a') + 10
}

// signs are the first letters of emoji alphabets: regional indicators, and letters in black circles and squares.
var signs = [...]rune{0x1F1E6, 0x1F150, 0x1F170}

// views calls do with each view and the forms to look for in it, until do returns false. The view is valid until do
// returns.
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

// secretsIn returns the positions of secrets in s, sorted, with overlapping ones merged.
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
	slices.SortStableFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
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

// leading is how many characters of a secret may be shown before they are recognised as its beginning.
const leading = 3

// Begun returns the length of the part of a growing text that can be shown. The rest may be the beginning of a secret.
// For a longer text it never returns less.
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

// overlap returns the length of the longest suffix of text that is a proper prefix of form. It returns 0 if that is not longer than
// leading.
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
