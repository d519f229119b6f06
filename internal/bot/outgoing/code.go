package outgoing

import (
	"regexp"
	"strings"
)

// Code.

// codes finds the code in a text that is read from its beginning. Citations in code are left alone, and mentions in code that
// every reader takes for the same.
type codes struct {
	plain bool // from here on nothing is taken for code
	odd   bool // there was a block that some readers do not take for one, or not for the same
	doubt bool // from here on some readers may find other code
}

// at reads the backticks at s[i] and returns where they end and where the code ends that they begin, 0 if they begin none. A
// block that nothing closes is open: it goes on to the end of the text, where it is closed when it is posted.
func (c *codes) at(s string, i int) (ticks, end int, open bool) {
	run := runOf(s[i:])
	ticks = i + len(run)
	length := closing(s[ticks:], run)
	block := len(run) >= 3 && lineStart(s[:i])
	if length < 0 {
		open = block && !c.plain && !c.odd && opens(s, i, ticks)
		c.doubt = c.doubt || len(run) > 1 && !open
		c.odd = c.odd || len(run) >= 3 && !open
		return ticks, 0, open
	}
	c.odd = c.odd || len(run) >= 3 && !(blankBefore(s[:i]) && blankBefore(s[:ticks+length]) && strings.HasPrefix(s[ticks+length+len(run):min(len(s), ticks+length+len(run)+1)]+"\n", "\n"))
	// What is neither a block nor short and on one line may be cut when it is posted, and then is no code.
	apart := !block && (length > longestHold || strings.Contains(s[ticks:ticks+length], "\n"))
	// Discord ends a block of four backticks at the first three.
	apart = apart || len(run) > 3 && strings.Contains(s[ticks:ticks+length], "```")
	c.plain = c.plain || apart // readers then differ on where the next code begins
	escaped := i > 0 && s[i-1] == '\\'
	c.doubt = c.doubt || c.plain || escaped || len(run) >= 3 && !isBlock(s, i, ticks, ticks+length)
	if c.plain || escaped {
		return ticks, 0, false
	}
	return ticks, ticks + length + len(run), false
}

// isBlock reports whether every reader takes the code s[from:to], whose backticks begin at i, for a block: its fences have lines
// of their own, which are not within a list or a quotation.
func isBlock(s string, i, from, to int) bool {
	info, _, more := strings.Cut(s[from:to], "\n")
	return from-i == 3 && more && (i == 0 || s[i-1] == '\n') && len(info) <= longestInfo && infoWord.MatchString(info) &&
		s[to-1] == '\n' && !strings.Contains(s[from:to], "```") && strings.HasPrefix(s[to+3:min(len(s), to+4)]+"\n", "\n")
}

var infoWord = regexp.MustCompile(`^[A-Za-z0-9_+.#-]*$`)

// longestInfo limits the name of a language behind a fence, in bytes. A longer one may be cut.
const longestInfo = 40

// opens reports whether every reader takes a block that is not closed for one: it begins its line, has code in it, and there are
// no more fences behind it nor any of the other kind.
func opens(s string, from, ticks int) bool {
	info, code, _ := strings.Cut(s[ticks:], "\n")
	return len(info) <= longestInfo && strings.TrimSpace(code) != "" && blankBefore(s[:from]) && !strings.Contains(info, "`") && !strings.Contains(code, "```") && !strings.Contains(s, "~~~")
}

// blankBefore reports whether the last line of before is blank.
func blankBefore(before string) bool {
	return strings.Trim(before[strings.LastIndexByte(before, '\n')+1:], " \t") == ""
}

// backticks notes where code begins and ends. The code is not looked at by itself, because where Discord sees no code a link
// goes on behind the backticks.
func (c *scrubber) backticks() {
	ticks, end, open := c.codes.at(c.s, c.i)
	c.i = ticks
	if end > 0 {
		c.code = end
		if code := c.s[ticks:end]; !c.codes.doubt && !strings.ContainsAny(code, "*_~|") {
			c.sure = end // the marks might end a style that began before it, and with that the code
		}
	}
	if open {
		c.block = len(c.s)
	}
}

// runOf returns the run of backticks that s begins with.
func runOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "`"))] }

// closing returns the index of the first run of exactly these backticks; -1 if there is none.
func closing(s, ticks string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], ticks)
		if i < 0 {
			return -1
		}
		at += i
		run := len(runOf(s[at:]))
		if run == len(ticks) {
			return at
		}
		at += run
	}
}
