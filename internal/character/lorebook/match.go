package lorebook

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matches says which key makes an entry fire; empty: none does.
func (sc *scan) matches(e *entry) string {
	b := sc.buffer.of(sc.depthOf(e), e.Match, e.recursive && sc.byOther && !sc.older)
	found := func(k key) bool { return sc.found(b, k) }
	first := slices.IndexFunc(e.primary, found)
	if e.Regex && first < 0 { // the further keys of patterns are patterns of the same list
		if first = slices.IndexFunc(e.additional, found); first >= 0 {
			return "key " + short(e.additional[first].text)
		}
	}
	if first < 0 {
		return ""
	}
	if !e.Regex && len(e.additional) > 0 && !slices.ContainsFunc(e.additional, found) {
		return ""
	}
	if !e.Regex && (slices.ContainsFunc(e.exclude, found) || len(e.excludeAll) > 0 && sc.all(b, e.excludeAll)) {
		return ""
	}
	why := "key " + short(e.primary[first].text)
	if sc.byOther && !sc.found(sc.buffer.of(sc.depthOf(e), e.Match, false), e.primary[first]) {
		why += ", in another entry"
	}
	if len(e.secondary) == 0 {
		return why
	}
	any, all := slices.ContainsFunc(e.secondary, found), sc.all(b, e.secondary)
	switch e.Logic {
	case AndAll:
		return given(all, why+", with all others")
	case NotAny:
		return given(!any, why+", without the others")
	case NotAll:
		return given(!all, why+", not with all others")
	}
	return given(any, why+", with another")
}

func (sc *scan) all(b *words, keys []key) bool {
	return !slices.ContainsFunc(keys, func(k key) bool { return !sc.found(b, k) })
}

func given(holds bool, why string) string {
	if holds {
		return why
	}
	return ""
}

// score is how many keys of an entry are there.
func (sc *scan) score(e *entry) (n int) {
	b := sc.buffer.of(sc.depthOf(e), e.Match, e.recursive && sc.byOther && !sc.older)
	count := func(keys []key) (n int) {
		for _, k := range keys {
			n += flag(sc.found(b, k))
		}
		return n
	}
	n = count(e.primary)
	switch others := count(e.secondary); e.Logic {
	case AndAny, "":
		n += others
	case AndAll:
		if others == len(e.secondary) {
			n += others
		}
	}
	return n
}

// found reports whether a key is in the text.
func (sc *scan) found(b *words, k key) bool {
	if k.pattern != nil {
		return k.pattern.MatchString(b.plain)
	}
	in, has, word := b.folded, &b.inFolded, k.words
	if k.exact {
		in, has = b.plain, &b.inPlain
	}
	if k.macros && sc.chat.Expand != nil {
		shown, _ := sc.chat.Expand(k.text)
		word = folded(strings.TrimSpace(shown), k.exact)
	}
	if word == "" || !has.may(word) {
		return false
	}
	if k.whole && !strings.ContainsFunc(word, unicode.IsSpace) {
		return wholeWord(in, word)
	}
	return strings.Contains(in, word)
}

// wholeWord reports whether a word stands in a text by itself. In scripts that write no blanks between words any place will do.
func wholeWord(text, word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
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
		from = i + utf8.RuneLen(first)
	}
}

// joins reports whether a character is a part of a word that others of its kind beside it would make longer.
func joins(r rune) bool {
	if r == utf8.RuneError {
		return false
	}
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.Is(unicode.M, r)
}
