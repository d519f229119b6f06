// Package macro expands the macros of character cards: {{char}}, {{random::a::b}} and the like, those of the card specifications and
// the common ones of SillyTavern.
//
// [Expand] goes through a text once, from left to right. A macro may hold others, which are expanded first. What a macro brings in is
// never looked at again: a person called {{roll:6}} stays that. Macros that are not known stay as they are written; [Unknown] lists
// them. What is random comes from the ids of the turn and the chat, so that a turn that is repeated reads the same.
//
// The table of all macros is in table.go.
package macro

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	deepest = 16        // macros in macros
	most    = 256 << 10 // bytes of an expansion

	longestName = 64 // bytes
)

// Env is what macros stand for. The zero value of a field stands for nothing.
type Env struct {
	Char string // the character's name, or its nickname
	User string // whom it talks to
	// Original is what a text of the card takes the place of: {{original}}.
	Original string
	Now      time.Time // in the zone in which times are shown
	Idle     time.Duration

	Message, LastMessage, LastUserMessage, LastCharMessage string

	// Field returns a text of the card, such as its description, whose own macros are not yet expanded.
	Field  func(name string) string
	Chat   string // what {{pick}} stays the same for
	Turn   string // what {{random}} and {{roll}} stay the same for
	Tokens int    // that a prompt may have

	Outlets map[string]string // texts of lorebook entries, by the name of {{outlet::name}}
	Vars    *Vars             // variables, which the texts of a turn share; nil: a text has its own
	Hidden  bool              // the words of {{hidden_key:…}} are kept: the text is searched, and not shown
}

// Expand expands the macros of a text.
func Expand(text string, env *Env) string {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "<") {
		return text
	}
	if env.Vars == nil {
		own := *env
		own.Vars, env = &Vars{}, &own
	}
	x := newExpansion(text, env)
	x.run(0, len(text), 0)
	return string(x.out)
}

