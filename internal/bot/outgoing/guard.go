package outgoing

import (
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

const (
	// Withheld is the whole reply in place of one that held a secret.
	Withheld = "I can't post that answer: it held something that has to stay private."

	linkRemoved = "(link removed)"
	// guardRounds limits how often taking something out may put something else together. Honest text needs two.
	guardRounds = 8
)

// Guard returns text without what a reply may not hold, and what it took out, by rule. It is idempotent. Links that stay are
// written <url>, in canonical form: a fragment or a tracking parameter could carry a message. In code, it looks for links and
// secrets alone, because everything else is shown there as it is written.
func (r Rules) Guard(text string) (string, []turn.Guarded) {
	var found tally
	for range guardRounds {
		before := text
		if r.Secrets.Found(text) {
			break
		}
		var cleaned clean.Report
		text, cleaned = clean.Reply(text)
		for _, n := range cleaned {
			found.add("O10", n, "")
		}
		if text != before && r.Secrets.Found(text) {
			break
		}
		if text = r.scrub(text, &found); text == before {
			return text, found
		}
	}
	if r.Secrets.Found(text) {
		return Withheld, []turn.Guarded{{Rule: "O11", Count: 1}}
	}
	// Nobody nests this deeply by accident, and the next round might put anything together.
	return Withheld, append(found, turn.Guarded{Rule: "O1", Count: 1, What: "nested"})
}

// tally counts what each rule took out, in the order of the first times.
type tally []turn.Guarded

func (t *tally) add(rule string, n int, what string) {
	i := slices.IndexFunc(*t, func(g turn.Guarded) bool { return g.Rule == rule })
	if i < 0 {
		*t = append(*t, turn.Guarded{Rule: rule, What: inertLink(what)})
		i = len(*t) - 1
	}
	(*t)[i].Count += n
}

// inertLink makes what was removed safe to show: short, and neither a link nor a mention.
func inertLink(s string) string {
	return strings.NewReplacer("://", "[:]//", ".", "[.]", "<", "‹", ">", "›", "@", "(at)").Replace(clean.Line(s, 60))
}

// scrubber goes once through a text. What it leaves alone is copied in long pieces.
type scrubber struct {
	Rules
	s      string
	i      int // next byte to look at
	copied int // s up to here is in out
	out    strings.Builder
	found  *tally

	codes    codes
	code     int // end of the code that is being looked at
	sure     int // end of the code that every reader takes for it
	block    int // end of the open block of code in which numbers are left alone
	tokenEnd int // of the last link that was looked at
}

// scrub applies the rules once; in code, only those for links.
func (r Rules) scrub(s string, found *tally) string {
	c := scrubber{Rules: r, s: s, found: found}
	c.codes.doubt = strings.Contains(s, "~~~") // which are fences for some readers
	for c.i < len(s) {
		code := c.i < c.code
		switch b := s[c.i]; {
		case b == ':':
			c.colon()
		case b == '.':
			c.dot()
		case b == '<':
			c.angle()
		case b == '@' && c.i >= c.sure:
			c.everyone()
		case code:
			c.i++
		case b >= utf8.RuneSelf:
			c.cite()
		case b == '-':
			c.smallType()
		case b != '`' && b != '[' && b != '!':
			c.i++
		case b == '`':
			c.backticks()
		default:
			c.bracket()
		}
	}
	if c.copied == 0 {
		return s
	}
	c.out.WriteString(s[c.copied:])
	return c.out.String()
}

// smallType takes the mark of small type off a line: only code writes such lines, as for the sources (O8).
func (c *scrubber) smallType() {
	mark := SmallType[:len(SmallType)-1]
	end := c.i + len(mark)
	if !strings.HasPrefix(c.s[c.i:], mark) || end < len(c.s) && !strings.ContainsRune(" \t\n", rune(c.s[end])) || !blankBefore(strings.TrimRight(c.s[:c.i], "> ")) {
		c.i++
		return
	}
	for end < len(c.s) && (c.s[end] == ' ' || c.s[end] == '\t') {
		end++
	}
	c.found.add("O8", 1, "small type")
	c.replace(c.i, end, "")
}

// replace puts with in place of s[from:to] and goes on after it.
func (c *scrubber) replace(from, to int, with string) {
	c.out.WriteString(c.s[c.copied:from])
	c.out.WriteString(with)
	c.i, c.copied = to, to
}

// remove notes a rule and puts "(link removed)" in place of a link, separate from a bracket that would make it a link's
// target.
func (c *scrubber) remove(rule string, from, to int) {
	c.found.add(rule, 1, c.s[from:to])
	with := linkRemoved
	if from > 0 && c.s[from-1] == ']' {
		with = " " + with
	}
	c.replace(from, to, with)
}
