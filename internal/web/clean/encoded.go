package clean

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"familiar/internal/text/lazyregexp"
)

// encodedRun is T10: how long a run of base64 or hex characters must be to count as data. A SHA-512 in hex is
// 128 and goes, a SHA-256 is 64 and stays.
const encodedRun = 120

// meanPiece tells data from a long address: the pieces between slashes and hyphens are words there, and
// several times longer in base64, where a separator is one character in 32.
const meanPiece = 16

var (
	dataURI    = lazyregexp.New(`(?i)\bdata:(?:[a-z0-9.+-]+/[a-z0-9.+*-]+)?(?:;[a-z0-9._-]+(?:=[^,;\s]*)?)*,[^\s)"'<>\]]*`)
	image      = lazyregexp.New(`(?m)!+(\[.*\][(\[])`)
	bangs      = lazyregexp.New(`!+\[`)
	scriptLink = lazyregexp.New(`(?i)(\]\([\s<]*)(?:(?:javascript|vbscript|livescript)[\s:]*:\s*)+`)
)

// defuse is T10, and the two kinds of Markdown that act by themselves: images, which are fetched when they
// are shown, become links; links to scripts lose their scheme.
func defuse(s string, r *Report) string {
	if strings.Contains(s, "![") {
		// Images nest, so all of a line go at once.
		s = image.ReplaceAllStringFunc(s, func(line string) string { return replace(bangs, line, "[", "image", r) })
	}
	if strings.Contains(s, "](") {
		s = replace(scriptLink, s, "$1", "script", r)
	}
	if hasDataScheme(s) {
		s = dataURI.ReplaceAllStringFunc(s, func(uri string) string { return removed(uri, r) })
	}
	return dropEncoded(s, r)
}

func replace(re *lazyregexp.Regexp, s, with, rule string, r *Report) string {
	n := len(re.FindAllStringIndex(s, -1))
	if n == 0 {
		return s
	}
	r.add(rule, n)
	return re.ReplaceAllString(s, with)
}

func removed(data string, r *Report) string {
	r.add("T10", 1)
	return fmt.Sprintf("(encoded data removed, %d chars)", utf8.RuneCountInString(data))
}

func dropEncoded(s string, r *Report) string {
	var b strings.Builder
	copied := 0
	for start := 0; start+encodedRun <= len(s); {
		// Looked at from behind, most of the text needn't be: a byte that encodes nothing rules out all before it.
		other := start + encodedRun - 1
		for other >= start && encodes(s[other]) {
			other--
		}
		if other >= start {
			start = other + 1
			continue
		}
		end := start + encodedRun
		for end < len(s) && encodes(s[end]) {
			end++
		}
		if isData(s[start:end]) {
			b.WriteString(s[copied:start])
			b.WriteString(removed(s[start:end], r))
			copied = end
		}
		start = end
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

func isData(run string) bool {
	letters, pieces, inside := 0, 0, false
	for i := range len(run) {
		if separates(run[i]) {
			inside = false
			continue
		}
		if !inside {
			pieces++
		}
		letters, inside = letters+1, true
	}
	return letters >= encodedRun/2 && letters >= meanPiece*pieces
}

// encodes says whether c belongs to the alphabets of base64, base64url or hex.
func encodes(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || separates(c)
}

func separates(c byte) bool {
	return c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

func hasDataScheme(s string) bool {
	for i := 4; i < len(s); i++ {
		if s[i] == ':' && strings.EqualFold(s[i-4:i], "data") {
			return true
		}
	}
	return false
}

// schemeEnds says whether before, the text up to a colon, ends in a scheme that defuse looks for.
func schemeEnds(before string) bool {
	if len(before) > 10 {
		before = before[len(before)-10:]
	}
	before = strings.ToLower(before)
	return strings.HasSuffix(before, "data") || strings.HasSuffix(before, "script") || strings.HasSuffix(before, " ")
}
