package outgoing

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"familiar/internal/text"
)

// Split cuts Markdown into pieces of at most limit UTF-16 units, each fit to be a message of its own. The
// limit must be 40 or more; less counts as 40. No piece is blank, and a blank text has no pieces.
//
// A piece ends before the first paragraph, list, table or block of code that would not fit whole. One that is
// too long for any piece, and a paragraph that would leave a piece nearly empty, is cut between its items or
// lines, else between sentences, else between words, else between characters as people see them (UAX #29);
// within inline code only when there is no other place, and never within an address, because the half of one leads
// elsewhere. A block of code is closed at the cut and opened again, with its info string, in the next piece; one that
// the text never closes is closed at its end. The order is kept, and nothing is lost but white space where it was cut,
// a closing fence right after a cut, and an address that is too long for a piece of its own: "(link removed)" says so.
//
// While a text (of valid UTF-8) grows, as a streamed answer does, its pieces never become fewer, and only the last of them
// changes: where a piece ends depends on what it could hold and on the one character after that.
func Split(text string, limit int) []string {
	var pieces []string
	limit = max(limit, 40)
	text, f := resume(text, true, fence{})
	for text != "" {
		head := f.reopen()
		room := limit - Units(head)
		if tail, ok := lastPiece(text, f, limit, room); ok {
			return append(pieces, head+tail)
		}
		if end := tooLong(text, room-Units(f.close())); end > 0 {
			text = linkRemoved + text[end:]
			continue
		}
		p, at := look(text, f, limit, room).cut()
		if body := trimRight(text[:p]); body != "" { // else it was the indentation of a line, too long for a piece
			pieces = append(pieces, head+body+at.close())
		}
		text, f = resume(text[p:], text[p-1] == '\n', at)
	}
	return pieces
}

// Head returns the beginning of Markdown that is one piece of at most limit UTF-16 units.
func Head(text string, limit int) string {
	if pieces := Split(text, limit); len(pieces) > 0 {
		return pieces[0]
	}
	return ""
}

// resume returns what a piece begins with: no blank lines and, where the code had ended with the piece before,
// not its closing fence. The indentation of a line stays.
func resume(text string, lineStart bool, f fence) (string, fence) {
	for {
		body := strings.TrimLeftFunc(text, unicode.IsSpace)
		if body == "" {
			return "", f
		}
		space := text[:len(text)-len(body)]
		if i := strings.LastIndexByte(space, '\n'); i >= 0 {
			text = space[i+1:] + body
		} else if !lineStart {
			text = body
		}
		line, rest, more := strings.Cut(text, "\n")
		if !f.closedBy(line, !more) {
			return text, f
		}
		text, lineStart, f = rest, true, fence{}
	}
}

// lastPiece returns all of text, with the code at its end closed, if there is room for it.
func lastPiece(text string, f fence, limit, room int) (string, bool) {
	text = trimRight(text)
	if len(CutUnits(text, room)) < len(text) {
		return "", false
	}
	lines := readLines(text, true, f, limit)
	end := lines[len(lines)-1]
	f = end.after
	if end.kind == lineClosing && len(strings.TrimSpace(text[end.start:])) < len(end.before.mark) { // still being written
		text, f = trimRight(text[:end.start]), end.before
	}
	text += f.close()
	return text, len(CutUnits(text, room)) == len(text)
}

func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// A fence is a block of code that is open (CommonMark 0.31 §4.5), or none.
type fence struct {
	mark string // the backticks or tildes that opened it; empty for none
	line string // the whole line that did
}

func (f fence) open() bool { return f.mark != "" }

func (f fence) reopen() string {
	if !f.open() {
		return ""
	}
	return f.line + "\n"
}

func (f fence) close() string {
	if !f.open() {
		return ""
	}
	indent, _, _ := strings.Cut(f.line, f.mark)
	return "\n" + indent + f.mark
}

// closedBy reports whether a line ends the code. The last line of a text may be a fence that is still being
// written.
func (f fence) closedBy(line string, last bool) bool {
	run := strings.TrimSpace(line)
	return f.open() && run != "" && strings.Trim(run, f.mark[:1]) == "" && (last || len(run) >= len(f.mark))
}

// A mdLine is one line of Markdown.
type mdLine struct {
	start, end    int // in the text, without the line's end
	kind          lineKind
	nested        bool  // indented by two or more
	before, after fence // open before and after it
	max           int   // where a piece that ends here must end, at the latest
}

type lineKind int

const (
	lineUnseen lineKind = iota // behind the window
	lineBlank
	linePlain
	lineQuote
	lineHeading
	lineTicks   // begins as a fence does
	lineItem    // of a list
	lineRow     // of a table
	lineOpening // a fence that opens a block of code
	lineCode
	lineClosing
)

