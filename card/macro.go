package card

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	maxMacroDepth = 16        // macros inside macros
	maxExpansion  = 256 << 10 // bytes
	maxExpanded   = 2 << 20   // bytes of all texts of a turn, before and after
	maxMacroName  = 64        // bytes
)

// Macros holds what macros stand for. Macros of a zero field expand to nothing.
type Macros struct {
	Char     string // {{char}}: the character's name or nickname
	User     string // {{user}}: whom the character talks to
	Persona  string // {{persona}}: what that person says about themselves
	Original string // {{original}}: the text that a text of the card replaces
	Now      time.Time
	Idle     time.Duration // since somebody else wrote

	Message, LastMessage, LastUserMessage, LastCharMessage string

	// Field returns a text of the card by its name: one of the function Fields, "system", "post_history", "version" or
	// "creator_notes". Expand expands the macros in it, except those for texts of the card. So it does with Greetings.
	Field     func(name string) string
	Greetings []string
	// Chat decides what {{pick}} picks.
	Chat string
	// Turn decides what {{random}} and {{roll}} return.
	Turn                      string
	Tokens, Context, Response int    // that a prompt may have, both together, and the reply
	Model                     string // {{model}}: the name of the model

	Outlets map[string]string // texts of lorebook entries, by the name in {{outlet::name}}
	Vars    *Variables        // shared by the texts of a turn; nil: each text has its own
	Hidden  bool              // keep the words of {{hidden_key:…}}, for a text that is searched and not shown
}

