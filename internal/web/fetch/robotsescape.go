package fetch

import (
	"strings"

	"familiar/internal/web/guard"
)

const upperHex = "0123456789ABCDEF"

// upperEscapes writes the escapes of s in upper case (RFC 3986 §6.2.2.1).
func upperEscapes(s string) string { return rewrite(s, false, "") }

// escapeNonASCII is upperEscapes that also escapes bytes beyond ASCII: a path in robots.txt as it is in a URL.
func escapeNonASCII(s string) string { return rewrite(s, true, "") }

// normalize returns the normal form of a URL: escapeNonASCII without needless escapes (RFC 3986 §6.2.2.2). The signs that
// patterns use are escaped, so that a pattern can mean them (RFC 9309 §2.2.3).
func normalize(s string) string { return guard.FoldEscapes(rewrite(s, true, "*$")) }

// normalizePattern is normalize for a pattern, whose signs stay.
func normalizePattern(s string) string {
	body, end := strings.CutSuffix(s, "$")
	body = guard.FoldEscapes(rewrite(body, true, "$"))
	if end {
		body += "$"
	}
	return body
}

// rewrite puts escapes into upper case, and escapes the bytes in also and, if asked to, those beyond ASCII.
func rewrite(s string, beyondASCII bool, also string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isEscape(s[i:]):
			b.WriteString(strings.ToUpper(s[i : i+3]))
			i += 2
		case beyondASCII && c >= 0x80, strings.IndexByte(also, c) >= 0:
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEscape(s string) bool { return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2]) }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
