package card

import (
	"slices"
	"strings"
)

// span is a part of the text.
type span struct{ from, to int }

// opener is a macro that may enclose what follows, as {{if …}} does. It does so up to the same macro with a slash.
type opener struct {
	name   string
	within int // the macro around it; -1: none
}

// pair notes what the macro at a place encloses, or which one it closes. around are the macros that it is in.
func (x *expansion) pair(waiting map[opener][]int, at int, around []int) {
	name, rest := macroName(x.text[at+2 : x.end[at]-2])
	here := opener{name, -1}
	if n := len(around); n > 0 {
		here.within = around[n-1]
	}
	if closed, ok := strings.CutPrefix(name, "/"); ok && closed != "" && name != "//" {
		here.name = closed
		if n := len(waiting[here]); n > 0 {
			x.close[waiting[here][n-1]], waiting[here] = at, waiting[here][:n-1]
			x.closes[at] = true
		}
		return
	}
	m, _ := lookup(name)
	one := m.branch || m.apply2 != nil // what it encloses is its second argument
	if rest == "" && (m.encloses || m.trim || m.apply != nil) || rest != "" && one && x.next(x.end[at]-2-len(rest), x.end[at]-2, "::") < 0 {
		waiting[here] = append(waiting[here], at)
	}
}

// enclosed expands what a macro encloses. It drops the space around it, and the first line's indent from all lines.
func (x *expansion) enclosed(c call, s span) string {
	lines := strings.Split(x.argument(s, c.depth), "\n")
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	if first := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" }); first >= 0 {
		base := indent(lines[first])
		for i, line := range lines {
			lines[i] = line[min(base, indent(line)):]
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// branch returns what {{if condition}} encloses, up to its {{else}} if the condition holds, or else from there on.
func (x *expansion) branch(c call) string {
	then, otherwise := *c.inner, span{c.inner.to, c.inner.to}
	for at := then.from; at < then.to; at++ {
		end := x.end[at]
		if end == 0 {
			continue
		}
		if name, _ := macroName(x.text[at+2 : end-2]); name == "else" {
			then.to, otherwise.from = at, end
			break
		}
		if last := x.close[at]; last > 0 {
			end = x.end[last]
		}
		at = end - 1
	}
	if !x.holds(c) {
		then = otherwise
	}
	return x.enclosed(c, then)
}

// holds reports whether a condition holds: the name of a macro or of a variable, or a value. ! before it inverts it.
func (x *expansion) holds(c call) bool {
	from := c.from
	for from < c.to && strings.ContainsRune(" \t\r\n", rune(x.text[from])) {
		from++
	}
	inverted := from < c.to && x.text[from] == '!'
	written := span{from + toInt(inverted), c.to}
	value := strings.TrimSpace(x.argument(written, c.depth))
	if name := strings.TrimSpace(x.text[written.from:written.to]); name == value { // no macro's value is read as a name
		m, known := lookup(strings.ToLower(name))
		if known && m.apply2 == nil || !known && shorthand.MatchString(name) {
			value = x.env.Expand("{{" + name + "}}")
		}
	}
	return !slices.Contains([]string{"", "off", "false", "0"}, strings.ToLower(value)) != inverted
}
