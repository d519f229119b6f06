package bot

import "strings"

// Code.

// backticks looks for the end of a code span or block; without one it is no code. What is in it is not cut out to
// be looked at: where Discord sees no code, a link goes on behind the backticks.
func (c *scrubber) backticks() {
	ticks := runOf(c.s[c.i:])
	start := c.i + len(ticks)
	length := closing(c.s[start:], ticks)
	// What is neither a block nor short and on one line may be cut apart when it is posted, and then is no code.
	apart := length >= 0 && !(len(ticks) >= 3 && lineStart(c.s[:c.i])) && (length > longestHold || strings.Contains(c.s[start:start+length], "\n"))
	c.plain = c.plain || apart // where the next code begins is then anybody's guess
	if length < 0 || apart || c.plain || c.i > 0 && c.s[c.i-1] == '\\' {
		c.i = start
		return
	}
	c.i, c.code = start, start+length+len(ticks)
}

// runOf is the run of backticks that s begins with.
func runOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "`"))] }

// closing is how far it is to a run of exactly the same backticks; -1 if there is none.
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
