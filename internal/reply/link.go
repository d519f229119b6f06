package reply

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Rules for links (O1, O2, O5, O7).

// allow returns the form in which a link may be shown, or the rule that it breaks.
func (r Rules) allow(link string) (canonical, rule string) {
	if !httpScheme.MatchString(link) {
		return "", "O2"
	}
	canonical, ok := link, r.URLs[link]
	if !ok {
		canonical, ok = clean.Canonical(link)
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
	httpScheme = text.NewLazyRegexp(`^(?i)https?://`)
	// invite matches the part of a link after the scheme (O7). It is an invite, a gift, a server's template, an event and the like. Discord
	// links them without a scheme too.
	invite = text.NewLazyRegexp(`^(?i)(?:[a-z0-9-]+\.)*(?:(?:discord\.(?:gg|gift|new|me)|dsc\.gg|invite\.gg)(?:$|[^a-z0-9.-])|discord(?:app)?\.com/+(?:invite|events|gifts|template|billing/+promotions|oauth2|application-directory|activities|quests)\b)`)
	// opaque matches schemes that work without "//". Some are also words, and count only before a character that
	// continues such a link. Browsers read "https:host" and "https:\\host" as if the slashes were there.
	opaque = text.NewLazyRegexp(`(?i)(?:https?:[^\s<.,:;!?'"*_~|)\]}>\x60]|(?:java|vb|live)script:\S|(?:file|discord|steam|ms-[a-z-]+):/|(?:blob|view-source):http|mailto:[^\s@]+@|(?:tel|sms):\+?[0-9]|magnet:\?|data:(?:[a-z]+/|[;,]))`)
	// opaqueNames are the endings of these schemes' names, except for ms-*.
	opaqueNames = []string{"http", "https", "script", "file", "discord", "steam", "blob", "view-source", "mailto", "tel", "sms", "magnet", "data"}
)

// endsInOpaque reports whether the word before a colon ends in the name of an opaque scheme. It avoids the slow pattern
// for almost all words.
func endsInOpaque(word string) bool {
	word = strings.ToLower(word)
	return strings.Contains(word, "ms-") || slices.ContainsFunc(opaqueNames, func(name string) bool { return strings.HasSuffix(word, name) })
}

// colon handles a possible scheme.
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
		c.i += 3 // not an address
		return
	}
	for _, scheme := range []string{"https", "http"} {
		if at := c.i - len(scheme); at > start && strings.EqualFold(c.s[at:c.i], scheme) {
			start = at // letters before a scheme do not hide it
		}
	}
	c.link(start, end)
}

// link checks the token s[start:end]. The link may be only its beginning, because surrounding text has marks of its own. In code a link
// without angle brackets may be followed only by marks. Discord may not treat it as code.
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

// userInfo reports whether a program may take the part before the path for a user name.
func userInfo(rest string) bool {
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return strings.IndexByte(rest, '@') >= 0
}

// ends lists possible ends of the link in a token, likeliest first. They are before the quotation mark or bracket at quoted, and at the
// end. A third is before the first character of another script, since languages without spaces add words directly. Trailing marks are
// removed from each.
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
	quotes   = "\"`[]>"               // marks around a link, or that no link needs
	trailing = ".,:;!?'\"`*_~|)]}>\\" // marks that end a sentence, a quotation, a bracket or a style
	maxMarks = 16                     // marks that are skipped
	maxLink  = 2048                   // bytes of the longest link that may be allowed

	// longestShown limits a shown link, in bytes. Split never cuts a link, and inside a code block a message has no
	// more room.
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

// trimMarks returns end without trailing punctuation of s[start:end]. A bracket that closes one inside stays.
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

// linkEnd returns where Discord ends a link with a scheme: at white space or "<".
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

// wordEnd returns the end of the characters allowed in a link without "//".
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

