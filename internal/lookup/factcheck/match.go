package factcheck

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"familiar/internal/text"
)

// statement is a claim made ready to be compared with the sentences of a page.
type statement struct {
	text   string
	parts  []term         // its words of content, but for those of the page's title
	grams  map[string]int // the grams of all parts, numbered
	fields map[int]int    // the fields of all parts, numbered
	says   map[string]bool
}

// term is one word of a statement.
type term struct {
	key    string
	grams  bitset
	fields bitset
	name   bool
}

// bitset holds small numbers. A claim is short: what does not fit is left out.
type bitset [4]uint64

func (b *bitset) add(i int) {
	if i < 64*len(b) {
		b[i/64] |= 1 << (i % 64)
	}
}

func (b bitset) has(i int) bool { return i < 64*len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitset) and(c bitset) (out bitset) {
	for i := range b {
		out[i] = b[i] & c[i]
	}
	return out
}

func (b bitset) or(c bitset) (out bitset) {
	for i := range b {
		out[i] = b[i] | c[i]
	}
	return out
}

// gramLength is short enough for most endings and misspellings to leave something of a word in common.
const gramLength = 4

// grams are the pieces of a word with its two ends.
func grams(key string) []string {
	if text.Unspaced(key) {
		return text.Pairs(key)
	}
	key = "#" + key + "#"
	if len(key) <= gramLength {
		return []string{key}
	}
	if !text.ASCII(key) {
		r := []rune(key)
		var out []string
		for i := range max(1, len(r)-gramLength+1) {
			out = append(out, string(r[i:min(len(r), i+gramLength)]))
		}
		return out
	}
	out := make([]string, 0, len(key)-gramLength+1)
	for i := range len(key) - gramLength + 1 {
		out = append(out, key[i:i+gramLength])
	}
	return out
}

// newStatement prepares a claim for a page with that title. The words of the title say nothing in the page's
// sentences, which are all about them, unless the claim has no others.
func newStatement(claim, title string) *statement {
	s := &statement{text: text.InDigits(claim), grams: map[string]int{}, fields: map[int]int{}, says: map[string]bool{}}
	subject := map[string]bool{}
	for _, w := range text.ContentWords(title) {
		for _, g := range grams(w.Key) {
			subject[g] = true
		}
	}
	var titled []term
	seen := map[string]bool{}
	claim = s.text
	for _, w := range text.Words(claim) {
		s.says[w.Key] = true
	}
	for _, w := range text.ContentWords(claim) {
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		p, known := term{key: w.Key, name: w.Upper && w.Start > 0}, 0
		all := grams(w.Key)
		for _, g := range all {
			if subject[g] {
				known++
			}
			p.grams.add(numbered(s.grams, g))
		}
		if known*10 >= len(all)*7 {
			titled = append(titled, p)
		} else {
			s.parts = append(s.parts, p)
		}
	}
	if len(s.parts) == 0 {
		s.parts = titled
	}
	for i := range s.parts {
		for _, f := range related[text.Stem(s.parts[i].key, "en")] {
			s.parts[i].fields.add(numbered(s.fields, f))
		}
	}
	return s
}

// numbered numbers what it sees.
func numbered[K comparable](known map[K]int, k K) int {
	n, ok := known[k]
	if !ok {
		n = len(known)
		known[k] = n
	}
	return n
}

// passage is a sentence as a statement sees it.
type passage struct {
	at     int // among the sentences of its page
	text   string
	grams  bitset // of the statement's
	fields bitset // of the statement's
	score  float64
}

// passages orders sentences by what of the statement they hold, rare things first, best first.
func (s *statement) passages(sentences []string) []passage {
	out := make([]passage, len(sentences))
	gramsIn, fieldsIn := make([]int, len(s.grams)), make([]int, len(s.fields))
	for i, body := range sentences {
		out[i] = s.read(body)
		out[i].at = i
		for g := range gramsIn {
			if out[i].grams.has(g) {
				gramsIn[g]++
			}
		}
		for f := range fieldsIn {
			if out[i].fields.has(f) {
				fieldsIn[f]++
			}
		}
	}
	var own bitset
	for _, p := range s.parts {
		own = own.or(p.grams)
	}
	whole := 0.0
	for g, n := range gramsIn {
		if own.has(g) {
			whole += text.IDF(n, len(out))
		}
	}
	for i := range out {
		p := &out[i]
		held := 0.0
		for g, n := range gramsIn {
			if own.has(g) && p.grams.has(g) {
				held += text.IDF(n, len(out))
			}
		}
		p.score += held / max(whole, 1e-9)
		for f, n := range fieldsIn {
			if p.fields.has(f) {
				p.score += 0.15 * text.IDF(n, len(out))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	return out
}

// read looks for the statement's pieces in one sentence. Long sentences and those with a number say more.
func (s *statement) read(body string) passage {
	p := passage{text: body}
	words, counts := 0, false
	seen := map[string]bool{}
	for _, w := range text.ContentWords(text.InDigits(body)) {
		counts = counts || text.Numeric(w.Key) || text.SpelledNumbers[w.Key]
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		words++
		for _, g := range grams(w.Key) {
			if n, ok := s.grams[g]; ok {
				p.grams.add(n)
			}
		}
		if len(s.fields) > 0 && utf8.RuneCountInString(w.Key) > 1 {
			for _, f := range related[text.Stem(w.Key, "en")] {
				if n, ok := s.fields[f]; ok {
					p.fields.add(n)
				}
			}
		}
	}
	p.score = 0.1*math.Log1p(float64(words)) + weight(counts, 0.05)
	return p
}

// enough of a word's pieces are on a page for the word to be.
const enough = 0.5

// held says how much of each part these passages hold together, from 0 to 1. A word of the same field is most of it.
func (s *statement) held(passages []passage) []float64 {
	var grams, fields bitset
	for _, p := range passages {
		grams, fields = grams.or(p.grams), fields.or(p.fields)
	}
	out := make([]float64, len(s.parts))
	for i, p := range s.parts {
		out[i] = float64(p.grams.and(grams).count()) / float64(max(1, p.grams.count()))
		if p.fields.and(fields).count() > 0 {
			out[i] = max(out[i], 0.7)
		}
	}
	return out
}

func mean(of []float64, otherwise float64) float64 {
	if len(of) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}
