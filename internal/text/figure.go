package text

import (
	"strconv"
	"strings"
)

// Thousands writes a number with commas between its thousands.
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

// Size writes a number of bytes with two digits or more, in the unit that suits it.
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
