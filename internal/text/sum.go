package text

import (
	"math/big"
	"strings"
	"unicode"
)

// signsInWords are other ways to write the signs of a sum, longest first where one begins another.
var signsInWords = strings.NewReplacer("divided by", "/", "geteilt durch", "/", "divisé par", "/", "dividido por", "/", "dividido entre", "/", "diviso", "/",
	"gedeeld door", "/", "podzielić przez", "/", "разделить на", "/", "bölü", "/", "multiplied by", "*", "умножить на", "*", " times ", "*", " mal ", "*", " fois ", "*",
	" por ", "*", " vezes ", "*", " per ", "*", " keer ", "*", " razy ", "*", " çarpı ", "*", " x ", "*", "plus", "+", "плюс", "+", " più ", "+", " más ", "+", " mais ", "+",
	" artı ", "+", "minus", "-", "минус", "-", " moins ", "-", " meno ", "-", " menos ", "-", " eksi ", "-", " percent of ", "%*", " percent", "%", "% of ", "%*", "% von ", "%*",
	"% de ", "%*", "% di ", "%*", "% van ", "%*", "% от ", "%*", "squared", "^2", "乘以", "*", "乘", "*", "除以", "/", "加", "+", "减", "-", "かける", "*", "わる", "/", "たす", "+", "ひく", "-", "곱하기", "*", "나누기", "/",
	"더하기", "+", "빼기", "-", "等于多少", "", "等于几", "", "是多少", "", "はいくつ", "", "は", "", "은", "", "는", "", " kaç eder", "", " kaç yapar", "", " kaçtır", "", "？", "?", "×", "*", "·", "*", "÷", "/", "−", "-", "**", "^")

// bareNumbers matches what may be something else than a sum. That is a date, a score, a telephone number or an opening time.
var bareNumbers = NewLazyRegexp(`^\s*[\d/-]+\s*[.!?]?\s*$`)

// Sum works out the sum that a message asks for, as "17% of 240" or "what is (12 + 3) × 4?". ok is false if it asks for none, or for more.
func Sum(message string) (result string, ok bool) {
	if bareNumbers.MatchString(message) {
		return "", false
	}
	s := signsInWords.Replace(strings.ToLower(message))
	from := strings.IndexFunc(s, func(r rune) bool { return unicode.IsDigit(r) || r == '(' })
	if from < 0 {
		return "", false
	}
	if before := strings.TrimRight(s[:from], " "); strings.HasSuffix(before, "-") {
		from = len(before) - 1
	}
	if strings.ContainsFunc(s[:from], func(r rune) bool { return strings.ContainsRune("+*/^%$€£#", r) }) || !onlyAsks(s[:from]) {
		return "", false
	}
	c := calculator{rest: strings.TrimRight(s[from:], " ?=.!")}
	value := c.sum()
	if c.space(); c.failed || c.rest != "" || c.signs == 0 {
		return "", false
	}
	return number(value), true
}

// onlyAsks reports whether words are the beginning of a question and name nothing: "what is", "wie viel ist".
func onlyAsks(s string) bool {
	for _, w := range Words(s) {
		if Meaningful(w.Key) && !sumWords()[w.Key] {
			return false
		}
	}
	return true
}

var sumWords = LazySet(func() WordList {
	return "calculate compute solve convert much many equals sage berechne rechne umrechnen viel viele sind cuanto cuantos cuantas son calcula convierte combien font fait calcule convertis quanto quanti quante fa sono quantos quantas converta calcola converti hoeveel bereken reken ile jest oblicz przelicz сколько будет посчитай переведи kac eder hesapla em w na"
})

// number writes a number with six decimals, or with more if it is smaller than that.
func number(r *big.Rat) string {
	for decimals := 6; ; decimals *= 2 {
		s := strings.TrimSuffix(strings.TrimRight(r.FloatString(decimals), "0"), ".")
		if strings.Trim(s, "-0.") != "" || r.Sign() == 0 || decimals > maxSumDigits {
			return s
		}
	}
}

