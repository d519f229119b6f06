package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut shortens text, which is size tokens long, to at most limit tokens: at the last end of a sentence, else
// at the last space, else between two characters. It returns "" if nothing fits.
func cut(text string, limit, size int, count func(string) int) (string, int) {
	if limit <= 0 || text == "" {
		return "", 0
	}
	if size <= limit {
		return text, size
	}
	head := tidy(text, longest(text, limit, size, count))
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

// longest returns how many bytes of text, whole characters, fit into limit tokens. It may return somewhat
// fewer than possible: counting is what costs time here, so it guesses from the density of tokens found so
// far, and looks at no more than a few prefixes.
func longest(text string, limit, size int, count func(string) int) int {
	low, lowTokens := 0, 0
	high, highTokens := len(text), size
	for range 8 {
		if limit-lowTokens <= limit/50 || highTokens <= lowTokens {
			break
		}
		mid := low + int(int64(high-low)*int64(limit-lowTokens)/int64(highTokens-lowTokens))
		for mid > low && !utf8.RuneStart(text[mid]) {
			mid--
		}
		if mid <= low || mid >= high {
			break
		}
		if n := count(text[:mid]); n <= limit {
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

// sentenceEnd returns the offset, at most n, just after the last sentence of s that ends there, or 0: after
// . ! or ? that white space follows, or after their full-width forms, which nothing needs to follow.
func sentenceEnd(s string, n int) int {
	for i := n; i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		switch r {
		case '。', '！', '？':
			return i
		case '.', '!', '?':
			if next, _ := utf8.DecodeRuneInString(s[i:]); unicode.IsSpace(next) {
				return i
			}
		}
		i -= size
	}
	return 0
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
