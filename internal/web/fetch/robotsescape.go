package fetch

import "strings"

const upperHex = "0123456789ABCDEF"

// capitals writes the escapes of s with capitals (RFC 3986 §6.2.2.1).
func capitals(s string) string { return rewrite(s, false, "") }

// escaped is capitals, and bytes beyond ASCII become escapes: a path in robots.txt as it is written in an address.
func escaped(s string) string { return rewrite(s, true, "") }

// plainly is the normal form of an address: escaped, and what needs no escape has none (RFC 3986 §6.2.2.2). The signs
// that patterns use are escaped, so that a pattern can mean them (RFC 9309 §2.2.3).
func plainly(s string) string { return unescaped(rewrite(s, true, "*$")) }

// plainPattern is plainly for a pattern, whose signs stay.
func plainPattern(s string) string {
	body, end := strings.CutSuffix(s, "$")
	body = unescaped(rewrite(body, true, "$"))
	if end {
		body += "$"
	}
	return body
}

// rewrite puts escapes into capitals, and escapes the bytes beyond ASCII, if so wished, and those in also.
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

// unescaped undoes the escapes of letters, digits and "-._~" in s, whose escapes are in capitals.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if isEscape(s[i:]) {
			c := byte(strings.IndexByte(upperHex, s[i+1])<<4 | strings.IndexByte(upperHex, s[i+2]))
			if unreserved(c) {
				b.WriteByte(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isEscape(s string) bool { return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2]) }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// unreserved reports whether c never needs an escape (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
