package card

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// buffer is what a scan searches: the messages, texts of the card, and the texts of entries that fired.
type buffer struct {
	messages []string
	fields   map[string]string
	entries  []string
	made     map[view]*searched
}

// view is a part of the buffer.
type view struct {
	depth   int    // messages
	fields  string // names, separated by spaces
	entries int    // texts of entries; -1: they do not count
}

// searched is a text that is ready to be searched.
type searched struct {
	plain, folded     string
	inPlain, inFolded pairs
}

// pairs is the set of byte pairs in a text. Most keys have a pair that the text lacks, and need no search.
type pairs [1 << 16 / 64]uint64

func (p *pairs) add(text string) {
	for i := 1; i < len(text); i++ {
		n := uint(text[i-1])<<8 | uint(text[i])
		p[n/64] |= 1 << (n % 64)
	}
}

func (p *pairs) mayContain(word string) bool {
	for i := 1; i < len(word); i++ {
		if n := uint(word[i-1])<<8 | uint(word[i]); p[n/64]&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}

// mark is before each text of a view, as in SillyTavern. A pattern finds the beginning of a message by it.
const mark = "\x01"

// view returns the last messages, some texts of the card and, if they count, the texts of entries. It leaves out old
// messages where they are very long. A view of no messages is empty.
func (b *buffer) view(depth int, fields []string, entries bool) *searched {
	id := view{depth: depth, fields: strings.Join(fields, " "), entries: -1}
	if entries {
		id.entries = len(b.entries)
	}
	if s := b.made[id]; s != nil {
		return s
	}
	var parts []string
	size := 0
	for _, m := range b.messages[:min(depth, len(b.messages))] {
		if size += len(m); size > maxMessageBytes {
			break
		}
		parts = append(parts, m)
	}
	for _, f := range fields {
		if text := b.fields[f]; text != "" {
			parts = append(parts, text)
		}
	}
	if entries {
		parts = append(parts, b.entries...)
	}
	plain := ""
	if depth > 0 {
		plain = mark + strings.Join(parts, "\n"+mark)
	}
	if len(plain) > 4*maxMessageBytes {
		plain = strings.ToValidUTF8(plain[:4*maxMessageBytes], "")
	}
	plain = norm.NFC.String(plain)
	s := &searched{plain: plain, folded: strings.ToLower(plain)}
	s.inPlain.add(s.plain)
	s.inFolded.add(s.folded)
	b.made[id] = s
	return s
}

// folded brings a key into the form of the text in which it is searched for.
func folded(s string, exact bool) string {
	s = norm.NFC.String(s)
	if exact {
		return s
	}
	return strings.ToLower(s)
}

// viewOf returns the text that is searched for an entry's keys.
func (sc *scan) viewOf(e *entry, entries bool) *searched {
	return sc.buffer.view(sc.depthOf(e), e.Match, entries)
}

// matches says which keys make an entry fire; it is empty if they do not.
func (sc *scan) matches(e *entry) string {
	text := sc.viewOf(e, e.recursive && sc.recursed && !sc.older)
	found := func(k key) bool { return sc.found(text, k) }
	some := func(keys []key) bool { return slices.ContainsFunc(keys, found) }
	all := func(keys []key) bool { return !slices.ContainsFunc(keys, func(k key) bool { return !found(k) }) }
	first := slices.IndexFunc(e.primary, found)
	if e.Regex && first < 0 { // additional keys of patterns are more patterns of the same list
		more := slices.Concat(e.additional...)
		if first = slices.IndexFunc(more, found); first >= 0 {
			return "key " + shorten(more[first].text, 60)
		}
	}
	if first < 0 {
		return ""
	}
	if !e.Regex {
		none := func(keys []key) bool { return !some(keys) }
		if slices.ContainsFunc(e.additional, none) || slices.ContainsFunc(e.exclude, some) || slices.ContainsFunc(e.excludeAll, all) {
			return ""
		}
	}
	why := "key " + shorten(e.primary[first].text, 60)
	if sc.recursed && !sc.found(sc.viewOf(e, false), e.primary[first]) {
		why += ", in another entry"
	}
	if len(e.secondary) == 0 {
		return why
	}
	holds, with := some(e.secondary), ", with another"
	switch e.Logic {
	case AndAll:
		holds, with = all(e.secondary), ", with all others"
	case NotAny:
		holds, with = !holds, ", without the others"
	case NotAll:
		holds, with = !all(e.secondary), ", not with all others"
	}
	if !holds {
		return ""
	}
	return why + with
}

// score returns how many keys of an entry are there.
func (sc *scan) score(e *entry) int {
	text := sc.viewOf(e, e.recursive && sc.recursed && !sc.older)
	count := func(keys []key) (n int) {
		for _, k := range keys {
			n += toInt(sc.found(text, k))
		}
		return n
	}
	n, others := count(e.primary), count(e.secondary)
	if e.Logic == "" || e.Logic == AndAny || e.Logic == AndAll && others == len(e.secondary) {
		n += others
	}
	return n
}

// found reports whether a key is in the text.
func (sc *scan) found(text *searched, k key) bool {
	if k.find != nil {
		return sc.matched(text.plain, k)
	}
	in, pairs, words := text.folded, &text.inFolded, k.words
	if k.exact {
		in, pairs = text.plain, &text.inPlain
	}
	if k.macros {
		words = folded(strings.TrimSpace(sc.expand(k.text)), k.exact)
	}
	if words == "" || !pairs.mayContain(words) {
		return false
	}
	if k.whole && !strings.ContainsFunc(words, unicode.IsSpace) {
		return containsWord(in, words)
	}
	return strings.Contains(in, words)
}

// matched reports whether a pattern is in the text. It marks the scan if there was no time to find out.
func (sc *scan) matched(text string, k key) (found bool) {
	inTime := search(sc.chat.Clock, func() error {
		re, err := k.find.ready(sc.expand)
		if err == nil {
			found, err = re.MatchString(text)
		}
		return err
	})
	sc.slow = sc.slow || !inTime
	return found
}

// expand replaces the macros of a key.
func (sc *scan) expand(text string) string {
	if sc.chat.Expand == nil {
		return text
	}
	shown, _ := sc.chat.Expand(text)
	return shown
}

// containsWord reports whether a text contains a word that is not part of a longer one. In scripts without spaces between
// words, any place counts.
func containsWord(text, word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !(joins(first) && joins(before)) && !(joins(last) && joins(after)) {
			return true
		}
		from = i + size
	}
}

// joins reports whether a character and another beside it belong to one word.
func joins(r rune) bool {
	if r == utf8.RuneError || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.Is(unicode.M, r)
}
