package visible

import (
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"

	"familiar/internal/web/page/dom"
)

// style is a set of CSS declarations of properties that can hide something. Most have one to three: they are found
// faster in a row than in a map.
type style []declaration

// declaration is one of them, in lower case, without comments and "!important".
type declaration struct {
	property, value string
	important       bool
}

// get is the value of a property, "" if it is not declared.
func (d style) get(property string) string {
	for i := range d {
		if d[i].property == property {
			return d[i].value
		}
	}
	return ""
}

// declare adds a declaration to those that came before: it wins, unless theirs is marked important and it isn't.
func (d *style) declare(one declaration) {
	for i, before := range *d {
		if before.property != one.property {
			continue
		}
		if one.important || !before.important {
			(*d)[i] = one
		}
		return
	}
	*d = append(*d, one)
}

var cssEscape = regexp.MustCompile(`\\([0-9a-fA-F]{1,6})\s?`)

// declarations reads the inside of a style attribute or of a rule, and adds it to into.
func declarations(text string, into *style) {
	text = plainCSS(text)
	for text != "" {
		var one string
		one, text = cutTop(text, ';')
		property, value, ok := strings.Cut(one, ":")
		if property = strings.ToLower(strings.TrimSpace(property)); !ok || !concealing[property] {
			continue
		}
		value, important := strings.CutSuffix(strings.ToLower(strings.TrimSpace(value)), "important")
		if important {
			value = strings.TrimRight(value, "! \t\n\r")
		}
		into.declare(declaration{property, value, important})
	}
}

// concealing are the properties that can hide text, or show it again.
var concealing = map[string]bool{
	"display": true, "visibility": true, "content-visibility": true, "opacity": true, "filter": true, "font-size": true, "font": true,
	"color": true, "background": true, "background-color": true, "background-clip": true, "-webkit-background-clip": true,
	"background-image": true, "-webkit-text-fill-color": true, "text-indent": true,
	"left": true, "right": true, "top": true, "bottom": true, "inset": true, "margin": true, "margin-left": true, "margin-top": true, "margin-right": true,
	"transform": true, "scale": true, "translate": true, "clip": true, "clip-path": true, "-webkit-clip-path": true,
	"width": true, "height": true, "max-width": true, "max-height": true, "overflow": true, "overflow-x": true, "overflow-y": true,
}

