package outgoing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/web/clean"
	"familiar/internal/web/guard"
)

// Square brackets: images and labels (O3), definitions (O4), citations (O8).

var (
	definition = regexp.MustCompile(`^\[[^\]\n]{1,200}\]:[ \t]*(?:<?[a-zA-Z][a-zA-Z0-9+.-]*:|<?//|www\.|<?[^\s<>]+\.[a-z]{2,}/)[^\n]*\n?`)
	target     = regexp.MustCompile(`^\(\s*(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)`)
)

// longestLabel limits a link's words, in bytes.
const longestLabel = 500

// bracket handles "[" and "![".
func (c *scrubber) bracket() {
	open := c.i
	image := c.s[open] == '!'
	if image {
		open++
		if open == len(c.s) || c.s[open] != '[' {
			c.i++
			return
		}
	}
	if !image && lineStart(c.s[:open]) {
		if m := definition.FindString(c.s[open:]); m != "" {
			c.found.add("O4", 1, m)
			c.replace(open, open+len(m), "")
			return
		}
	}
	label, m := linkAt(c.s[open:])
	switch {
	case m != nil && image:
		c.found.add("O3", 1, c.s[c.i:open+len(label)+2+len(m[0])])
		c.replace(c.i, open+len(label)+2+len(m[0]), c.scrub(label, c.found))
	case m != nil && linkTarget.MatchString(m[1]+m[2]):
		c.labelledLink(label, m[1]+m[2], open+len(label)+2+len(m[0]))
	case image:
		c.i++ // after "!", the bracket is looked at by itself
	default:
		c.cite()
	}
}

// linkTarget matches what may be meant as an address.
var linkTarget = regexp.MustCompile(`[:/.]`)

// linkAt reads "[label](target)"; m is nil if s does not begin with one.
func linkAt(s string) (label string, m []string) {
	depth := 0
	for i := 0; i < min(len(s), longestLabel); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return s[1:i], target.FindStringSubmatch(s[i+1:])
			}
		}
	}
	return "", nil
}

// labelledLink checks the link [label](address), which ends at end.
func (c *scrubber) labelledLink(label, address string, end int) {
	canonical, rule := c.allow(address)
	whole := c.s[c.i:end]
	n, err := strconv.Atoi(label)
	number := err == nil && n >= 0 && n <= highest
	if number && !c.valid(n) {
		c.found.add("O8", 1, whole)
		c.replace(c.i, end, "")
		return
	}
	if rule == "" && !c.honest(label, canonical) {
		rule = "O3"
	}
	shown := c.scrub(label, c.found)
	switch {
	case rule == "" && strings.Trim(shown, " <>") == canonical:
		c.replace(c.i, end, "<"+canonical+">")
	case rule == "":
		c.replace(c.i, end, "["+shown+"](<"+canonical+">)")
	default:
		c.found.add(rule, 1, whole)
		if number {
			shown = "[" + label + "]"
		}
		c.replace(c.i, end, strings.TrimLeft(shown+" "+linkRemoved, " "))
	}
}

var domain = regexp.MustCompile(`^(?i)(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/\S*)?$`)

// honest reports whether a label that looks like an address is the address it leads to: the whole of it, or its host.
func (c *scrubber) honest(label, canonical string) bool {
	label = strings.Trim(label, " <>*_`~")
	if domain.MatchString(label) {
		claimed, err := guard.Parse("https://" + label)
		actual, _ := guard.Parse(canonical)
		return err != nil || actual != nil && strings.TrimPrefix(claimed.Host, "www.") == strings.TrimPrefix(actual.Host, "www.")
	}
	if !strings.Contains(label, "://") {
		return true
	}
	claimed, ok := guard.Canonical(label)
	return ok && claimed == canonical
}

// highest is the highest number that is taken for a citation. A higher one is a year, or a count of something.
const highest = 99

func (c *scrubber) valid(n int) bool { return n >= 1 && n <= c.Citations }

// cite writes the valid numbers of a reference in the one form [n][m], and drops the others. In prose a number directly behind
// a word is a reference too: an index, as in a[0], belongs in code.
func (c *scrubber) cite() {
	end, all := clean.ReferenceAt(c.s, c.i)
	if end == 0 || c.i < c.block || slices.ContainsFunc(all, func(n int) bool { return n > highest }) {
		c.i++
		return
	}
	whole := c.s[c.i:end]
	valid, unknown := "", 0
	for _, n := range all {
		if c.valid(n) {
			valid += "[" + strconv.Itoa(n) + "]"
		} else {
			unknown++
		}
	}
	if unknown > 0 || len(all) == 0 {
		c.found.add("O8", max(1, unknown), whole)
	}
	from := c.i
	switch {
	case valid == whole:
		c.i = end
		return
	case valid == "" && from > c.copied && c.s[from-1] == '\\':
		from--
	case valid == "" && from > c.copied && c.s[from-1] == ' ' &&
		(end == len(c.s) || strings.IndexByte(" .,;:!?)\n", c.s[end]) >= 0):
		from-- // the space that set the number apart
	}
	c.replace(from, end, valid)
}

// lineStart reports whether the last line of before holds nothing but the marks of a list or a quotation.
func lineStart(before string) bool {
	prefix := strings.TrimRight(before[max(0, len(before)-16):], " \t>*-")
	return prefix == "" || strings.HasSuffix(prefix, "\n")
}
