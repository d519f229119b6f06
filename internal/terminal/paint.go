package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// painter writes Markdown to a terminal as it arrives. It wraps words at the window's edge and turns marks into type. It
// holds text with an open mark back until the mark ends, up to a limit. What it cannot read is written unchanged. One
// goroutine uses it.
type painter struct {
	width  int  // columns; 0: nothing is wrapped
	colour bool // use bold, faint and so on; without it, marks are removed anyway

	out    strings.Builder
	held   string // received and not yet written
	begun  bool   // the beginning of the current line is written
	raw    bool   // the current line is written unchanged
	fence  string // ends the current code block; empty: there is none
	style  style  // of the current line
	indent int    // columns that a wrapped line begins with
	column int
	gap    bool // a space precedes the next word
	before rune // last character written; 0: none in this line
}

// style is a set of type styles.
type style uint8

const (
	bold style = 1 << iota
	faint
	italic
	struck
	code
)

// codes are the codes of ECMA-48, SGR.
var codes = []struct {
	style style
	code  string
}{{bold, "1"}, {faint, "2"}, {italic, "3"}, {struck, "9"}, {code, "36"}}

const (
	patience = 400 // bytes to wait for the end of a mark
	decided  = 8   // bytes of a line that show how it begins
)

// label writes the name before a reply.
func (p *painter) label(text string) {
	p.write(text, bold)
	p.column = uniseg.StringWidth(text)
}

// feed takes the next text and returns what can be written now. With final it returns everything that is left.
func (p *painter) feed(text string, final bool) string {
	p.held += strings.ReplaceAll(text, "\r", "")
	for p.held != "" && p.line(final) {
	}
	if final && p.column > 0 {
		p.end()
	}
	text = p.out.String()
	p.out.Reset()
	return text
}

// line writes as much as possible of the current line. It reports whether the line has ended.
func (p *painter) line(final bool) bool {
	line, _, complete := strings.Cut(p.held, "\n")
	done := complete || final
	if !p.begun {
		if !done && !tells(line) {
			return false
		}
		n := p.begin(line)
		line, p.held, p.begun = line[n:], p.held[n:], true
	}
	n := len(line)
	if p.raw {
		p.write(line, p.style)
		p.column += uniseg.StringWidth(line)
	} else {
		n = p.inline(line, p.style, done)
	}
	if p.held = p.held[n:]; !complete {
		return false
	}
	p.held = p.held[1:]
	p.end()
	return true
}

// tells reports whether enough of a line has arrived to know its kind.
func tells(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	if trimmed == "" || strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		return false
	}
	return len(trimmed) >= decided || !strings.ContainsAny(trimmed[:1], "#>-*+`~|_0123456789") || strings.Contains(trimmed, " ") && !strings.HasPrefix(trimmed, "-#")
}

// begin writes the beginning of a line and returns how many bytes of the line it used.
func (p *painter) begin(line string) int {
	trimmed := strings.TrimLeft(line, " ")
	spaces := len(line) - len(trimmed)
	p.style, p.raw, p.indent = 0, false, 0
	if p.fence != "" {
		p.raw, p.style = true, code
		if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]+" ") == "" {
			p.fence, p.style = "", faint
		}
		return 0
	}
	for _, fence := range []string{"```", "~~~"} {
		if strings.HasPrefix(trimmed, fence) && !strings.Contains(trimmed[3:], fence[:1]) {
			p.fence, p.raw, p.style = fence, true, faint
			return 0
		}
	}
	if strings.HasPrefix(trimmed, "|") {
		p.raw = true
		return 0
	}
	p.lead(strings.Repeat(" ", spaces), 0)
	mark, rest, spaced := strings.Cut(trimmed, " ")
	if !spaced || strings.TrimSpace(rest) == "" && mark == "" {
		return spaces
	}
	taken := spaces + len(mark) + 1
	switch {
	case mark == "-#":
		p.style = faint
		p.lead("  ", 0)
	case len(mark) <= 6 && strings.Trim(mark, "#") == "":
		p.style = bold
	case mark == ">" || mark == ">>>":
		p.style = faint
		p.lead("│ ", faint)
	case mark == "-" || mark == "*" || mark == "+":
		p.lead("• ", 0)
	case len(mark) <= 4 && isOrdinal(mark):
		p.lead(mark+" ", 0)
	default:
		return spaces
	}
	p.indent = p.column
	return taken
}

