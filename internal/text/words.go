package text

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text/lang"
)

// Word is one word of a text: as it is looked up in the tables, and where it stands.
type Word struct {
	Key        string // lower case, without accents, plural s or apostrophe
	Start, End int    // bytes of the text; words split from one contraction share them
	Upper      bool   // begins with a capital
}

// SameWord reports whether two words of one text are one, or halves of one contraction.
func SameWord(a, b Word) bool { return a.Start == b.Start }

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
// words of isContracted; elsewhere it is a possessive, which is dropped.
var contractions = lang.All().Grammar.Contractions

var isContracted = Set(lang.All().Grammar.BeforeIs)

// spelled are the written-together forms that chat is full of, and longestSpelled is the length of the longest.
var (
	spelled = func() map[string][]string {
		all := map[string][]string{}
		for form, words := range lang.All().Grammar.ChatForms {
			all[form] = words.Fields()
		}
		return all
	}()
	longestSpelled = len(slices.MaxFunc(slices.Collect(maps.Keys(spelled)), func(a, b string) int { return len(a) - len(b) }))
)

// Words cuts s into words. Chinese, Japanese and Thai come out as long runs: the tables look inside those.
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
		case key == "s" && !isContracted[last.Key]:
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

// singular takes the s off several of what has a name of capitals: "CFCs", "DVDs".
func singular(raw string) string {
	name, ok := strings.CutSuffix(raw, "s")
	if !ok || len(name) < 2 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsUpper(r) }) {
		return raw
	}
	return name
}

// writtenTogether returns the words of a form in [spelled]. A page's words are looked up by the thousand, and nearly all
// are too long for one.
func writtenTogether(key string) []string {
	if len(key) > longestSpelled {
		return nil
	}
	return spelled[key]
}

func apostrophe(s string) bool { return s == "'" || s == "’" || s == "ʼ" }

// Fold makes the form under which a word is looked up. The plural s goes from words of five letters and more,
// in the tables as in the text, so that one entry serves both.
func Fold(s string) string {
	s = strings.ToLower(s)
	if !ASCII(s) {
		s = Unaccented(s)
	}
	if len(s) > 4 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us") && !strings.HasSuffix(s, "is") {
		s = s[:len(s)-1]
	}
	return s
}

func ASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Unaccented drops combining marks from Latin, Greek and Cyrillic; other scripts need theirs.
func Unaccented(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if r < 0x300 || r > 0x36f {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// Set makes a word set of a table.
func Set(table lang.Words) map[string]bool {
	out := map[string]bool{}
	for _, w := range table.Fields() {
		out[Fold(w)] = true
	}
	return out
}

// ByWord turns tables around: each word has the name of its table.
func ByWord(tables map[string]lang.Words) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		for w := range Set(tables[name]) {
			out[w] = name
		}
	}
	return out
}

// Phrases finds phrases in words: by first word, then in full, so a search costs one map look-up a word.
type Phrases struct {
	ByFirst map[string][]Phrase
	Inside  []Phrase // of scripts without spaces: looked for as plain substrings
}

type Phrase struct {
	Words []string
	Cue   string
}

// Compile compiles tables of phrases by cue.
func Compile(rows map[string]lang.Phrases) Phrases {
	t := Phrases{ByFirst: map[string][]Phrase{}}
	for _, cue := range slices.Sorted(maps.Keys(rows)) {
		for _, text := range strings.Split(string(rows[cue]), ",") {
			text = strings.TrimSpace(text)
			if Unspaced(text) {
				t.Inside = append(t.Inside, Phrase{[]string{text}, cue})
				continue
			}
			var keys []string
			for _, w := range Words(text) {
				keys = append(keys, w.Key)
			}
			if len(keys) > 0 {
				t.ByFirst[keys[0]] = append(t.ByFirst[keys[0]], Phrase{keys, cue})
			}
		}
	}
	return t
}

// Unspaced reports whether s is of a script that puts no spaces between words, or glues particles to them.
func Unspaced(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Hangul) {
			return true
		}
	}
	return false
}

// Match is a phrase found: the words it covers.
type Match struct {
	Cue      string
	From, To int
}

// FindAll returns every phrase of t in the text, in order.
func (t Phrases) FindAll(text string, words []Word) []Match {
	var out []Match
	for i := range words {
		for _, p := range t.ByFirst[words[i].Key] {
			if HasPrefix(words[i:], p.Words) {
				out = append(out, Match{p.Cue, i, i + len(p.Words)})
			}
		}
	}
	if len(t.Inside) > 0 && !ASCII(text) {
		for _, p := range t.Inside {
			if strings.Contains(text, p.Words[0]) {
				out = append(out, Match{p.Cue, 0, 0})
			}
		}
	}
	return out
}

// Prefix returns the length of the longest phrase of t that begins words, and its cue.
func (t Phrases) Prefix(words []Word) (n int, cue string) {
	if len(words) == 0 {
		return 0, ""
	}
	for _, p := range t.ByFirst[words[0].Key] {
		if len(p.Words) > n && HasPrefix(words, p.Words) {
			n, cue = len(p.Words), p.Cue
		}
	}
	return n, cue
}

func HasPrefix(words []Word, keys []string) bool {
	if len(words) < len(keys) {
		return false
	}
	for i, k := range keys {
		if words[i].Key != k {
			return false
		}
	}
	return true
}
