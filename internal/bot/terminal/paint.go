package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// painter writes Markdown to a terminal as it arrives. Words are wrapped at the window's edge, and marks become type: of a mark
// that is open it waits for the end, but not for long. What it cannot read stays as it is written. It belongs to one goroutine.
type painter struct {
	width  int  // columns; 0: nothing is wrapped
	colour bool // type is bold, faint and so on; without, marks are taken off all the same

	out    strings.Builder
	held   string // has come and is not written yet
	begun  bool   // the line under way has its beginning
	raw    bool   // the line under way is written as it is
	fence  string // ends the code under way; empty: there is none
	style  style  // of the line under way
	indent int    // columns that a wrapped line begins with
	column int
	gap    bool // a space comes before the next word
	before rune // that was written last; 0: none in this line
}

// style is a set of types.
type style uint8

const (
	bold style = 1 << iota
	faint
	italic
	struck
	code
)

// codes are those of ECMA-48, SGR.
var codes = []struct {
	style style
	code  string
}{{bold, "1"}, {faint, "2"}, {italic, "3"}, {struck, "9"}, {code, "36"}}

const (
	patience = 400 // bytes for which the end of a mark is waited for
	decided  = 8   // bytes of a line that say how it begins
)

// label writes what stands before a reply.
func (p *painter) label(text string) {
	p.write(text, bold)
	p.column = uniseg.StringWidth(text)
}

// feed takes what comes next and returns what is to be written now. With final it is all that is left.
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

// line takes from the line under way what can be written. It reports whether the line is at its end.
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

// tells reports whether a line has come far enough to say what it is.
func tells(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	if trimmed == "" || strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		return false
	}
	return len(trimmed) >= decided || !strings.ContainsAny(trimmed[:1], "#>-*+`~|_0123456789") || strings.Contains(trimmed, " ") && !strings.HasPrefix(trimmed, "-#")
}

// begin writes how a line begins and returns how much of it that takes.
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

// end ends the line under way.
func (p *painter) end() {
	p.out.WriteByte('\n')
	p.begun, p.raw, p.style, p.indent, p.column, p.gap, p.before = false, false, 0, 0, 0, false, 0
}

// inline writes text with its marks and returns how much of it: less than all where its end is to come yet.
func (p *painter) inline(s string, st style, done bool) int {
	for i := 0; i < len(s); {
		if !strings.ContainsRune("\\`*_~[<", rune(s[i])) {
			n := strings.IndexAny(s[i:], "\\`*_~[<")
			if n < 0 {
				n = len(s) - i
			}
			text := s[i : i+n]
			if i+n == len(s) && !done { // the word may go on
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

// mark is a stretch of text with its marks.
type mark struct {
	text   string
	style  style
	length int  // with its marks; 0: it is none, or its end has not come
	open   bool // its end may come yet
	plain  bool // there are no marks in it
}

// mark reads what begins at a character that may be a mark.
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

// emphasis reads what stands between asterisks, underscores or tildes.
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
		if at+run == len(s) && !done { // what comes next has a say
			return mark{open: true}
		}
		last, _ := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[at+run:])
		ends := !unicode.IsSpace(last) && !(sign == "_" && isWord(after)) && string(after) != sign
		if ends && at > run {
			return mark{text: s[run:at], style: st, length: at + run}
		}
		for from = at; strings.HasPrefix(s[from:], sign); from++ { // a longer run is another mark
		}
	}
}

// link reads a link: its text, and where it leads. Brackets by themselves, such as a citation's, are none.
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

// words writes text, each word on the line that it fits on.
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

// unbroken is the beginning of a word that stands on one line: all of it or, of a script whose characters are wide and stand without
// spaces, one of them.
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
	breaks := p.gap || width > 1 && uniseg.StringWidth(word[:firstRune(word)]) > 1 // between wide characters there may be a new line
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

// write writes text in a type. Control characters in it would command the terminal.
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

// harmless is a text without control characters, but for tabs.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// again begins a text anew on a line of its own.
func (p *painter) again(text string) string {
	*p = painter{width: p.width, colour: p.colour}
	return p.feed(text, false)
}
