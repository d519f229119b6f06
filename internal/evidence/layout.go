package evidence

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Source is a page that was read.
type Source struct {
	Title, Text string
	Forum       bool      // it was written by users
	Published   time.Time // zero: unknown
}

// Layout is a page's lines with their headings, lists and tables. It is not safe for concurrent use.
type Layout struct {
	lines []line
	title string
	role  turn.Role // of the whole page
}

// ParseLayout reads the layout of a page, in time proportional to its length. Lines must be short, as cleaning leaves
// them.
func ParseLayout(s Source) *Layout {
	p := &Layout{lines: outline(s.Text), title: s.Title}
	p.role = p.pageRole(s)
	return p
}

// Framing returns the framing of a sentence, or of a part of it. The line of the text is counted from 0.
func (p *Layout) Framing(number int, sentence string) turn.Framing {
	if p == nil || number < 0 || number >= len(p.lines) {
		return turn.Framing{}
	}
	l := &p.lines[number]
	f := turn.Framing{Path: l.heading.path(), Role: p.roleOf(l)}
	if l.kind == tableRow && l.table.header != number {
		f.Header = l.table.columns
	}
	at := position{p: p, line: number, sentence: l.find(sentence)}
	if f.Denied, f.Words = at.denial(); f.Denied == "" && f.Words != "" {
		f.Under, f.Words = f.Words, ""
	}
	if f.Denied == "" && l.heading != nil && strings.HasSuffix(l.heading.text, "?") && answers(sentence) {
		f.Question = l.heading.text
	}
	return f
}

// answers reports whether a sentence begins with "yes" or "no".
func answers(sentence string) bool {
	words := text.Words(sentence)
	return len(words) > 0 && yesNo()[words[0].Key]
}

// maxWords is how many characters of a page's words a framing carries.
const maxWords = 120

func clip(s string) string { return text.Truncate(text.OneLine(s), maxWords) }

// kind is the kind of a line, by its marks.
type kind uint8

const (
	blank kind = iota
	prose
	headingLine
	listItem
	quotation
	tableRow
)

// line is a line of a page with its surroundings.
type line struct {
	kind    kind
	text    string   // without marks
	heading *heading // the nearest above; nil: none
	label   *heading // the nearest short line below the heading that may be a label: "Advertisement"
	intro   string   // the line before its list, if that ends in a colon
	table   *table   // the table of a row

	cut       bool // sentences is set
	sentences []string
	last      int // index of the sentence that was found last

	judged      bool // a row's verdict is set
	verdictText string
	denied      bool
}

// heading is a heading with its parents.
type heading struct {
	text  string
	level int
	above *heading
	lines int // lines with text directly below it
}

// table is a table's header.
type table struct {
	header  int      // index of the line with the column names, or -1
	names   []string // of the columns
	columns string   // the names in one line, or ""
}

const (
	maxHeading = 160 // bytes of a heading, or of a line before a list
	maxLabel   = 60  // bytes of a label
	maxPath    = 8   // headings in a path
)

var (
	headingMark = text.NewLazyRegexp(`^(#{1,6}) +`)
	itemMark    = text.NewLazyRegexp(`^\s*(?:[-*•] |\d{1,3}[.)] )`)
	quoteMark   = text.NewLazyRegexp(`^\s*(?:[>›] ?)+`)
)

// outline reads the lines of a text.
func outline(s string) []line {
	all := strings.Split(s, "\n")
	out := make([]line, len(all))
	var above, label *heading
	var rows *table
	intro, code := "", false
	for i, raw := range all {
		l := &out[i]
		fence := strings.HasPrefix(raw, "'''") // a code fence, as cleaning leaves it
		if code = code != fence; code || fence {
			*l = line{kind: prose, text: raw}
		} else {
			*l = lineOf(raw)
		}
		if l.text == "" {
			l.kind = blank
		}
		if l.kind == headingLine {
			level := strings.IndexByte(raw, ' ')
			for above != nil && above.level >= level {
				above = above.above
			}
			above, label = &heading{text: clip(l.text), level: level, above: above}, nil
		}
		l.heading, l.label = above, label
		if above != nil && l.kind != blank && l.kind != headingLine {
			above.lines++
		}
		switch l.kind {
		case blank:
			continue
		case tableRow:
			if rows == nil {
				rows = newTable(all, i)
			}
			l.table = rows
		case listItem:
			l.intro = intro
		case prose:
			if isLabel(l.text) {
				label = &heading{text: l.text}
			}
		}
		if l.kind != tableRow {
			rows = nil
		}
		if l.kind != listItem {
			intro = ""
			if len(l.text) <= maxHeading && endsInColon(l.text) {
				intro = l.text
			}
		}
	}
	return out
}

// lineOf reads the marks of a line.
func lineOf(raw string) line {
	switch {
	case strings.TrimSpace(raw) == "":
		return line{kind: blank}
	case strings.HasPrefix(raw, "#") && headingMark.MatchString(raw):
		return line{kind: headingLine, text: headingMark.ReplaceAllString(raw, "")}
	case strings.HasPrefix(raw, "|"):
		return line{kind: tableRow, text: raw}
	case itemMark.MatchString(raw):
		return line{kind: listItem, text: itemMark.ReplaceAllString(raw, "")}
	case quoteMark.MatchString(raw):
		return line{kind: quotation, text: quoteMark.ReplaceAllString(raw, "")}
	}
	return line{kind: prose, text: strings.TrimSpace(raw)}
}

