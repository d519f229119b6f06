package cascade

import (
	_ "embed"
	"strings"
	"sync"

	"familiar/visible/internal/css"
)

// Property is a property that can hide text or contribute to it.
type Property uint8

// The properties. Logical properties count as the physical ones of text that runs from left to right.
const (
	Display Property = iota
	Visibility
	ContentVisibility
	Opacity
	Position
	Float
	BoxSizing
	OverflowX
	OverflowY
	Width
	Height
	MinWidth
	MinHeight
	MaxWidth
	MaxHeight
	Top
	Right
	Bottom
	Left
	MarginTop
	MarginRight
	MarginBottom
	MarginLeft
	PaddingTop
	PaddingRight
	PaddingBottom
	PaddingLeft
	TextIndent
	WhiteSpace
	LineHeight
	LetterSpacing
	FontSize
	FontSizeAdjust
	Zoom
	Color
	ColorScheme
	BackgroundColor
	BackgroundImage
	BackgroundSize
	BackgroundClip
	BackgroundRepeat
	TextFill
	TextStrokeWidth
	TextStrokeColor
	TextShadow
	Filter
	MixBlendMode
	Clip
	ClipPath
	MaskImage
	MaskSize
	MaskMode
	MaskPosition
	MaskComposite
	Content
	Transform
	Translate
	Rotate
	Scale
	BackfaceVisibility
	OffsetPath
	ZIndex
	TextDecorationLine
	TextSecurity
	PaintOrder
	Contain
	ContainerType
	ContainerName
	FlexBasis
	FlexGrow
	FlexShrink
	FlexDirection
	FlexWrap
	Order
	JustifyContent
	AlignContent
	AlignItems
	AlignSelf
	RowGap
	ColumnGap
	GridTemplateRows
	GridTemplateColumns
	GridAreas
	GridRow
	GridColumn
	GridArea
	Columns
	LineClamp
	BorderTopWidth
	BorderRightWidth
	BorderBottomWidth
	BorderLeftWidth
	BorderTopStyle
	BorderRightStyle
	BorderBottomStyle
	BorderLeftStyle
	BorderTopColor
	BorderRightColor
	BorderBottomColor
	BorderLeftColor
	BorderImage
	OutlineWidth
	OutlineStyle
	OutlineColor
	OutlineOffset
	BoxShadow
	BackgroundPosition
	BackdropFilter
	TextAlign
	Direction
	Clear
	AspectRatio
	VerticalAlign
	TableLayout
	TransformOrigin
	TransformStyle
	Perspective
	PerspectiveOrigin
	Isolation
	WillChange
	FontFamily
	AnimationName
	AnimationDuration
	AnimationDelay
	AnimationIterations
	AnimationDirection
	AnimationFill
	AnimationState
	AnimationTimeline
	AnimationRange
	WordSpacing
	TabSize
	WritingMode
	properties // how many there are
)

// inherited holds the properties that elements inherit.
var inherited = [properties]bool{
	Visibility: true, TextIndent: true, WhiteSpace: true, LineHeight: true, LetterSpacing: true, FontSize: true, FontSizeAdjust: true, Color: true, ColorScheme: true,
	TextFill: true, TextStrokeWidth: true, TextStrokeColor: true, TextShadow: true, TextSecurity: true, PaintOrder: true, TextAlign: true, Direction: true, FontFamily: true, WordSpacing: true, TabSize: true, WritingMode: true,
}

// Value is the value of a property.
type Value struct {
	Word    string // a keyword, or several in a row
	Numbers []Number
	Colour  Colour
	Parts   []Part // of a list
	Doubt   bool   // it has an effect that is not computed here

	wide  string // initial, inherit, unset, revert or revert-layer
	later string // the text of a value that contains variables
	of    string // the declared property, for later
}

// Part is an item of a list: an image, a shadow, a filter or a transform.
type Part struct {
	Name    string // of a function, or a keyword
	Numbers []Number
	Colours []Colour
	Stops   []Stop
	Address string

	repeats bool // of a gradient
}