func (p *painter) lead(text string, s style) {
	p.write(text, s)
	p.column += uniseg.StringWidth(text)
}

func isOrdinal(mark string) bool {
	digits := strings.TrimRight(mark, ".)")
	return len(digits) == len(mark)-1 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// end ends the current line.
func (p *painter) end() {
	p.out.WriteByte('\n')
	p.begun, p.raw, p.style, p.indent, p.column, p.gap, p.before = false, false, 0, 0, 0, false, 0
}

// inline writes text with its marks and returns how many bytes it used. It leaves out an open mark or word whose end has
// not arrived.
func (p *painter) inline(s string, st style, done bool) int {
	for i := 0; i < len(s); {
		if !strings.ContainsRune("\\`*_~[<", rune(s[i])) {
			n := strings.IndexAny(s[i:], "\\`*_~[<")
			if n < 0 {
				n = len(s) - i
			}
			text := s[i : i+n]
			if i+n == len(s) && !done { // the word may continue
				text = text[:strings.LastIndexByte(text, ' ')+1]
			}
			p.words(text, st)
			if i += len(text); len(text) < n {
				return i
			}
			continue
		}
		m := p.mark(s[i:], done)
		switch {
		case m.length == 0 && !done && len(s)-i < patience && m.open:
			return i
		case m.length == 0:
			p.words(s[i:i+1], st)
			i++
		case m.plain:
			p.words(m.text, st|m.style)
			i += m.length
		default:
			p.inline(m.text, st|m.style, true)
			i += m.length
		}
	}
	return len(s)
}

// mark is a stretch of text with the marks around it.
type mark struct {
	text   string
	style  style
	length int  // including the marks; 0: it is not a mark, or its end has not arrived
	open   bool // the end may still arrive
	plain  bool // the text contains no further marks
}

// mark reads the mark that may begin at the first character.
func (p *painter) mark(s string, done bool) mark {
	switch s[0] {
	case '\\':
		if len(s) == 1 {
			return mark{open: true}
		}
		if r, n := utf8.DecodeRuneInString(s[1:]); unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return mark{text: s[1 : 1+n], length: 1 + n, plain: true}
		}
		return mark{}
	case '`':
		ticks := s[:len(s)-len(strings.TrimLeft(s, "`"))]
		if text, _, closed := strings.Cut(s[len(ticks):], ticks); closed {
			return mark{text: strings.TrimSpace(text), style: code, length: len(text) + 2*len(ticks), plain: true}
		}
		return mark{open: true}
	case '[':
		return link(s)
	case '<':
		address, _, closed := strings.Cut(s[1:], ">")
		if closed && strings.HasPrefix(address, "http") {
			return mark{text: address, length: len(address) + 2, plain: true}
		}
		return mark{open: !closed && (strings.HasPrefix(address, "http") || strings.HasPrefix("http", address))}
	}
	return p.emphasis(s, done)
}

