package claim

import (
	"strconv"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// inWords are the values of numbers in words, and asWords the words of values.
var (
	inWords = func() map[string]int {
		all := map[string]int{}
		for i, w := range lang.All().Number.Cardinals.All() {
			all[w] = i + 1
		}
		for i, w := range lang.All().Number.Tens.All() {
			all[w] = 10*i + 30
		}
		return all
	}()
	asWords = func() map[int][]string {
		all := map[int][]string{}
		for w, n := range inWords {
			all[n] = append(all[n], w)
		}
		return all
	}()
)

// spelledNumber is a number in words, and where it stands.
type spelledNumber struct {
	value float64
	text.Span
}

// spelledNumbers returns the numbers in words of a text: "eighty-five", "two hundred and six", "twenty thousand". A word
// for millions alone, or behind digits, is none, and neither are several in a row: "nineteen seventy".
func spelledNumbers(s string, words []text.Word) (all []spelledNumber) {
	for i := 0; i < len(words); i++ {
		if inWords[words[i].Key] == 0 {
			continue
		}
		first := i
		value, n := spelledAt(s, words[i:])
		i += n - 1
		if !numberFollows(s, words[i:]) {
			all = append(all, spelledNumber{value, text.Span{From: words[first].Start, To: words[i].End}})
			continue
		}
		for numberFollows(s, words[i:]) {
			i++
		}
	}
	return all
}

// spelledValues returns the values of the numbers in words of a text.
func spelledValues(s string) (values []float64) {
	for _, n := range spelledNumbers(s, text.Words(s)) {
		values = append(values, n.value)
	}
	return values
}

// numberFollows reports whether a number in words stands beside the first of some words.
func numberFollows(s string, words []text.Word) bool {
	return len(words) > 1 && inWords[words[1].Key] > 0 && beside(s, words[0], words[1])
}

// spelledAt reads the number in words that some words of s begin with, and how many it takes.
func spelledAt(s string, words []text.Word) (value float64, n int) {
	sum, part := 0.0, float64(inWords[words[0].Key])
	n = 1
	for i := 1; i < len(words) && beside(s, words[i-1], words[i]); i++ {
		more, scale := float64(inWords[words[i].Key]), text.Scales[words[i].Key]
		switch {
		case words[i].Key == "and" && part >= 100 && n == i:
			continue
		case scale == 100 && 0 < part && part < 100:
			part *= 100
		case scale >= 1000 && part > 0:
			sum, part = sum+part*scale, 0
		case more > 0 && fits(part, more):
			part += more
		default:
			return sum + part, n
		}
		n = i + 1
	}
	return sum + part, n
}

// fits reports whether a number in words goes on with another: "twenty" with "five", "two hundred" with "twelve".
func fits(part, more float64) bool {
	tens := int(part) % 100
	return tens == 0 && more < 100 || tens >= 20 && tens%10 == 0 && more < 10
}

// beside reports whether only a blank or a hyphen stands between two words.
func beside(s string, a, b text.Word) bool {
	return a.End <= b.Start && len(strings.Trim(s[a.End:b.Start], " ")) <= 1 && strings.Trim(s[a.End:b.Start], " -") == ""
}

// countsInWords reports whether the page has a number that a text has in words, as it is there or in digits.
func (p *Page) countsInWords(s string, n spelledNumber) bool {
	return strings.Contains(p.text, s[n.From:n.To]) ||
		p.counts(numeral{s[:n.From], strconv.FormatFloat(n.value, 'f', -1, 64), s[n.To:]})
}
