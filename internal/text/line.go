package text

import "strings"

// OneLine returns s with each run of white space made one blank, and none around it.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Truncate shortens s to at most n characters, at a word's end where there is one.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			short := s[:i]
			if blank := strings.LastIndexByte(short, ' '); blank > len(short)/2 {
				short = short[:blank]
			}
			return strings.TrimSpace(short)
		}
	}
	return s
}
