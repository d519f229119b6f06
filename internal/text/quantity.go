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

// Quantity is a number that counts something.
type Quantity struct {
	Value  float64 // multiplied by the word for millions behind it
	Unit   string  // stemmed; "" if there is none
	Span           // of the text, with the currency sign and the word for millions
	Before string  // what stands before it and may say how exactly it is meant, at most [clauseLength] bytes

	digits int // without the zeros at its end: how far it was rounded
}

// clauseLength is how much of the text before a number is looked at, in bytes.
const clauseLength = 24

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

// Admits reports whether v can be described by this quantity: exactly or, behind "over" or "about", within its bounds.
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

// mostRounded is how far a number may be rounded without a word that says so, as a share of it: 4,987 may be written as
// 5,000, and 5.2 million not as 5 million.
const mostRounded = 0.025

// Agrees reports whether two quantities may describe the same: one admits the other, or is the other rounded.
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

// Quantities returns the numbers of a text that count something: not years, dates, or numbers that order or name things,
// as in "the 5th" and "Apollo 11".
func Quantities(s string) []Quantity {
	_, s = Dates(s)
	var out []Quantity
	for _, at := range NumberSpans(s) {
		if q, ok := quantityAt(s, at); ok {
			out = append(out, q)
		}
	}
	return out
}

func quantityAt(s string, at Span) (q Quantity, ok bool) {
	before, digits, behind := s[max(0, at.From-clauseLength):at.From], s[at.From:at.To], s[at.To:]
	number := CanonicalNumber(digits)
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || len(digits) == 4 && YearPattern.MatchString(digits) || ordinalEnd.MatchString(behind) || len(digits) < 4 && namedNumber(before, behind) {
		return q, false
	}
	q = Quantity{Value: value, Span: at, Before: before, digits: significant(number)}
	sign := currencyBefore.FindString(before)
	q.From -= len(sign)
	sign = strings.TrimSpace(sign)
	if w, ok := WordBehind(behind); ok {
		scale := Scales[w.Key]
		if sign != "" && scale == 0 {
			scale = shortScales[w.Key]
		}
		if scale > 0 {
			q.Value *= scale
			q.To += w.End
		}
	}
	if q.Unit = currencies[sign]; sign == "" {
		q.Unit = unitOf(s[q.To:])
	}
	return q, true
}

// significant counts the digits of a canonical number without the zeros around them, at least 1.
func significant(number string) int {
	return max(1, len(strings.Trim(strings.ReplaceAll(number, ".", ""), "0")))
}

// ordinalEnd stands behind a number that orders and does not count.
var ordinalEnd = regexp.MustCompile(`^(?:st|nd|rd|th|º|ª)\b`)

// namedNumber reports whether a number belongs to the name before it.
func namedNumber(before, behind string) bool {
	words := Words(before)
	if len(words) < 2 { // the first word of a sentence has a capital anyway
		return false
	}
	w, next := words[len(words)-1], Words(behind[:min(len(behind), longWord)])
	if len(next) > 0 && next[0].Upper { // in German a unit has a capital too
		return false
	}
	return w.Upper && before[w.End:] == " " && !StopWords[w.Key] && MonthNames[w.Key] == 0
}

var (
	spelled10 = func() map[string]string {
		digits := map[string]string{}
		for i, name := range lang.All().Number.Cardinals.All() {
			if i < 10 {
				digits[name] = strconv.Itoa(i + 1)
			}
		}
		return digits
	}()
	scaled  = regexp.MustCompile(`(?i)(\b\d+(?:[.,]\d+)*|\b(?:` + strings.Join(slices.Sorted(maps.Keys(spelled10)), "|") + `))\s(\p{L}+)`)
	grouped = regexp.MustCompile(`\b[1-9]\d{0,2}(?:[.,]\d{3})+\b`)
)

// InDigits writes the amounts of a text in digits alone: "5 million" and "5,000,000" as 5000000.
func InDigits(s string) string {
	s = scaled.ReplaceAllStringFunc(s, func(m string) string {
		parts := scaled.FindStringSubmatch(m)
		number := strings.ToLower(parts[1])
		value, err := strconv.ParseFloat(CanonicalNumber(cmp.Or(spelled10[number], number)), 64)
		scale := Scales[Fold(parts[2])]
		if err != nil || scale == 0 {
			return m
		}
		return strconv.FormatFloat(value*scale, 'f', -1, 64)
	})
	if !strings.ContainsAny(s, ",.") {
		return s
	}
	return grouped.ReplaceAllStringFunc(s, CanonicalNumber)
}

// unitNames are the ways to write one unit, by its stem.
var unitNames = func() map[string]string {
	all := ByWord(lang.All().Number.Units)
	maps.Copy(all, map[string]string{"m": "metr", "km": "kilometr", "cm": "centimetr", "kg": "kilogram", "ft": "feet", "mi": "mile", "usd": "dollar", "eur": "euro"})
	return all
}()

// unitOf returns the stem of the word right behind a number, or its sign.
func unitOf(behind string) string {
	behind = strings.TrimLeft(behind, " -")
	if strings.HasPrefix(behind, "%") {
		return "%"
	}
	w, ok := WordBehind(behind)
	if !ok || w.Start > 0 {
		return ""
	}
	unit := Stem(w.Key, "")
	return cmp.Or(unitNames[unit], unit)
}
