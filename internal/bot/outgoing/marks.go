package outgoing

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/claim"
	"familiar/internal/web/clean"
)

var (
	// group is citations that stand together, with the links that they may be.
	group        = regexp.MustCompile(`^\[\d{1,2}\](?:\(<[^\[<>\s]*>\))?(?:,? ?\[\d{1,2}\](?:\(<[^\[<>\s]*>\))?)*`)
	openGroup    = regexp.MustCompile(`^(?:\(<?[^\[<>\s]*>?)?\s*,? ?(?:\[\d{0,2})?\s*$`) // what may yet become more of a group
	sentenceOver = regexp.MustCompile(`[.!?…]["'”’)*_]*\s|[。！？]`)
	sentenceEnd  = regexp.MustCompile(`[.!?…]["'”’)*_]*(?:\s|$)|[。！？]`)
	lettered     = regexp.MustCompile(`[\pL\d]`)
)

const (
	longestGroup = 4096 // bytes; what is longer is several
	longestWords = 2000 // bytes of the words that a citation stands for; more is no sentence
)

// Mark writes [n?] for each citation that its page does not bear out, and returns those, and how many citations there are in
// all. The text has passed the guard. Of a reply that still grows it returns the beginning that is settled, so that no mark
// comes or goes later, unless by [Marker.Settle]. It looks at each part of the text a fixed number of times.
func (m *Marker) Mark(text string, growing bool) (marked string, refused []turn.Citation, n int) {
	if m == nil || m.Lookup == nil || len(m.Lookup.Sources) == 0 {
		return text, nil, 0
	}
	w := m.mark(text, growing)
	return w.out.String(), w.refused, w.n
}

func (m *Marker) mark(text string, growing bool) *marking {
	w := &marking{marker: m, s: text, end: len(text), growing: growing}
	for w.i < w.end {
		switch text[w.i] {
		case '\n':
			w.i++
			w.chunk, w.before = w.i, ""
		case '`':
			w.backticks()
		case '[':
			w.citations()
		default:
			w.i++
		}
	}
	w.out.WriteString(text[w.copied:w.end])
	return w
}

// marking goes once through a text. What it leaves alone is copied in long pieces.
type marking struct {
	marker  *Marker
	s       string
	i       int // next byte to look at
	end     int // of what is settled
	copied  int // s up to here is in out
	out     strings.Builder
	growing bool
	refused []turn.Citation
	n       int

	statements []statement

	codes    codes
	unclosed bool   // there are backticks before: if they are closed later, the code behind them is none
	chunk    int    // where the words since the last citation begin
	before   string // the words of the last citation
}

// stop ends the marking: nothing from at on is settled.
func (w *marking) stop(at int) { w.i, w.end = at, at }

// backticks passes over code, in which nothing is marked.
func (w *marking) backticks() {
	from := w.i
	ticks, end, open := w.codes.at(w.s, from)
	switch {
	case open:
		end, w.unclosed = len(w.s), true
	case end == 0 && w.growing && mayBecomeCode(w.s, from, ticks):
		w.stop(from)
		return
	case end == 0:
		end, w.unclosed = ticks, true
	}
	w.i = end
	if !w.growing || !w.unclosed {
		return
	}
	if first := firstReference(w.s[:end], ticks); first >= 0 {
		w.stop(first)
	}
}

// citations marks a group of citations.
func (w *marking) citations() {
	g := group.FindString(w.s[w.i:min(len(w.s), w.i+longestGroup)])
	end := w.i + len(g)
	if g == "" {
		w.i++
		return
	}
	if w.growing && len(w.s)-w.i < longestGroup && openGroup.MatchString(w.s[end:]) || !w.words(end) {
		w.stop(w.i)
		return
	}
	of := statement{g, lastOf(w.before, longestWords)}
	r := w.marker.result(of)
	w.statements = append(w.statements, of)
	w.out.WriteString(w.s[w.copied:w.i])
	w.out.WriteString(r.marked)
	w.refused, w.n = append(w.refused, r.refused...), w.n+r.n
	w.i, w.copied, w.chunk = end, end, end
}

// words finds what the citations s[i:end] stand for: the words before them, those of the citations before or, where they open
// their line, the sentence that follows. It reports whether that is settled.
func (w *marking) words(end int) bool {
	words := w.s[w.chunk:w.i]
	switch {
	case lettered.MatchString(words) && (claim.Checkable(words) || endsSentence(words)):
		w.before = words
	case w.before == "" || lettered.MatchString(words):
		length := following(w.s[end:], w.growing)
		if length < 0 && w.growing {
			return false
		}
		if length < 0 {
			length = len(w.s) - end
		}
		w.before = w.s[end : end+length]
	}
	return true
}

// endsSentence reports whether what is cited for stands before the citation, whatever it is: "Yes. [1]".
func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " *_\"'”’)"))
	return strings.ContainsRune(".!?…。！？", last)
}

// lastOf returns the end of s in at most n bytes.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// mayBecomeCode reports whether the backticks text[i:ticks], which nothing closes, may begin code in a longer text.
func mayBecomeCode(text string, i, ticks int) bool {
	if ticks-i >= 3 && lineStart(text[:i]) {
		return true
	}
	return len(text)-ticks <= longestHold && !strings.Contains(text[ticks:], "\n")
}

// firstReference returns where the first reference in s[from:] begins, whatever it refers to; -1 if there is none.
func firstReference(s string, from int) int {
	for i := from; i < len(s); i++ {
		next := strings.IndexAny(s[i:], clean.Brackets)
		if next < 0 {
			return -1
		}
		i += next
		if end, _ := clean.ReferenceAt(s, i); end > 0 {
			return i
		}
	}
	return -1
}

// following returns where the sentence ends that s begins with, or its line, or where the next citation begins; -1 if
// none does. The end of a text that grows ends no sentence.
func following(s string, growing bool) int {
	ended := sentenceEnd
	stop := strings.IndexAny(s, "\n[")
	if stop >= 0 {
		s = s[:stop]
	} else if growing {
		ended = sentenceOver
	}
	if m := ended.FindStringIndex(s); m != nil {
		return m[1]
	}
	return stop
}