// Expand replaces the macros of a text: those of the card specifications and the common ones of SillyTavern.
//
// It reads the text once, from left to right. Macros inside a macro are expanded first. Expand never reads a macro's value again: a person
// who is called {{roll:6}} keeps that name. It leaves unknown macros as they are. Chance depends only on Turn, Chat and the text, so a
// repeated turn reads the same. The result is valid UTF-8 if the text is. It has at most 256 KiB or the length of the text.
// Texts with the same Vars, and the card's texts in them, have 2 MiB in all. What comes after that is empty.
func (m *Macros) Expand(text string) string {
	if !strings.Contains(text, "{{") && !strings.ContainsAny(text, `<\`) {
		return text
	}
	if m.Vars == nil {
		own := *m
		own.Vars, m = &Variables{}, &own
	}
	if m.Vars.expanded += len(text); m.Vars.expanded > maxExpanded {
		return ""
	}
	x := newExpansion(text, m)
	x.run(0, len(text), 0)
	m.Vars.expanded += len(x.out)
	return string(x.out)
}

// MacroUse lists macros of a text by their names, each once.
type MacroUse struct {
	Unknown   []string // Expand leaves them as they are
	Varying   []string // their values change from turn to turn
	Variables []string // they set or get a variable
}

// MacrosIn returns the macros of a text that need attention.
func MacrosIn(text string) (use MacroUse) {
	x := newExpansion(text, &Macros{})
	seen := map[string]bool{"": true}
	for at := range text {
		end := x.end[at]
		if end == 0 {
			continue
		}
		name, _ := macroName(text[at+2 : end-2])
		if seen[name] || x.closes[at] {
			continue
		}
		seen[name] = true
		m, known := lookup(name)
		if !known {
			use.Unknown = append(use.Unknown, name)
		}
		if m.varies {
			use.Varying = append(use.Varying, name)
		}
		if m.variable {
			use.Variables = append(use.Variables, name)
		}
	}
	return use
}

// expansion is the state of expanding one text.
type expansion struct {
	text   string
	env    *Macros
	end    map[int]int  // by the place where a macro begins: the place after its closing braces
	close  map[int]int  // by the place where {{name}} begins: the place of its {{/name}}
	closes map[int]bool // by the place where {{/name}} begins
	hash   *string      // of text; empty until it is needed
	out    []byte
	trim   bool // skip the line breaks that follow
}

// newExpansion finds where each macro ends, and which of them enclose a part of the text, in one pass.
func newExpansion(text string, env *Macros) *expansion {
	x := &expansion{text: text, env: env, end: map[int]int{}, close: map[int]int{}, closes: map[int]bool{}, hash: new(string)}
	var open []int
	waiting := map[opener][]int{}
	for i := 0; i+1 < len(text); {
		switch text[i : i+2] {
		case "{{":
			run := 0
			for i+run < len(text) && text[i+run] == '{' {
				run++
			}
			for at := i + run%2; at < i+run; at += 2 { // the first of an odd number is plain text
				open = append(open, at)
			}
			i += run
		case "}}":
			if n := len(open); n > 0 {
				at := open[n-1]
				x.end[at], open = i+2, open[:n-1]
				x.pair(waiting, at, open)
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
	for i := from; i < to && len(x.out) < maxExpansion; i++ {
		end := x.end[i]
		if end == 0 || end > to || depth == maxMacroDepth {
			continue
		}
		name, rest := macroName(x.text[i+2 : end-2])
		m, known := lookup(name)
		c := call{name: name, at: i, from: end - 2 - len(rest), to: end - 2, depth: depth + 1}
		if last := x.close[i]; last > 0 && x.end[last] <= to {
			c.inner, end = &span{end, last}, x.end[last]
		}
		if !known || m.branch && c.inner == nil {
			value, ok := x.short(span{i + 2, end - 2}, depth+1)
			if !ok {
				continue // macros inside it are still expanded
			}
			m = macro{value: func(*Macros) string { return value }}
		}
		x.write(x.text[plain:i], true)
		x.macro(m, c)
		i, plain = end-1, end
	}
	if plain < to {
		x.write(x.text[plain:to], true)
	}
}

// write adds text. Only the text itself, and no value, may hold old forms such as <USER>, and braces after a backslash.
func (x *expansion) write(text string, own bool) {
	if own && strings.ContainsAny(text, `<\`) {
		text = unescaped.Replace(x.angled(text))
	}
	if x.trim {
		if text = strings.TrimLeft(text, "\r\n"); text == "" {
			return
		}
		x.trim = false
	}
	x.out = append(x.out, text[:min(len(text), max(0, maxExpansion-len(x.out)))]...)
}

var (
	unescaped = strings.NewReplacer(`\{`, "{", `\}`, "}")
	angles    = regexp.MustCompile(`(?i)<(?:user|(char|bot|group|charifnotgroup))>`)
)

// angled replaces the old forms.
func (x *expansion) angled(text string) string {
	return angles.ReplaceAllStringFunc(text, func(form string) string {
		if len(form) == len("<user>") && hasFold(form, "<user>") {
			return x.env.User
		}
		return x.env.Char
	})
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// call is a macro at its place in the text.
type call struct {
	name     string
	at       int   // its opening braces
	from, to int   // what follows the name
	inner    *span // what {{name}} and {{/name}} enclose; nil: nothing
	depth    int
}

func (x *expansion) macro(m macro, c call) {
	switch {
	case m.branch:
		x.write(x.branch(c), false)
	case m.trim && c.inner != nil:
		x.write(x.enclosed(c, *c.inner), false)
	case m.field != "":
		x.write(fieldText(x.env, m.field, strings.TrimSpace(x.argument(span{c.from, c.to}, c.depth))), false)
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
		first, rest := span{c.from, c.to}, span{c.to, c.to}
		if at := x.next(c.from, c.to, "::"); at >= 0 {
			first.to, rest.from = at, at+len("::")
		}
		name := x.argument(first, c.depth)
		if c.inner != nil {
			x.write(m.apply2(x, name, x.enclosed(c, *c.inner)), false)
			return
		}
		x.write(m.apply2(x, name, x.argument(rest, c.depth)), false)
	case m.apply != nil && c.inner != nil:
		x.write(m.apply(x, c, x.enclosed(c, *c.inner)), false)
	case m.apply != nil:
		x.write(m.apply(x, c, x.argument(span{c.from, c.to}, c.depth)), false)
	}
}

// sum returns a hash of the text, so that chance differs between texts.
func (x *expansion) sum() string {
	if *x.hash == "" {
		h := fnv.New64a()
		io.WriteString(h, x.text)
		*x.hash = strconv.FormatUint(h.Sum64(), 36)
	}
	return *x.hash
}

const greeting = "greeting" // of Macros.Greetings, by its number from 0

// fieldText returns a text of the card. Its own macros for texts of the card expand to nothing, so that no text can hold itself.
func fieldText(e *Macros, name, number string) string {
	plain := *e
	plain.Field, plain.Greetings, plain.Original = nil, nil, ""
	n, _ := strconv.Atoi(number) // none is the first
	switch {
	case name == greeting && 0 <= n && n < len(e.Greetings):
		return plain.Expand(e.Greetings[n])
	case name != greeting && e.Field != nil:
		return plain.Expand(e.Field(name))
	}
	return ""
}

// argument expands a part of the text.
func (x *expansion) argument(s span, depth int) string {
	inner := *x
	inner.out, inner.trim = nil, false
	inner.run(s.from, s.to, depth)
	return string(inner.out)
}

// items splits a list at :: or, if it has none, at commas. It splits before expansion, so that a value with a comma is
// one item. An item has several parts if it contains \, which is a plain comma.
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

// next returns the place of the next separator outside of macros that has no backslash before it, or -1.
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

// parts splits an item at the backslashes before commas. In lists with commas it drops the white space around the item.
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

// macroName splits what is between a macro's braces into its name, in lower case, and the rest.
func macroName(body string) (name, rest string) {
	if strings.HasPrefix(body, "//") && body != "///" {
		return "//", body[2:]
	}
	body = strings.TrimLeft(body, " \t\r\n")
	i := strings.IndexFunc(body[:min(len(body), maxMacroName)], func(r rune) bool { return !nameRune(r) })
	switch {
	case i < 0 && len(body) < maxMacroName:
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
	return strings.ToLower(body[:min(len(body), maxMacroName)]), ""
}

func nameRune(r rune) bool {
	return r == '_' || r == '#' || r == '/' || r == '.' || r == '+' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// draw returns a number from 0 to n-1 that depends only on the texts.
func draw(n int, of ...string) int {
	h := fnv.New64a()
	for _, s := range of {
		io.WriteString(h, strconv.Itoa(len(s))+":"+s)
	}
	sum := h.Sum64() // texts that differ only at the end have similar low bits, so mix them
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return int(sum % uint64(n))
}

// roll rolls dice: "20", "d6" or "2d6+1". It returns "" for any other formula.
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
