package text

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Span is a part of a text, in bytes.
type Span struct{ From, To int }

// NumberSpans returns the positions of the numbers of s as written: with separators, decimals, or as a time of day.
func NumberSpans(s string) (all []Span) {
	for i := 0; i < len(s); i++ {
		if IsDigit(s[i]) {
			end := numberEnd(s, i)
			all = append(all, Span{i, end})
			i = end
		}
	}
	return all
}

// Numbers returns the numbers of s in canonical form: "1,234.50" and "1 234,5" are "1234.5". A space joins digits only
// as a thousands separator.
func Numbers(s string) []string {
	if !ASCII(s) {
		s = strings.Map(ASCIIDigit, s)
	}
	var out []string
	for _, at := range NumberSpans(s) {
		m := s[at.From:at.To]
		if strings.ContainsAny(m, " ’'") && !thousands.MatchString(m) {
			for _, part := range strings.FieldsFunc(m, func(r rune) bool { return r == ' ' || r == '’' || r == '\'' }) {
				out = append(out, CanonicalNumber(part))
			}
			continue
		}
		out = append(out, CanonicalNumber(m))
	}
	return out
}

// numberEnd returns the end of the number that begins at i.
func numberEnd(s string, i int) int {
	for {
		for i < len(s) && IsDigit(s[i]) {
			i++
		}
		sep := 1
		switch {
		case i == len(s):
			return i
		case strings.HasPrefix(s[i:], "’"):
			sep = len("’")
		case strings.IndexByte(".,:' ", s[i]) < 0:
			return i
		}
		if i+sep >= len(s) || !IsDigit(s[i+sep]) {
			return i
		}
		i += sep
	}
}

var thousands = NewLazyRegexp(`^\d{1,3}(?:[ ’']\d{3})+(?:[.,]\d+)?$`)

// ASCIIDigit returns the ASCII digit for a decimal digit of any script. It returns a space for a space that separates thousands, and other
// characters unchanged.
func ASCIIDigit(r rune) rune {
	switch {
	case r > unicode.MaxASCII && unicode.IsDigit(r):
		for zero := r; ; zero-- { // decimal digits come in blocks of ten, from zero up
			if !unicode.IsDigit(zero-1) || r-zero == 9 {
				return '0' + (r - zero)
			}
		}
	case r == '\u00a0' || r == '\u202f' || r == '\u2009':
		return ' '
	}
	return r
}

var (
	withoutBlanks = strings.NewReplacer(" ", "", "’", "", "'", "")
	withoutMarks  = strings.NewReplacer(".", "", ",", "")
)

// CanonicalNumber removes thousands separators and writes the decimal point as a dot. A single comma or dot is a decimal point. It is not
// if three digits follow and the group before it is not zero.
func CanonicalNumber(m string) string {
	if !strings.ContainsFunc(m, func(r rune) bool { return r < '0' || r > '9' }) {
		return trimZeros(m)
	}
	m = withoutBlanks.Replace(m)
	i := strings.LastIndexAny(m, ".,")
	if i < 0 {
		return trimZeros(m)
	}
	head, tail := m[:i], m[i+1:]
	plainHead := withoutMarks.Replace(head)
	grouped := strings.Count(head, m[i:i+1]) > 0 || len(tail) == 3 && !strings.ContainsAny(head, ".,") && head != "0" && len(head) <= 3
	if grouped {
		return trimZeros(plainHead + tail)
	}
	if tail = strings.TrimRight(tail, "0"); tail == "" {
		return trimZeros(plainHead)
	}
	return trimZeros(plainHead) + "." + tail
}

func trimZeros(s string) string {
	if t := strings.TrimLeft(s, "0"); t != "" {
		return t
	}
	return "0"
}

