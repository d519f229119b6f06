package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/text"
)

// cut shortens s, which is size tokens long, to at most limit tokens: at the last end of a sentence, else
// at the last space, else between two characters. It returns "" if nothing fits.
func cut(s string, limit, size int, count func(string) int) (string, int) {
	if limit <= 0 || s == "" {
		return "", 0
	}
	if size <= limit {
		return s, size
	}
	head := tidy(s, longest(s, limit, size, count))
	// A tokenizer may split the end of a shorter text differently, so what is returned is what was counted.
	for head != "" {
		n := count(head)
		if n <= limit {
			return head, n
		}
		head = tidy(head, len(firstRunes(head, utf8.RuneCountInString(head)*9/10)))
	}
	return "", 0
}

// longest returns how many bytes of s, whole characters, fit into limit tokens. It may return somewhat
// fewer than possible: counting is what costs time here, so it guesses from the density of tokens found so
// far, and looks at no more than a few prefixes.
func longest(s string, limit, size int, count func(string) int) int {
	low, lowTokens := 0, 0
	high, highTokens := len(s), size
	for range 8 {
		if limit-lowTokens <= limit/50 || highTokens <= lowTokens {
			break
		}
		mid := low + int(int64(high-low)*int64(limit-lowTokens)/int64(highTokens-lowTokens))
		for mid > low && !utf8.RuneStart(s[mid]) {
			mid--
		}
		if mid <= low || mid >= high {
			break
		}
		if n := count(s[:mid]); n <= limit {
			low, lowTokens = mid, n
		} else {
			high, highTokens = mid, n
		}
	}
	return low
}

// tidy returns at most the first n bytes of s, ended where a reader can bear it.
func tidy(s string, n int) string {
	if end := sentenceEnd(s, n); end > 0 {
		return s[:end]
	}
	if i := strings.LastIndexFunc(s[:n], unicode.IsSpace); i > 0 {
		if head := strings.TrimRightFunc(s[:i], unicode.IsSpace); head != "" {
			return head
		}
	}
	return s[:n]
}

// sentenceEnd returns the offset, at most n, just after the last sentence of s that ends there, or 0. A line that ends
// without a mark is none: of a heading and half a paragraph, more than the heading is kept.
func sentenceEnd(s string, n int) int {
	last := 0
	for cut := range text.SentenceEnds(s) {
		end := len(strings.TrimRightFunc(s[:cut], unicode.IsSpace))
		if end > n {
			break
		}
		if mark, _ := utf8.DecodeLastRuneInString(s[:end]); unicode.IsPunct(mark) {
			last = end
		}
	}
	return last
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
