package order

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// SpanClasses are the classes of the model of spans. They are what a unit of a message adds if it is within the text of an order. The
// others are for a unit that begins or ends the text.
var SpanClasses = []string{"within", "begin", "end"}

// Unit is a word of a sentence, or a character in a script whose words cannot be told apart. It has what the model of spans sees of it.
type Unit struct {
	Features []text.Feature
	from, to int // bytes
	symbol   byte
	mark     string // what is before it
	key      string
	clause   int
}

// trait is what the model sees of a whole clause.
type trait struct {
	signs, words, people string
}

// units returns the units of a sentence, with the features that they have in an order of a kind.
func (s *sight) units(n int, deed byte) []Unit {
	one := s.sentences[n]
	all := cut(one.text)
	symbols := s.marked(one)
	clause := 0
	for i := range all {
		u := &all[i]
		u.symbol = symbols[u.from]
		u.key = key(strings.Map(noDigit, one.text[u.from:u.to]))
		if i > 0 && u.mark != "" && u.mark != " " && u.mark != "\"" {
			clause++
		}
		u.clause = clause
	}
	traits := make([]trait, clause+1)
	for _, u := range all {
		traits[u.clause].add(u.symbol)
	}
	place := "m"
	switch {
	case len(s.sentences) == 1:
		place = "o"
	case n == 0:
		place = "f"
	case n == len(s.sentences)-1:
		place = "l"
	}
	for i := range all {
		all[i].Features = features(all, i, traits, string(deed), place, s.v.verbLast)
	}
	return all
}

func (t *trait) add(symbol byte) {
	r := string(symbol)
	switch {
	case strings.Contains(kindSymbols, r):
		if !strings.Contains(t.signs, r) {
			t.signs += r
		}
	case strings.Contains("xX0HK", r):
		if len(t.words) < 4 {
			t.words += "x"
		}
	case strings.Contains("IYNqR", r):
		if !strings.Contains(t.people, r) {
			t.people += r
		}
	}
}

func features(all []Unit, i int, traits []trait, deed, place string, verbLast bool) (f []text.Feature) {
	symbol := func(j int) string {
		switch {
		case j < 0:
			return "^"
		case j >= len(all):
			return "$"
		}
		return string(all[j].symbol)
	}
	mark := func(j int) string {
		if j < 0 || j >= len(all) {
			return ""
		}
		return all[j].mark
	}
	word := func(j int) string {
		switch {
		case j < 0:
			return "^"
		case j >= len(all):
			return "$"
		}
		return all[j].key
	}
	add := func(worth float64, parts ...string) {
		f = append(f, text.Feature{Name: strings.Join(parts, "\t"), Value: worth})
	}
	left, right := symbol(i-1)+mark(i)+symbol(i), symbol(i)+mark(i+1)+symbol(i+1)
	for _, d := range []string{"", deed} {
		add(1, "0", d, symbol(i))
		add(1, "1", d, left)
		add(1, "2", d, right)
		add(1, "3", d, symbol(i-2)+mark(i-1)+left)
		add(1, "4", d, right+mark(i+2)+symbol(i+2))
		add(1, "5", d, mark(i)+"|"+mark(i+1))
	}
	add(1, "w", word(i))
	add(1, "p", word(i-1)+mark(i))
	add(1, "n", mark(i+1)+word(i+1))
	add(.7, "b", word(i-1)+mark(i)+word(i))
	add(.7, "e", word(i)+mark(i+1)+word(i+1))
	add(.7, "bb", word(i-2)+mark(i-1)+word(i-1)+mark(i))
	add(.7, "ee", mark(i+1)+word(i+1)+mark(i+2)+word(i+2))
	for j, name := range []string{"x", "y", "z"} {
		if w := word(i + j - 1); verbLast && (isHangul(w) || len(w) > 3) {
			last := []rune(w)
			add(.7, name, string(last[len(last)-1:]))
			if len(last) > 2 {
				add(.7, name, string(last[len(last)-2:]))
			}
		}
	}
	c := all[i].clause
	t := traits[c]
	at := "m"
	switch {
	case len(traits) == 1:
		at = "o"
	case c == 0:
		at = "f"
	case c == len(traits)-1:
		at = "l"
	}
	before, behind := "^", "$"
	if c > 0 {
		before = traits[c-1].signs
	}
	if c+1 < len(traits) {
		behind = traits[c+1].signs
	}
	where := "-"
	for j, u := range all {
		if u.clause == c && strings.Contains(kindSymbols, string(u.symbol)) {
			where = "b"
			if j < i {
				where = "a"
			}
		}
	}
	add(1, "A", deed, t.signs)
	add(1, "B", deed, t.signs, t.words)
	add(1, "C", deed, t.signs, at)
	add(1, "D", deed, t.people)
	add(1, "E", deed, t.signs, where)
	add(1, "F", deed, before, t.signs)
	add(1, "G", deed, t.signs, behind)
	add(1, "H", deed, at, place)
	add(1, "I", deed, t.people, t.words)
	return f
}