// emphasis reads text between asterisks, underscores or tildes.
func (p *painter) emphasis(s string, done bool) mark {
	sign := s[:1]
	run := len(s) - len(strings.TrimLeft(s, sign))
	if run > 3 || run == len(s) || run == 1 && sign == "~" {
		return mark{open: run == len(s) && run <= 3}
	}
	if next, _ := utf8.DecodeRuneInString(s[run:]); unicode.IsSpace(next) || sign == "_" && isWord(p.before) {
		return mark{}
	}
	st := map[int]style{1: italic, 2: bold, 3: bold | italic}[run]
	if sign == "~" {
		st = struck
	}
	close := strings.Repeat(sign, run)
	for from := run; ; {
		n := strings.Index(s[from:], close)
		if n < 0 {
			return mark{open: true}
		}
		at := from + n
		if at+run == len(s) && !done { // the next character decides
			return mark{open: true}
		}
		last, _ := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[at+run:])
		ends := !unicode.IsSpace(last) && !(sign == "_" && isWord(after)) && string(after) != sign
		if ends && at > run {
			return mark{text: s[run:at], style: st, length: at + run}
		}
		for from = at; strings.HasPrefix(s[from:], sign); from++ { // a longer run is a different mark
		}
	}
}

// link reads a link: its text and its address. Brackets without an address, such as a citation's, are not links.
func link(s string) mark {
	text, rest, closed := strings.Cut(s[1:], "]")
	switch {
	case !closed:
		return mark{open: true}
	case rest == "":
		return mark{open: len(strings.Trim(text, "0123456789?")) > 0}
	case rest[0] != '(':
		return mark{}
	}
	address, _, closed := strings.Cut(rest[1:], ")")
	if !closed {
		return mark{open: true}
	}
	length := 1 + len(text) + 2 + len(address) + 1
	address = strings.Trim(address, "<>")
	if text == address {
		return mark{text: address, length: length, plain: true}
	}
	return mark{text: text + " (" + address + ")", length: length, plain: true}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// words writes text and begins a new line before a word that does not fit.
func (p *painter) words(s string, st style) {
	for s != "" {
		if s[0] == ' ' || s[0] == '\t' {
			p.gap = true
			s, p.before = s[1:], ' '
			continue
		}
		n := strings.IndexAny(s, " \t")
		if n < 0 {
			n = len(s)
		}
		for word := s[:n]; word != ""; {
			piece := unbroken(word)
			p.word(piece, st)
			word = word[len(piece):]
		}
		s = s[n:]
	}
}

// unbroken returns the part of a word that must stay on one line. In scripts with wide characters and no spaces, that is
// a single character.
func unbroken(word string) string {
	first, _, width, _ := uniseg.FirstGraphemeClusterInString(word, -1)
	if width > 1 {
		return first
	}
	for i, r := range word {
		if i > 0 && uniseg.StringWidth(string(r)) > 1 {
			return word[:i]
		}
	}
	return word
}

func (p *painter) word(word string, st style) {
	width := uniseg.StringWidth(word)
	room := p.width - p.column
	if p.gap && p.column > p.indent {
		room--
	}
	breaks := p.gap || width > 1 && uniseg.StringWidth(word[:firstRune(word)]) > 1 // a line may break between wide characters
	switch {
	case p.width > 0 && width > room && breaks && p.column > p.indent:
		p.out.WriteString("\n" + strings.Repeat(" ", p.indent))
		p.column = p.indent
	case p.gap && p.column > p.indent:
		p.write(" ", 0)
		p.column++
	}
	p.write(word, st)
	p.column, p.gap = p.column+width, false
	p.before, _ = utf8.DecodeLastRuneInString(word)
}

func firstRune(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// write writes text in a style. Control characters are removed, because they would command the terminal.
func (p *painter) write(text string, st style) {
	text = harmless(text)
	if !p.colour || st == 0 || text == "" {
		p.out.WriteString(text)
		return
	}
	var on []string
	for _, c := range codes {
		if st&c.style != 0 {
			on = append(on, c.code)
		}
	}
	p.out.WriteString("\x1b[" + strings.Join(on, ";") + "m" + text + "\x1b[0m")
}

// harmless removes control characters except tabs.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// again starts over with a text on a line of its own.
func (p *painter) again(text string) string {
	*p = painter{width: p.width, colour: p.colour}
	return p.feed(text, false)
}