// newTable reads the header of a table: its first row, if a line without words separates it from the next.
func newTable(lines []string, first int) *table {
	t := &table{header: -1}
	if first+1 < len(lines) && strings.Trim(lines[first+1], " :|-") == "" {
		if t.header, t.names = first, cells(lines[first]); len(t.names) > 1 {
			t.columns = clip(strings.Join(t.names, " | "))
		}
	}
	return t
}

func cells(row string) []string {
	all := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// isLabel reports whether a line may be a label: short and not a sentence.
func isLabel(s string) bool {
	return s != "" && len(s) <= maxLabel && !strings.ContainsAny(s[len(s)-1:], ".!?:,;")
}

func endsInColon(s string) bool { return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") }

// path returns the headings from the outermost to this one.
func (h *heading) path() []string {
	var out []string
	for ; h != nil && len(out) < maxPath; h = h.above {
		out = append([]string{h.text}, out...)
	}
	return out
}

// split returns the sentences of a line.
func (l *line) split() []string {
	if !l.cut {
		l.cut, l.sentences = true, text.Sentences(l.text)
	}
	return l.sentences
}

// find returns the index of the sentence that a text is or is part of, or -1.
func (l *line) find(s string) int {
	all := l.split()
	for n := range all {
		i := (l.last + n) % len(all)                                                                                                 // sentences are usually looked for in order
		if sentence := all[i]; strings.Contains(sentence, s) || len(sentence) >= text.MinSentence && strings.Contains(s, sentence) { // the number of a list item may precede it
			l.last = i
			return i
		}
	}
	return -1
}

// roleOf tells whose words a line is.
func (p *Layout) roleOf(l *line) turn.Role {
	switch {
	case l.kind == quotation:
		return turn.RoleQuotation
	case p.role == turn.RoleComment || below(l, commentWords(), comments()):
		return turn.RoleComment
	case below(l, plotWords(), plots()), below(l, contentsWords(), contentsWords()) && p.isWork():
		return turn.RoleFiction
	case p.role == turn.RoleSatire:
		return turn.RoleSatire
	case below(l, sponsorWords(), sponsors()):
		return turn.RoleSponsored
	}
	return p.role
}

// below reports whether a heading above a line, or its label, consists of the words. It must have one of a subset. See [consistsOf].
func below(l *line, words, one map[string]bool) bool {
	if l.label != nil && consistsOf(l.label.text, words, one) {
		return true
	}
	for h := l.heading; h != nil; h = h.above {
		if consistsOf(h.text, words, one) {
			return true
		}
	}
	return false
}

// maxLabelWords is the length of a heading that names a section, in words.
const maxLabelWords = 4

// consistsOf reports whether a text consists of words, numbers aside, and has at least one of a subset; nil: any.
func consistsOf(s string, words, one map[string]bool) bool {
	if len(s) > maxLabel {
		return false
	}
	all := text.Words(s)
	some := one == nil
	n := 0
	for _, w := range all {
		if text.Numeric(w.Key) {
			continue
		}
		if n++; !words[w.Key] {
			return false
		}
		some = some || one[w.Key]
	}
	return n > 0 && n <= maxLabelWords && some
}

// openingLines is how many lines at the top of a page say what it is about.
const openingLines = 12

// isWork reports whether a page begins like one about a work of fiction.
func (p *Layout) isWork() bool {
	said := p.title
	for _, l := range p.lines[:min(openingLines, len(p.lines))] {
		said += "\n" + text.Truncate(l.text, 300)
	}
	return text.ContainsAny(text.Words(said), works())
}

// pageRole tells what a page is as a whole.
func (p *Layout) pageRole(s Source) turn.Role {
	switch {
	case s.Forum:
		return turn.RoleComment
	case p.isSatire():
		return turn.RoleSatire
	case s.Published.Month() == time.April && s.Published.Day() == 1:
		return turn.RoleApril
	}
	return ""
}

// isSatire reports whether a page calls itself satire, in a label or in a sentence.
func (p *Layout) isSatire() bool {
	if consistsOf(p.title, satireWords(), nil) {
		return true
	}
	for i := range p.lines {
		l := &p.lines[i]
		if l.kind == blank || len(l.text) > maxSelfDescription || !namesSatire(l.text) {
			continue
		}
		if isLabel(l.text) && consistsOf(l.text, satireWords(), nil) && l.kind != listItem {
			return true
		}
		for _, sentence := range l.split() {
			if selfSatire(sentence) {
				return true
			}
		}
	}
	return false
}

const (
	maxSelfDescription = 300 // bytes of a line in which a page describes itself
	shortSentence      = 7   // words of "This is a work of satire"
)

// namesSatire is a cheap check: could this line call itself satire?
func namesSatire(s string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(satireNames(), func(w string) bool { return strings.Contains(s, w) })
}

// selfSatire reports whether a sentence calls its own page satire.
func selfSatire(sentence string) bool {
	words := text.Words(sentence)
	if len(words) < 3 || !demonstratives()[words[0].Key] {
		return false
	}
	if pageNouns()[words[1].Key] {
		return satireWords()[keyAt(words, skipFillers(words, 2))]
	}
	return fillers()[words[1].Key] && len(words) <= shortSentence && satireWords()[words[len(words)-1].Key]
}

// skipFillers returns the index of the first word, from an index on, that is not a filler.
func skipFillers(words []text.Word, from int) int {
	for from < len(words) && fillers()[words[from].Key] {
		from++
	}
	return from
}

func keyAt(words []text.Word, i int) string {
	if i >= len(words) {
		return ""
	}
	return words[i].Key
}
