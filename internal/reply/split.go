package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"familiar/internal/text"
)

// Split cuts Markdown into pieces of at most limit UTF-16 units, each suitable as a message. A limit of less than 40
// counts as 40. No piece is blank, and a blank text has no pieces.
//
// A piece ends before the first paragraph, list, table or block of code that would not fit whole. If that is too long for any piece, it is
// cut. So is a paragraph without which the piece would be nearly empty. The cut is between items or lines, else between sentences, else
// between words. The last choice is between characters as people see them (UAX #29). Inline code is cut only if there is no other place. An
// address is never cut, because half of one leads elsewhere. A cut block of code is closed and opened again, with its info string, in the
// next piece. A block that the text never closes is closed at its end. Text keeps its order. Only white space at a cut, and a closing fence
// right after a cut, are lost. So is an address too long for any piece. "(link removed)" replaces that address.
//
// While a text of valid UTF-8 grows, its pieces never become fewer, and only the last one changes. Where a piece ends
// depends only on what it could hold and on the next character.
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
		if body := trimRight(text[:p]); body != "" { // otherwise it was indentation too long for a piece
			pieces = append(pieces, head+body+at.close())
		}
		text, f = resume(text[p:], text[p-1] == '\n', at)
	}
	return pieces
}

// A reply that is posted as a person types is a few short posts.
const (
	spokenUnits = 280 // UTF-16 units of a post, approximately
	mostSpoken  = 5   // posts; a longer reply is posted like any other
)

// SplitSpoken cuts a reply into short posts. It returns nil if there would be only one or too many.
func SplitSpoken(text string) []string {
	pieces := Split(text, spokenUnits)
	if len(pieces) < 2 || len(pieces) > mostSpoken {
		return nil
	}
	return pieces
}

// Head returns the beginning of Markdown as one piece of at most limit UTF-16 units.
func Head(text string, limit int) string {
	if pieces := Split(text, limit); len(pieces) > 0 {
		return pieces[0]
	}
	return ""
}

// resume returns the start of a piece without blank lines. If the code ended with the piece before, it is without its closing fence. The
// indentation of a line stays.
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

// lastPiece returns the whole text, with open code closed at its end, if it fits.
func lastPiece(text string, f fence, limit, room int) (string, bool) {
	text = trimRight(text)
	if len(CutUnits(text, room)) < len(text) {
		return "", false
	}
	lines := readLines(text, true, f, limit)
	end := lines[len(lines)-1]
	f = end.after
	if end.kind == lineClosing && len(strings.TrimSpace(text[end.start:])) < len(end.before.mark) { // it may still grow
		text, f = trimRight(text[:end.start]), end.before
	}
	text += f.close()
	return text, len(CutUnits(text, room)) == len(text)
}

