package outgoing

import (
	"regexp"
	"strings"
)

// Angle brackets and mentions (O6).

var (
	mention = regexp.MustCompile(`^<(?:@[!&]?[0-9]+|#[0-9]+|/[^<>\n]{1,120}:[0-9]+|t:-?[0-9]+(?::[a-zA-Z])?|id:[a-z-]+(?::[0-9]+)?)>`)
	// inAngle is as generous as Discord is: one slash does, and line ends and "<" are a part of the link.
	inAngle = regexp.MustCompile(`^(?i)<(https?:/[^ >]+)>`)
)

func (c *scrubber) angle() {
	near := c.s[c.i:min(len(c.s), c.i+200)]
	if m := mention.FindString(near); m != "" && c.i >= c.sure {
		c.found.add("O6", 1, m)
		c.replace(c.i, c.i+len(m), "")
		return
	}
	var m []string
	if end := strings.IndexByte(c.s[c.i:min(len(c.s), c.i+maxLink+maxMarks)], '>'); end >= 0 { // the pattern would be slow to find that there is none
		m = inAngle.FindStringSubmatch(c.s[c.i : c.i+end+1])
	}
	if m == nil {
		c.i++
		return
	}
	canonical, rule := c.allow(m[1])
	if rule != "" {
		c.remove(rule, c.i, c.i+len(m[0]))
		return
	}
	c.replace(c.i, c.i+len(m[0]), "<"+canonical+">")
}

// everyone drops the @ of @everyone and @here. A space after it would do for Discord, but a bridge or another bot
// that tidies white space would put the mention together again; without the sign there is none.
func (c *scrubber) everyone() {
	end := c.i
	for end < len(c.s) && c.s[end] == '@' {
		end++
	}
	for _, all := range []string{"everyone", "here"} {
		if len(c.s)-end >= len(all) && strings.EqualFold(c.s[end:end+len(all)], all) {
			c.found.add("O6", 1, c.s[end-1:end+len(all)])
			c.replace(c.i, end, "")
			return
		}
	}
	c.i = end
}
