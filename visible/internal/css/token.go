// Package css reads the syntax of style sheets, as CSS Syntax Level 3 defines it (https://drafts.csswg.org/css-syntax/).
//
// [Tokenize] splits a text into tokens, and [Sheet] does so one rule at a time. A token holds no text. It has its place in the text and the
// place where the bracket that it opens is closed. grammar.go finds the rules and declarations among the tokens, and recovers from errors
// at the same places as browsers. Package cascade gives selectors, conditions and values their meaning.
//
// The tokenizers of github.com/tdewolff/parse and github.com/gorilla/css do not serve. Both read U+B, two tags in a selector, as a range of
// code points. Neither says where a bracket is closed. The second also allocates each token, and stops at a string that is not closed,
// where browsers go on.
package css

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens. Comments are not tokens.
const (
	End Kind = iota // no token: what is read beyond the last one
	Ident
	Function // with its opening parenthesis
	At       // with its "@"
	Hash     // with its "#"
	String
	BadString
	URL
	BadURL
	Delim
	Number
	Percentage
	Dimension
	Space
	CDO
	CDC
	Colon
	Semicolon
	Comma
	Open  // ( [ {
	Close // ) ] }
)

// Token is a token of a [Text].
type Token struct {
	Kind       Kind
	ID         bool  // of a Hash: it is a name
	Start, End int32 // in the source
	Match      int32 // of an Open or a Function: the index of the token that closes it, or the number of tokens
}

// Text is a text with its tokens.
type Text struct {
	Source string
	Tokens []Token
}

// Tokenize reads a text.
func Tokenize(source string) *Text {
	z := tokenizer{s: source, tokens: make([]Token, 0, len(source)/3+8)}
	for z.at < len(source) {
		z.read()
	}
	z.closeAll()
	return &Text{source, z.tokens}
}

// Sheet yields the rules of a style sheet, each with a text that has only the tokens of that rule. The next rule overwrites
// them. So memory holds a few dozen tokens at a time, and not those of the whole sheet.
func Sheet(source string) iter.Seq2[*Text, Item] {
	return func(yield func(*Text, Item) bool) {
		z, t := tokenizer{s: source}, &Text{Source: source}
		for z.rule() {
			t.Tokens = z.tokens
			for item := range t.Rules(t.All()) {
				if !yield(t, item) {
					return
				}
			}
		}
	}
}

// rule reads the tokens of one rule of a style sheet. It ends with its block or, for an at-rule, with a semicolon. It returns false at the
// end.
func (z *tokenizer) rule() bool {
	z.tokens, z.open = z.tokens[:0], z.open[:0]
	for z.at < len(z.s) {
		kind, closed := z.read()
		if len(z.tokens) == 1 && (kind == Space || kind == CDO || kind == CDC) {
			z.tokens = z.tokens[:0]
		}
		if len(z.open) == 0 && (closed == '{' || kind == Semicolon && z.tokens[0].Kind == At) {
			break
		}
	}
	z.closeAll()
	return len(z.tokens) > 0
}

// read adds the next token, unless it is a comment. It returns its kind and the bracket that it closes, 0 for none.
func (z *tokenizer) read() (kind Kind, closed byte) {
	start, index := z.at, int32(len(z.tokens))
	if kind = z.next(); kind == End {
		return End, 0
	}
	z.tokens = append(z.tokens, Token{Kind: kind, ID: z.id, Start: int32(start), End: int32(z.at)})
	z.id = false
	switch kind {
	case Open, Function:
		z.open = append(z.open, index)
	case Close:
		if last := len(z.open) - 1; last >= 0 {
			opened := &z.tokens[z.open[last]]
			if begin := z.s[opened.End-1]; closes(z.s[start], begin) {
				opened.Match = index
				z.open = z.open[:last]
				return kind, begin
			}
		}
	}
	return kind, 0
}

// closeAll closes all open brackets at the end of the text.
func (z *tokenizer) closeAll() {
	for _, i := range z.open {
		z.tokens[i].Match = int32(len(z.tokens))
	}
}

func closes(end, begin byte) bool {
	return begin == '(' && end == ')' || begin == '[' && end == ']' || begin == '{' && end == '}'
}

type tokenizer struct {
	s      string
	at     int
	id     bool
	tokens []Token
	open   []int32 // the tokens whose brackets are not closed yet, outermost first
}

func (z *tokenizer) peek(n int) byte {
	if z.at+n < len(z.s) {
		return z.s[z.at+n]
	}
	return 0
}

// next reads one token. It returns End after a comment.
func (z *tokenizer) next() Kind {
	c := z.s[z.at]
	switch {
	case isSpace(c):
		for z.at < len(z.s) && isSpace(z.s[z.at]) {
			z.at++
		}
		return Space
	case c == '/' && z.peek(1) == '*':
		if end := strings.Index(z.s[z.at+2:], "*/"); end >= 0 {
			z.at += end + 4
		} else {
			z.at = len(z.s)
		}
		return End
	case c == '"' || c == '\'':
		return z.text(c)
	case c == '#' && (isNameByte(z.peek(1)) || z.startsEscape(1)):
		z.id = z.startsName(1)
		z.at++
		z.name()
		return Hash
	case z.startsNumber():
		return z.number()
	case strings.HasPrefix(z.s[z.at:], "-->"):
		z.at += 3
		return CDC
	case z.startsName(0):
		return z.identLike()
	case c == '@' && z.startsName(1):
		z.at++
		z.name()
		return At
	case strings.HasPrefix(z.s[z.at:], "<!--"):
		z.at += 4
		return CDO
	}
	z.at++
	switch c {
	case ':':
		return Colon
	case ';':
		return Semicolon
	case ',':
		return Comma
	case '(', '[', '{':
		return Open
	case ')', ']', '}':
		return Close
	}
	return Delim
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) || c == '-' }