// Stop is a colour of a gradient. At is nil if it has no place.
type Stop struct {
	Colour Colour
	At     *Number
}

// declarationReader reads the value of a property, or of a shorthand of several.
type declarationReader struct {
	of   []Property
	read func(v *reader, set func(Property, Value)) bool
}

func longhand(p Property, read func(v *reader) (Value, bool)) declarationReader {
	return declarationReader{[]Property{p}, func(v *reader, set func(Property, Value)) bool {
		value, ok := read(v)
		set(p, value)
		return ok && v.done()
	}}
}

func words(list string) func(v *reader) (Value, bool) {
	allowed := wordSet(list)
	return func(v *reader) (Value, bool) {
		word, ok := v.word()
		return Value{Word: word}, ok && allowed[word]
	}
}

// numbers reads a number or one of the keywords of a list.
func numbers(list string, negative bool, quantities ...quantity) func(v *reader) (Value, bool) {
	allowed := wordSet(list)
	return func(v *reader) (Value, bool) {
		if word, ok := v.word(); ok {
			return Value{Word: word}, allowed[word]
		}
		if name, _, ok := v.peekFunction(); ok && (name == "fit-content" || name == "anchor" || name == "anchor-size" || name == "calc-size") {
			v.function()
			return Value{Word: "auto", Doubt: name == "anchor"}, true
		}
		n, ok := v.numberOf(quantities...)
		if ok && !negative && n.op == 0 && n.n < 0 {
			return Value{}, false
		}
		return Value{Numbers: []Number{n}, Doubt: n.op == '?'}, ok
	}
}

func (v *reader) peekFunction() (string, *reader, bool) {
	v.done()
	at := v.at
	name, args, ok := v.function()
	v.at = at
	return name, args, ok
}

const sizeWords = "auto none min-content max-content fit-content stretch -webkit-fill-available -moz-available intrinsic min-intrinsic contain"

var readSize = numbers(sizeWords, false, length, percentage, mixed)
var readOffset = numbers("auto", true, length, percentage, mixed)

// sides reads one to four values for the sides of a box.
func sides(top Property, read func(v *reader) (Value, bool)) declarationReader {
	return declarationReader{[]Property{top, top + 1, top + 2, top + 3}, func(v *reader, set func(Property, Value)) bool {
		var got []Value
		for !v.done() && len(got) < 4 {
			value, ok := read(v)
			if !ok {
				return false
			}
			got = append(got, value)
		}
		if len(got) == 0 || !v.done() {
			return false
		}
		for i, from := range [][4]int{{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 2, 1}, {0, 1, 2, 3}}[len(got)-1] {
			set(top+Property(i), got[from])
		}
		return true
	}}
}

// pair reads one or two values for two properties.
func pair(first, second Property, read func(v *reader) (Value, bool)) declarationReader {
	return declarationReader{[]Property{first, second}, func(v *reader, set func(Property, Value)) bool {
		a, ok := read(v)
		b := a
		if ok && !v.done() {
			b, ok = read(v)
		}
		set(first, a)
		set(second, b)
		return ok && v.done()
	}}
}