// calculator reads a sum. Its methods follow the grammar, and set failed where the text is none.
type calculator struct {
	rest   string
	signs  int // signsInWords
	depth  int
	failed bool
}

const (
	maxPower     = 64
	maxDepth     = 20
	maxSumDigits = 40
)

func (c *calculator) space() { c.rest = strings.TrimLeft(c.rest, " ") }

// next takes one of some characters.
func (c *calculator) next(signs string) byte {
	if c.space(); c.rest == "" || !strings.Contains(signs, c.rest[:1]) {
		return 0
	}
	sign := c.rest[0]
	c.rest = c.rest[1:]
	return sign
}

func (c *calculator) fail() *big.Rat {
	c.failed = true
	return new(big.Rat)
}

func (c *calculator) sum() *big.Rat {
	total := c.product()
	for sign := c.next("+-"); sign != 0 && !c.failed; sign = c.next("+-") {
		c.signs++
		if right := c.product(); sign == '+' {
			total.Add(total, right)
		} else {
			total.Sub(total, right)
		}
	}
	return total
}

func (c *calculator) product() *big.Rat {
	total := c.power()
	for sign := c.next("*/"); sign != 0 && !c.failed; sign = c.next("*/") {
		c.signs++
		switch right := c.power(); {
		case sign == '*':
			total.Mul(total, right)
		case right.Sign() == 0:
			return c.fail()
		default:
			total.Quo(total, right)
		}
	}
	return total
}

func (c *calculator) power() *big.Rat {
	base := c.value()
	if c.next("^") == 0 {
		return base
	}
	c.signs++
	exponent := c.power()
	if c.failed || !exponent.IsInt() || !exponent.Num().IsInt64() {
		return c.fail()
	}
	n := exponent.Num().Int64()
	if n < -maxPower || n > maxPower || n < 0 && base.Sign() == 0 || base.Num().BitLen() > 4*maxSumDigits || base.Denom().BitLen() > 4*maxSumDigits {
		return c.fail()
	}
	raised := big.NewRat(1, 1)
	for range max(n, -n) {
		raised.Mul(raised, base)
	}
	if n < 0 {
		raised.Inv(raised)
	}
	return raised
}

// value reads a number with its sign and percent sign, or a sum in brackets.
func (c *calculator) value() *big.Rat {
	if c.depth++; c.depth > maxDepth {
		return c.fail()
	}
	defer func() { c.depth-- }()
	switch c.next("-(") {
	case '-':
		return new(big.Rat).Neg(c.value())
	case '(':
		inner := c.sum()
		if c.next(")") == 0 {
			return c.fail()
		}
		return inner
	}
	end := strings.IndexFunc(c.rest, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' })
	if end < 0 {
		end = len(c.rest)
	}
	digits := strings.TrimRight(c.rest[:end], ".,")
	if end = len(digits); end == 0 || end > maxSumDigits || !ASCII(digits) {
		return c.fail()
	}
	c.rest = c.rest[end:]
	value, ok := new(big.Rat).SetString(pointed(digits))
	if !ok {
		return c.fail()
	}
	if c.next("%") != 0 {
		value.Quo(value, big.NewRat(100, 1))
	}
	return value
}

// pointed returns a number with a point for its decimals. The last of two kinds of marks is the point. A comma before three digits separates
// thousands.
func pointed(digits string) string {
	at := strings.LastIndexByte(digits, ',')
	switch {
	case at < 0:
		return digits
	case strings.Contains(digits[:at], ".") && !strings.Contains(digits[at:], "."):
		return strings.Replace(strings.ReplaceAll(digits, ".", ""), ",", ".", 1)
	case strings.Contains(digits, ".") || strings.Count(digits, ",") > 1 || len(digits)-at == 4:
		return strings.ReplaceAll(digits, ",", "")
	}
	return strings.Replace(digits, ",", ".", 1)
}
