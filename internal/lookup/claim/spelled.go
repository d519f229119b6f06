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
// for millions alone, or behind digits, is none.
func spelledNumbers(s string, words []text.Word) (all []spelledNumber) {
	for i := 0; i < len(words); i++ {
		if inWords[words[i].Key] == 0 {
			continue
		}
		n := spelledNumber{Span: text.Span{From: words[i].Start}}
		sum, part, last := 0.0, float64(inWords[words[i].Key]), i
		for j := i + 1; j < len(words) && beside(s, words[j-1], words[j]); j++ {
			more, scale := float64(inWords[words[j].Key]), text.Scales[words[j].Key]
			switch {
			case words[j].Key == "and" && part >= 100:
				continue
			case scale == 100 && part < 100:
				part *= 100
			case scale >= 1000:
				sum, part = sum+part*scale, 0
			case more > 0 && fits(part, more):
				part += more
			default:
				more = 0
			}
			if scale == 0 && more == 0 {
				break
			}
			last = j
		}
		n.value, n.To = sum+part, words[last].End
		all = append(all, n)
		i = last
	}
	return all
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
