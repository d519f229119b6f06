package outgoing

import "unicode/utf16"

// Units returns the length of s in UTF-16 units, in which Discord counts.
func Units(s string) int { return len(utf16.Encode([]rune(s))) }

// CutUnits returns the beginning of s in at most n UTF-16 units, without half a character.
func CutUnits(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}