// Unknown lists the macros of a text that are left as they are, each once, without braces and what follows the name.
func Unknown(text string) (names []string) {
	for _, name := range all(text) {
		if _, known := table[name]; !known && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Varying lists the macros of a text whose value is another one from turn to turn, each once.
func Varying(text string) (names []string) {
	for _, name := range all(text) {
		if m, known := table[name]; known && m.varies && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// all are the names of a text's macros.
func all(text string) (names []string) {
	x := newExpansion(text, &Env{})
	for at := range text {
		if end := x.end[at]; end > 0 {
			name, _ := head(text[at+2 : end-2])
			names = append(names, name)
		}
	}
	return names
}

// expansion is the state of expanding one text.
type expansion struct {
	text string
	env  *Env
	end  map[int]int // by the place where a macro begins: behind its closing braces
	hash *string     // of text; empty: not yet made
	out  []byte
	trim bool // new lines that follow are left out
}

// newExpansion finds where each macro ends, in one pass.
func newExpansion(text string, env *Env) *expansion {
	x := &expansion{text: text, env: env, end: map[int]int{}, hash: new(string)}
	var open []int
	for i := 0; i+1 < len(text); {
		switch text[i : i+2] {
		case "{{":
			run := 0
			for i+run < len(text) && text[i+run] == '{' {
				run++
			}
			for at := i + run%2; at < i+run; at += 2 { // of an odd number, the first is a plain sign
				open = append(open, at)
			}
			i += run
		case "}}":
			if n := len(open); n > 0 {
				x.end[open[n-1]], open = i+2, open[:n-1]
			}
			i += 2
		default:
			i++
		}
	}
	return x
}

// run expands text[from:to].
func (x *expansion) run(from, to, depth int) {
	plain := from
	for i := from; i < to && len(x.out) < most; i++ {
		end := x.end[i]
		if end == 0 || end > to || depth == deepest {
			continue
		}
		name, rest := head(x.text[i+2 : end-2])
		m, known := table[name]
		if !known {
			continue // what it holds is still looked at
		}
		x.write(x.text[plain:i], true)
		x.macro(m, call{name: name, at: i, from: end - 2 - len(rest), to: end - 2, depth: depth + 1})
		i, plain = end-1, end
	}
	if plain < to {
		x.write(x.text[plain:to], true)
	}
}

// write adds text. Only the card's own holds the old forms <USER>, <CHAR> and <BOT>.
func (x *expansion) write(text string, own bool) {
	if own && strings.Contains(text, "<") {
		text = x.angled(text)
	}
	if x.trim {
		if text = strings.TrimLeft(text, "\r\n"); text == "" {
			return
		}
		x.trim = false
	}
	x.out = append(x.out, text[:min(len(text), max(0, most-len(x.out)))]...)
}

// angled replaces the old forms.
func (x *expansion) angled(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		switch {
		case hasFold(text, "<user>"):
			b.WriteString(x.env.User)
			text = text[len("<user>"):]
		case hasFold(text, "<char>"):
			b.WriteString(x.env.Char)
			text = text[len("<char>"):]
		case hasFold(text, "<bot>"):
			b.WriteString(x.env.Char)
			text = text[len("<bot>"):]
		default:
			b.WriteByte('<')
			text = text[1:]
		}
	}
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// call is one macro where it stands.
type call struct {
	name     string
	at       int // of its braces
	from, to int // what follows the name
	depth    int
}

func (x *expansion) macro(m macro, c call) {
	switch {
	case m.field != "":
		x.write(field(x.env, m.field), false)
	case m.trim:
		x.out = bytes.TrimRight(x.out, "\r\n")
		x.trim = true
	case m.value != nil:
		x.write(m.value(x.env), false)
	case m.choose != nil:
		if items := x.items(c); len(items) > 0 {
			chosen := items[m.choose(x, c, len(items))]
			for _, part := range chosen {
				x.run(part.from, part.to, c.depth)
			}
		}
	case m.apply2 != nil:
		first, rest := c, c
		first.to, rest.from = c.to, c.to
		if at := x.next(c.from, c.to, "::"); at >= 0 {
			first.to, rest.from = at, at+len("::")
		}
		name := x.argument(first)
		x.write(m.apply2(x, name, x.argument(rest)), false)
	case m.apply != nil:
		x.write(m.apply(x, c, x.argument(c)), false)
	}
}

// sum stands for the text in what is drawn.
func (x *expansion) sum() string {
	if *x.hash == "" {
		h := fnv.New64a()
		io.WriteString(h, x.text)
		*x.hash = strconv.FormatUint(h.Sum64(), 36)
	}
	return *x.hash
}

// field is a text of the card. It is expanded without such macros, so that no text holds itself.
func field(e *Env, name string) string {
	if e.Field == nil {
		return ""
	}
	plain := *e
	plain.Field, plain.Original = nil, ""
	return Expand(e.Field(name), &plain)
}

// argument is what follows a macro's name, expanded.
func (x *expansion) argument(c call) string {
	inner := &expansion{text: x.text, env: x.env, end: x.end, hash: x.hash}
	inner.run(c.from, c.to, c.depth)
	return string(inner.out)
}

// span is a part of the text.
type span struct{ from, to int }

// items takes a list apart, at :: or else at commas, before anything in it is expanded: a name with a comma is one item. An item may
// have several parts, since \, is a comma.
func (x *expansion) items(c call) [][]span {
	separator := ","
	if x.next(c.from, c.to, "::") >= 0 {
		separator = "::"
	}
	var items [][]span
	for from := c.from; ; {
		at := x.next(from, c.to, separator)
		end := at
		if at < 0 {
			end = c.to
		}
		items = append(items, x.parts(from, end, separator == ","))
		if at < 0 {
			break
		}
		from = at + len(separator)
	}
	return items
}

// next is where a separator comes next, not within a macro and not behind a backslash; -1: nowhere.
func (x *expansion) next(from, to int, separator string) int {
	for i := from; i+len(separator) <= to; i++ {
		switch {
		case x.end[i] > 0 && x.end[i] <= to:
			i = x.end[i] - 1
		case separator == "," && strings.HasPrefix(x.text[i:], `\,`):
			i++
		case strings.HasPrefix(x.text[i:], separator):
			return i
		}
	}
	return -1
}

// parts are those of an item: of a list with commas without white space around it and without the backslashes before commas.
func (x *expansion) parts(from, to int, commas bool) (parts []span) {
	if !commas {
		return []span{{from, to}}
	}
	for from < to && strings.ContainsRune(" \t\r\n", rune(x.text[from])) {
		from++
	}
	for to > from && strings.ContainsRune(" \t\r\n", rune(x.text[to-1])) {
		to--
	}
	for i := from; i+1 < to; i++ {
		if x.text[i] == '\\' && x.text[i+1] == ',' {
			parts, from = append(parts, span{from, i}), i+1
		}
	}
	return append(parts, span{from, to})
}

// head takes a macro's name, in small letters, from what stands between its braces.
func head(body string) (name, rest string) {
	if strings.HasPrefix(body, "//") {
		return "//", body[2:]
	}
	body = strings.TrimLeft(body, " \t\r\n")
	i := strings.IndexFunc(body[:min(len(body), longestName)], func(r rune) bool { return !nameRune(r) })
	switch {
	case i < 0 && len(body) < longestName:
		return strings.ToLower(body), ""
	case i <= 0:
		return "", ""
	}
	name, rest = strings.ToLower(body[:i]), body[i:]
	trimmed := strings.TrimLeft(rest, " \t\r\n")
	switch {
	case trimmed == "":
		return name, ""
	case strings.HasPrefix(trimmed, "::"):
		return name, trimmed[2:]
	case trimmed[0] == ':':
		return name, trimmed[1:]
	case len(trimmed) < len(rest):
		return name, trimmed
	}
	return strings.ToLower(body[:min(len(body), longestName)]), ""
}

func nameRune(r rune) bool {
	return r == '_' || r == '#' || r == '/' || r == '.' || r == '+' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// draw is a number from 0 to n-1 that depends on the texts alone.
func draw(n int, of ...string) int {
	h := fnv.New64a()
	for _, s := range of {
		io.WriteString(h, strconv.Itoa(len(s))+":"+s)
	}
	sum := h.Sum64() // FNV's low bits differ little between texts that differ in the end
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return int(sum % uint64(n))
}

// roll throws dice: "20", "d6", "2d6+1". It is empty for what is no such thing.
func roll(formula string, of ...string) string {
	formula = strings.ToLower(strings.TrimSpace(formula))
	dice, rest, ok := strings.Cut(formula, "d")
	if !ok {
		dice, rest = "1", formula
	}
	sides, bonus, sign := rest, "0", 1
	if i := strings.IndexAny(rest, "+-"); i >= 0 {
		sides, bonus = rest[:i], rest[i+1:]
		if rest[i] == '-' {
			sign = -1
		}
	}
	n, err1 := strconv.Atoi(cmp.Or(dice, "1"))
	faces, err2 := strconv.Atoi(sides)
	plus, err3 := strconv.Atoi(bonus)
	if err1 != nil || err2 != nil || err3 != nil || n < 1 || n > 100 || faces < 1 || faces > 1_000_000 || plus > 1_000_000 || plus < 0 {
		return ""
	}
	sum := sign * plus
	for i := range n {
		sum += 1 + draw(faces, append([]string{strconv.Itoa(i)}, of...)...)
	}
	return strconv.Itoa(sum)
}
