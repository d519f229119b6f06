package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordEnd returns how many bytes the first word of text has, which is not empty, as o200k cuts text before it looks
// for tokens. The cutting is that of this expression, whose alternatives are tried in turn
// (github.com/openai/tiktoken, openai_public.py):
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func wordEnd(text string) int {
	first, size := classOf(text)
	switch {
	case first&(upper|lower) != 0:
		return letters(text, 0)
	case first&number != 0:
		return run(text, 0, number, 3)
	case first&newline != 0:
		return spaces(text)
	}
	if end := letters(text, size); end > 0 { // whatever else there is may stand before a word
		return end
	}
	switch {
	case text[0] == ' ':
		if end := signs(text, 1); end > 1 {
			return end
		}
	case first&space == 0:
		return signs(text, 0)
	}
	return spaces(text)
}

// class is what the expression asks of a character.
type class uint8

const (
	upper class = 1 << iota // Lu, Lt, Lm, Lo, M
	lower                   // Ll, Lm, Lo, M
	letter
	number
	space
	newline // \r, \n
)

// classOf is the class and the size of the first character. Of no text both are 0.
func classOf(text string) (class, int) {
	if text == "" {
		return 0, 0
	}
	switch c := text[0]; {
	case 'a' <= c && c <= 'z':
		return lower | letter, 1
	case 'A' <= c && c <= 'Z':
		return upper | letter, 1
	case '0' <= c && c <= '9':
		return number, 1
	case c == '\n' || c == '\r':
		return space | newline, 1
	case c == ' ' || '\t' <= c && c <= '\r':
		return space, 1
	case c < utf8.RuneSelf:
		return 0, 1
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case unicode.Is(unicode.Ll, r):
		return lower | letter, size
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter, size
	case unicode.IsLetter(r):
		return upper | lower | letter, size
	case unicode.Is(unicode.M, r):
		return upper | lower, size
	case unicode.Is(unicode.N, r):
		return number, size
	case unicode.IsSpace(r):
		return space, size
	}
	return 0, size
}

// run returns where the characters of a class that begin at from end, at most so many of them.
func run(text string, from int, of class, most int) int {
	for ; most > 0; most-- {
		c, size := classOf(text[from:])
		if c&of == 0 {
			break
		}
		from += size
	}
	return from
}

const all = 1 << 30

// letters returns the end of a word whose letters begin at from, or 0: small ones after any number of great ones, or
// great ones alone. Those of scripts without case are both, and so are accents. The shortened verb after it, as in
// "I'll", belongs to it.
func letters(text string, from int) int {
	great := run(text, from, upper, all)
	end := run(text, great, lower, all)
	if end == great { // the last that is small as well ends the word, if there is one
		for at := great; at > from; {
			_, size := utf8.DecodeLastRuneInString(text[:at])
			if c, _ := classOf(text[at-size:]); c&lower != 0 {
				end = at
				break
			}
			at -= size
		}
	}
	if end == from {
		return 0
	}
	if end < len(text) && text[end] == '\'' {
		for _, short := range [...]string{"'s", "'ſ", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
			if len(text) >= end+len(short) && strings.EqualFold(text[end:end+len(short)], short) {
				return end + len(short)
			}
		}
	}
	return end
}

// signs returns the end of what is neither letter, number nor space, with the line breaks and slashes after it. It
// returns from if there is nothing of the kind.
func signs(text string, from int) int {
	at := from
	for at < len(text) {
		c, size := classOf(text[at:])
		if c&(space|letter|number) != 0 {
			break
		}
		at += size
	}
	if at == from {
		return from
	}
	for at < len(text) && (text[at] == '\r' || text[at] == '\n' || text[at] == '/') {
		at++
	}
	return at
}

// spaces returns the end of a stretch of white space: after its last line break, else before the character that
// stands before a word.
func spaces(text string) int {
	end := run(text, 0, space, all)
	if last := strings.LastIndexAny(text[:end], "\r\n"); last >= 0 {
		return last + 1
	}
	if _, size := utf8.DecodeLastRuneInString(text[:end]); end < len(text) && end > size {
		return end - size
	}
	return end
}