// dot handles links without a scheme that Discord or a reader recognises: www. and invites.
func (c *scrubber) dot() {
	label := c.i
	for label > c.copied && c.i-label <= len("discordapp") && (isLetter(c.s[label-1]) || isDigit(c.s[label-1])) {
		label--
	}
	word := strings.ToLower(c.s[label:c.i])
	for _, name := range []string{"discord", "discordapp", "dsc", "invite", "www"} {
		if strings.HasSuffix(word, name) {
			label, word = c.i-len(name), name // Discord finds invites after any letters, and a message may be cut there
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

// Angle brackets and mentions (O6).

var (
	mention = text.NewLazyRegexp(`^<(?:@[!&]?[0-9]+|#[0-9]+|/[^<>\n]{1,120}:[0-9]+|t:-?[0-9]+(?::[a-zA-Z])?|id:[a-z-]+(?::[0-9]+)?)>`)
	// emoji is an emoji of a server. Anybody can make one that looks like a badge.
	emoji = text.NewLazyRegexp(`^<a?:(\w{1,40}):[\w ]{1,40}>`)
	// inAngle is as generous as Discord is: one slash does, and line ends and "<" are a part of the link.
	inAngle = text.NewLazyRegexp(`^(?i)<(https?:/[^ >]+)>`)
	// contact is an address of mail or a telephone number, which Discord links in angle brackets.
	contact = text.NewLazyRegexp(`^<((?:[^\s<>@:]+@[^\s<>@]+|\+[0-9][0-9 ().-]{2,30}))>`)
)

func (c *scrubber) angle() {
	near := c.s[c.i:min(len(c.s), c.i+200)]
	if m := mention.FindString(near); m != "" && c.i >= c.sure {
		c.found.add("O6", 1, m)
		c.replace(c.i, c.i+len(m), "")
		return
	}
	if m := emoji.FindStringSubmatch(near); m != nil && c.i >= c.sure && !strings.Contains(c.Own, m[0]) {
		c.found.add("O6", 1, m[0])
		c.replace(c.i, c.i+len(m[0]), ":"+m[1]+":")
		return
	}
	if m := contact.FindStringSubmatch(near); m != nil {
		c.found.add("O2", 1, m[0])
		c.replace(c.i, c.i+len(m[0]), m[1])
		return
	}
	var m []string
	if end := strings.IndexByte(c.s[c.i:min(len(c.s), c.i+maxLink+maxMarks)], '>'); end >= 0 { // the pattern would be slow to find that there is none
		m = inAngle.FindStringSubmatch(c.s[c.i : c.i+end+1])
	}
	if m == nil {
		c.i++
		return
	}
	canonical, rule := c.allow(m[1])
	if rule != "" {
		c.remove(rule, c.i, c.i+len(m[0]))
		return
	}
	c.replace(c.i, c.i+len(m[0]), "<"+canonical+">")
}

// everyone drops the @ of @everyone and @here. A space after it would do for Discord. But a bridge or another bot that tidies white space
// would put the mention together again. Without the sign there is none.
func (c *scrubber) everyone() {
	end := c.i
	for end < len(c.s) && c.s[end] == '@' {
		end++
	}
	for _, all := range []string{"everyone", "here"} {
		if len(c.s)-end >= len(all) && strings.EqualFold(c.s[end:end+len(all)], all) {
			c.found.add("O6", 1, c.s[end-1:end+len(all)])
			c.replace(c.i, end, "")
			return
		}
	}
	c.i = end
}

// linkedCitation is a citation as Linked writes it.
var linkedCitation = text.NewLazyRegexp(`\[(\[\d{1,2}\??\])\]\(<[^<>\s]*>\)`)

// Linked returns one post in which citations are links to their sources: [[1]](<https://example.org/>). It is for the post alone. Records
// and history have the citations as they were, and where Split cuts depends on no link. A citation stays as it is in code, in small type
// and in a link. It also stays where its address would make the post longer than limit UTF-16 units.
func Linked(post string, l *turn.Lookup, secrets *clean.Redactor, limit int) string {
	if l == nil || len(l.Sources) == 0 {
		return post
	}
	room := limit - Units(post)
	var out strings.Builder
	var code codes
	copied := 0
	for i := 0; i < len(post); {
		switch {
		case post[i] == '`':
			ticks, end, open := code.at(post, i)
			if i = max(ticks, end); open {
				i = len(post)
			}
		case post[i] == '-' && lineStart(post[:i]) && strings.HasPrefix(post[i:], SmallType):
			i += max(1, strings.IndexByte(post[i:]+"\n", '\n'))
		case post[i] == '[':
			end := citationAt(post, i)
			if address := addressOf(l, post[i:end], secrets); address != "" && Units(address)+len("[](<>)") <= room {
				out.WriteString(post[copied:i] + "[" + post[i:end] + "](<" + address + ">)")
				room -= Units(address) + len("[](<>)")
				copied = end
			}
			i = max(end, i+1)
		default:
			i++
		}
	}
	return out.String() + post[copied:]
}

// citationAt returns the end of the citation at post[i]. It returns i if there is none or it is part of a link.
func citationAt(post string, i int) int {
	at := oneCitation.FindStringIndex(post[i:min(len(post), i+len("[99?]"))])
	if at == nil || at[0] != 0 || i > 0 && post[i-1] == '[' || strings.HasPrefix(post[i+at[1]:], "(") || strings.HasPrefix(post[i+at[1]:], "]") {
		return i
	}
	return i + at[1]
}

// addressOf returns the address of the source that a citation names, or "" if it may not be shown.
func addressOf(l *turn.Lookup, citation string, secrets *clean.Redactor) string {
	n, _ := strconv.Atoi(strings.Trim(citation, "[]?"))
	for _, s := range l.Sources {
		if s.N == n && len(s.URL) <= longestShown && !strings.ContainsAny(s.URL, "<> \n") && !secrets.Found(s.URL) {
			return s.URL
		}
	}
	return ""
}

// Unlinked returns a post with its citations as they were before Linked.
func Unlinked(post string) string { return linkedCitation.ReplaceAllString(post, "$1") }