// declarations holds the readers by property. Other properties do not matter.
var declarations = sync.OnceValue(func() map[string]declarationReader {
	all := map[string]declarationReader{
		"display":                   longhand(Display, readDisplay),
		"visibility":                longhand(Visibility, words("visible hidden collapse")),
		"content-visibility":        longhand(ContentVisibility, words("visible hidden auto")),
		"opacity":                   longhand(Opacity, numbers("", true, plain, percentage)),
		"position":                  longhand(Position, words("static relative absolute fixed sticky -webkit-sticky")),
		"float":                     longhand(Float, words("left right none inline-start inline-end")),
		"box-sizing":                longhand(BoxSizing, words("content-box border-box")),
		"overflow":                  pair(OverflowX, OverflowY, words("visible hidden clip scroll auto overlay")),
		"text-indent":               longhand(TextIndent, readIndent),
		"white-space":               longhand(WhiteSpace, readWhiteSpace),
		"text-wrap":                 longhand(WhiteSpace, readWhiteSpace),
		"text-wrap-mode":            longhand(WhiteSpace, words("wrap nowrap")),
		"line-height":               longhand(LineHeight, numbers("normal", false, plain, length, percentage, mixed)),
		"letter-spacing":            longhand(LetterSpacing, numbers("normal", true, length, percentage)),
		"word-spacing":              longhand(WordSpacing, numbers("normal", true, length, percentage, mixed)),
		"tab-size":                  longhand(TabSize, numbers("", false, plain, length, mixed)),
		"writing-mode":              longhand(WritingMode, words("horizontal-tb lr lr-tb rl rl-tb vertical-rl vertical-lr sideways-rl sideways-lr tb tb-rl tb-lr")),
		"font-size":                 longhand(FontSize, readFontSize),
		"font-size-adjust":          longhand(FontSizeAdjust, readSizeAdjust),
		"font":                      {[]Property{FontSize, LineHeight, FontSizeAdjust, FontFamily}, readFont},
		"zoom":                      longhand(Zoom, numbers("normal reset", false, plain, percentage)),
		"color":                     longhand(Color, readColour),
		"color-scheme":              longhand(ColorScheme, readWords),
		"background-color":          longhand(BackgroundColor, readColour),
		"background-image":          longhand(BackgroundImage, readImages),
		"background-size":           longhand(BackgroundSize, readSizes),
		"background-clip":           longhand(BackgroundClip, listOfWords("border-box padding-box content-box text border-area")),
		"background-repeat":         longhand(BackgroundRepeat, listOf(readRepeat)),
		"background":                {[]Property{BackgroundColor, BackgroundImage, BackgroundSize, BackgroundPosition, BackgroundClip, BackgroundRepeat}, readBackground},
		"text-shadow":               longhand(TextShadow, readShadows),
		"filter":                    longhand(Filter, readFilters),
		"mix-blend-mode":            longhand(MixBlendMode, words("normal multiply screen overlay darken lighten color-dodge color-burn hard-light soft-light difference exclusion hue saturation color luminosity plus-darker plus-lighter")),
		"clip":                      longhand(Clip, readClip),
		"clip-path":                 longhand(ClipPath, readClipPath),
		"mask-image":                longhand(MaskImage, readImages),
		"mask-size":                 longhand(MaskSize, readSizes),
		"mask-mode":                 longhand(MaskMode, listOfWords("alpha luminance match-source")),
		"mask-composite":            longhand(MaskComposite, listOfWords("add subtract intersect exclude")),
		"mask-position":             longhand(MaskPosition, readSizes),
		"mask":                      {[]Property{MaskImage, MaskSize, MaskMode, MaskPosition, MaskComposite}, readMask},
		"content":                   longhand(Content, readContent),
		"transform":                 longhand(Transform, readTransform),
		"translate":                 longhand(Translate, readTranslate),
		"rotate":                    longhand(Rotate, readRotate),
		"scale":                     longhand(Scale, readScale),
		"backface-visibility":       longhand(BackfaceVisibility, words("visible hidden")),
		"offset-path":               longhand(OffsetPath, readAnything),
		"z-index":                   longhand(ZIndex, numbers("auto", true, plain)),
		"text-decoration-line":      longhand(TextDecorationLine, readWords),
		"text-decoration":           longhand(TextDecorationLine, readDecoration),
		"contain":                   longhand(Contain, readWords),
		"container-type":            longhand(ContainerType, readWords),
		"container-name":            longhand(ContainerName, readNames),
		"container":                 {[]Property{ContainerName, ContainerType}, readContainer},
		"flex-basis":                longhand(FlexBasis, numbers(sizeWords+" content", false, length, percentage, mixed)),
		"flex-grow":                 longhand(FlexGrow, numbers("", false, plain)),
		"flex-shrink":               longhand(FlexShrink, numbers("", false, plain)),
		"flex":                      {[]Property{FlexBasis, FlexGrow, FlexShrink}, readFlex},
		"flex-wrap":                 longhand(FlexWrap, words("nowrap wrap wrap-reverse")),
		"order":                     longhand(Order, numbers("", true, plain)),
		"justify-content":           longhand(JustifyContent, readWords),
		"align-content":             longhand(AlignContent, readWords),
		"place-content":             pair(AlignContent, JustifyContent, words("normal start end center stretch space-between space-around space-evenly flex-start flex-end left right baseline")),
		"align-items":               longhand(AlignItems, readWords),
		"align-self":                longhand(AlignSelf, readWords),
		"row-gap":                   longhand(RowGap, numbers("normal", false, length, percentage, mixed)),
		"column-gap":                longhand(ColumnGap, numbers("normal", false, length, percentage, mixed)),
		"gap":                       pair(RowGap, ColumnGap, numbers("normal", false, length, percentage, mixed)),
		"grid-template-areas":       longhand(GridAreas, readAnything),
		"grid-row":                  longhand(GridRow, readAnything),
		"grid-column":               longhand(GridColumn, readAnything),
		"grid-area":                 longhand(GridArea, readAnything),
		"column-count":              longhand(Columns, numbers("auto", false, plain)),
		"columns":                   longhand(Columns, readColumns),
		"-webkit-line-clamp":        longhand(LineClamp, numbers("none", false, plain)),
		"border":                    {borderProperties, readBorder},
		"border-image":              longhand(BorderImage, readBorderImage),
		"border-width":              sides(BorderTopWidth, readThickness),
		"border-style":              sides(BorderTopStyle, words(lineStyles)),
		"border-color":              sides(BorderTopColor, readColour),
		"outline":                   {[]Property{OutlineWidth, OutlineStyle, OutlineColor}, readOutline},
		"outline-width":             longhand(OutlineWidth, readThickness),
		"outline-style":             longhand(OutlineStyle, words(lineStyles)),
		"outline-color":             longhand(OutlineColor, readColour),
		"outline-offset":            longhand(OutlineOffset, numbers("", true, length)),
		"box-shadow":                longhand(BoxShadow, readShadows),
		"background-position":       longhand(BackgroundPosition, readSizes),
		"backdrop-filter":           longhand(BackdropFilter, readFilters),
		"text-align":                longhand(TextAlign, words("left right center justify start end -webkit-center -webkit-right match-parent")),
		"direction":                 longhand(Direction, words("ltr rtl")),
		"clear":                     longhand(Clear, words("none left right both inline-start inline-end")),
		"aspect-ratio":              longhand(AspectRatio, readRatio),
		"vertical-align":            longhand(VerticalAlign, numbers("baseline top middle bottom sub super text-top text-bottom", true, length, percentage, mixed)),
		"table-layout":              longhand(TableLayout, words("auto fixed")),
		"transform-origin":          longhand(TransformOrigin, readOrigin),
		"transform-style":           longhand(TransformStyle, words("flat preserve-3d")),
		"perspective":               longhand(Perspective, numbers("none", false, length)),
		"perspective-origin":        longhand(PerspectiveOrigin, readOrigin),
		"isolation":                 longhand(Isolation, words("auto isolate")),
		"will-change":               longhand(WillChange, readAnything),
		"font-family":               longhand(FontFamily, readFamilies),
		"flex-direction":            longhand(FlexDirection, words("row row-reverse column column-reverse")),
		"flex-flow":                 {[]Property{FlexDirection, FlexWrap}, readFlexFlow},
		"grid-template-rows":        longhand(GridTemplateRows, readTracks),
		"grid-template-columns":     longhand(GridTemplateColumns, readTracks),
		"grid-template":             {[]Property{GridTemplateRows, GridTemplateColumns}, readGridTemplate},
		"grid":                      {[]Property{GridTemplateRows, GridTemplateColumns}, readGridTemplate},
		"animation-name":            longhand(AnimationName, listOf(readAnimationName)),
		"animation-duration":        longhand(AnimationDuration, listOf(numbers("auto", false, duration))),
		"animation-delay":           longhand(AnimationDelay, listOf(numbers("", true, duration))),
		"animation-iteration-count": longhand(AnimationIterations, listOf(numbers("infinite", false, plain))),
		"animation-direction":       longhand(AnimationDirection, listOfWords("normal reverse alternate alternate-reverse")),
		"animation-fill-mode":       longhand(AnimationFill, listOfWords("none forwards backwards both")),
		"animation-play-state":      longhand(AnimationState, listOfWords("running paused")),
		"animation-timeline":        longhand(AnimationTimeline, readAnything),
		"animation-range":           longhand(AnimationRange, readAnything),
		"animation":                 {[]Property{AnimationName, AnimationDuration, AnimationDelay, AnimationIterations, AnimationDirection, AnimationFill, AnimationState, AnimationTimeline}, readAnimation},

		"-webkit-text-fill-color":   longhand(TextFill, readColour),
		"-webkit-text-stroke-width": longhand(TextStrokeWidth, numbers("thin medium thick", false, length)),
		"-webkit-text-stroke-color": longhand(TextStrokeColor, readColour),
		"-webkit-text-stroke":       {[]Property{TextStrokeWidth, TextStrokeColor}, readStroke},
		"paint-order":               longhand(PaintOrder, readWords),
		"-webkit-text-security":     longhand(TextSecurity, words("none disc circle square")),

		"margin": sides(MarginTop, readOffset), "margin-inline": pair(MarginLeft, MarginRight, readOffset), "margin-block": pair(MarginTop, MarginBottom, readOffset),
		"padding": sides(PaddingTop, readSize), "padding-inline": pair(PaddingLeft, PaddingRight, readSize), "padding-block": pair(PaddingTop, PaddingBottom, readSize),
		"inset": sides(Top, readOffset), "inset-inline": pair(Left, Right, readOffset), "inset-block": pair(Top, Bottom, readOffset),
	}
	for name, p := range map[string]Property{"overflow-x": OverflowX, "overflow-y": OverflowY, "overflow-inline": OverflowX, "overflow-block": OverflowY} {
		all[name] = longhand(p, words("visible hidden clip scroll auto overlay"))
	}
	for name, p := range map[string]Property{
		"width": Width, "height": Height, "min-width": MinWidth, "min-height": MinHeight, "max-width": MaxWidth, "max-height": MaxHeight,
		"inline-size": Width, "block-size": Height, "min-inline-size": MinWidth, "min-block-size": MinHeight, "max-inline-size": MaxWidth, "max-block-size": MaxHeight,
		"padding-top": PaddingTop, "padding-right": PaddingRight, "padding-bottom": PaddingBottom, "padding-left": PaddingLeft,
		"padding-block-start": PaddingTop, "padding-inline-end": PaddingRight, "padding-block-end": PaddingBottom, "padding-inline-start": PaddingLeft,
	} {
		all[name] = longhand(p, readSize)
	}
	for i, side := range []string{"top", "right", "bottom", "left"} {
		width, style, colour := BorderTopWidth+Property(i), BorderTopStyle+Property(i), BorderTopColor+Property(i)
		all["border-"+side] = declarationReader{[]Property{width, style, colour}, func(v *reader, set func(Property, Value)) bool { return v.line(set, width, style, colour) }}
		all["border-"+side+"-width"] = longhand(width, readThickness)
		all["border-"+side+"-style"] = longhand(style, words(lineStyles))
		all["border-"+side+"-color"] = longhand(colour, readColour)
	}
	for name, p := range map[string]Property{
		"top": Top, "right": Right, "bottom": Bottom, "left": Left, "inset-block-start": Top, "inset-inline-end": Right, "inset-block-end": Bottom, "inset-inline-start": Left,
		"margin-top": MarginTop, "margin-right": MarginRight, "margin-bottom": MarginBottom, "margin-left": MarginLeft,
		"margin-block-start": MarginTop, "margin-inline-end": MarginRight, "margin-block-end": MarginBottom, "margin-inline-start": MarginLeft,
	} {
		all[name] = longhand(p, readOffset)
	}
	for _, name := range strings.Fields(`animation animation-delay animation-direction animation-duration animation-fill-mode animation-iteration-count
		animation-name animation-play-state backface-visibility background-clip background-size box-sizing clip-path filter flex flex-basis flex-direction
		flex-flow flex-grow mask mask-composite mask-image mask-position mask-size opacity transform
		transform-origin transform-style perspective perspective-origin box-shadow writing-mode justify-content align-items align-self order flex-shrink flex-wrap backdrop-filter columns column-count`) {
		all["-webkit-"+name] = all[name]
	}
	return all
})

