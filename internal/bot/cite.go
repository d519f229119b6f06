package bot

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/websearch"
)

// cited checks what a reply cites against the pages that were read.
type cited struct {
	look *turn.Lookup // nil: there was none

	mu    sync.Mutex
	pages map[int]*websearch.Witness // by source, made when it is first cited; guarded by mu
}

// group is citations that stand together, with the links that they may be.
var (
	group     = regexp.MustCompile(`^\[\d{1,2}\](?:\(<[^>\s]*>\))?(?:,? ?\[\d{1,2}\](?:\(<[^>\s]*>\))?)*`)
	openGroup = regexp.MustCompile(`^(?:\(<?[^>\s]*>?)?\s*,? ?(?:\[\d{0,2})?\s*$`) // what may yet become more of a group
	sentEnded = regexp.MustCompile(`[.!?…]["'”’)*_]*(?:\s|$)|[。！？]`)
	lettered  = regexp.MustCompile(`[\pL\d]`)
)

// mark writes [n?] for each citation that its page does not bear out, and returns them, and how many citations there
// are in all. The text has passed the guard. Of a reply that still grows it returns the beginning of which that is
// settled, so that no mark comes or goes later.
func (c *cited) mark(text string, growing bool) (marked string, refused []turn.Citation, n int) {
	if c == nil || c.look == nil || len(c.look.Sources) == 0 {
		return text, nil, 0
	}
	var out strings.Builder
	copied, chunk := 0, 0 // up to where the text is written, and where the words since the last citation begin
	before := ""          // the words of the last citation
	for i := 0; i < len(text); {
		switch text[i] {
		case '\n':
			i++
			chunk, before = i, ""
			continue
		case '`':
			i += codeLength(text[i:])
			continue
		case '[':
		default:
			i++
			continue
		}
		g := group.FindString(text[i:])
		end := i + len(g)
		if g != "" && growing && openGroup.MatchString(text[end:]) {
			return out.String() + text[copied:i], refused, n
		}
		if g == "" || i > 0 && isWord(text[i-1]) && !closesSentence(text[end:]) {
			i++
			continue
		}
		said := text[chunk:i]
		switch {
		case lettered.MatchString(said):
			before = said
		case before == "": // it opens its line: what follows is what it is cited for
			stop := following(text[end:])
			if stop < 0 && growing {
				return out.String() + text[copied:i], refused, n
			}
			if stop < 0 {
				stop = len(text) - end
			}
			before = text[end : end+stop]
		}
		out.WriteString(text[copied:i])
		written, failed, count := c.check(g, before)
		out.WriteString(written)
		refused, n = append(refused, failed...), n+count
		i, copied, chunk = end, end, end
	}
	return out.String() + text[copied:], refused, n
}

// codeLength is how far code reaches that begins with s, or how many backticks there are.
func codeLength(s string) int {
	ticks := runOf(s)
	rest := s[len(ticks):]
	n := closing(rest, ticks)
	switch {
	case n >= 0 && (len(ticks) >= 3 || !strings.Contains(rest[:n], "\n")):
		return 2*len(ticks) + n
	case n < 0 && len(ticks) >= 3:
		return len(s)
	}
	return len(ticks)
}

func isWord(b byte) bool { return isLetter(b) || isDigit(b) || b == '_' || b == ')' }

// closesSentence says whether a bracket directly behind a word can be meant as a citation: nothing goes on behind it.
func closesSentence(rest string) bool {
	return rest == "" || strings.IndexByte(".,;:!?\n", rest[0]) >= 0
}

// following is where the sentence ends that begins here, or its line, or where the next citation begins; -1 if none does.
func following(s string) int {
	stop := -1
	if m := sentEnded.FindStringIndex(s); m != nil {
		stop = m[1]
	}
	if i := strings.IndexAny(s, "\n["); i >= 0 && (stop < 0 || i < stop) {
		stop = i
	}
	return stop
}

// check writes a group of citations with their marks.
func (c *cited) check(group, said string) (marked string, refused []turn.Citation, n int) {
	numbers := citation.FindAllStringSubmatchIndex(group, -1)
	pages := make([]*websearch.Witness, len(numbers))
	for i, m := range numbers {
		source, _ := strconv.Atoi(group[m[2]:m[3]])
		if pages[i] = c.page(source); pages[i] == nil { // not ours: the guard's matter
			return group, nil, 0
		}
	}
	var out strings.Builder
	copied := 0
	for i, why := range websearch.CheckCitation(said, pages) {
		if why == "" {
			continue
		}
		m := numbers[i]
		out.WriteString(group[copied:m[3]] + "?")
		copied = m[3]
		source, _ := strconv.Atoi(group[m[2]:m[3]])
		refused = append(refused, turn.Citation{Source: source, Text: cutUnits(strings.TrimSpace(said), 200), Refused: why})
	}
	return out.String() + group[copied:], refused, len(numbers)
}

// page is what was read of a source; nil if there is no such source.
func (c *cited) page(n int) *websearch.Witness {
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
	for _, claim := range c.look.Summary {
		if claim.Source == n {
			texts = append(texts, claim.Text, claim.Quote)
		}
	}
	if c.pages == nil {
		c.pages = map[int]*websearch.Witness{}
	}
	c.pages[n] = websearch.NewWitness(texts...)
	return c.pages[n]
}
