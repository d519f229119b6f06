package cascade

import (
	"math"
	"strings"

	"familiar/visible/internal/css"
)

// truth is the value of a condition. A condition that is not understood is unknown, and so is its negation.
type truth byte

const (
	no truth = iota
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth {
	switch t {
	case no:
		return yes
	case yes:
		return no
	}
	return unknown
}

// condition evaluates conditions: parentheses joined by and, or and not. leaf evaluates the content of parentheses; name is
// that of a function, "" for plain parentheses.
type condition struct {
	t     *css.Text
	leaf  func(name string, inside css.Span) truth
	depth int
	bad   bool // the syntax is invalid
}

func (c *condition) fail() truth {
	c.bad = true
	return unknown
}

func (c *condition) eval(in css.Span) truth {
	if c.depth++; c.depth > 16 {
		return c.fail()
	}
	defer func() { c.depth-- }()
	in = c.t.Trim(in)
	if c.word(in.From, in) == "not" {
		term, next := c.term(c.skip(in.From+1, in), in)
		if c.skip(next, in) < in.To {
			return c.fail()
		}
		return term.not()
	}
	got, i := c.term(in.From, in)
	joint := ""
	for i = c.skip(i, in); i < in.To; i = c.skip(i, in) {
		word := c.word(i, in)
		if word != "and" && word != "or" || joint != "" && joint != word {
			return c.fail()
		}
		joint = word
		var term truth
		term, i = c.term(c.skip(i+1, in), in)
		switch {
		case word == "and" && (got == no || term == no):
			got = no
		case word == "or" && (got == yes || term == yes):
			got = yes
		case got == unknown || term == unknown:
			got = unknown
		case word == "and":
			got = yes
		default:
			got = no
		}
	}
	return got
}

func (c *condition) skip(i int, in css.Span) int {
	for c.t.Kind(i, in) == css.Space {
		i++
	}
	return i
}

func (c *condition) word(i int, in css.Span) string {
	if c.t.Kind(i, in) == css.Ident {
		return c.t.Lower(i)
	}
	return ""
}

func (c *condition) term(i int, in css.Span) (truth, int) {
	switch {
	case c.t.Is(i, in, '('):
		inside := c.t.Trim(c.t.Inside(i, in))
		if first := c.t.Kind(inside.From, inside); c.t.Is(inside.From, inside, '(') || c.word(inside.From, inside) == "not" || first == css.Function && !isNumeric(c.t.Lower(inside.From)) {
			outer := c.bad
			got := c.eval(inside)
			if c.bad && !outer {
				c.bad = false // inside parentheses it is valid, but not understood
				got = unknown
			}
			return got, c.t.After(i)
		}
		return c.leaf("", inside), c.t.After(i)
	case c.t.Kind(i, in) == css.Function:
		return c.leaf(c.t.Lower(i), c.t.Trim(c.t.Inside(i, in))), c.t.After(i)
	}
	return c.fail(), max(i, in.To)
}

func isNumeric(function string) bool { return mathFunctions[function].top > 0 }

// Screen shows a page: a desktop's window in the light scheme, with a mouse.
type Screen struct {
	Width, Height float64 // in pixels
	Scripts       bool    // the browser runs them
}

// mediaApplies reports whether one of a list of media queries holds on the screen.
func (s *Screen) mediaApplies(text string) bool {
	t := css.Tokenize(text)
	return s.queriesApply(t, t.All())
}

func (s *Screen) queriesApply(t *css.Text, in css.Span) bool {
	if in = t.Trim(in); in.Empty() {
		return true
	}
	for query := range t.Split(in, css.Comma) {
		if s.queryApplies(t, query) {
			return true
		}
	}
	return false
}

func (s *Screen) queryApplies(t *css.Text, in css.Span) bool {
	c := condition{t: t, leaf: func(name string, inside css.Span) truth { return s.feature(t, name, inside) }}
	i := in.From
	negated := false
	first := c.word(i, in)
	if next := c.skip(i+1, in); first == "not" && c.word(next, in) != "" || first == "only" {
		negated = first == "not"
		i = next
		first = c.word(i, in)
	}
	if first == "" || first == "not" {
		return c.eval(in) == yes && !c.bad
	}
	if first == "and" || first == "or" || first == "only" || first == "layer" {
		return false
	}
	holds := truthOf(first == "all" || first == "screen")
	if i = c.skip(i+1, in); i < in.To {
		if c.word(i, in) != "and" {
			return false
		}
		rest := c.eval(css.Span{From: i + 1, To: in.To})
		if c.bad {
			return false
		}
		if rest != yes && holds == yes {
			holds = rest
		}
	}
	if negated {
		holds = holds.not()
	}
	return holds == yes
}

// wordFeatures maps features with keywords to the keyword that holds.
var wordFeatures = map[string]string{
	"orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference",
	"prefers-contrast": "no-preference", "prefers-reduced-transparency": "no-preference", "prefers-reduced-data": "no-preference", "forced-colors": "none", "inverted-colors": "none",
	"update": "fast", "overflow-block": "scroll", "overflow-inline": "scroll", "display-mode": "browser", "color-gamut": "srgb", "dynamic-range": "standard", "video-dynamic-range": "standard",
	"scan": "progressive", "environment-blending": "opaque", "nav-controls": "back", "device-posture": "continuous", "display-state": "normal", "resizable": "true",
}

// falseWords holds the keywords that count as false.
var falseWords = wordSet("none no-preference")

// numberFeatures holds the features whose values are numbers.
func (s *Screen) numberFeatures(name string) (float64, bool) {
	switch strings.TrimPrefix(name, "device-") {
	case "width":
		return s.Width, true
	case "height":
		return s.Height, true
	case "aspect-ratio":
		return s.Width / s.Height, true
	}
	switch name {
	case "resolution", "-webkit-device-pixel-ratio", "-webkit-transform-3d", "horizontal-viewport-segments", "vertical-viewport-segments":
		return 1, true
	case "color":
		return 8, true
	case "color-index", "monochrome", "grid":
		return 0, true
	}
	return 0, false
}

func (s *Screen) feature(t *css.Text, function string, in css.Span) truth {
	if function != "" || in.Empty() {
		return unknown
	}
	word := ""
	if t.Kind(in.From, in) == css.Ident {
		word = t.Lower(in.From)
	}
	var want string
	wanted, known := wordFeatures[word]
	if word == "scripting" {
		if known, wanted = true, "none"; s.Scripts {
			wanted = "enabled"
		}
	}
	if known {
		if in.To == in.From+1 {
			return truthOf(!falseWords[wanted])
		}
		rest := t.Trim(css.Span{From: in.From + 1, To: in.To})
		if t.Kind(rest.From, rest) != css.Colon {
			return unknown
		}
		want = strings.ToLower(strings.TrimSpace(t.Between(t.Trim(css.Span{From: rest.From + 1, To: rest.To}))))
		return truthOf(want == wanted)
	}
	return compare(t, in, s.numberFeatures, &Surroundings{Em: 16, Rem: 16, Line: 19, Percent: math.NaN(), Screen: *s})
}

// supported evaluates the condition of @supports.
func supported(t *css.Text, in css.Span, quirks bool) truth {
	c := condition{t: t}
	c.leaf = func(name string, inside css.Span) truth {
		switch name {
		case "":
			return truthOf(supportsDeclaration(t, inside))
		case "selector":
			r := selectorReader{t: t}
			_, ok := r.complex(t.Trim(inside), false)
			return truthOf(ok)
		case "font-tech", "font-format":
			word := strings.ToLower(t.Between(inside))
			return truthOf(fontFeatures[word])
		case "at-rule":
			return truthOf(t.Kind(inside.From, inside) == css.At && atRules[t.Lower(inside.From)])
		}
		return no
	}
	got := c.eval(in)
	if c.bad {
		return unknown
	}
	return got
}

var (
	fontFeatures = wordSet("opentype truetype woff woff2 collection color-colrv0 color-colrv1 color-cbdt color-sbix features-opentype variations palettes")
	atRules      = wordSet("media supports layer container scope property keyframes font-face import namespace page starting-style counter-style position-try view-transition font-feature-values font-palette-values")
)

func supportsDeclaration(t *css.Text, in css.Span) bool {
	for item := range t.Block(in) {
		if item.IsRule {
			return false
		}
		text := t.Between(item.Value)
		switch {
		case strings.HasPrefix(item.Name, "--"):
			return true
		case text == "":
			return false
		case declarations()[item.Name].of != nil || item.Name == "all":
			ok := readDeclaration(item.Name, text, false, func(Property, Value) {})
			return ok
		}
		return allProperties()[item.Name] && plausible(text)
	}
	return false
}

// plausible reports whether a value may be valid for a property that is not read here. Its units exist, and its strings are whole.
func plausible(text string) bool {
	v := newReader(text)
	for i := v.in.From; i < v.in.To; i++ {
		switch v.kind(i) {
		case css.Dimension:
			_, name := v.t.Number(i)
			if _, known := units[name]; !known {
				return false
			}
		case css.BadString, css.BadURL, css.Semicolon, css.CDO, css.CDC:
			return false
		}
	}
	return true
}