func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// fence is an open block of code (CommonMark 0.31 §4.5), or none.
type fence struct {
	mark string // its backticks or tildes; empty for none
	line string // the whole opening line
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

// closedBy reports whether a line ends the code. The last line of a text may be an unfinished fence.
func (f fence) closedBy(line string, last bool) bool {
	run := strings.TrimSpace(line)
	return f.open() && run != "" && strings.Trim(run, f.mark[:1]) == "" && (last || len(run) >= len(f.mark))
}

// mdLine is one line of Markdown.
type mdLine struct {
	start, end    int // in the text, without the line's end
	kind          lineKind
	nested        bool  // indented by two or more
	before, after fence // open before and after it
	max           int   // latest end of a piece that ends here
}

type lineKind int

const (
	lineUnseen lineKind = iota // outside the window
	lineBlank
	linePlain
	lineQuote
	lineHeading
	lineTicks   // begins like a fence
	lineItem    // of a list
	lineRow     // of a table
	lineOpening // a fence that opens a block of code
	lineCode
	lineClosing
)

var (
	fenceStart = text.NewLazyRegexp("^[ \t]*(`{3,}|~{3,})")
	fenceInfo  = text.NewLazyRegexp("^[ \t]*(`{3,}[^`]*|~{3,}.*)$")
	itemStart  = text.NewLazyRegexp(`^[ \t]*([-*+]|[0-9]{1,9}[.)])[ \t]`)
	headStart  = text.NewLazyRegexp(`^ {0,3}#{1,6}[ \t]`)
)

// kindOf classifies a line outside code.
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

// readLines reads the lines of text, which continues f. If text is not whole, its last line may continue, so it is not
// a fence.
func readLines(text string, whole bool, f fence, limit int) []mdLine {
	var lines []mdLine
	for start := 0; start <= len(text); {
		line, _, more := strings.Cut(text[start:], "\n")
		l := mdLine{start: start, end: start + len(line), kind: kindOf(line), before: f}
		if !more && !whole && l.kind == lineBlank && start > 0 {
			break // unknown so far
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

// window is the part of a long text that a piece could hold.
type window struct {
	text  string // and one more character, if there is one
	max   int    // capacity of the piece
	third int    // a third of the capacity
	half  int
	lines []mdLine
	whole spans // must not be cut: addresses
	code  spans // inline code by the guard's rules, which a cut would end
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

// cut returns the end of the piece and the fence that is open there.
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

// cutRank ranks a cut between two lines; lower is better.
type cutRank int

const (
	cutBlock    cutRank = iota // between paragraphs, lists, tables, blocks of code
	cutItem                    // between the items of a list
	cutLine                    // anywhere else outside code
	cutCodeGap                 // at an empty line in code
	cutCodeLine                // anywhere else in code
	cutNever
)

// breaks returns the last position of each rank, or 0. Each is the end of a line that isn't blank.
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

// rankOf ranks a cut between two lines, with or without blank lines in between.
func rankOf(a, b mdLine, gap, inList bool) cutRank {
	switch {
	case a.kind == lineHeading, a.kind == lineOpening, a.kind == lineBlank:
		return cutNever // these introduce what follows
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

// precious reports whether a list, a table or code begins at p, at least in part.
func (w *window) precious(p int) bool {
	for _, l := range w.lines {
		if l.start > p && l.kind >= lineTicks {
			return true
		}
	}
	return false
}

// line returns the line that contains p or ends there.
func (w *window) line(p int) mdLine {
	for _, l := range w.lines {
		if p <= l.end {
			return l
		}
	}
	return w.lines[len(w.lines)-1]
}

// between returns the last end of a sentence, or else of a word; 0 if there is none. It prefers positions outside links
// and inline code, even if the piece is then less than half full.
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

// mayCut reports whether a line may be cut at p. The rest must not change its meaning at the start of a line.
func (w *window) mayCut(p int) bool {
	l := w.line(p)
	if p <= w.third || p > l.max || l.kind == lineOpening || l.kind == lineClosing || w.whole.holds(p) || w.ticks(p) {
		return false
	}
	next, _, _ := strings.Cut(strings.TrimLeft(w.text[p:], " \t"), "\n")
	k := kindOf(next + " ") // the window may end at the mark of a list
	return k == linePlain || k == lineBlank || l.after.open()
}

// ticks reports whether the text after p might be taken for a fence at the start of a line.
func (w *window) ticks(p int) bool {
	next := strings.TrimLeft(w.text[p:], " \t")
	if w.line(p).after.open() { // one may be enough, because it may grow to three
		return strings.HasPrefix(next, "`") || strings.HasPrefix(next, "~")
	}
	return kindOf(next) == lineTicks
}

// anywhere returns the last position between two characters, or inside a character that is too long by itself. It cuts
// inline code, or changes the meaning of a line's start, only if there is no other position.
func (w *window) anywhere() int {
	var end, inner, odd int
	for p, state, rest := 0, -1, w.text; rest != ""; p = len(w.text) - len(rest) {
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
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

// spans are parts of a text that a cut would break.
type spans [][]int

// unbroken matches inline code and links, complete or cut off by the window.
var unbroken = text.NewLazyRegexp("``[^\n]+?``|`[^`\n]+`|`[^`\n]*$" + `|!?\[[^\[\]\n]*\]\([^()\s]*(\([^()\s]*\)[^()\s]*)*( "[^"\n]*")?\)` +
	`|!?\[[^\[\]\n]*$|\[[^\[\]\n]*\]\([^()\n]*$|<[^<>\s]+>`)

// inline returns the inline code of a text that is short enough for code (guard.go).
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

// Split does not cut the addresses found here.

// addresses returns the links that Discord makes, with their angle brackets. At the end of a text it includes the
// possible start of one.
func addresses(text string) spans {
	var out spans
	for at := 0; ; {
		i := strings.Index(text[at:], ":/")
		if i < 0 {
			break
		}
		start, end := addressAt(text, at, at+i)
		if start < end {
			out = append(out, []int{start, end})
		}
		at = max(end, at+i+1)
	}
	from := max(0, len(text)-longestBegun)
	if at := begun.FindStringIndex(text[from:]); at != nil {
		out = append(out, []int{from + at[0], from + at[1]})
	}
	return out
}

// longestBegun is the length of the longest start of an address, "<https:", in bytes.
const longestBegun = 7

var begun = text.NewLazyRegexp(`(?i)<?h(?:t(?:tp?|tps)?)?:?$`)

// addressAt returns the address whose scheme ends at colon and does not start before from. It is empty if there is none. Discord makes
// links of no other schemes, and the guard removes those for other programs.
func addressAt(text string, from, colon int) (start, end int) {
	switch {
	case hasScheme(text[from:colon], "https"):
		start = colon - len("https")
	case hasScheme(text[from:colon], "http"):
		start = colon - len("http")
	default:
		return colon, colon
	}
	angle := start > from && text[start-1] == '<'
	length := strings.IndexFunc(text[colon:], func(r rune) bool { return r == '<' || angle && r == '>' || unicode.IsSpace(r) })
	if end = colon + length; length < 0 {
		end = len(text)
	}
	if angle {
		start--
		end += len(">") * strings.Count(text[end:min(len(text), end+1)], ">")
	}
	return start, end
}

func hasScheme(s, scheme string) bool {
	return len(s) >= len(scheme) && strings.EqualFold(s[len(s)-len(scheme):], scheme)
}

// tooLong returns the end of the address at the start of text if it does not fit in room. Otherwise it returns 0.
func tooLong(text string, room int) int {
	colon := strings.Index(CutUnits(text, room), ":/")
	if colon < 0 {
		return 0
	}
	start, end := addressAt(text, 0, colon)
	if start > 0 || end == 0 || Units(text[:end]) <= room {
		return 0
	}
	return end
}
