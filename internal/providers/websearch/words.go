package websearch

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is one word of a text: as it is looked up in the tables, and where it stands.
type word struct {
	key        string // lower case, without accents, plural s or apostrophe
	start, end int    // bytes of the text; words split from one contraction share them
	upper      bool   // begins with a capital
}

// contractions are the second halves of English words that are words of their own. "s" is one only after the
// words of isContracted; elsewhere it is a possessive, which is dropped.
var contractions = map[string]string{
	"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would", "s": "is",
}

var isContracted = set("what who where when how why it he she that there here which let")

// spelled are the written-together forms that chat is full of.
var spelled = map[string][]string{
	"whats": {"what", "is"}, "whos": {"who", "is"}, "wheres": {"where", "is"}, "hows": {"how", "is"}, "whens": {"when", "is"},
	"dont": {"do", "not"}, "doesnt": {"does", "not"}, "didnt": {"did", "not"}, "isnt": {"is", "not"}, "cant": {"can", "not"},
	"wont": {"will", "not"}, "im": {"i", "am"}, "ive": {"i", "have"}, "youre": {"you", "are"}, "u": {"you"}, "ur": {"your"},
	"pls": {"please"}, "plz": {"please"}, "wanna": {"want", "to"}, "gonna": {"going", "to"}, "cannot": {"can", "not"},
	"tonite": {"tonight"}, "tmrw": {"tomorrow"}, "thx": {"thanks"}, "r": {"are"},
}

// split cuts s into words. Chinese, Japanese and Thai come out as long runs: the tables look inside those.
func split(s string) []word {
	out := make([]word, 0, len(s)/5+1) // about as many as English has
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !inWord(r) {
			i += n
			continue
		}
		start := i
		for i += n; i < len(s); i += n {
			if r, n = utf8.DecodeRuneInString(s[i:]); !inWord(r) {
				break
			}
		}
		out = appendWord(out, s, start, i)
	}
	return out
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// appendWord adds s[start:end], joined with the word before it where an apostrophe stands between them.
func appendWord(out []word, s string, start, end int) []word {
	raw := s[start:end]
	first, _ := utf8.DecodeRuneInString(raw)
	key := fold(singular(raw))
	if len(out) > 0 && start-out[len(out)-1].end <= len("’") && apostrophe(s[out[len(out)-1].end:start]) {
		last := &out[len(out)-1]
		switch {
		case key == "t" && strings.HasSuffix(last.key, "n"): // don't, can't, won't
			last.key = map[string]string{"wo": "will", "ca": "can", "sha": "shall"}[strings.TrimSuffix(last.key, "n")]
			if last.key == "" {
				last.key = fold(strings.TrimRight(s[last.start:last.end], "nN"))
			}
			return append(out, word{key: "not", start: start, end: end})
		case key == "s" && !isContracted[last.key]:
			last.end = end
			return out
		case contractions[key] != "":
			return append(out, word{key: contractions[key], start: start, end: end})
		}
	}
	if parts := writtenTogether(key); parts != nil && (len(key) > 1 || !strings.HasPrefix(s[end:], ".")) {
		for _, part := range parts {
			out = append(out, word{key: part, start: start, end: end})
		}
		return out
	}
	return append(out, word{key: key, start: start, end: end, upper: unicode.IsUpper(first)})
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
	if len(key) > len("cannot") {
		return nil
	}
	return spelled[key]
}

func apostrophe(s string) bool { return s == "'" || s == "’" || s == "ʼ" }

// fold makes the form under which a word is looked up. The plural s goes from words of five letters and more,
// in the tables as in the text, so that one entry serves both.
func fold(s string) string {
	s = strings.ToLower(s)
	if !ascii(s) {
		s = unaccented(s)
	}
	if len(s) > 4 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us") && !strings.HasSuffix(s, "is") {
		s = s[:len(s)-1]
	}
	return s
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unaccented drops combining marks from Latin, Greek and Cyrillic; other scripts need theirs.
func unaccented(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if r < 0x300 || r > 0x36f {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// set makes a word set of a table row.
func set(row string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(row) {
		out[fold(w)] = true
	}
	return out
}

// phrases finds phrases in words: by first word, then in full, so a search costs one map look-up a word.
type phrases struct {
	byFirst map[string][]phrase
	inside  []phrase // of scripts without spaces: looked for as plain substrings
}

type phrase struct {
	words []string
	cue   string
}

// table compiles rows of phrases: cue name → "a phrase, another, …".
func table(rows map[string]string) phrases {
	t := phrases{byFirst: map[string][]phrase{}}
	for _, cue := range slices.Sorted(maps.Keys(rows)) {
		for _, text := range strings.Split(rows[cue], ",") {
			text = strings.TrimSpace(text)
			if unspaced(text) {
				t.inside = append(t.inside, phrase{[]string{text}, cue})
				continue
			}
			var keys []string
			for _, w := range split(text) {
				keys = append(keys, w.key)
			}
			if len(keys) > 0 {
				t.byFirst[keys[0]] = append(t.byFirst[keys[0]], phrase{keys, cue})
			}
		}
	}
	return t
}

// unspaced reports whether s is of a script that puts no spaces between words, or glues particles to them.
func unspaced(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Hangul) {
			return true
		}
	}
	return false
}

// found is a phrase found: the words it covers.
type found struct {
	cue      string
	from, to int
}

// in returns every phrase of t in the text, in order.
func (t phrases) in(text string, words []word) []found {
	var out []found
	for i := range words {
		for _, p := range t.byFirst[words[i].key] {
			if begins(words[i:], p.words) {
				out = append(out, found{p.cue, i, i + len(p.words)})
			}
		}
	}
	if len(t.inside) > 0 && !ascii(text) {
		for _, p := range t.inside {
			if strings.Contains(text, p.words[0]) {
				out = append(out, found{p.cue, 0, 0})
			}
		}
	}
	return out
}

// at returns the length of the longest phrase of t that begins words, and its cue.
func (t phrases) at(words []word) (n int, cue string) {
	if len(words) == 0 {
		return 0, ""
	}
	for _, p := range t.byFirst[words[0].key] {
		if len(p.words) > n && begins(words, p.words) {
			n, cue = len(p.words), p.cue
		}
	}
	return n, cue
}

func begins(words []word, keys []string) bool {
	if len(words) < len(keys) {
		return false
	}
	for i, k := range keys {
		if words[i].key != k {
			return false
		}
	}
	return true
}
