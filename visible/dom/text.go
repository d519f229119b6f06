package dom

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text returns the text below n without scripts and styles.
func Text(n *html.Node) string {
	var b strings.Builder
	writeText(&b, n)
	return b.String()
}

func writeText(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Script && c.DataAtom != atom.Style {
			writeText(b, c)
		}
	}
}

// Length counts the characters below n that are not white space, without the head, scripts and styles.
func Length(n *html.Node) int {
	if n.Type == html.TextNode {
		return Letters(n.Data)
	}
	total := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode || c.Type == html.ElementNode && c.DataAtom != atom.Script && c.DataAtom != atom.Style && c.DataAtom != atom.Noscript && c.DataAtom != atom.Head {
			total += Length(c)
		}
	}
	return total
}

// Letters counts the characters of s that are not white space. It counts ASCII eight bytes at a time, by the top bit of each byte. Adding
// 0x5F sets that bit in all characters after the space.
func Letters(s string) (n int) {
	const tops, above = 0x8080808080808080, 0x5F5F5F5F5F5F5F5F
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			word := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 | uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
			if word&tops == 0 {
				n += bits.OnesCount64((word + above) & tops)
				i += 8
				continue
			}
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		if c > ' ' && !unicode.IsSpace(c) {
			n++
		}
		i += size
	}
	return n
}

// MaxLine is the length of the longest line that Line returns, in characters.
const MaxLine = 300

// Line puts s on one line of at most MaxLine characters.
func Line(s string) string {
	s = strings.TrimSpace(s)
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), 32*MaxLine)], "")), " ")
	if len(s) <= MaxLine {
		return s
	}
	n := 0
	for i := range s {
		if n == MaxLine {
			return s[:i]
		}
		n++
	}
	return s
}

// Limits of a label: its bytes, and its nodes.
const (
	maxLabel      = 300
	maxLabelNodes = 60
)

// Label returns the text of n if it has at most 300 bytes, and "" otherwise. It reads no more than it must.
func Label(n *html.Node) string {
	if only := n.FirstChild; only != nil && only == n.LastChild && only.Type == html.TextNode {
		if len(only.Data) > 2*maxLabel {
			return ""
		}
		return short(only.Data)
	}
	nodes, size := 0, 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			size += len(d.Data)
		}
		if nodes++; nodes > maxLabelNodes || size > 2*maxLabel {
			return ""
		}
	}
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type != html.TextNode:
		case len(d.Data) == size:
			return short(d.Data) // the only text
		default:
			b.Grow(size - b.Len())
			b.WriteString(d.Data)
		}
	}
	return short(b.String())
}

func short(text string) string {
	if text = strings.TrimSpace(text); len(text) > maxLabel {
		return ""
	}
	return text
}

// CutFold is strings.Cut for a tag in upper or lower case.
func CutFold[S ~string | ~[]byte](s S, tag string) (before, after S, found bool) {
	for i := 0; i+len(tag) <= len(s); i++ {
		if s[i] == tag[0] && strings.EqualFold(string(s[i:i+len(tag)]), tag) {
			return s[:i], s[i+len(tag):], true
		}
	}
	return s, s[len(s):], false
}

// NotWord reports whether c separates words.
func NotWord(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }

// Blanks is the white space of HTML.
const Blanks = " \t\n\f\r"

// IsSpace reports whether c is one of Blanks.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// IsDigit reports whether c is a digit of ASCII.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsUpper reports whether c is a capital letter of ASCII.
func IsUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// IsLetter reports whether c is a letter of ASCII.
func IsLetter(c byte) bool { return IsUpper(c) || 'a' <= c && c <= 'z' }
