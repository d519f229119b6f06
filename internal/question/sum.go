package question

import (
	"math/big"
	"strings"
	"unicode"

	"familiar/internal/text"
)

// Sum works out the sum that a message asks for, as "17% of 240" or "what is (12 + 3) × 4?". ok is false if it asks for none.
func Sum(message string) (result string, ok bool) {
	s := strings.ToLower(message)
	for _, w := range [...][2]string{{"divided by", "/"}, {"multiplied by", "*"}, {"times", "*"}, {"plus", "+"}, {"minus", "-"}, {"percent", "%"}, {"% of", "% *"}, {"%of", "%*"}, {"squared", "^2"}, {"×", "*"}, {"·", "*"}, {"÷", "/"}, {"−", "-"}, {"**", "^"}} {
		s = strings.ReplaceAll(s, w[0], w[1])
	}
	from := strings.IndexFunc(s, func(r rune) bool { return unicode.IsDigit(r) || r == '(' })
	if from < 0 {
		return "", false
	}
	if before := strings.TrimRight(s[:from], " "); strings.HasSuffix(before, "-") {
		from = len(before) - 1
	}
	if strings.ContainsFunc(s[:from], func(r rune) bool { return strings.ContainsRune("+*/^%$€£#", r) }) {
		return "", false
	}
	c := calculator{rest: strings.TrimRight(s[from:], " ?=.!")}
	value := c.sum()
	if c.space(); c.failed || c.rest != "" || c.signs == 0 {
		return "", false
	}
	return number(value), true
}

// number writes a number with up to six decimals.
func number(r *big.Rat) string {
	s := r.FloatString(6)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// calculator reads a sum. Its methods follow the grammar, and set failed where the text is none.
type calculator struct {
	rest   string
	signs  int // operators
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
	if end = len(digits); end == 0 || end > maxSumDigits || !text.ASCII(digits) {
		return c.fail()
	}
	c.rest = c.rest[end:]
	value, ok := new(big.Rat).SetString(pointed(digits))
	if !ok {
		return c.fail()
	}
	if c.next("%") != 0 {
		c.signs++
		value.Quo(value, big.NewRat(100, 1))
	}
	return value
}

// pointed returns a number with a point for its decimals. A comma before three digits separates thousands.
func pointed(digits string) string {
	at := strings.LastIndexByte(digits, ',')
	switch {
	case at < 0:
		return digits
	case strings.Contains(digits, ".") || strings.Count(digits, ",") > 1 || len(digits)-at == 4:
		return strings.ReplaceAll(digits, ",", "")
	}
	return strings.Replace(digits, ",", ".", 1)
}
