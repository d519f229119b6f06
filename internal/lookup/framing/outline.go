package framing

import (
	"regexp"
	"strings"

	"familiar/internal/text"
)

// kind is what a line is by its marks.
type kind uint8

const (
	blank kind = iota
	prose
	headingLine
	listItem
	quotation
	tableRow
)

// line is a line of a page with what stands above it.
type line struct {
	kind    kind
	text    string   // without marks
	heading *heading // the nearest above it; nil: none
	label   *heading // the line by itself, between the heading and it, that may be a label: "Advertisement"
	intro   string   // before the list that it is an item of, if that ends in a colon
	table   *table   // that it is a row of

	cut       bool // sentences is made
	sentences []string
	last      int // of them, the one that was found last

	judged      bool // a row's verdict is read
	verdictText string
	denied      bool
}

// heading is a heading with those above it.
type heading struct {
	text  string
	level int
	above *heading
	lines int // with text, right below it
}

// table is where a table begins.
type table struct {
	header  int      // number of the line with the names of its columns, or -1
	names   []string // of its columns
	columns string   // these in a line, or "" if there are none
}

const (
	maxHeading = 160 // bytes of a heading, or of the line before a list
	maxLabel   = 60  // bytes of a line that is a label
	maxPath    = 8   // headings of a path
)

var (
	headingMark = regexp.MustCompile(`^(#{1,6}) +`)
	itemMark    = regexp.MustCompile(`^\s*(?:[-*•] |\d{1,3}[.)] )`)
	quoteMark   = regexp.MustCompile(`^\s*(?:[>›] ?)+`)
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
		fence := strings.HasPrefix(raw, "'''") // as cleaning leaves it
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

// lineOf tells a line by its marks.
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

// newTable reads the header of a table: its first row, if a line without words divides it from the next.
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

// isLabel reports whether a line by itself may be a label: it is short, and no sentence.
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

// find returns the index of the sentence that a text is or is a part of, or -1.
func (l *line) find(s string) int {
	all := l.split()
	for n := range all {
		i := (l.last + n) % len(all)                                                                                                 // they are looked for in their order, as a rule
		if sentence := all[i]; strings.Contains(sentence, s) || len(sentence) >= text.MinSentence && strings.Contains(s, sentence) { // the number of an item may stand before it
			l.last = i
			return i
		}
	}
	return -1
}
