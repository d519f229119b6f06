package lore

import (
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
)

const (
	longest = 700 // characters of a passage
	enough  = 350 // after which a paragraph begins another one
	between = " › "
)

// Cut cuts a Markdown file into passages: at each heading, and between paragraphs where a passage is long enough. A paragraph that is too
// long is cut at the end of a line or sentence. What stands between fences is no heading. Headings alone make no passage.
func Cut(file, markdown string) []Passage {
	c := cutting{file: file}
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

// heading reads the line of a heading (CommonMark, ATX headings): its level from 1 to 6, or 0.
func heading(line string) (level int, title string) {
	title = strings.TrimLeft(line, "#")
	level = len(line) - len(title)
	if level == 0 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, ""
	}
	return level, text.Truncate(text.OneLine(strings.TrimRight(strings.TrimSpace(title), "# ")), 100)
}

// cutting is a file that is being cut.
type cutting struct {
	file  string
	above []string // headings
	lines []string // of the passage that is not full
	line  int      // on which it begins
	size  int      // its characters
	done  []Passage
}

func (c *cutting) add(n int, line string) {
	for rest := line; rest != ""; {
		piece := fitting(rest)
		rest = strings.TrimLeft(rest[len(piece):], " \t")
		size := utf8.RuneCountInString(piece)
		if c.size > 0 && c.size+size > longest {
			c.end()
		}
		if c.size == 0 {
			c.line = n
		}
		c.lines = append(c.lines, piece)
		c.size += size + 1
	}
}

// fitting returns as much of a line as a passage holds: all of it, or up to the last sentence that fits, else the last word, else what
// fits.
func fitting(line string) string {
	head, n := line, 0
	for i := range line {
		if n == longest {
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

// paragraph ends a passage that is long enough, and keeps a paragraph's end in one that is not.
func (c *cutting) paragraph() {
	if c.size >= enough {
		c.end()
	} else if c.size > 0 && c.lines[len(c.lines)-1] != "" {
		c.lines = append(c.lines, "")
	}
}

func (c *cutting) end() {
	if body := strings.TrimSpace(strings.Join(c.lines, "\n")); body != "" {
		var above []string
		for _, h := range c.above {
			if h != "" {
				above = append(above, h)
			}
		}
		c.done = append(c.done, Passage{File: c.file, Line: c.line, Heading: strings.Join(above, between), Text: body})
	}
	c.lines, c.size = nil, 0
}