func (z *tokenizer) startsEscape(n int) bool {
	return z.peek(n) == '\\' && z.at+n+1 < len(z.s) && !isNewline(z.peek(n+1))
}

func isNewline(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }

func (z *tokenizer) startsName(n int) bool {
	if z.peek(n) == '-' {
		return isNameStart(z.peek(n+1)) || z.peek(n+1) == '-' || z.startsEscape(n+1)
	}
	return isNameStart(z.peek(n)) || z.startsEscape(n)
}

func (z *tokenizer) startsNumber() bool {
	n := 0
	if c := z.peek(0); c == '+' || c == '-' {
		n = 1
	}
	return isDigit(z.peek(n)) || z.peek(n) == '.' && isDigit(z.peek(n+1))
}

// name goes to the end of a name.
func (z *tokenizer) name() {
	for z.at < len(z.s) {
		switch {
		case isNameByte(z.s[z.at]):
			z.at++
		case z.startsEscape(0):
			z.at += escapeLength(z.s[z.at:])
		default:
			return
		}
	}
}

// escapeLength returns the length of the escape that s begins with.
func escapeLength(s string) int {
	n := 1
	for n < len(s) && n < 7 && isHex(s[n]) {
		n++
	}
	if n == 1 {
		_, size := utf8.DecodeRuneInString(s[1:])
		return 1 + size
	}
	if strings.HasPrefix(s[n:], "\r\n") {
		return n + 2
	}
	if n < len(s) && isSpace(s[n]) {
		n++
	}
	return n
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func (z *tokenizer) text(quote byte) Kind {
	for z.at++; z.at < len(z.s); {
		switch c := z.s[z.at]; {
		case c == quote:
			z.at++
			return String
		case isNewline(c):
			return BadString
		case c == '\\' && z.at+1 < len(z.s) && isNewline(z.s[z.at+1]):
			z.at += 2
		case c == '\\' && z.at+1 < len(z.s):
			z.at += escapeLength(z.s[z.at:])
		default:
			z.at++
		}
	}
	return String
}

func (z *tokenizer) digits() {
	for z.at < len(z.s) && isDigit(z.s[z.at]) {
		z.at++
	}
}

// numeral reads a number without its unit.
func (z *tokenizer) numeral() {
	z.at++ // a sign, a digit or a point
	if z.s[z.at-1] != '.' {
		z.digits()
		if z.peek(0) == '.' && isDigit(z.peek(1)) {
			z.at++
		}
	}
	z.digits()
	if z.peek(0)|0x20 == 'e' {
		sign := 1
		if c := z.peek(1); c == '+' || c == '-' {
			sign = 2
		}
		if isDigit(z.peek(sign)) {
			z.at += sign
			z.digits()
		}
	}
}

func (z *tokenizer) number() Kind {
	z.numeral()
	switch {
	case z.startsName(0):
		z.name()
		return Dimension
	case z.peek(0) == '%':
		z.at++
		return Percentage
	}
	return Number
}

func (z *tokenizer) identLike() Kind {
	start := z.at
	z.name()
	if z.peek(0) != '(' {
		return Ident
	}
	z.at++
	if !strings.EqualFold(unescape(z.s[start:z.at-1]), "url") {
		return Function
	}
	at := z.at
	for at < len(z.s) && isSpace(z.s[at]) {
		at++
	}
	if at < len(z.s) && (z.s[at] == '"' || z.s[at] == '\'') {
		return Function
	}
	return z.url()
}

// url reads an address without quotation marks. White space is allowed only around it.
func (z *tokenizer) url() Kind {
	kind, begun, ended := URL, false, false
	for z.at < len(z.s) {
		c := z.s[z.at]
		if c == ')' {
			z.at++
			return kind
		}
		if isSpace(c) {
			ended = begun
			z.at++
			continue
		}
		begun = true
		switch {
		case z.startsEscape(0):
			z.at += escapeLength(z.s[z.at:]) - 1
		case c == '"', c == '\'', c == '(', c == '\\', c < ' ', c == 0x7F:
			kind = BadURL
		}
		if ended {
			kind = BadURL
		}
		z.at++
	}
	return kind
}

// unescape resolves the escapes in a name or a string.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		if i+1 == len(s) {
			break
		}
		if isNewline(s[i+1]) { // in a string
			i += 2
			continue
		}
		n := escapeLength(s[i:])
		if digits := strings.TrimRight(s[i+1:i+n], " \t\r\n\f"); digits != "" && isHex(digits[0]) {
			code, err := strconv.ParseUint(digits, 16, 32)
			if err != nil || code == 0 || code > utf8.MaxRune || code >= 0xD800 && code < 0xE000 {
				code = utf8.RuneError
			}
			b.WriteRune(rune(code))
		} else {
			b.WriteString(s[i+1 : i+n])
		}
		i += n
	}
	return b.String()
}
