package question

import (
	"strings"
	"unicode"

	"familiar/internal/text"
)

// token is the smallest piece of a text that is replaced or kept. It is a word or, in scripts without spaces, a run of
// one kind or a single character.
type token struct {
	key        string
	start, end int // in bytes
	role       role
	kinds      kindSet
	glued      bool // no space precedes it
}

// role is what a token does in a question.
type role int

const (
	roleNew          role = iota // no table has it: usually the topic
	roleName                     // capitalised
	roleNumber                   //
	roleTime                     // a time
	roleQuestionWord             // it says what is asked: "who", "how many"
	roleKnown                    // in another table: "weather"
	roleFunctionWord             // it has no meaning of its own: "the"
	roleCount
)

// tokens divides a text. The words of context help to tell the language, which it also returns.
func tokens(s, context string) (all []token, language string) {
	if text.Unspaced(s) {
		return unspacedTokens(s, context)
	}
	words := text.Words(s)
	found, language := findKinds(s, words, true, context)
	for i, w := range words {
		if i > 0 && text.SameWord(words[i-1], w) {
			continue // the second half of a contraction
		}
		kinds := found[i]
		all = append(all, token{key: w.Key, start: w.Start, end: w.End, kinds: kinds, role: roleOf(w, i, kinds)})
	}
	for i := range words { // time expressions of several words
		if n := timeAt(words, i); n > 0 {
			for j := range all {
				if words[i].Start <= all[j].start && all[j].end <= words[i+n-1].End {
					all[j].role = roleTime
				}
			}
		}
	}
	return all, language
}

func roleOf(w text.Word, at int, kinds kindSet) role {
	switch {
	case kinds&timeKindSet() != 0, len(w.Key) == 4 && text.YearPattern.MatchString(w.Key):
		return roleTime
	case text.Numeric(w.Key):
		return roleNumber
	case w.Upper && at > 0 && w.Key != "i":
		return roleName
	case kinds&questionKindSet() != 0:
		return roleQuestionWord
	case isFunctionWord(w):
		return roleFunctionWord
	case kinds != 0:
		return roleKnown
	}
	return roleNew
}

// isFunctionWord reports whether a word has no meaning of its own.
func isFunctionWord(w text.Word) bool {
	return text.StopWords()[w.Key] || text.Prepositions()[w.Key] || articles()[w.Key] || len([]rune(w.Key)) <= 2 && !text.Numeric(w.Key)
}

// particles are function words of one character, which no table has.
const particles = "はがをにでとものへや的吗呢了是在"

// unspacedTokens divides a text without spaces where the kind of its characters changes. An ideograph that no table has
// is a token of its own.
func unspacedTokens(s, context string) (all []token, language string) {
	found, language := findKinds(s, nil, false, context)
	at, before, spaced := 0, rune(0), true
	for i, r := range s {
		kinds := found[at]
		at++
		if !text.InWord(r) && r != 'ー' {
			before, spaced = 0, true
			continue
		}
		end := i + len(string(r))
		if n := len(all); n > 0 && before != 0 && joins(before, r, all[n-1].kinds, kinds) {
			all[n-1].end = end
			all[n-1].kinds |= kinds
		} else {
			all = append(all, token{start: i, end: end, kinds: kinds, glued: !spaced})
		}
		before, spaced = r, false
	}
	for i := range all {
		c := &all[i]
		c.key = strings.ToLower(s[c.start:c.end])
		switch runes := []rune(c.key); {
		case c.kinds&timeKindSet() != 0, text.YearPattern.MatchString(c.key):
			c.role = roleTime
		case unicode.IsDigit(runes[0]):
			c.role = roleNumber
		case c.kinds&questionKindSet() != 0:
			c.role = roleQuestionWord
		case c.kinds != 0:
			c.role = roleKnown
		case len(runes) == 1 && strings.ContainsRune(particles, runes[0]):
			c.role = roleFunctionWord
		}
	}
	return all, language
}

// joins reports whether a character continues the token before it.
func joins(before, r rune, left, right kindSet) bool {
	switch {
	case unicode.Is(unicode.Hangul, r) || unicode.Is(unicode.Hangul, before):
		return unicode.IsLetter(before) == unicode.IsLetter(r) || unicode.IsDigit(before) // a word, even if the tables have its parts
	case left != 0 || right != 0:
		return left == right
	case unicode.IsDigit(before) != unicode.IsDigit(r):
		return false
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return unicode.Is(unicode.Katakana, before) || before == 'ー'
	}
	return r < 0x3000 && before < 0x3000 // Latin letters and digits
}
