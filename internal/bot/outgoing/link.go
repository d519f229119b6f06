package outgoing

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/web/guard"
)

// Links (O1, O2, O5, O7).

// allow returns the form in which a link may be shown, or the rule that it breaks.
func (r Rules) allow(link string) (canonical, rule string) {
	if !httpScheme.MatchString(link) {
		return "", "O2"
	}
	canonical, ok := link, r.URLs[link]
	if !ok {
		canonical, ok = guard.Canonical(link)
	}
	switch {
	case ok && invite.MatchString(canonical[strings.Index(canonical, "://")+3:]):
		return "", "O7"
	case !ok || !r.URLs[canonical] || len(canonical) > longestShown:
		return "", "O1"
	}
	return canonical, ""
}

var (
	httpScheme = regexp.MustCompile(`^(?i)https?://`)
	// invite matches the part of a link behind the scheme (O7).
	invite = regexp.MustCompile(`^(?i)(?:[a-z0-9-]+\.)*(?:(?:discord\.gg|dsc\.gg|discord\.me|invite\.gg)(?:$|[^a-z0-9.-])|discord(?:app)?\.com/+invite\b)`)
	// opaque are schemes that act without "//". A few are words too, and count only before what such a link goes on with.
	// Browsers read "https:host" and "https:\\host" as if the slashes were there.
	opaque = regexp.MustCompile(`(?i)(?:https?:[^\s<.,:;!?'"*_~|)\]}>\x60]|(?:java|vb|live)script:\S|(?:file|discord|steam|ms-[a-z-]+):/|(?:blob|view-source):http|mailto:[^\s@]+@|(?:tel|sms):\+?[0-9]|magnet:\?|data:(?:[a-z]+/|[;,]))`)
	// opaqueNames are the endings of those schemes' names, except for ms-*.
	opaqueNames = []string{"http", "https", "script", "file", "discord", "steam", "blob", "view-source", "mailto", "tel", "sms", "magnet", "data"}
)

// endsInOpaque reports whether the word before a colon ends in the name of an opaque scheme. Nearly no word does, and the
// pattern is slow.
func endsInOpaque(word string) bool {
	word = strings.ToLower(word)
	return strings.Contains(word, "ms-") || slices.ContainsFunc(opaqueNames, func(name string) bool { return strings.HasSuffix(word, name) })
}

// colon handles what may be a scheme.
func (c *scrubber) colon() {
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
		if endsInOpaque(c.s[start:c.i]) {
			if m := opaque.FindStringIndex(c.s[start:min(len(c.s), c.i+64)]); m != nil && start+m[0] < c.i && start+m[1] > c.i {
				c.remove("O2", start+m[0], trimMarks(c.s, start, wordEnd(c.s, c.i)))
				return
			}
		}
		c.i++
		return
	}
	end := c.linkEnd(c.i + 3)
	if strings.Trim(c.s[c.i+3:end], trailing) == "" {
		c.i += 3 // no address
		return
	}
	for _, scheme := range []string{"https", "http"} {
		if at := c.i - len(scheme); at > start && strings.EqualFold(c.s[at:c.i], scheme) {
			start = at // letters before a scheme do not hide it
		}
	}
	c.link(start, end)
}

// link checks the token s[start:end], of which the link may be only the beginning: the words around it have marks of their
// own. In code, where a link has no angle brackets around it, nothing but marks may follow one: Discord may not take it for
// code.
func (c *scrubber) link(start, end int) {
	token, behind := c.s[start:end], c.i+len("://")-start
	quoted := len(token)
	if i := strings.IndexAny(token[behind:], quotes); i >= 0 {
		quoted = behind + i
	}
	code, odd := c.i < c.code, quoted == behind || userInfo(token[behind:])
	rule := "O1"
	for _, cut := range ends(token, quoted, code, odd) {
		canonical, broken := c.allow(token[:cut])
		if broken == "" {
			if !code {
				canonical = "<" + canonical + ">"
			}
			c.replace(start, start+cut, canonical)
			return
		}
		rule = broken
	}
	if !odd {
		end = start + quoted
	}
	c.remove(rule, start, trimMarks(c.s, start, end))
}

// userInfo reports whether a program may take what stands before the path, or the beginning of it, for a user's name.
func userInfo(rest string) bool {
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return strings.IndexByte(rest, '@') >= 0
}

