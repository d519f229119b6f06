package visible

import (
	"cmp"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"

	"familiar/internal/web/page/dom"
)

// style is a list of CSS declarations of properties that can hide something. Most hold one to three, which are found faster
// in a list than in a map.
type style []declaration

// declaration is one of them, in lower case, without comments and "!important".
type declaration struct {
	property, value string
	important       bool
}

// get returns the value of a property, "" if it is not declared.
func (d style) get(property string) string {
	for i := range d {
		if d[i].property == property {
			return d[i].value
		}
	}
	return ""
}

// declare adds a declaration. It replaces an earlier one of the same property, unless only that one is important.
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

// read adds the declarations of a style attribute or of a rule.
func (d *style) read(text string) {
	text = plainCSS(text)
	for text != "" {
		var one string
		one, text = cutTop(text, ';')
		property, value, ok := strings.Cut(one, ":")
		if property = strings.ToLower(strings.TrimSpace(property)); !ok || !hidingProperties[property] {
			continue
		}
		value, important := strings.CutSuffix(strings.ToLower(strings.TrimSpace(value)), "important")
		if important {
			value = strings.TrimRight(value, "! \t\n\r")
		}
		d.declare(declaration{property, value, important})
	}
}

// hidingProperties can hide text, or show it again.
var hidingProperties = map[string]bool{
	"display": true, "visibility": true, "content-visibility": true, "opacity": true, "filter": true, "font-size": true, "font": true,
	"color": true, "background": true, "background-color": true, "background-clip": true, "-webkit-background-clip": true,
	"background-image": true, "-webkit-text-fill-color": true, "text-indent": true,
	"left": true, "right": true, "top": true, "bottom": true, "inset": true, "margin": true, "margin-left": true, "margin-top": true, "margin-right": true,
	"transform": true, "scale": true, "translate": true, "clip": true, "clip-path": true, "-webkit-clip-path": true,
	"width": true, "height": true, "max-width": true, "max-height": true, "overflow": true, "overflow-x": true, "overflow-y": true,
}

// plainCSS removes comments and resolves escapes.
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

// cutTop cuts s at the first sep outside of brackets and quotes.
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

// hides reports whether an element of this style is hidden with everything in it.
func (d style) hides() bool {
	return d.get("display") == "none" || d.get("content-visibility") == "hidden" || transparent(d.get("opacity")) || transparent(call(d.get("filter"), "opacity")) ||
		d.offscreen() || d.clipped() || d.collapsed()
}

// mayHide reports whether a rule of this style could hide something, alone or with an overflow that another rule hides.
func (d style) mayHide() bool {
	return d.hides() || d.inherit(textState{}).hidesText() ||
		isThin(d.get("width")) || isThin(d.get("max-width")) || isThin(d.get("height")) || isThin(d.get("max-height"))
}

func transparent(opacity string) bool {
	n, unit, ok := length(opacity)
	if unit == "%" {
		n /= 100
	}
	return ok && n <= 0.09
}

// Offsets beyond which an element is out of sight, in any unit.
const (
	minOffset = -100
	maxOffset = 3000
	minMargin = -500
)

func (d style) offscreen() bool {
	for _, property := range [...]string{"left", "top", "right", "bottom", "text-indent", "inset", "translate"} {
		if isOutside(d.get(property), minOffset) {
			return true
		}
	}
	for _, property := range [...]string{"margin-left", "margin-top", "margin-right", "margin"} {
		if isOutside(d.get(property), minMargin) {
			return true
		}
	}
	for function, args := range calls(d.get("transform")) {
		if strings.HasPrefix(function, "translate") && isOutside(strings.ReplaceAll(args, ",", " "), minOffset) {
			return true
		}
	}
	return false
}

// isOutside reports whether any length in a value is at most least or at least maxOffset. Percentages also move slides and
// columns, so they have to be five times as large.
func isOutside(value string, least float64) bool {
	for field := range strings.FieldsSeq(value) {
		n, unit, ok := length(field)
		if unit == "%" {
			n /= 5
		}
		if ok && (n <= least || n >= maxOffset) {
			return true
		}
	}
	return false
}

func (d style) clipped() bool {
	if rect := call(d.get("clip"), "rect"); rect != "" && all(rect, func(n float64) bool { return n <= 1 }) {
		return true
	}
	path := cmp.Or(d.get("clip-path"), d.get("-webkit-clip-path"))
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

// insetEmpty reports whether an inset leaves nothing between opposite sides.
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

// collapsed reports whether an element has no extent: it is scaled to nothing, or a box of at most a pixel without overflow.
func (d style) collapsed() bool {
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
	narrow := isThin(d.get("width")) || isThin(d.get("max-width"))
	low := isThin(d.get("height")) || isThin(d.get("max-height"))
	cut := false
	for _, property := range [...]string{"overflow", "overflow-x", "overflow-y"} {
		cut = cut || strings.HasPrefix(d.get(property), "hidden") || strings.HasPrefix(d.get(property), "clip")
	}
	return narrow && low || (narrow || low) && cut
}

// isThin reports whether a value is a length of at most one pixel.
func isThin(value string) bool {
	n, unit, ok := length(value)
	return ok && (n == 0 || n > 0 && n <= 1 && unit == "px")
}

// inherit returns the state of the text in an element of this style. in is the state that the element itself inherits.
func (d style) inherit(in textState) textState {
	switch d.get("visibility") {
	case "hidden", "collapse":
		in.invisible = true
	case "visible", "initial", "unset":
		in.invisible = false
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
		in.tiny = in.tiny && relative || isTiny(n, unit)
	}
	return d.inheritColours(in)
}

func isTiny(n float64, unit string) bool {
	switch unit {
	case "em", "rem", "vw", "vh", "ch", "ex":
		return n < 0.1
	case "%":
		return n < 10
	}
	return n <= 1
}

// call returns the arguments of a function in a value, with blanks for commas: call("rect(0,0)", "rect") is "0 0".
func call(value, name string) string {
	for function, args := range calls(value) {
		if function == name {
			return strings.ReplaceAll(args, ",", " ")
		}
	}
	return ""
}

// calls yields the functions in a value with their arguments. Of nested ones it yields the innermost.
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

// all reports whether there are lengths among args and f holds for each.
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

// numberEnd returns the end of the number that s begins with, 0 if there is none.
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
