package text

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Spelled is a number in words and its position.
type Spelled struct {
	Value float64
	Span
}

// numerals are the number words of a language. A word may be made of several: "zweihundertzwölf".
type numerals struct {
	values, scales map[string]float64
	joints         map[string]bool // between the parts of a number: "and"
	starts         map[string]bool // the first two bytes of the values and scales
	english        bool            // "one" is a number there, and no article
	signs          *regexp.Regexp  // a number in signs before what it counts; nil in scripts with spaces
}

// numeralsOf returns the number words of a language by its code.
func numeralsOf(code string) *numerals {
	if n := allNumerals()[code]; n != nil {
		return n
	}
	return &numerals{}
}

var allNumerals = sync.OnceValue(func() map[string]*numerals {
	all := map[string]*numerals{}
	for _, code := range Languages() {
		table := TablesOf(code).Number
		n := &numerals{values: map[string]float64{}, scales: map[string]float64{}, joints: Set(table.Joints), starts: map[string]bool{}, english: code == "en"}
		for i, w := range table.Cardinals.All() {
			n.values[Fold(w)] = float64(i + 1)
		}
		for i, w := range table.Tens.All() {
			n.values[Fold(w)] = float64(10*i + 30)
		}
		for i, w := range table.Hundreds.All() {
			n.values[Fold(w)] = float64(100*i + 100)
		}
		for w, factor := range ByWord(table.Scales) {
			n.scales[w], _ = strconv.ParseFloat(factor, 64)
		}
		for w := range Set(table.Hundred) {
			n.scales[w] = 100
		}
		for w := range Set(table.Thousand) {
			n.scales[w] = 1000
		}
		for _, words := range []map[string]float64{n.values, n.scales} {
			for w := range words {
				n.starts[w[:min(2, len(w))]] = true
			}
		}
		if counters := table.Counters.String(); counters != "" {
			n.signs = regexp.MustCompile(`((?:[0-9][0-9.,]*|[` + signsOfNumbers + `])[` + signsOfNumbers + `]*) ?(` + counters + `)`)
		}
		all[code] = n
	}
	return all
})

// NumbersInWords returns the numbers in words of a text in a language: "eighty-five", "two hundred and six", "twenty thousand". A word for
// millions alone or after digits is none, and neither are several in a row: "nineteen seventy".
func NumbersInWords(s string, words []Word, code string) (all []Spelled) {
	n := numeralsOf(code)
	for i := 0; i < len(words); i++ {
		if !n.begins(words[i].Key) {
			continue
		}
		first := i
		value, taken := n.at(s, words[i:])
		i += taken - 1
		if !n.follows(s, words[i:]) {
			if value != 1 || n.english {
				all = append(all, Spelled{value, Span{words[first].Start, words[i].End}})
			}
			continue
		}
		for n.follows(s, words[i:]) {
			i++
		}
	}
	return all
}

// begins reports whether a word can be the first of a number. A hundred or a thousand can, except in English.
func (n *numerals) begins(key string) bool {
	parts := n.parts(key)
	return len(parts) > 0 && (n.values[parts[0]] > 0 || !n.english && n.scales[parts[0]] >= 100 && n.scales[parts[0]] <= 1000)
}

// follows reports whether a number word directly follows the first word.
func (n *numerals) follows(s string, words []Word) bool {
	return len(words) > 1 && len(n.parts(words[1].Key)) > 0 && n.values[n.parts(words[1].Key)[0]] > 0 && adjacent(s, words[0], words[1])
}

// parts returns the number words that a word is made of, or nothing.
func (n *numerals) parts(key string) []string {
	if n.values[key] > 0 || n.scales[key] > 0 {
		return []string{key}
	}
	if n.english || len(key) < 6 || !n.starts[key[:2]] {
		return nil
	}
	for end := len(key) - 1; end > 0; end-- {
		head := key[:end]
		if n.values[head] == 0 && n.scales[head] == 0 && !n.joints[head] {
			continue
		}
		if n.values[key[end:]] > 0 || n.scales[key[end:]] > 0 {
			return []string{head, key[end:]}
		}
		if rest := n.within(key[end:]); rest != nil {
			return append([]string{head}, rest...)
		}
	}
	return nil
}

// within is [numerals.parts] of the rest of a word.
func (n *numerals) within(key string) []string {
	if n.values[key] > 0 || n.scales[key] > 0 {
		return []string{key}
	}
	for end := len(key) - 1; end > 0; end-- {
		if head := key[:end]; n.values[head] > 0 || n.scales[head] > 0 || n.joints[head] {
			if rest := n.within(key[end:]); rest != nil {
				return append([]string{head}, rest...)
			}
		}
	}
	return nil
}

