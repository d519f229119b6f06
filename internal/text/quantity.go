package text

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text/lang"
)

// Quantity is a number that counts something: its value with the word for millions behind it, its unit, and how exactly
// it is meant.
type Quantity struct {
	Value  float64
	digits int // that are not its last zeros: what it was rounded to
	Unit   string
	Span          // of the text, with the word for millions
	Before string // its clause, up to it
}

// Span is a part of a text, in bytes.
type Span struct{ From, To int }

// Bounds are words that make a number a limit.
var Bounds = Set(lang.All().Number.Bounds)

var (
	atLeast = rightBefore(lang.All().Number.AtLeast)
	atMost  = rightBefore(lang.All().Number.AtMost)
	roughly = rightBefore(lang.All().Number.Roughly)
)

func rightBefore(words lang.Pattern) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + words.String() + `)\s*\S?$`)
}

// Admits says whether something of the value v is called by this quantity.
func (q Quantity) Admits(v float64) bool {
	switch {
	case atLeast.MatchString(q.Before):
		return v >= q.Value
	case atMost.MatchString(q.Before):
		return v <= q.Value
	case roughly.MatchString(q.Before):
		return math.Abs(v-q.Value) <= 0.1*math.Abs(q.Value)
	}
	return v == q.Value
}

// mostRounded is how far a number is rounded without a word that says so: 4,987 is 5,000, and 5.2 million is not 5.
const mostRounded = 0.025

// Agrees says whether two quantities may be one: either is called by the other, or is the other rounded.
func (q Quantity) Agrees(o Quantity) bool {
	rounds := func(coarse, fine Quantity) bool {
		if coarse.Value <= 0 {
			return false
		}
		step := math.Pow(10, math.Floor(math.Log10(coarse.Value))-float64(coarse.digits-1))
		return math.Abs(coarse.Value-fine.Value) <= min(step/2, mostRounded*coarse.Value)
	}
	return q.Admits(o.Value) || o.Admits(q.Value) || rounds(q, o) || rounds(o, q)
}

// Scales are words that multiply the number before them. A billion is none in half of the languages.
var Scales = func() map[string]float64 {
	words := map[string]float64{}
	for word, factor := range ByWord(lang.All().Number.Scales) {
		words[word], _ = strconv.ParseFloat(factor, 64)
	}
	return words
}()

// shortScales are what stands for such a word behind an amount of money.
var shortScales = map[string]float64{"k": 1e3, "m": 1e6, "b": 1e9}

// currencies are the signs before an amount.
var currencies = map[string]string{"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}

var currencyBefore = regexp.MustCompile(`[$€£¥]\s?$`)

// Quantities finds the numbers of a text that count something; years and dates aside, and those that order or name things:
// "the 5th", "Apollo 11".
func Quantities(text string) []Quantity {
	_, text = DateSpans(text)
	var out []Quantity
	for _, m := range NumberSpans(text) {
		raw := text[m[0]:m[1]]
		plain := CanonicalNumber(raw)
		value, err := strconv.ParseFloat(plain, 64)
		if err != nil || len(raw) == 4 && YearPattern.MatchString(raw) || ordinalEnd.MatchString(text[m[1]:]) || len(raw) < 4 && namedNumber(text[:m[0]], text[m[1]:]) {
			continue
		}
		q := Quantity{Value: value, Span: Span{m[0], m[1]}, Before: text[max(0, m[0]-24):m[0]]}
		q.digits = max(1, len(strings.Trim(strings.ReplaceAll(plain, ".", ""), "0")))
		sign := currencyBefore.FindString(q.Before)
		q.From -= len(sign)
		sign = strings.TrimSpace(sign)
		rest := text[m[1]:]
		if words := Words(rest[:min(len(rest), 24)]); len(words) > 0 && words[0].Start <= 1 {
			scale := Scales[words[0].Key]
			if sign != "" && scale == 0 {
				scale = shortScales[words[0].Key]
			}
			if scale > 0 {
				q.Value *= scale
				q.To += words[0].End
			}
		}
		if q.Unit = currencies[sign]; sign == "" {
			q.Unit = unitOf(text[q.To:])
		}
		out = append(out, q)
	}
	return out
}

// ordinalEnd is behind a number that orders and does not count.
var ordinalEnd = regexp.MustCompile(`^(?:st|nd|rd|th|º|ª)\b`)

// namedNumber says whether what stands before a number is a name that it belongs to.
func namedNumber(before, behind string) bool {
	before = before[max(0, len(before)-24):]
	words := Words(before)
	if len(words) < 2 { // what opens a sentence has a capital anyway
		return false
	}
	w, next := words[len(words)-1], Words(behind[:min(len(behind), 24)])
	if len(next) > 0 && next[0].Upper { // in German a unit has a capital too
		return false
	}
	return w.Upper && before[w.End:] == " " && !StopWords[w.Key] && MonthNames[w.Key] == 0
}

var (
	spelled10 = func() map[string]string {
		digits := map[string]string{}
		for i, names := range lang.All().Number.Cardinals.Forms()[:10] {
			for _, name := range names {
				digits[name] = strconv.Itoa(i + 1)
			}
		}
		return digits
	}()
	scaled  = regexp.MustCompile(`(?i)(\b\d+(?:[.,]\d+)*|\b(?:` + strings.Join(slices.Sorted(maps.Keys(spelled10)), "|") + `))\s(\p{L}+)`)
	grouped = regexp.MustCompile(`\b[1-9]\d{0,2}(?:[.,]\d{3})+\b`)
)

// InDigits writes amounts in one way: "5 million" and "5,000,000" as 5000000.
func InDigits(text string) string {
	text = scaled.ReplaceAllStringFunc(text, func(m string) string {
		parts := scaled.FindStringSubmatch(m)
		number := strings.ToLower(parts[1])
		value, err := strconv.ParseFloat(CanonicalNumber(cmp.Or(spelled10[number], number)), 64)
		scale := Scales[Fold(parts[2])]
		if err != nil || scale == 0 {
			return m
		}
		return strconv.FormatFloat(value*scale, 'f', -1, 64)
	})
	if !strings.ContainsAny(text, ",.") {
		return text
	}
	return grouped.ReplaceAllStringFunc(text, CanonicalNumber)
}

// unitNames are the ways to write one unit, by its stem.
var unitNames = func() map[string]string {
	all := ByWord(lang.All().Number.Units)
	maps.Copy(all, map[string]string{"m": "metr", "km": "kilometr", "cm": "centimetr", "kg": "kilogram", "ft": "feet", "mi": "mile", "usd": "dollar", "eur": "euro"})
	return all
}()

// unitOf is the word right behind a number, or its sign.
func unitOf(rest string) string {
	trimmed := strings.TrimLeft(rest, " -")
	if strings.HasPrefix(trimmed, "%") {
		return "%"
	}
	words := Words(trimmed[:min(len(trimmed), 30)])
	if len(words) == 0 || words[0].Start > 0 {
		return ""
	}
	unit := Stem(words[0].Key, "")
	if same := unitNames[unit]; same != "" {
		return same
	}
	return unit
}