//go:embed properties.txt
var propertyList string

// allProperties holds the names of all properties that browsers have, for @supports.
var allProperties = sync.OnceValue(func() map[string]bool { return wordSet(propertyList) })

// wideWords holds the values that every property has.
var wideWords = wordSet("initial inherit unset revert revert-layer revert-rule")

// substitutes holds the functions that are replaced before a value is read.
var substitutes = wordSet("var env attr if inherit")

// readDeclaration reads the value of a property. It yields nothing if the value is invalid.
func readDeclaration(name, text string, quirks bool, set func(Property, Value)) bool {
	d, known := declarations()[name]
	if name == "all" {
		known = true
		for p := range properties {
			if p != ColorScheme {
				d.of = append(d.of, p)
			}
		}
	}
	if !known {
		return false
	}
	v := newReader(text)
	v.quirks = quirks && quirky[name]
	for i := range v.t.Tokens {
		if v.t.Tokens[i].Kind == css.Function && v.t.Lower(i) == "var" && !v.isVariable(i) {
			return false
		}
		if v.t.Tokens[i].Kind == css.Function && (substitutes[v.t.Lower(i)] || strings.HasPrefix(v.t.Lower(i), "--")) {
			for _, p := range d.of {
				set(p, Value{later: text, of: name})
			}
			return true
		}
	}
	if word, ok := v.peekWord(); ok && wideWords[word] {
		v.at++
		if !v.done() {
			return false
		}
		for _, p := range d.of {
			set(p, Value{wide: word})
		}
		return true
	}
	if v.done() || d.read == nil {
		return false
	}
	valid := true
	got := make([]Value, 0, 4)
	of := make([]Property, 0, 4)
	valid = d.read(v, func(p Property, value Value) {
		got, of = append(got, value), append(of, p)
	}) && v.done()
	if valid {
		for i, p := range of {
			set(p, got[i])
		}
	}
	return valid
}

// isVariable reports whether the function at i names a variable.
func (v *reader) isVariable(i int) bool {
	inside := v.t.Trim(v.t.Inside(i, v.t.All()))
	if v.t.Kind(inside.From, inside) != css.Ident || !strings.HasPrefix(v.t.Name(inside.From), "--") || len(v.t.Name(inside.From)) == 2 {
		return false
	}
	rest := v.t.Trim(css.Span{From: inside.From + 1, To: inside.To})
	return rest.Empty() || v.t.Kind(rest.From, rest) == css.Comma
}

// quirky holds the properties whose values may lack their units, or the "#" of colours, in quirks mode.
var quirky = wordSet(`color background-color font-size width height min-width min-height max-width max-height top right bottom left margin margin-top
	margin-right margin-bottom margin-left padding padding-top padding-right padding-bottom padding-left text-indent letter-spacing clip`)
