package recall

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Passage is a part of a file of lore.
type Passage struct {
	File    string // such as "lore/harbour.md"
	Line    int    // where it begins in the file, from 1
	Heading string // the headings above it, the outermost first, such as "The town › The harbour"; may be empty
	Text    string

	section int // number in the library; the passages under one heading share it
}

// Library holds passages with an index of their words. It is safe for concurrent use.
type Library struct {
	passages []Passage
	index    func() map[string][]int // by the key of a word: the passages with that word, each once, in order. Made at first use, as all languages are

	mu    sync.Mutex
	stems map[string]map[string][]string // by language: the words of the index by their stems; guarded by mu
}

// loreHit is a passage that was found.
type loreHit struct {
	Passage
	score  float64
	why    []Reason
	share  float64 // the share of the question's words, by weight, that the passage has
	titled bool    // the question names the passage's heading
}

// NewLibrary cuts files of Markdown into passages and indexes them. files yields the name and the text of each.
func NewLibrary(files iter.Seq2[string, string]) *Library {
	var passages []Passage
	for name, text := range files {
		passages = append(passages, CutPassages(name, text)...)
	}
	return newLibrary(passages)
}

// NewAnswers indexes answers in Markdown. A heading of the first level names the page that says more. One of the second level has the words
// of the questions that the text below it answers.
func NewAnswers(markdown string) *Library {
	var all []Passage
	page := ""
	for part := range strings.SplitSeq("\n"+markdown, "\n#") {
		title, answer, _ := strings.Cut(part, "\n")
		if words, answers := strings.CutPrefix(title, "# "); answers {
			all = append(all, Passage{File: page, Heading: words, Text: strings.TrimSpace(answer)})
		} else {
			page = strings.TrimLeft(title, "# ")
		}
	}
	return newLibrary(all)
}

// newLibrary indexes passages. The passages of a file must follow one another.
func newLibrary(passages []Passage) *Library {
	for i := 1; i < len(passages); i++ {
		p, before := &passages[i], &passages[i-1]
		p.section = before.section
		if p.File != before.File || p.Heading != before.Heading {
			p.section++
		}
	}
	return &Library{passages: passages, index: sync.OnceValue(func() map[string][]int { return indexed(passages) }), stems: map[string]map[string][]string{}}
}

// indexed returns the places of passages by the keys of their words.
func indexed(passages []Passage) map[string][]int {
	index := map[string][]int{}
	for i := range passages {
		for _, key := range keys(passages[i].words()) {
			if in := index[key]; len(in) == 0 || in[len(in)-1] != i {
				index[key] = append(in, i)
			}
		}
	}
	return index
}

// len returns the number of passages. A nil library has none.
func (l *Library) len() int {
	if l == nil {
		return 0
	}
	return len(l.passages)
}

// words returns the text by which a passage is found.
func (p *Passage) words() string {
	if p.Heading == "" {
		return p.Text
	}
	return p.Heading + ".\n" + p.Text
}

// keys returns the keys of the content words of a text.
func keys(s string) (all []string) {
	for _, w := range text.Words(s) {
		if written := s[w.Start:w.End]; text.Unspaced(written) {
			all = append(all, text.Pairs(written)...)
		} else if text.Meaningful(w.Key) {
			all = append(all, w.Key)
		}
	}
	return all
}

const (
	maxSeeds  = 24  // passages that are ranked, besides their neighbours
	kinWeight = 0.3 // of a related word, relative to a word of the question
)

