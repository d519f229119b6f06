package bot

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/claim"
	"familiar/internal/web/clean"
)

// cited checks what a reply cites against the pages that were read.
type cited struct {
	look *turn.Lookup // nil: there was none

	mu     sync.Mutex
	pages  map[int]*claim.Page // by source, made when it is first cited; guarded by mu
	judged map[citing]judged   // what was checked before: a growing reply is marked again and again; guarded by mu
}

// citing is a group of citations and the words that cite it.
type citing struct{ group, said string }

// judged is what became of a group: how it is written, what was refused, how many citations it has.
type judged struct {
	marked  string
	refused []turn.Citation
	n       int
}

// group is citations that stand together, with the links that they may be.
var (
	group      = regexp.MustCompile(`^\[\d{1,2}\](?:\(<[^\[<>\s]*>\))?(?:,? ?\[\d{1,2}\](?:\(<[^\[<>\s]*>\))?)*`)
	openGroup  = regexp.MustCompile(`^(?:\(<?[^\[<>\s]*>?)?\s*,? ?(?:\[\d{0,2})?\s*$`) // what may yet become more of a group
	sentGoneBy = regexp.MustCompile(`[.!?…]["'”’)*_]*\s|[。！？]`)
	sentEnded  = regexp.MustCompile(`[.!?…]["'”’)*_]*(?:\s|$)|[。！？]`)
	lettered   = regexp.MustCompile(`[\pL\d]`)
)

const (
	longestGroup = 4096 // bytes; what is longer is several
	longestSaid  = 2000 // bytes of the words that a citation stands for; more is no sentence
)

// mark writes [n?] for each citation that its page does not bear out, and returns them, and how many citations there
// are in all. The text has passed the guard. Of a reply that still grows it returns the beginning of which that is
// settled, so that no mark comes or goes later. It looks at each part of the text a fixed number of times.
func (c *cited) mark(text string, growing bool) (marked string, refused []turn.Citation, n int) {
	if c == nil || c.look == nil || len(c.look.Sources) == 0 {
		return text, nil, 0
	}
	var out strings.Builder
	var code codes
	copied, chunk := 0, 0 // up to where the text is written, and where the words since the last citation begin
	before := ""          // the words of the last citation
	unclosed := false     // there are backticks before: if they are closed later, the code behind them is none
	for i := 0; i < len(text); {
		switch text[i] {
		case '\n':
			i++
			chunk, before = i, ""
			continue
		case '`':
			ticks, end, open := code.at(text, i)
			switch {
			case open:
				end, unclosed = len(text), true
			case end == 0 && growing && mayBecomeCode(text, i, ticks):
				return out.String() + text[copied:i], refused, n
			case end == 0:
				end, unclosed = ticks, true
			}
			if growing && unclosed {
				if first := firstReference(text[:end], ticks); first >= 0 {
					return out.String() + text[copied:first], refused, n
				}
			}
			i = end
			continue
		case '[':
		default:
			i++
			continue
		}
		g := group.FindString(text[i:min(len(text), i+longestGroup)])
		end := i + len(g)
		if g == "" {
			i++
			continue
		}
		if growing && len(text)-i < longestGroup && openGroup.MatchString(text[end:]) {
			return out.String() + text[copied:i], refused, n
		}
		said := text[chunk:i]
		switch {
		case lettered.MatchString(said) && (claim.Checkable(said) || endsSentence(said)):
			before = said
		case before == "" || lettered.MatchString(said): // it opens its line: what follows is what it is cited for
			stop := following(text[end:], growing)
			if stop < 0 && growing {
				return out.String() + text[copied:i], refused, n
			}
			if stop < 0 {
				stop = len(text) - end
			}
			before = text[end : end+stop]
		}
		j := c.judge(citing{g, lastOf(before, longestSaid)})
		out.WriteString(text[copied:i])
		out.WriteString(j.marked)
		refused, n = append(refused, j.refused...), n+j.n
		i, copied, chunk = end, end, end
	}
	return out.String() + text[copied:], refused, n
}

// endsSentence says whether what is cited for stands before the citation, whatever it is: "Yes. [1]".
func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " *_\"'”’)"))
	return strings.ContainsRune(".!?…。！？", last)
}

// lastOf is the end of s in at most n bytes.
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
	ended := sentEnded
	stop := strings.IndexAny(s, "\n[")
	if stop >= 0 {
		s = s[:stop]
	} else if growing {
		ended = sentGoneBy
	}
	if m := ended.FindStringIndex(s); m != nil {
		return m[1]
	}
	return stop
}

// judge checks a group of citations, once.
func (c *cited) judge(of citing) judged {
	c.mu.Lock()
	j, known := c.judged[of]
	c.mu.Unlock()
	if known {
		return j
	}
	j = c.check(of)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.judged == nil {
		c.judged = map[citing]judged{}
	}
	c.judged[citing{strings.Clone(of.group), strings.Clone(of.said)}] = j // and not the whole text with it
	return j
}

// unchecked is why a citation is marked that could not be checked, because the check itself broke.
const unchecked = "not checked"

// check writes a group of citations with their marks.
func (c *cited) check(of citing) (j judged) {
	numbers := citation.FindAllStringSubmatchIndex(of.group, -1)
	why := make([]string, len(numbers))
	defer func() {
		if recover() != nil { // costs this check, and is on record by its name
			for i := range why {
				why[i] = unchecked
			}
			j = of.judged(numbers, why)
		}
	}()
	pages := make([]*claim.Page, len(numbers))
	for i, m := range numbers {
		source, _ := strconv.Atoi(of.group[m[2]:m[3]])
		if pages[i] = c.page(source); pages[i] == nil { // not ours: the guard's matter
			return judged{marked: strings.Clone(of.group)}
		}
	}
	return of.judged(numbers, claim.CheckCitation(of.said, pages))
}

// judged writes the group, in which numbers stand, with why each of them is refused.
func (of citing) judged(numbers [][]int, why []string) judged {
	j := judged{n: len(numbers)}
	var out strings.Builder
	copied := 0
	for i, why := range why {
		if why == "" {
			continue
		}
		m := numbers[i]
		out.WriteString(of.group[copied:m[3]] + "?")
		copied = m[3]
		source, _ := strconv.Atoi(of.group[m[2]:m[3]])
		j.refused = append(j.refused, turn.Citation{Source: source, Text: strings.Clone(cutUnits(strings.TrimSpace(of.said), 200)), Refused: why})
	}
	j.marked = out.String() + of.group[copied:]
	return j
}

// page is what was read of a source; nil if there is no such source.
func (c *cited) page(n int) *claim.Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.pages[n]; w != nil {
		return w
	}
	var texts []string
	for _, s := range c.look.Sources {
		if s.N == n {
			texts = append(texts, s.Title, s.Site)
			for _, at := range []time.Time{s.Published, s.Fetched} {
				if !at.IsZero() {
					texts = append(texts, day(at))
				}
			}
		}
	}
	if texts == nil {
		return nil
	}
	for _, p := range c.look.Pages {
		if p.N == n {
			texts = append(texts, p.Text)
		}
	}
	for _, statement := range c.look.Summary {
		if statement.Source == n {
			texts = append(texts, statement.Text, statement.Quote)
		}
	}
	if c.pages == nil {
		c.pages = map[int]*claim.Page{}
	}
	c.pages[n] = claim.NewPage(texts...)
	return c.pages[n]
}
