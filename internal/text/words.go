package text

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text/lang"
)

// Word is a word of a text: its key, under which tables have it, and where it stands.
type Word struct {
	Key        string // lower case, without accents, plural s or apostrophe
	Start, End int    // bytes of the text; words split from one contraction share them
	Upper      bool   // begins with a capital
}

// SameWord reports whether two words of one text are one, or halves of one contraction.
func SameWord(a, b Word) bool { return a.Start == b.Start }

// Possessive reports whether a word, as it is written, ends with the "'s" of an owner.
func Possessive(word string) bool {
	return strings.HasSuffix(word, "'s") || strings.HasSuffix(word, "’s")
}

// Keys returns the keys of words.
func Keys(words []Word) map[string]bool {
	keys := make(map[string]bool, len(words))
	for _, w := range words {
		keys[w.Key] = true
	}
	return keys
}

// longWord bounds what is looked at for a single word, in bytes.
const longWord = 32

// WordBehind returns the word that s begins with, behind at most one other character: of what follows a number, its
// unit.
func WordBehind(s string) (w Word, ok bool) {
	words := Words(s[:min(len(s), longWord)])
	if len(words) == 0 || words[0].Start > 1 {
		return Word{}, false
	}
	return words[0], true
}

// contractions are the second halves of English words that are words of their own. "s" is one only after the
// words of beforeIs; elsewhere it is a possessive, which is dropped.
var contractions = lang.All().Grammar.Contractions

var beforeIs = Set(lang.All().Grammar.BeforeIs)

// chatForms are words that chat writes as one, and longestChatForm is the length of the longest.
var (
	chatForms = func() map[string][]string {
		all := map[string][]string{}
		for form, words := range lang.All().Grammar.ChatForms {
			all[form] = words.Fields()
		}
		return all
	}()
	longestChatForm = len(slices.MaxFunc(slices.Collect(maps.Keys(chatForms)), func(a, b string) int { return len(a) - len(b) }))
)

// Words splits s into words. Chinese, Japanese and Thai come out as long runs, which the tables are looked for in.
func Words(s string) []Word {
	out := make([]Word, 0, len(s)/5+1) // about as many as English has
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !InWord(r) {
			i += n
			continue
		}
		start := i
		for i += n; i < len(s); i += n {
			if r, n = utf8.DecodeRuneInString(s[i:]); !InWord(r) {
				break
			}
		}
		out = appendWord(out, s, start, i)
	}
	return out
}

// InWord reports whether a character belongs to a word: it is a letter, a digit or a mark upon one.
func InWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// appendWord adds s[start:end], joined with the word before it where an apostrophe stands between them.
func appendWord(out []Word, s string, start, end int) []Word {
	raw := s[start:end]
	first, _ := utf8.DecodeRuneInString(raw)
	key := Fold(singular(raw))
	if len(out) > 0 && start-out[len(out)-1].End <= len("’") && apostrophe(s[out[len(out)-1].End:start]) {
		last := &out[len(out)-1]
		switch {
		case key == "t" && strings.HasSuffix(last.Key, "n"): // don't, can't, won't
			last.Key = map[string]string{"wo": "will", "ca": "can", "sha": "shall"}[strings.TrimSuffix(last.Key, "n")]
			if last.Key == "" {
				last.Key = Fold(strings.TrimRight(s[last.Start:last.End], "nN"))
			}
			return append(out, Word{Key: "not", Start: start, End: end})
		case key == "s" && !beforeIs[last.Key]:
			last.End = end
			return out
		case contractions[key] != "":
			return append(out, Word{Key: string(contractions[key]), Start: start, End: end})
		}
	}
	if parts := writtenTogether(key); parts != nil && (len(key) > 1 || !strings.HasPrefix(s[end:], ".")) {
		for _, part := range parts {
			out = append(out, Word{Key: part, Start: start, End: end})
		}
		return out
	}
	return append(out, Word{Key: key, Start: start, End: end, Upper: unicode.IsUpper(first)})
}

// singular takes the s off an acronym: "CFCs", "DVDs".
func singular(raw string) string {
	name, ok := strings.CutSuffix(raw, "s")
	if !ok || len(name) < 2 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsUpper(r) }) {
		return raw
	}
	return name
}

// writtenTogether returns the words of a form in [chatForms]. Nearly all words of a page are too long for one.
func writtenTogether(key string) []string {
	if len(key) > longestChatForm {
		return nil
	}
	return chatForms[key]
}

func apostrophe(s string) bool { return s == "'" || s == "’" || s == "ʼ" }