// find returns the passages that have words of a question or related words, the best first.
func (l *Library) find(q *query) []loreHit {
	if l.len() == 0 {
		return nil
	}
	scores, weights := l.score(q)
	var seeds []int
	for i, score := range scores {
		if score > 0 {
			seeds = append(seeds, i)
		}
	}
	slices.SortStableFunc(seeds, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	near := map[int]bool{}
	for _, i := range seeds[:min(len(seeds), maxSeeds)] {
		for _, j := range []int{i - 1, i, i + 1} {
			if j >= 0 && j < len(l.passages) && l.passages[j].section == l.passages[i].section {
				near[j] = true
			}
		}
	}
	var messages []turn.Message
	for i := range near {
		messages = append(messages, l.asMessage(i))
	}
	stems := map[string]bool{}
	for _, stem := range q.termStems() {
		stems[stem] = true
	}
	var found []loreHit
	for _, h := range q.rank(messages, weights) {
		i, _ := strconv.Atoi(h.ID) // an id that asMessage made
		if scores[i] > 0 {
			p := l.passages[i]
			found = append(found, loreHit{p, h.Score, h.Why, h.Share, titled(p.Heading, stems, q.lang)})
		}
	}
	return found
}

// score returns the score of each passage for the words that it has, and the weights of the question's words. Rare words weigh more.
func (l *Library) score(q *query) (scores, weights []float64) {
	byStem := l.byStem(q.lang)
	scores = make([]float64, len(l.passages))
	for _, stem := range q.termStems() {
		in := l.with(byStem[stem])
		weight := text.IDF(len(in), len(l.passages))
		weights = append(weights, weight)
		for _, i := range in {
			scores[i] += weight
		}
	}
	for _, word := range q.kinWords() {
		in := l.with(byStem[stemOf(text.Fold(word), q.lang)])
		for _, i := range in {
			scores[i] += kinWeight * text.IDF(len(in), len(l.passages))
		}
	}
	return scores, weights
}

// with returns the passages that have at least one of the words, each once.
func (l *Library) with(words []string) (all []int) {
	for _, w := range words {
		all = append(all, l.index()[w]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// byStem returns the words of the index, grouped by their stems in a language.
func (l *Library) byStem(language string) map[string][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.stems[language]
	if all == nil {
		all = map[string][]string{}
		for key := range l.index() {
			stem := stemOf(key, language)
			all[stem] = append(all[stem], key)
		}
		l.stems[language] = all
	}
	return all
}

// asMessage returns a passage in the form that can be ranked. A file is a channel, and a section is a session. The times are in the year 1,
// which no question asks about.
func (l *Library) asMessage(i int) turn.Message {
	p := &l.passages[i]
	return turn.Message{ID: strconv.Itoa(i), ChannelID: p.File, Text: p.words(), At: time.Time{}.Add(time.Duration(p.section)*4*time.Hour + time.Duration(i)*time.Millisecond)}
}

// titled reports whether the stems include all content words of the last heading.
func titled(heading string, stems map[string]bool, language string) bool {
	all := keys(heading[strings.LastIndex(heading, headingSeparator)+1:])
	return len(all) > 0 && !slices.ContainsFunc(all, func(key string) bool { return !stems[stemOf(key, language)] })
}

// passages returns the passages that bear on a message: they have enough of its words, or it names their heading.
func (p *MemoryProvider) passages(q *asked) (found []loreHit) {
	if p.Lore.len() == 0 || len(q.terms) == 0 || q.room == 0 {
		return nil
	}
	for _, h := range p.Lore.find(q.query) {
		if len(found) == 2*maxPassages || len(found) > 0 && h.score < found[0].score-maxScoreGap {
			break
		}
		if h.titled || h.share >= q.enough {
			found = append(found, h)
		}
	}
	return found
}

// wholeShare is the share of a question's words that an answer about the program has: all of them.
const wholeShare = 0.99

// aboutProgram returns the bundled answer to a question about the bot, or nil. "What do you know about Docker?" asks about Docker.
func (p *MemoryProvider) aboutProgram(q *asked) []turn.Contribution {
	if p.Answers.len() == 0 || len(q.terms) == 0 || len(q.terms) == 1 && q.keys["about"] || !q.speaksToBot() && !q.asksFor {
		return nil
	}
	oneWord := len(q.terms) == 1 && !q.speaksToBot() && !q.keys["familiar"]
	var best []turn.Contribution
	most := -1 // words of the question in the heading
	for _, h := range p.Answers.find(q.query) {
		if oneWord && !strings.HasPrefix(h.Heading, "What is ") && !(q.keys["it"] && strings.HasPrefix(h.Heading, "Is it ")) {
			continue // the passage does not say what the word means, nor what "it" is like
		}
		if n := q.inHeading(h.Heading); h.share >= wholeShare && n > most && (n > 0 || !oneWord) {
			best, most = []turn.Contribution{{Layer: turn.Content, Source: turn.AboutProgram, Recalled: []turn.Recalled{{Text: h.Text, File: h.File, Share: h.share}}}}, n
		}
	}
	return best
}

// inHeading counts the stems of a question that are in a heading.
func (q *asked) inHeading(heading string) (n int) {
	in := map[string]bool{}
	for _, key := range keys(heading) {
		in[stemOf(key, q.lang)] = true
	}
	for _, stem := range q.termStems() {
		if in[stem] {
			n++
		}
	}
	return n
}

// speaksToBot reports whether a message says "you". Of others the web is asked first: "how do I add a model?" may be about another program.
func (q *asked) speaksToBot() bool { return text.ContainsAny(q.said, text.SecondPerson("en")) }

const (
	maxPassageLength = 700 // characters
	minPassageLength = 350 // characters after which the next paragraph begins a new passage
	headingSeparator = " › "
)

// CutPassages cuts a Markdown file into passages: at each heading, and between paragraphs once a passage is long enough. Paragraphs that are
// too long are cut at the end of a line or sentence. A line inside a code fence is never a heading. A heading without text makes no passage.
func CutPassages(file, markdown string) []Passage {
	c := cutter{file: file}
	fence := ""
	for i, line := range strings.Split(markdown, "\n") {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		} else if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = trimmed[:3]
		} else if level, title := heading(trimmed); level > 0 {
			c.end()
			c.above = append(c.above[:min(level-1, len(c.above))], title)
			continue
		} else if trimmed == "" {
			c.paragraph()
			continue
		}
		c.add(i+1, strings.TrimRight(line, " \t\r"))
	}
	c.end()
	return c.done
}

// heading parses an ATX heading of CommonMark. The level is 1 to 6, or 0 if the line is not a heading.
func heading(line string) (level int, title string) {
	title = strings.TrimLeft(line, "#")
	level = len(line) - len(title)
	if level == 0 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, ""
	}
	return level, text.Truncate(text.OneLine(strings.TrimRight(strings.TrimSpace(title), "# ")), 100)
}

// cutter cuts a file into passages.
type cutter struct {
	file  string
	above []string // headings
	lines []string // of the current passage
	line  int      // where the current passage begins
	size  int      // characters of the current passage
	done  []Passage
}

// add adds line n to the current passage, and ends the passage first if the line does not fit.
func (c *cutter) add(n int, line string) {
	for rest := line; rest != ""; {
		piece := fitting(rest)
		rest = strings.TrimLeft(rest[len(piece):], " \t")
		size := utf8.RuneCountInString(piece)
		if c.size > 0 && c.size+size > maxPassageLength {
			c.end()
		}
		if c.size == 0 {
			c.line = n
		}
		c.lines = append(c.lines, piece)
		c.size += size + 1
	}
}

// fitting returns the part of a line that fits into a passage. It ends with the line, else with a sentence, else with a word.
func fitting(line string) string {
	head, n := line, 0
	for i := range line {
		if n == maxPassageLength {
			head = line[:i]
			break
		}
		n++
	}
	if head == line {
		return line
	}
	best := 0
	for _, mark := range []string{". ", "! ", "? ", "。", "！", "？"} {
		if i := strings.LastIndex(head, mark); i >= 0 {
			best = max(best, i+len(strings.TrimRight(mark, " ")))
		}
	}
	if best < len(head)/2 {
		best = strings.LastIndexAny(head, " \t")
	}
	if best <= 0 {
		return head
	}
	return head[:best]
}

// paragraph ends the current passage at the end of a paragraph if it is long enough. Otherwise the passage continues with an empty line.
func (c *cutter) paragraph() {
	if c.size >= minPassageLength {
		c.end()
	} else if c.size > 0 && c.lines[len(c.lines)-1] != "" {
		c.lines = append(c.lines, "")
	}
}

// end ends the current passage.
func (c *cutter) end() {
	if body := strings.TrimSpace(strings.Join(c.lines, "\n")); body != "" {
		var above []string
		for _, h := range c.above {
			if h != "" {
				above = append(above, h)
			}
		}
		c.done = append(c.done, Passage{File: c.file, Line: c.line, Heading: strings.Join(above, headingSeparator), Text: body})
	}
	c.lines, c.size = nil, 0
}
