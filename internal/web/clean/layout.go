package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// T9, in characters. The lengths include the mark that says something was cut.
const (
	lineLength  = 2_000
	blockLength = 24_000 // of what somebody is shown
	blankLines  = 2
	cutMark     = "(cut)"
)

// layout is T9: no endless lines, no more than most characters, no deserts of blank lines. A long paragraph is broken
// between sentences and loses nothing; only a line that has no sentences to break at is cut.
func layout(s string, most int, r *Report) string {
	var b strings.Builder
	b.Grow(len(s))
	blank, first := 0, true
	for line := range strings.SplitSeq(s, "\n") {
		if strings.TrimSpace(line) == "" {
			if blank++; blank > blankLines && !first {
				r.add("T9", 1)
				continue
			}
		} else {
			blank = 0
		}
		if !first {
			b.WriteByte('\n')
		}
		first = false
		writeLine(&b, line, r)
	}
	s = b.String()
	if utf8.RuneCountInString(s) > most {
		r.add("T9", 1)
		s = s[:cutPoint(s, most-len(cutMark)-1)]
		s = strings.TrimRightFunc(s, unicode.IsSpace) + "\n" + cutMark
	}
	return s
}

func writeLine(b *strings.Builder, line string, r *Report) {
	for utf8.RuneCountInString(line) > lineLength {
		r.add("T9", 1)
		at := sentenceEnd(line[:runes(line, lineLength)])
		if at == 0 {
			line = line[:cutPoint(line, lineLength-len(cutMark)-1)]
			line = strings.TrimRightFunc(line, unicode.IsSpace) + " " + cutMark
			break
		}
		b.WriteString(strings.TrimRight(line[:at], " \t"))
		b.WriteByte('\n')
		line = strings.TrimLeft(line[at:], " \t")
	}
	b.WriteString(line)
}

// cutPoint is where to cut s so that at most max characters stay: behind a sentence, else behind a word, as
// long as that costs no more than half; else anywhere but before a combining mark.
func cutPoint(s string, max int) int {
	s = s[:runes(s, max)]
	if at := sentenceEnd(s); at > len(s)/2 {
		return at
	}
	if at := strings.LastIndexAny(s, " \t\n"); at > len(s)/2 {
		return at
	}
	return len(s)
}

// sentenceEnd is the position behind the last sentence that ends inside s; 0 if none does.
func sentenceEnd(s string) int {
	for at := len(s); at > 0; {
		c, size := utf8.DecodeLastRuneInString(s[:at])
		switch c {
		case '。', '！', '？', '।', '۔':
			return at
		case '.', '!', '?', '…', '؟':
			if at < len(s) && (s[at] == ' ' || s[at] == '\n') {
				return at
			}
		}
		at -= size
	}
	return 0
}

// runes is the length in bytes of the first n characters of s, marks that belong to the next one left out.
func runes(s string, n int) int {
	at := 0
	for i := range s {
		if n == 0 {
			return at
		}
		n--
		_, size := utf8.DecodeRuneInString(s[i:])
		at = i + size
	}
	return at
}

// shorten cuts s to max characters, ending in "…" if anything was cut.
func shorten(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	s = s[:runes(s, max-1)]
	if at := strings.LastIndexByte(s, ' '); at > len(s)/2 {
		s = s[:at]
	}
	return strings.TrimRightFunc(s, unicode.IsSpace) + "…"
}