// at reads a number at the beginning of words, and returns how many words it takes.
func (n *numerals) at(s string, words []Word) (value float64, taken int) {
	sum, part, joined := 0.0, 0.0, false
	for i, w := range words {
		if i > 0 && !adjacent(s, words[i-1], w) {
			break
		}
		if n.joints[w.Key] && i > 0 && taken == i && (part >= 100 || !n.english) {
			continue
		}
		parts := n.parts(w.Key)
		before, total := part, sum
		for _, p := range parts {
			more, scale := n.values[p], n.scales[p]
			switch {
			case n.joints[p] && more == 0:
				joined = true
				continue
			case scale == 100 && part < 100 && (part > 0 || !n.english):
				part = max(part, 1) * 100
			case scale >= 1000 && (part > 0 || sum == 0 && !n.english):
				sum, part = sum+max(part, 1)*scale, 0
			case more == 20 && part == 4 && !joined: // quatre-vingt
				part = 80
			case more > 0 && (part == 0 || continuesNumber(part, more, n.english)):
				part += more
			default:
				parts, part, sum = nil, before, total
			}
			if parts == nil {
				break
			}
			joined = false
		}
		if len(parts) == 0 {
			break
		}
		taken = i + 1
	}
	return sum + part, taken
}

// continuesNumber reports whether a number word may continue a number: "twenty" and "five", "two hundred" and "twelve". In other languages
// so do "sechs" and "zwanzig", "soixante" and "dix".
func continuesNumber(part, more float64, english bool) bool {
	tens := int(part) % 100
	switch {
	case tens == 0 && more < 100, tens >= 20 && tens%10 == 0 && more < 10:
		return true
	case english:
		return false
	}
	return tens == 10 && more < 10 || (tens == 60 || tens == 80) && more < 20 || 0 < tens && tens < 10 && more >= 20 && more < 100 && int(more)%10 == 0
}

// adjacent reports whether only a space or a hyphen separates two words.
func adjacent(s string, a, b Word) bool {
	return a.End <= b.Start && len(strings.Trim(s[a.End:b.Start], " ")) <= 1 && strings.Trim(s[a.End:b.Start], " -") == ""
}

// WordsInDigits writes the numbers in words of a text in a language in digits: "twenty-five" as 25.
func WordsInDigits(s, code string) string {
	n := numeralsOf(code)
	words := Words(s)
	for _, spelled := range slices.Backward(NumbersInWords(s, words, code)) {
		s = s[:spelled.From] + formatted(spelled.Value) + s[spelled.To:]
	}
	if n.signs == nil {
		return s
	}
	return n.signs.ReplaceAllStringFunc(s, func(m string) string {
		parts := n.signs.FindStringSubmatch(m)
		if value, ok := signed(parts[1]); ok {
			return formatted(value) + parts[2]
		}
		return m
	})
}

func formatted(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// signsOfNumbers are the digits and the powers of ten of Chinese, Japanese and Korean.
const signsOfNumbers = "〇零一二两三四五六七八九十百千万萬億亿영일이삼사오육칠팔구십백천만억"

var (
	signDigits = strings.NewReplacer("〇", "0", "零", "0", "영", "0", "一", "1", "일", "1", "二", "2", "两", "2", "이", "2", "三", "3", "삼", "3", "四", "4", "사", "4",
		"五", "5", "오", "5", "六", "6", "육", "6", "七", "7", "칠", "7", "八", "8", "팔", "8", "九", "9", "구", "9", "십", "十", "백", "百", "천", "千", "만", "万", "萬", "万", "억", "億", "亿", "億", ",", "")
	signPowers = map[rune]float64{'十': 10, '百': 100, '千': 1000, '万': 1e4, '億': 1e8}
)

// signed returns the value of a number in signs, which may begin with digits: "3万", "二百五十".
func signed(s string) (value float64, ok bool) {
	var sum, part, digit float64
	written := ""
	flush := func() {
		if written != "" {
			digit, _ = strconv.ParseFloat(written, 64)
			written = ""
		}
	}
	for _, r := range signDigits.Replace(s) {
		power := signPowers[r]
		switch {
		case power == 0:
			written += string(r)
			continue
		case power < 1e4:
			flush()
			part, digit = part+max(digit, 1)*power, 0
		default:
			flush()
			sum, part, digit = sum+max(part+digit, 1)*power, 0, 0
		}
	}
	flush()
	value = sum + part + digit
	return value, value > 0
}
