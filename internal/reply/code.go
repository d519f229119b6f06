package reply

import (
	"familiar/internal/text"
	"strings"
)

// codes finds code in a text read from its start. Citations in code stay, and so do mentions if all readers agree that
// it is code.
type codes struct {
	plain bool // nothing after this is treated as code
	odd   bool // readers disagree about a block
	doubt bool // readers may find other code after this
}

// at reads the backticks at s[i]. It returns where they end and where their code ends, or 0 if they begin no code. An
// unclosed block is open: it extends to the end of the text, and Split closes it.
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
	// Code that is neither a block nor short and on one line may be cut. It would then not be code.
	apart := !block && (length > longestHold || strings.Contains(s[ticks:ticks+length], "\n"))
	// Discord ends a block of four backticks at the first three.
	apart = apart || len(run) > 3 && strings.Contains(s[ticks:ticks+length], "```")
	c.plain = c.plain || apart // readers disagree about where the next code begins
	escaped := i > 0 && s[i-1] == '\\'
	c.doubt = c.doubt || c.plain || escaped || len(run) >= 3 && !isBlock(s, i, ticks, ticks+length)
	if c.plain || escaped {
		return ticks, 0, false
	}
	return ticks, ticks + length + len(run), false
}

// isBlock reports whether all readers treat the code s[from:to], whose backticks begin at i, as a block. Its fences
// must be on lines of their own, outside lists and quotations.
func isBlock(s string, i, from, to int) bool {
	info, _, more := strings.Cut(s[from:to], "\n")
	return from-i == 3 && more && (i == 0 || s[i-1] == '\n') && len(info) <= longestInfo && infoWord.MatchString(info) &&
		s[to-1] == '\n' && !strings.Contains(s[from:to], "```") && strings.HasPrefix(s[to+3:min(len(s), to+4)]+"\n", "\n")
}

var infoWord = text.NewLazyRegexp(`^[A-Za-z0-9_+.#-]*$`)

// longestInfo limits the language name after a fence, in bytes. A longer one may be cut.
const longestInfo = 40

// opens reports whether all readers treat an unclosed block as a block. It must begin its line, contain code, and be
// followed by no fence of either kind.
func opens(s string, from, ticks int) bool {
	info, code, _ := strings.Cut(s[ticks:], "\n")
	return len(info) <= longestInfo && strings.TrimSpace(code) != "" && blankBefore(s[:from]) && !strings.Contains(info, "`") && !strings.Contains(code, "```") && !strings.Contains(s, "~~~")
}

// blankBefore reports whether the last line of before is blank.
func blankBefore(before string) bool {
	return strings.Trim(before[strings.LastIndexByte(before, '\n')+1:], " \t") == ""
}

// backticks records where code begins and ends. It does not skip the code. A link may go on after backticks that Discord does not treat as
// code.
func (c *scrubber) backticks() {
	ticks, end, open := c.codes.at(c.s, c.i)
	c.i = ticks
	if end > 0 {
		c.code = end
		if code := c.s[ticks:end]; !c.codes.doubt && !strings.ContainsAny(code, "*_~|") {
			c.sure = end // the marks might end an earlier style, and with it the code
		}
	}
	if open {
		c.block = len(c.s)
	}
}

// runOf returns the run of backticks that s begins with.
func runOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "`"))] }

// closing returns the index of the first run with exactly these backticks, or -1.
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
