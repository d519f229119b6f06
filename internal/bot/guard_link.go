package bot

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/web/guard"
)

// Links (O1, O2, O5, O7).

// permitted returns the form in which a link may be shown, or the rule that it breaks.
func (o Outgoing) permitted(link string) (canonical, rule string) {
	if !httpScheme.MatchString(link) {
		return "", "O2"
	}
	canonical, ok := link, o.URLs[link]
	if !ok {
		canonical, ok = guard.Canonical(link)
	}
	switch {
	case ok && invite.MatchString(canonical[strings.Index(canonical, "://")+3:]):
		return "", "O7"
	case !ok || !o.URLs[canonical]:
		return "", "O1"
	}
	return canonical, ""
}

var (
	httpScheme = regexp.MustCompile(`^(?i)https?://`)
	// invite matches the part of a link behind the scheme (O7).
	invite = regexp.MustCompile(`^(?i)(?:[a-z0-9-]+\.)*(?:(?:discord\.gg|dsc\.gg|discord\.me|invite\.gg)(?:$|[^a-z0-9.-])|discord(?:app)?\.com/+invite\b)`)
	// opaque are schemes that act without "//". A few are words, too, and need a sign of being meant.
	opaque = regexp.MustCompile(`(?i)(?:(?:java|vb|live)script:\S|(?:file|discord|steam|ms-[a-z-]+):/|(?:blob|view-source):http|mailto:[^\s@]+@|(?:tel|sms):\+?[0-9]|magnet:\?|data:(?:[a-z]+/|[;,]))`)
)

// colon looks at what may be a scheme.
func (c *scrubber) colon(code bool) {
	start := c.i
	for start > c.copied && schemeByte(c.s[start-1]) {
		start--
	}
	for start < c.i && !isLetter(c.s[start]) {
		start++
	}
	if start == c.i {
		c.i++
		return
	}
	if !strings.HasPrefix(c.s[c.i:], "://") {
		if m := opaque.FindStringIndex(c.s[start:min(len(c.s), c.i+64)]); m != nil && start+m[0] < c.i && start+m[1] > c.i {
			c.remove("O2", start+m[0], trimmed(c.s, start, tokenEnd(c.s, c.i)))
			return
		}
		c.i++
		return
	}
	end := tokenEnd(c.s, c.i+3)
	if end == c.i+3 {
		c.i = end
		return
	}
	for _, scheme := range []string{"https", "http"} {
		if at := c.i - len(scheme); at > start && strings.EqualFold(c.s[at:c.i], scheme) {
			start = at // letters before a scheme do not hide it
		}
	}
	c.link(start, end, code)
}

// link judges the token s[start:end], of which the link may be only the beginning: words around it have marks
// of their own. The longest beginning that is allowed is the link.
func (c *scrubber) link(start, end int, code bool) {
	rule := "O1"
	for _, cut := range ends(c.s[start:end]) {
		canonical, broken := c.permitted(c.s[start : start+cut])
		if broken == "" {
			if !code {
				canonical = "<" + canonical + ">"
			}
			c.replace(start, start+cut, canonical)
			return
		}
		rule = broken
	}
	c.remove(rule, start, trimmed(c.s, start, end))
}

// ends lists where a link may end in a token, longest first: without marks at its end, and before the first
// character of another script, as languages without spaces put words right behind it.
func ends(token string) []int {
	out := unmarked(nil, token)
	if i := strings.IndexFunc(token, func(r rune) bool { return r > unicode.MaxASCII }); i > 0 {
		out = unmarked(out, token[:i])
	}
	return out
}

const (
	trailing = ".,:;!?'*_~|)}\\" // marks that end a sentence, a bracket or a style
	maxMarks = 16                // that are looked behind
)

func unmarked(out []int, token string) []int {
	n := len(token)
	out = append(out, n)
	for range maxMarks {
		if n == 0 || strings.IndexByte(trailing, token[n-1]) < 0 {
			break
		}
		n--
		out = append(out, n)
	}
	return out
}

// trimmed is end without the marks of the sentence around s[start:end]. A parenthesis that was opened inside stays.
func trimmed(s string, start, end int) int {
	open := strings.Count(s[start:end], "(") - strings.Count(s[start:end], ")")
	for end > start+1 && strings.IndexByte(trailing, s[end-1]) >= 0 {
		if s[end-1] == ')' {
			if open >= 0 {
				break
			}
			open++
		}
		end--
	}
	return end
}

// tokenEnd is where the characters end that a link may be made of.
func tokenEnd(s string, from int) int {
	i := strings.IndexFunc(s[from:], func(r rune) bool {
		return r <= ' ' || r == '<' || r == '>' || r == '"' || r == '`' || r == '[' || r == ']' || unicode.IsSpace(r)
	})
	if i < 0 {
		return len(s)
	}
	return from + i
}

// longestHost is what a host name may take (RFC 1035).
const longestHost = 253

// dot looks for links without a scheme that Discord or a reader makes links of: www. and invites.
func (c *scrubber) dot() {
	label := c.i
	for label > c.copied && c.i-label <= len("discordapp") && (isLetter(c.s[label-1]) || isDigit(c.s[label-1])) {
		label--
	}
	word := strings.ToLower(c.s[label:c.i])
	for _, name := range []string{"discord", "discordapp"} {
		if strings.HasSuffix(word, name) {
			label, word = c.i-len(name), name // Discord finds its own invites behind any letters
		}
	}
	switch word {
	case "www":
		if rest := c.s[c.i+1:]; rest != "" && (isLetter(rest[0]) || isDigit(rest[0]) || rest[0] >= utf8.RuneSelf) {
			c.remove("O2", label, trimmed(c.s, label, tokenEnd(c.s, c.i)))
			return
		}
	case "discord", "discordapp", "dsc", "invite":
		near := c.s[:min(len(c.s), c.i+longestHost)]
		if invite.MatchString(near[label:trimmed(near, label, tokenEnd(near, c.i))]) {
			c.remove("O7", c.hostStart(label), trimmed(c.s, label, tokenEnd(c.s, c.i)))
			return
		}
	}
	c.i++
}

// hostStart goes back from a label to the beginning of its host name.
func (c *scrubber) hostStart(label int) int {
	for label > c.copied && schemeByte(c.s[label-1]) {
		label--
	}
	return label
}

func schemeByte(b byte) bool {
	return isLetter(b) || isDigit(b) || b == '+' || b == '-' || b == '.'
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