// cut returns the units of a sentence.
func cut(s string) (all []Unit) {
	mark, start := "", -1
	end := func(at int) {
		if start >= 0 {
			all = append(all, Unit{from: start, to: at, mark: mark})
			mark, start = "", -1
		}
	}
	for i, r := range s {
		switch single := isQuote(r) || alone(r); {
		case single:
			end(i)
			start = i
			end(i + utf8.RuneLen(r))
		case text.InWord(r) || start >= 0 && (r == '\'' || r == '’'):
			if start < 0 {
				start = i
			}
		default:
			end(i)
			switch m := spanMark(r); {
			case m == " " && mark != "":
			case mark == "" || mark == " ":
				mark = m
			}
		}
	}
	end(len(s))
	for i := range all {
		if all[i].mark == " " && !alone(firstRune(s[all[i].from:])) {
			all[i].mark = ""
		}
	}
	return all
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func alone(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func spanMark(r rune) string {
	switch m := markOf(r); {
	case m != "":
		return m
	case unicode.IsSpace(r):
		return " "
	case r == '.' || r == '。':
		return "."
	case r == '-':
		return "-"
	}
	return ""
}

// marked returns the symbol of each byte of a sentence.
func (s *sight) marked(one glance) []byte {
	all := make([]byte, len(one.text))
	for i, r := range one.text {
		switch {
		case isQuote(r):
			all[i] = '"'
		case unicode.IsDigit(r):
			all[i] = '0'
		case unicode.IsUpper(r):
			all[i] = 'X'
		case unicode.Is(unicode.Hiragana, r):
			all[i] = 'H'
		case unicode.Is(unicode.Katakana, r):
			all[i] = 'K'
		default:
			all[i] = 'x'
		}
	}
	for _, sym := range s.inOrder(one) {
		for i := sym.from; i < sym.to; i++ {
			if strings.IndexByte("xX0HK", all[i]) >= 0 || all[i] == 0 {
				all[i] = sym.r
			}
		}
	}
	return all
}

// Spans returns the units of each sentence of a message for training, and the place of a text in it. The place is its sentence, and its first
// and last unit. The sentence is -1 if the text is not there.
func Spans(message string, names []string, deed, said string) (units [][]Unit, sentence, from, to int) {
	own, called := heard(message, names)
	if len(own.sentences) == 0 {
		return nil, -1, 0, 0
	}
	s := newSight(own.sentences, called)
	sentence = -1
	wanted := trimmedSpan(said)
	for n := range s.sentences {
		all := s.units(n, deed[0])
		units = append(units, all)
		for i := range all {
			for j := i; j < len(all) && sentence < 0; j++ {
				said := trimmedSpan(own.written(s.sentences[n].text[all[i].from:all[j].to]))
				if rest, is := strings.CutPrefix(said, wanted); said == wanted || is && j == i+len(strings.Fields(wanted))-1 && isHangul(rest) && !strings.Contains(rest, " ") && len(rest) < 12 {
					sentence, from, to = n, i, j
				}
			}
		}
	}
	return units, sentence, from, to
}

func trimmedSpan(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return !text.InWord(r) && !isQuote(r) })
}

// span returns the likeliest text of an order of a kind.
func (s *sight) span(deed Deed) string {
	m := s.models.Spans
	best, said := 0.0, ""
	for n := range s.sentences {
		all := s.units(n, deed[0])
		from, begun := 0, 0.0
		for i, u := range all {
			sums := m.Sums(u.Features)
			if b := sums[1]; i == 0 || b > begun {
				from, begun = i, b
			}
			begun += sums[0]
			if score := begun + sums[2]; said == "" || score > best {
				best, said = score, widened(s.sentences[n].text, all[from].from, u.to)
			}
		}
	}
	return said
}

// widened returns a part of a sentence with the marks that touch it: "#rules", "5 €)".
func widened(s string, from, to int) string {
	touches := func(r rune) bool {
		return !unicode.IsSpace(r) && !strings.ContainsRune(between+"?？…", r) && !text.InWord(r) && r != utf8.RuneError
	}
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:from])
		if !touches(r) {
			break
		}
		from -= n
	}
	for to < len(s) {
		r, n := utf8.DecodeRuneInString(s[to:])
		if !touches(r) {
			break
		}
		to += n
	}
	return s[from:to]
}