var (
	fenceStart = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})")
	fenceInfo  = regexp.MustCompile("^[ \t]*(`{3,}[^`]*|~{3,}.*)$")
	itemStart  = regexp.MustCompile(`^[ \t]*([-*+]|[0-9]{1,9}[.)])[ \t]`)
	headStart  = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]`)
)

// kindOf reads a line outside code.
func kindOf(line string) lineKind {
	trimmed := strings.TrimSpace(line)
	switch first := trimmed[:min(len(trimmed), 1)]; {
	case first == "":
		return lineBlank
	case strings.Contains("`~", first) && fenceStart.MatchString(line):
		return lineTicks
	case strings.Contains("-*+0123456789", first) && itemStart.MatchString(line):
		return lineItem
	case first == "#" && headStart.MatchString(line):
		return lineHeading
	case first == "|":
		return lineRow
	case first == ">":
		return lineQuote
	}
	return linePlain
}

// readLines reads text, which continues f. If it is not whole its last line may go on, and so is no fence.
func readLines(text string, whole bool, f fence, limit int) []mdLine {
	var lines []mdLine
	for start := 0; start <= len(text); {
		line, _, more := strings.Cut(text[start:], "\n")
		l := mdLine{start: start, end: start + len(line), kind: kindOf(line), before: f}
		if !more && !whole && l.kind == lineBlank && start > 0 {
			break // nothing of it can be seen yet
		}
		l.nested = strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		switch {
		case f.open() && (more || whole) && f.closedBy(line, !more):
			l.kind, f = lineClosing, fence{}
		case f.open() && l.kind != lineBlank:
			l.kind = lineCode
		case !f.open() && l.kind == lineTicks && more && len(line) <= limit/4 && fenceInfo.MatchString(line):
			l.kind, f = lineOpening, fence{mark: fenceStart.FindStringSubmatch(line)[1], line: trimRight(line)}
		}
		l.after = f
		lines = append(lines, l)
		start = l.end + 1
	}
	return lines
}

// A window is what a piece could hold of a text that is too long for it.
type window struct {
	text  string // and one character more, if there is one
	max   int    // how much of text the piece can hold
	third int    // how much fills a third of it
	half  int
	lines []mdLine
	whole spans // what must not be cut: addresses
	code  spans // what the guard took for inline code: cut, it would be none
}

func look(text string, f fence, limit, room int) *window {
	w := &window{max: len(CutUnits(text, room)), third: len(CutUnits(text, room/3)), half: len(CutUnits(text, room/2))}
	_, next := utf8.DecodeRuneInString(text[w.max:])
	w.text = text[:w.max+next]
	w.lines = readLines(w.text, next == 0, f, limit)
	w.whole = addresses(w.text)
	w.code = inline(w.text)
	for i := range w.lines {
		l := &w.lines[i]
		switch {
		case !l.after.open():
			l.max = w.max
		case i > 0 && l.after == w.lines[i-1].after:
			l.max = w.lines[i-1].max
		default:
			l.max = len(CutUnits(text, room-Units(l.after.close())))
		}
	}
	return w
}

// cut returns where the piece ends, and the fence that is open there.
func (w *window) cut() (int, fence) {
	p := w.place()
	return p, w.line(p).after
}

func (w *window) place() int {
	best := w.breaks()
	if p := best[cutBlock]; p > w.third || p > 0 && w.precious(p) {
		return p
	}
	for _, p := range best[cutItem:] {
		if p > w.half {
			return p
		}
	}
	if p := w.between(); p > 0 {
		return p
	}
	return w.anywhere()
}

// A cutRank says how good it is to cut between two lines. The better come first.
type cutRank int

const (
	cutBlock    cutRank = iota // between paragraphs, lists, tables, blocks of code
	cutItem                    // between the items of a list
	cutLine                    // anywhere else outside code
	cutCodeGap                 // at an empty line in code
	cutCodeLine                // anywhere else in code
	cutNever
)

// breaks returns the last place of each rank, 0 where there is none. Each is the end of a line that isn't blank.
func (w *window) breaks() (best [cutNever]int) {
	inList := false
	for i := 0; i < len(w.lines); {
		a, b, j := w.lines[i], mdLine{}, i+1
		for j < len(w.lines) && w.lines[j].kind == lineBlank {
			j++
		}
		if j < len(w.lines) {
			b = w.lines[j]
		}
		gap := j > i+1
		inList = a.kind == lineItem || inList && b.kind != lineHeading && (!gap || b.nested || b.kind == lineItem || b.kind == lineUnseen)
		r := rankOf(a, b, gap, inList)
		if r != cutNever && a.end < len(w.text) && a.end <= a.max {
			best[r] = a.end
		}
		i = j
	}
	return best
}