// ends lists where the link may end in a token, likeliest first: before the quotation mark or bracket at quoted,
// at its end, and before the first character of another script, as languages without spaces put words right
// behind it; each without the marks there.
func ends(token string, quoted int, code, odd bool) []int {
	plain := token[:quoted]
	switch {
	case odd:
		return markEnds(nil, token)
	case code && strings.Trim(token[quoted:], trailing) != "":
		return nil
	case code:
		return markEnds(nil, plain)
	}
	out := markEnds(nil, plain)
	if quoted < len(token) {
		out = markEnds(out, token)
	}
	if i := strings.IndexFunc(plain, func(r rune) bool { return r > unicode.MaxASCII }); i > 0 {
		out = markEnds(out, plain[:i])
	}
	return out
}

const (
	quotes   = "\"`[]>"               // marks that stand around a link, or that no link needs
	trailing = ".,:;!?'\"`*_~|)]}>\\" // marks that end a sentence, a quotation, a bracket or a style
	maxMarks = 16                     // that are looked behind
	maxLink  = 2048                   // bytes of the longest link that can be allowed

	// longestShown limits a link that is shown, in bytes: it is never cut (Split), and with a block of code around it a message
	// has room for no more.
	longestShown = 1400
)

func markEnds(out []int, token string) []int {
	n := len(token)
	if n > maxLink+maxMarks {
		return out
	}
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

// trimMarks returns end without the marks of the sentence around s[start:end]. A bracket that was opened inside stays.
func trimMarks(s string, start, end int) int {
	const brackets = "([{)]}"
	var open [3]int
	for i := start; i < end; i++ {
		if k := strings.IndexByte(brackets, s[i]); k >= 3 {
			open[k-3]--
		} else if k >= 0 {
			open[k]++
		}
	}
	for end > start+1 && strings.IndexByte(trailing, s[end-1]) >= 0 {
		if k := strings.IndexByte(brackets, s[end-1]); k >= 3 {
			if open[k-3] >= 0 {
				break
			}
			open[k-3]++
		}
		end--
	}
	return end
}

// linkEnd returns where Discord ends a link that has a scheme: at white space or at "<", whatever stands before.
func (c *scrubber) linkEnd(from int) int {
	if from <= c.tokenEnd {
		return c.tokenEnd
	}
	i := strings.IndexFunc(c.s[from:], func(r rune) bool {
		return r == '<' || unicode.IsSpace(r)
	})
	if i < 0 {
		i = len(c.s) - from
	}
	c.tokenEnd = from + i
	return c.tokenEnd
}

// wordEnd returns the end of the characters that a link without "//" may be made of.
func wordEnd(s string, from int) int {
	i := strings.IndexFunc(s[from:], func(r rune) bool {
		return r <= ' ' || r == '<' || strings.ContainsRune(quotes, r) || unicode.IsSpace(r)
	})
	if i < 0 {
		return len(s)
	}
	return from + i
}

// longestHost is the limit of a host name, in bytes (RFC 1035).
const longestHost = 253

// dot handles what Discord or a reader takes for a link though it has no scheme: www. and invites.
func (c *scrubber) dot() {
	label := c.i
	for label > c.copied && c.i-label <= len("discordapp") && (isLetter(c.s[label-1]) || isDigit(c.s[label-1])) {
		label--
	}
	word := strings.ToLower(c.s[label:c.i])
	for _, name := range []string{"discord", "discordapp", "dsc", "invite", "www"} {
		if strings.HasSuffix(word, name) {
			label, word = c.i-len(name), name // Discord finds invites behind any letters, and a message may be cut there
		}
	}
	switch word {
	case "www":
		if rest := c.s[c.i+1:]; rest != "" && (isLetter(rest[0]) || isDigit(rest[0]) || rest[0] >= utf8.RuneSelf) {
			c.remove("O2", label, trimMarks(c.s, label, wordEnd(c.s, c.i)))
			return
		}
	case "discord", "discordapp", "dsc", "invite":
		near := c.s[:min(len(c.s), c.i+longestHost)]
		if invite.MatchString(near[label:trimMarks(near, label, wordEnd(near, c.i))]) {
			c.remove("O7", c.hostStart(label), trimMarks(c.s, label, wordEnd(c.s, c.i)))
			return
		}
	}
	c.i++
}

// hostStart returns where the host name of a label begins.
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