// Thousands formats a number with commas between thousands.
func Thousands(n int) string {
	digits := strings.TrimPrefix(strconv.Itoa(n), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n < 0 {
		return "-" + digits
	}
	return digits
}

// Size formats a number of bytes with at least two digits in a suitable unit.
func Size(bytes int64) string {
	const unit = 1000
	if bytes < unit {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	value, i := float64(bytes)/unit, 0
	for value >= unit && i < 3 {
		value, i = value/unit, i+1
	}
	digits := 1
	if value >= 10 {
		digits = 0
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + []string{" kB", " MB", " GB", " TB"}[i]
}

// Quantity is a number that counts something.
type Quantity struct {
	Value  float64 // multiplied by a following word such as "million"
	Unit   string  // stemmed; "" if there is none
	Span           // includes the currency sign and the word for millions
	Before string  // text before it that may say how exact it is, at most clauseLength bytes

	digits int // without trailing zeros: the precision after rounding
}

// clauseLength is how many bytes before a number are examined.
const clauseLength = 24

// Bounds are words that make a number a limit.
var Bounds = LazySet(func() WordList { return AllTables().Number.Bounds })

var (
	atLeast = sync.OnceValue(func() *regexp.Regexp { return rightBefore(AllTables().Number.AtLeast) })
	atMost  = sync.OnceValue(func() *regexp.Regexp { return rightBefore(AllTables().Number.AtMost) })
	roughly = sync.OnceValue(func() *regexp.Regexp { return rightBefore(AllTables().Number.Roughly) })
)

func rightBefore(words Pattern) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\pL\d])(?:` + words.String() + `)\s*\S?$`)
}

// Admits reports whether this quantity can describe v: exactly or, after "over" or "about", within its bounds.
func (q Quantity) Admits(v float64) bool {
	switch {
	case atLeast().MatchString(q.Before):
		return v >= q.Value
	case atMost().MatchString(q.Before):
		return v <= q.Value
	case roughly().MatchString(q.Before):
		return math.Abs(v-q.Value) <= 0.1*math.Abs(q.Value)
	}
	return v == q.Value
}

// Bound returns the words directly before a number that make it a limit or approximate: "more than", "about". direction is 1 if the amount
// is at least the number, and -1 if it is at most that.
func (q Quantity) Bound() (words string, direction int) {
	if w := atLeast().FindString(q.Before); w != "" {
		return w, 1
	}
	if w := atMost().FindString(q.Before); w != "" {
		return w, -1
	}
	return roughly().FindString(q.Before), 0
}

// BearsOut reports whether a quantity of this amount is so, if the other one is. The other may be more exact, or a narrower limit. Five is not
// more than five.
func (q Quantity) BearsOut(o Quantity) bool {
	_, own := q.Bound()
	words, direction := o.Bound()
	switch {
	case direction != 0 && direction != own, own != 0 && direction == 0 && q.Value == o.Value:
		return false
	case q.Admits(o.Value):
		return true
	}
	return own == 0 && (q.rounds(o) || o.rounds(q) || words != "" && o.Admits(q.Value))
}

// mostRounded is the largest relative rounding without a word that says so. 4,987 may be written as 5,000, but 5.2
// million not as 5 million.
const mostRounded = 0.025

// Agrees reports whether two quantities may describe the same amount: one admits the other, or is the other rounded.
func (q Quantity) Agrees(o Quantity) bool {
	return q.Admits(o.Value) || o.Admits(q.Value) || q.rounds(o) || o.rounds(q)
}

// rounds reports whether a quantity is a finer one, rounded.
func (q Quantity) rounds(fine Quantity) bool {
	if q.Value <= 0 {
		return false
	}
	step := math.Pow(10, math.Floor(math.Log10(q.Value))-float64(q.digits-1))
	return math.Abs(q.Value-fine.Value) <= min(step/2, mostRounded*q.Value)
}

// Scales holds words that multiply the number before them, with their factors. A billion is 1e9 in half of the languages only.
var Scales = sync.OnceValue(func() map[string]float64 {
	words := map[string]float64{}
	for word, factor := range ByWord(AllTables().Number.Scales) {
		words[word], _ = strconv.ParseFloat(factor, 64)
	}
	return words
})

// shortScales are abbreviations of such words after an amount of money.
var shortScales = map[string]float64{"k": 1e3, "m": 1e6, "b": 1e9}

// currencies are the signs before an amount.
var currencies = map[string]string{"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}

var currencyBefore = NewLazyRegexp(`[$€£¥]\s?$`)

// Quantities returns the numbers of a text that count something. Years, dates, ordinals and names such as "the 5th" and
// "Apollo 11" are left out.
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
	if err != nil || len(digits) == 4 && YearPattern.MatchString(digits) && !Measured(behind) || ordinalEnd.MatchString(behind) || len(digits) < 4 && !Measured(behind) && namedNumber(before, behind) {
		return q, false
	}
	q = Quantity{Value: value, Span: at, Before: before, digits: significant(number)}
	sign := currencyBefore.FindString(before)
	q.From -= len(sign)
	sign = strings.TrimSpace(sign)
	if w, ok := WordBehind(behind); ok {
		scale := Scales()[w.Key]
		if sign != "" && scale == 0 {
			scale = shortScales[w.Key]
		}
		if scale > 0 {
			q.Value *= scale
			q.To += w.End
		}
	}
	if q.Unit = currencies[sign]; sign == "" {
		q.Unit = UnitOf(s[q.To:])
	}
	return q, true
}

// significant counts the digits of a canonical number without zeros at either end; at least 1.
func significant(number string) int {
	return max(1, len(strings.Trim(strings.ReplaceAll(number, ".", ""), "0")))
}

// ordinalEnd matches the ending of an ordinal number.
var ordinalEnd = NewLazyRegexp(`^(?:st|nd|rd|th|º|ª)\b`)

// namedNumber reports whether a number belongs to the name before it.
func namedNumber(before, behind string) bool {
	words := Words(before)
	if len(words) < 2 { // the first word of a sentence always has a capital
		return false
	}
	w, next := words[len(words)-1], Words(behind[:min(len(behind), longWord)])
	if len(next) > 0 && next[0].Upper { // in German a unit has a capital too
		return false
	}
	return w.Upper && before[w.End:] == " " && !StopWords()[w.Key] && MonthNames()[w.Key] == 0
}

var (
	spelled10 = sync.OnceValue(func() map[string]string {
		digits := map[string]string{}
		for i, name := range TablesOf("en").Number.Cardinals.All() {
			if i < 10 {
				digits[name] = strconv.Itoa(i + 1)
			}
		}
		return digits
	})
	scaled = LazyRegexpOf(func() string {
		return `(?i)(\b\d+(?:[.,]\d+)*|\b(?:` + strings.Join(slices.Sorted(maps.Keys(spelled10())), "|") + `))\s(\p{L}+)`
	})
	grouped = NewLazyRegexp(`\b[1-9]\d{0,2}(?:[.,]\d{3})+\b`)
)

// InDigits writes the amounts of a text in digits only: "5 million" and "5,000,000" as 5000000.
func InDigits(s string) string {
	s = scaled.ReplaceAllStringFunc(s, func(m string) string {
		parts := scaled.FindStringSubmatch(m)
		number := strings.ToLower(parts[1])
		value, err := strconv.ParseFloat(CanonicalNumber(cmp.Or(spelled10()[number], number)), 64)
		scale := Scales()[Fold(parts[2])]
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

// unitNames maps the stems of unit names to one stem per unit.
var unitNames = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for name, unit := range ByWord(AllTables().Number.Units) {
		all[Stem(name, "")] = unit
	}
	maps.Copy(all, map[string]string{"m": "metr", "km": "kilometr", "cm": "centimetr", "kg": "kilogram", "ft": "feet", "mi": "mile", "usd": "dollar", "eur": "euro"})
	return all
})

// Measured reports whether a number before a text is a length or a weight, and so no year.
func Measured(behind string) bool {
	switch _, kind := BaseUnit(UnitBehind(behind)); kind {
	case "length", "mass":
		return true
	}
	return false
}

// UnitOf returns the stem of the word, or the sign, directly after a number.
func UnitOf(behind string) string {
	written := UnitBehind(behind)
	if written == "%" || written == "" {
		return written
	}
	unit := Stem(Words(written)[0].Key, "")
	return cmp.Or(unitNames()[unit], unit)
}

// UnitBehind returns the word, or the sign, directly after a number as it is written. In scripts without spaces it is a unit of measure,
// if one is there.
func UnitBehind(behind string) string {
	behind = strings.TrimLeft(behind, " -")
	if strings.HasPrefix(behind, "%") {
		return "%"
	}
	w, ok := WordBehind(behind)
	if !ok || w.Start > 0 {
		return ""
	}
	word := behind[:w.End]
	if !Unspaced(word) {
		return word
	}
	for end := len(word); end > 0; end-- {
		if _, known := measures()[word[:end]]; known {
			return word[:end]
		}
	}
	return word
}
