package text

import (
	"strings"
	"unicode/utf8"
)

// Hanging breaks a line between words where it would be wider than width, and begins the lines that follow with so many spaces. A word that
// is wider stays whole. With a width of 0 nothing is broken.
func Hanging(line string, indent, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(line, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case word != "" && column+1+n > width && column > indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