// rankOf ranks a cut between two lines, with a gap of blank ones or without.
func rankOf(a, b mdLine, gap, inList bool) cutRank {
	switch {
	case a.kind == lineHeading, a.kind == lineOpening, a.kind == lineBlank:
		return cutNever // what they announce is to follow
	case a.after.open() && gap:
		return cutCodeGap
	case a.after.open():
		return cutCodeLine
	case b.kind == lineHeading, b.kind == lineUnseen && gap && !inList:
		return cutBlock
	case inList && (b.kind == lineItem && !b.nested || b.kind == lineUnseen && gap):
		return cutItem
	case inList && b.nested, b.kind == lineUnseen:
		return cutLine
	case gap, a.kind == lineClosing, b.kind == lineOpening, b.kind == lineTicks:
		return cutBlock
	case b.kind == lineItem, b.kind == lineRow && a.kind != lineRow:
		return cutItem
	}
	return cutLine
}

// precious reports whether what begins at p is a list, a table or code, in part at least.
func (w *window) precious(p int) bool {
	for _, l := range w.lines {
		if l.start > p && l.kind >= lineTicks {
			return true
		}
	}
	return false
}

// line returns the line that p is in, or at the end of.
func (w *window) line(p int) mdLine {
	for _, l := range w.lines {
		if p <= l.end {
			return l
		}
	}
	return w.lines[len(w.lines)-1]
}

// between returns the last end of a sentence or, failing that, of a word: if possible, of one that isn't in a
// link or in inline code, for which the piece may be less than half full. It returns 0 if there is none.
func (w *window) between() int {
	var sentence, word, inner int
	keep := keepWhole(w.text)
	for p := range text.SentenceEnds(w.text) {
		if p < len(w.text) && p > w.half && w.mayCut(p) && !keep.holds(p) && !w.line(p).after.open() {
			sentence = p
		}
	}
	if sentence > 0 {
		return sentence
	}
	for p, r := range w.text {
		if !unicode.IsSpace(r) || !w.mayCut(p) {
			continue
		}
		if !keep.holds(p) || w.line(p).after.open() {
			word = p
		} else if p > w.half && !w.code.holds(p) {
			inner = p
		}
	}
	if word > 0 {
		return word
	}
	return inner
}

// mayCut reports whether a line may be cut at p: what follows must not become something else at a line's start.
func (w *window) mayCut(p int) bool {
	l := w.line(p)
	if p <= w.third || p > l.max || l.kind == lineOpening || l.kind == lineClosing || w.whole.holds(p) || w.ticks(p) {
		return false
	}
	next, _, _ := strings.Cut(strings.TrimLeft(w.text[p:], " \t"), "\n")
	k := kindOf(next + " ") // the window may end where the mark of a list does
	return k == linePlain || k == lineBlank || l.after.open()
}

// ticks reports whether what follows p might be taken for a fence at the start of a line.
func (w *window) ticks(p int) bool {
	next := strings.TrimLeft(w.text[p:], " \t")
	if w.line(p).after.open() { // one may be enough: it may yet become three
		return strings.HasPrefix(next, "`") || strings.HasPrefix(next, "~")
	}
	return kindOf(next) == lineTicks
}

// anywhere returns the last place between two characters, or within one that alone is too long. Inline code is cut,
// or the start of a line made what it was not, only where there is no other place.
func (w *window) anywhere() int {
	var end, inner, odd int
	for g := graphemes.FromString(w.text); g.Next(); {
		p := g.Start()
		if p > w.line(p).max {
			break
		}
		switch {
		case w.whole.holds(p):
			continue
		case !w.ticks(p) && (!w.code.holds(p) || w.line(p).after.open()):
			end = p
		case !w.ticks(p):
			inner = p
		}
		odd = p
	}
	switch {
	case end > 0:
		return end
	case inner > 0:
		return inner
	case odd > 0:
		return odd
	}
	return w.lines[0].max
}

// spans are stretches of text that would break if they were cut.
type spans [][]int

// unbroken matches inline code, links, and either of them as far as it can be seen.
var unbroken = regexp.MustCompile("``[^\n]+?``|`[^`\n]+`|`[^`\n]*$" + `|!?\[[^\[\]\n]*\]\([^()\s]*(\([^()\s]*\)[^()\s]*)*( "[^"\n]*")?\)` +
	`|!?\[[^\[\]\n]*$|\[[^\[\]\n]*\]\([^()\n]*$|<[^<>\s]+>`)

// inline returns the inline code of a text, so far as it is short enough for code (code.go).
func inline(text string) spans {
	var out spans
	if !strings.Contains(text, "`") {
		return nil
	}
	for _, at := range unbroken.FindAllStringIndex(text, -1) {
		if text[at[0]] == '`' && at[1]-at[0] <= longestHold+2*len(runOf(text[at[0]:])) {
			out = append(out, at)
		}
	}
	return out
}

func keepWhole(text string) spans { return unbroken.FindAllStringIndex(text, -1) }

func (s spans) holds(p int) bool {
	for _, at := range s {
		if at[0] < p && p < at[1] {
			return true
		}
	}
	return false
}
