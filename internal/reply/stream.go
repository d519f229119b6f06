package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/web/clean"
)

// Streaming (O9).

// longestHold limits how much of a construct is held back, in bytes. A longer one is not a link.
const longestHold = 600

// Visible returns the part of a growing text that may pass through Guard and be shown. Nothing in it can still become a
// link, a mention, a citation or a secret. The part only grows: the result for partial is a prefix of the result for
// any continuation of partial.
func (r Rules) Visible(partial string) string {
	end := min(LastBoundary(partial), openLink(partial))
	end = r.Secrets.Begun(partial[:end])
	for i := 0; i < end; {
		length, wait := construct(partial[i:end])
		if wait {
			return partial[:i]
		}
		i += length
	}
	return partial[:end]
}

// LastBoundary returns the end of the last complete token. It is after white space, or after a character of a script
// without spaces whose letters occur in no address or secret.
func LastBoundary(s string) int {
	for end := len(s); end > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if unicode.IsSpace(r) || r >= 0x2E80 && r <= 0xFFEF && r != utf8.RuneError {
			return end
		}
		end -= size
	}
	return 0
}

// openLink returns where an unfinished link at the end of s begins, or len(s) if there is none. A link may continue
// over letters of a script without spaces.
func openLink(s string) int {
	from := strings.LastIndexFunc(s, unicode.IsSpace) + 1
	for at := from; ; {
		i := strings.Index(s[at:], ":/")
		if i < 0 {
			return len(s)
		}
		start, end := addressAt(s, from, at+i)
		if start < end && end == len(s) && end-start <= maxLink+maxMarks {
			return start
		}
		at += i + 1
	}
}

// construct reads the start of s and returns how many bytes are settled, or that more text is needed.
func construct(s string) (length int, wait bool) {
	switch s[0] {
	case '`':
		ticks := runOf(s)
		if n := closing(s[len(ticks):], ticks); n >= 0 {
			return 2*len(ticks) + n, false
		}
		return len(ticks), waits(s)
	case '<':
		if len(s) > 1 && s[1] <= ' ' {
			return 1, false
		}
		return 1, strings.IndexByte(s[:min(len(s), longestHold)], '>') < 0 && waits(s)
	case '[':
		return 1, !linkEnded(s) && waits(s)
	}
	if r, size := utf8.DecodeRuneInString(s); strings.ContainsRune(clean.Brackets, r) {
		return size, !strings.ContainsAny(s[size:min(len(s), longestHold)], clean.ClosingBrackets) && waits(s)
	}
	if next := strings.IndexAny(s[1:], "`<"+clean.Brackets); next >= 0 {
		return 1 + next, false
	}
	return len(s), false
}

// waits reports whether s is short enough, and on one line, so that it may still become something.
func waits(s string) bool { return len(s) < longestHold && strings.IndexByte(s, '\n') < 0 }

// linkEnded reports whether "[label]" and a following "(target)" are complete.
func linkEnded(s string) bool {
	depth := 0
	for i := 0; i < min(len(s), longestHold); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i+1 == len(s) || s[i+1] != '(' || strings.IndexByte(s[i+1:], ')') >= 0
			}
		}
	}
	return false
}