// plainCSS takes out comments and resolves escapes.
func plainCSS(text string) string {
	if strings.Contains(text, "/*") {
		var b strings.Builder
		for text != "" {
			before, comment, _ := strings.Cut(text, "/*")
			b.WriteString(before)
			_, text, _ = strings.Cut(comment, "*/")
		}
		text = b.String()
	}
	if strings.Contains(text, `\`) {
		text = cssEscape.ReplaceAllStringFunc(text, func(e string) string {
			n, err := strconv.ParseUint(strings.TrimSpace(e[1:]), 16, 32)
			if err != nil || n < 0x20 || n > 0x7E {
				return ""
			}
			return string(rune(n))
		})
	}
	return text
}

// cutTop cuts at the first sep that is not inside brackets or quotes.
func cutTop(s string, sep byte) (before, after string) {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
		case c == sep && depth == 0:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// hides says that an element with this style is hidden with all that is in it.
func (d style) hides() bool {
	return d.get("display") == "none" || d.get("content-visibility") == "hidden" || faint(d.get("opacity")) || faint(call(d.get("filter"), "opacity")) ||
		d.offscreen() || d.clipped() || d.flattened()
}

func faint(opacity string) bool {
	n, unit, ok := length(opacity)
	if unit == "%" {
		n /= 100
	}
	return ok && n <= 0.09
}

// How far out is out of sight, in whatever unit.
const (
	farBefore = -100
	farBehind = 3000
	farMargin = -500
)

func (d style) offscreen() bool {
	for _, property := range [...]string{"left", "top", "right", "bottom", "text-indent", "inset", "translate"} {
		if far(d.get(property), farBefore) {
			return true
		}
	}
	for _, property := range [...]string{"margin-left", "margin-top", "margin-right", "margin"} {
		if far(d.get(property), farMargin) {
			return true
		}
	}
	for function, args := range calls(d.get("transform")) {
		if strings.HasPrefix(function, "translate") && far(strings.ReplaceAll(args, ",", " "), farBefore) {
			return true
		}
	}
	return false
}

// far says whether any length of a value lies beyond the limit. Percentages move slides and columns about, so
// they have to be larger than any of those.
func far(value string, limit float64) bool {
	for field := range strings.FieldsSeq(value) {
		n, unit, ok := length(field)
		if unit == "%" {
			n /= 5
		}
		if ok && (n <= limit || n >= farBehind) {
			return true
		}
	}
	return false
}

func (d style) clipped() bool {
	if rect := call(d.get("clip"), "rect"); rect != "" && all(rect, func(n float64) bool { return n <= 1 }) {
		return true
	}
	path := d.get("clip-path")
	if path == "" {
		path = d.get("-webkit-clip-path")
	}
	if path == "" {
		return false
	}
	if inset := call(path, "inset"); inset != "" {
		return insetEmpty(inset)
	}
	for _, shape := range [...]string{"circle", "ellipse", "polygon"} {
		if args := call(path, shape); args != "" {
			args, _, _ = strings.Cut(args, " at ")
			return all(args, func(n float64) bool { return n == 0 })
		}
	}
	return false
}

// insetEmpty says whether an inset leaves nothing between opposite sides.
func insetEmpty(args string) bool {
	var sides []float64
	for field := range strings.FieldsSeq(args) {
		n, unit, ok := length(field)
		if !ok {
			break
		}
		if unit != "%" && n < 1000 {
			n = 0
		}
		sides = append(sides, n)
	}
	switch len(sides) {
	case 0:
		return false
	case 1:
		sides = append(sides, sides[0], sides[0], sides[0])
	case 2:
		sides = append(sides, sides[0], sides[1])
	case 3:
		sides = append(sides, sides[1])
	}
	return sides[0]+sides[2] >= 100 || sides[1]+sides[3] >= 100
}

// flattened says that an element has no extent: scaled to nothing, or a box of at most a pixel that lets nothing out.
func (d style) flattened() bool {
	if n, _, ok := length(d.get("scale")); ok && n < 0.05 {
		return true
	}
	for function, args := range calls(d.get("transform")) {
		if strings.HasPrefix(function, "scale") || strings.HasPrefix(function, "matrix") {
			first, _, _ := strings.Cut(args, ",")
			if n, _, ok := length(strings.TrimSpace(first)); ok && math.Abs(n) < 0.05 {
				return true
			}
		}
		if (function == "rotatex" || function == "rotatey") && args == "90deg" {
			return true
		}
	}
	thin := point(d.get("width")) || point(d.get("max-width"))
	flat := point(d.get("height")) || point(d.get("max-height"))
	closed := false
	for _, property := range [...]string{"overflow", "overflow-x", "overflow-y"} {
		closed = closed || strings.HasPrefix(d.get(property), "hidden") || strings.HasPrefix(d.get(property), "clip")
	}
	return thin && flat || (thin || flat) && closed
}

// point says that a length is there and at most one pixel.
func point(value string) bool {
	n, unit, ok := length(value)
	return ok && (n == 0 || n > 0 && n <= 1 && unit == "px")
}

// light is what text in an element of this style inherits, given what the element itself does.
func (d style) light(l light) light {
	switch d.get("visibility") {
	case "hidden", "collapse":
		l.invisible = true
	case "visible", "initial", "unset":
		l.invisible = false
	}
	size := d.get("font-size")
	if font := d.get("font"); size == "" && font != "" {
		for field := range strings.FieldsSeq(font) {
			field, _, _ = strings.Cut(field, "/")
			if _, _, ok := length(field); ok && field != "400" && field != "700" {
				size = field
				break
			}
		}
	}
	if n, unit, ok := length(size); ok {
		relative := unit == "em" || unit == "%"
		l.tiny = l.tiny && relative || tiny(n, unit)
	}
	return d.colours(l)
}

func tiny(n float64, unit string) bool {
	switch unit {
	case "em", "rem", "vw", "vh", "ch", "ex":
		return n < 0.1
	case "%":
		return n < 10
	}
	return n <= 1
}

// call is the arguments of a function in a value, with blanks for commas: call("rect(0,0)", "rect") is "0 0".
func call(value, name string) string {
	for function, args := range calls(value) {
		if function == name {
			return strings.ReplaceAll(args, ",", " ")
		}
	}
	return ""
}

// calls yields the functions in a value, with their arguments; of those inside each other the innermost.
func calls(value string) iter.Seq2[string, string] {
	return func(yield func(name, args string) bool) {
		for {
			open := strings.IndexByte(value, '(')
			if open < 0 {
				return
			}
			name, args := value[:open], value[open+1:]
			name = name[strings.LastIndexAny(name, " \t\r\n,/)")+1:]
			value = args
			if end := strings.IndexAny(args, "()"); end >= 0 && args[end] == ')' && !yield(name, args[:end]) {
				return
			}
		}
	}
}

// all says that every length among args satisfies f, and that there is one.
func all(args string, f func(float64) bool) bool {
	some := false
	for field := range strings.FieldsSeq(args) {
		n, _, ok := length(field)
		if !ok || !f(n) {
			return false
		}
		some = true
	}
	return some
}

// length reads a number and its unit.
func length(value string) (n float64, unit string, ok bool) {
	end := numberEnd(value)
	if end == 0 || len(value) > 32 {
		return 0, "", false
	}
	unit = value[end:]
	for i := range len(unit) {
		if c := unit[i]; c != '%' && (c < 'a' || c > 'z') {
			return 0, "", false
		}
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	return n, unit, err == nil
}

// numberEnd is where the number ends that s begins with, 0 if it begins with none.
func numberEnd(s string) int {
	digits := func(from int) int {
		for from < len(s) && dom.IsDigit(s[from]) {
			from++
		}
		return from
	}
	sign := func(at int) int {
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		return at
	}
	start := sign(0)
	end := digits(start)
	if whole := end > start; end < len(s) && s[end] == '.' {
		if fraction := digits(end + 1); whole || fraction > end+1 {
			end = fraction
		}
	}
	if end == start {
		return 0
	}
	if end < len(s) && s[end] == 'e' { // "2em" has none
		if power := sign(end + 1); digits(power) > power {
			end = digits(power)
		}
	}
	return end
}
