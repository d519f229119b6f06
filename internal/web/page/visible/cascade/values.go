package cascade

import (
	"strings"

	"familiar/internal/web/page/visible/css"
)

const functionKind = css.Function

// displays are the values of display that stand alone.
var displays = wordSet(`none contents block inline inline-block list-item inline-table inline-flex inline-grid table table-row-group table-header-group
	table-footer-group table-row table-cell table-column-group table-column table-caption flow flow-root flex grid ruby ruby-text math run-in -webkit-box
	-webkit-inline-box -webkit-flex -webkit-inline-flex grid-lanes inline-grid-lanes`)

var displayParts = wordSet("block inline flow flow-root table flex grid ruby math list-item")

func readDisplay(v *reader) (Value, bool) {
	first, ok := v.word()
	if !ok || !displays[first] {
		return Value{}, false
	}
	all := []string{first}
	for !v.done() {
		word, ok := v.word()
		if !ok || !displayParts[word] || !displayParts[first] || len(all) == 3 {
			return Value{}, false
		}
		all = append(all, word)
	}
	if len(all) == 1 {
		return Value{Word: first}, true
	}
	outer, inner := "block", ""
	for _, word := range all {
		switch word {
		case "inline":
			outer = "inline"
		case "flow-root", "flex", "grid", "table":
			inner = word
		}
	}
	switch {
	case outer == "inline" && inner == "flow-root":
		return Value{Word: "inline-block"}, true
	case outer == "inline" && inner != "":
		return Value{Word: "inline-" + inner}, true
	case inner != "":
		return Value{Word: inner}, true
	}
	return Value{Word: outer}, true
}

// readWords reads any names.
func readWords(v *reader) (Value, bool) {
	var all []string
	for !v.done() {
		word, ok := v.word()
		if !ok {
			return Value{}, false
		}
		all = append(all, word)
	}
	return Value{Word: strings.Join(all, " ")}, true
}

// readNames reads names whose case matters.
func readNames(v *reader) (Value, bool) {
	start := v.in
	_, ok := readWords(v)
	return Value{Word: v.t.Between(css.Span{From: start.From, To: start.To})}, ok
}

// readAnything takes a value as it is written.
func readAnything(v *reader) (Value, bool) {
	text := strings.ToLower(v.t.Between(v.in))
	v.at = v.in.To
	return Value{Word: text}, true
}

func listOf(read func(v *reader) (Value, bool)) func(v *reader) (Value, bool) {
	return func(v *reader) (Value, bool) {
		var all Value
		for _, part := range v.parts() {
			one, ok := read(part)
			if !ok || !part.done() {
				return Value{}, false
			}
			all.Parts = append(all.Parts, Part{Name: one.Word, Numbers: one.Numbers})
		}
		v.at = v.in.To
		return all, true
	}
}

func listOfWords(list string) func(v *reader) (Value, bool) { return listOf(words(list)) }

func readAnimationName(v *reader) (Value, bool) {
	if v.done() || v.kind(v.at) != css.Ident && v.kind(v.at) != css.String {
		return Value{}, false
	}
	v.at++
	return Value{Word: v.t.Name(v.at - 1)}, true
}

func readIndent(v *reader) (Value, bool) {
	got := Value{}
	for !v.done() {
		if word, ok := v.word(); ok {
			if word != "hanging" && word != "each-line" {
				return Value{}, false
			}
			continue
		}
		n, ok := v.numberOf(length, percentage, mixed)
		if !ok || got.Numbers != nil {
			return Value{}, false
		}
		got.Numbers = []Number{n}
	}
	return got, got.Numbers != nil
}

var spaceWords = wordSet("normal nowrap pre pre-wrap pre-line break-spaces collapse preserve preserve-breaks wrap balance pretty stable auto")

func readWhiteSpace(v *reader) (Value, bool) {
	got := Value{Word: "wrap"}
	for !v.done() {
		word, ok := v.word()
		if !ok || !spaceWords[word] {
			return Value{}, false
		}
		if word == "nowrap" || word == "pre" {
			got.Word = "nowrap"
		}
	}
	return got, true
}

// fontSizes are the sizes that have names, in pixels.
var fontSizes = map[string]float64{"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48, "-webkit-xxx-large": 48, "math": 16}

func readFontSize(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		switch word {
		case "smaller":
			return Value{Numbers: []Number{{quantity: length, n: .8333, unit: 'e'}}}, true
		case "larger":
			return Value{Numbers: []Number{{quantity: length, n: 1.2, unit: 'e'}}}, true
		}
		size, ok := fontSizes[word]
		return Value{Numbers: []Number{pixels(size)}}, ok
	}
	return numbers("", false, length, percentage, mixed)(v)
}

func readSizeAdjust(v *reader) (Value, bool) {
	var got Value
	for !v.done() {
		if _, ok := v.word(); ok {
			continue
		}
		n, ok := v.numberOf(plain)
		if !ok {
			return Value{}, false
		}
		got.Numbers = []Number{n}
	}
	return got, true
}

var systemFonts = wordSet("caption icon menu message-box small-caption status-bar")

var fontWords = wordSet(`normal italic oblique small-caps bold bolder lighter ultra-condensed extra-condensed condensed semi-condensed semi-expanded expanded
	extra-expanded ultra-expanded`)

func readFont(v *reader, set func(Property, Value)) bool {
	set(FontSizeAdjust, Value{Word: "none"})
	if word, ok := v.peekWord(); ok && systemFonts[word] {
		v.at++
		set(FontSize, Value{Numbers: []Number{pixels(13)}})
		set(LineHeight, Value{Word: "normal"})
		return true
	}
	for {
		at := v.at
		if word, ok := v.word(); ok && fontWords[word] {
			if word == "oblique" {
				v.numberOf(angle)
			}
			continue
		}
		v.at = at
		if n, ok := v.numberOf(plain); ok && !(n.op == 0 && n.n < 1) && !v.quirks {
			continue
		}
		v.at = at
		break
	}
	size, ok := readFontSize(v)
	if !ok {
		return false
	}
	set(FontSize, size)
	height := Value{Word: "normal"}
	if v.take('/') {
		if height, ok = numbers("normal", false, plain, length, percentage, mixed)(v); !ok {
			return false
		}
	}
	set(LineHeight, height)
	if v.done() {
		return false
	}
	for _, family := range v.parts() {
		if family.done() {
			return false
		}
		if family.kind(family.at) == css.String {
			family.at++
			if !family.done() {
				return false
			}
			continue
		}
		for !family.done() {
			if _, ok := family.word(); !ok {
				if _, _, ok := family.function(); !ok {
					return false
				}
			}
		}
	}
	v.at = v.in.To
	return true
}

func readColour(v *reader) (Value, bool) {
	c, ok := v.colour()
	return Value{Colour: c}, ok
}

func readStroke(v *reader, set func(Property, Value)) bool {
	width, colour := Value{Numbers: []Number{pixels(0)}}, Value{wide: "initial"}
	for !v.done() {
		at := v.at
		if got, ok := numbers("thin medium thick", false, length)(v); ok {
			width = got
			continue
		}
		v.at = at
		got, ok := readColour(v)
		if !ok {
			return false
		}
		colour = got
	}
	set(TextStrokeWidth, width)
	set(TextStrokeColor, colour)
	return true
}

// readShadows reads the shadows of a text. The numbers of a part are its offsets and how far it is blurred.
func readShadows(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok && word == "none" {
		v.at++
		return Value{Word: word}, true
	}
	var all Value
	for _, part := range v.parts() {
		var one Part
		for !part.done() {
			if n, ok := part.numberOf(length); ok {
				one.Numbers = append(one.Numbers, n)
				continue
			}
			c, ok := part.colour()
			if !ok || len(one.Colours) > 0 {
				return Value{}, false
			}
			one.Colours = append(one.Colours, c)
		}
		if len(one.Numbers) < 2 || len(one.Numbers) > 3 {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	v.at = v.in.To
	return all, true
}

// filterFunctions are the filters, with the quantity that they take.
var filterFunctions = map[string]quantity{"blur": length, "brightness": plain, "contrast": plain, "grayscale": plain, "hue-rotate": angle, "invert": plain, "opacity": plain, "saturate": plain, "sepia": plain}

func readFilters(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	var all Value
	for !v.done() {
		if v.kind(v.at) == css.URL {
			v.at++
			all.Doubt = true
			continue
		}
		name, args, ok := v.function()
		if !ok {
			return Value{}, false
		}
		one := Part{Name: name}
		switch q, known := filterFunctions[name]; {
		case name == "drop-shadow":
		case name == "url":
			all.Doubt = true
		case !known:
			return Value{}, false
		default:
			if n, ok := args.numberOf(q, percentageOf(q)); ok {
				one.Numbers = []Number{n}
			}
			if !args.done() {
				return Value{}, false
			}
			all.Parts = append(all.Parts, one)
		}
	}
	return all, true
}

// percentageOf says that what counts as a number may be a percentage.
func percentageOf(q quantity) quantity {
	if q == plain {
		return percentage
	}
	return q
}

func readClip(v *reader) (Value, bool) {
	if word, ok := v.word(); ok {
		return Value{Word: word}, word == "auto"
	}
	name, args, ok := v.function()
	if !ok || name != "rect" {
		return Value{}, false
	}
	got := Value{}
	for !args.done() {
		args.take(',')
		one, ok := readOffset(args)
		if !ok {
			return Value{}, false
		}
		if one.Numbers == nil {
			one.Numbers = []Number{{op: '?', args: []Number{{}}}}
		}
		got.Numbers = append(got.Numbers, one.Numbers[0])
	}
	return got, len(got.Numbers) == 4
}

var boxWords = wordSet("border-box padding-box content-box margin-box fill-box stroke-box view-box")

// readClipPath reads a shape. Its numbers are those of its arguments, NaN for words.
func readClipPath(v *reader) (Value, bool) {
	var got Value
	for !v.done() {
		if word, ok := v.peekWord(); ok {
			v.at++
			if !boxWords[word] && word != "none" {
				return Value{}, false
			}
			continue
		}
		if v.kind(v.at) == css.URL {
			v.at++
			got.Doubt = true
			continue
		}
		name, args, ok := v.function()
		if !ok || len(got.Parts) > 0 {
			return Value{}, false
		}
		if name == "url" {
			got.Doubt = true
			continue
		}
		one, ok := readShape(name, args)
		if !ok {
			return Value{}, false
		}
		got.Parts = append(got.Parts, one)
	}
	return got, true
}

func readShape(name string, v *reader) (Part, bool) {
	one := Part{Name: name}
	lengths := func(words string, least, most int) bool {
		allowed := wordSet(words)
		n := 0
		for ; n < most && !v.done(); n++ {
			if word, ok := v.peekWord(); ok {
				if !allowed[word] {
					break
				}
				v.at++
				one.Numbers = append(one.Numbers, Number{op: '?', args: []Number{{}}})
				one.Address += word + " "
				continue
			}
			number, ok := v.numberOf(length, percentage, mixed)
			if !ok {
				return false
			}
			one.Numbers = append(one.Numbers, number)
		}
		return n >= least
	}
	rounded := func() bool {
		word, ok := v.peekWord()
		if ok && word == "round" {
			v.at = v.in.To
		}
		return v.done()
	}
	switch name {
	case "inset":
		ok := lengths("", 1, 4) && rounded()
		return one, ok
	case "rect":
		ok := lengths("auto", 4, 4) && rounded()
		return one, ok
	case "xywh":
		ok := lengths("", 4, 4) && rounded()
		return one, ok
	case "circle", "ellipse":
		ok := lengths("closest-side farthest-side closest-corner farthest-corner", 0, 2)
		if word, is := v.peekWord(); is && word == "at" {
			v.at++
			radii := len(one.Numbers)
			for len(one.Numbers) < 2 {
				one.Numbers = append(one.Numbers, Number{op: '?', args: []Number{{}}})
			}
			if name == "circle" && radii == 1 {
				one.Numbers[1] = one.Numbers[0]
			}
			for !v.done() {
				if word, is := v.word(); is {
					share := map[string]float64{"left": 0, "top": 0, "center": 50, "right": 100, "bottom": 100}
					n, known := share[word]
					if !known {
						return one, false
					}
					one.Numbers = append(one.Numbers, Number{quantity: percentage, n: n, unit: '%'})
					continue
				}
				number, is := v.numberOf(length, percentage, mixed)
				if !is {
					return one, false
				}
				one.Numbers = append(one.Numbers, number)
			}
			return one, ok && len(one.Numbers) <= 6
		}
		if name == "circle" && len(one.Numbers) == 1 {
			one.Numbers = append(one.Numbers, one.Numbers[0])
		}
		return one, ok && v.done()
	case "polygon":
		for i, part := range v.parts() {
			if word, is := part.peekWord(); i == 0 && is && (word == "nonzero" || word == "evenodd") {
				continue
			}
			for range 2 {
				number, ok := part.numberOf(length, percentage, mixed)
				if !ok {
					return one, false
				}
				one.Numbers = append(one.Numbers, number)
			}
			if !part.done() {
				return one, false
			}
		}
		return one, len(one.Numbers) > 0
	case "path":
		for !v.done() {
			if v.kind(v.at) == css.String {
				one.Address = v.t.Name(v.at)
			}
			v.at++
		}
		return one, one.Address != ""
	case "shape":
		return one, true
	}
	return one, false
}

func readContent(v *reader) (Value, bool) {
	got := Value{}
	for !v.done() {
		switch v.kind(v.at) {
		case css.String:
			v.at++
		case css.Ident:
			got.Word += v.t.Lower(v.at) + " "
			v.at++
		case css.URL:
			v.at++
			got.Word += "image "
		case css.Function:
			name, _, _ := v.function()
			if name == "url" || strings.Contains(name, "gradient") || strings.Contains(name, "image") {
				got.Word += "image "
			} else {
				got.Word += "text "
			}
		default:
			if !v.take('/') {
				return Value{}, false
			}
		}
	}
	return got, true
}

// transformFunctions are the transforms: the quantities of their arguments, and how many they take.
var transformFunctions = map[string]struct {
	quantities  []quantity
	least, most int
}{
	"matrix": {[]quantity{plain}, 6, 6}, "matrix3d": {[]quantity{plain}, 16, 16},
	"translate": {[]quantity{length, percentage, mixed}, 1, 2}, "translatex": {[]quantity{length, percentage, mixed}, 1, 1}, "translatey": {[]quantity{length, percentage, mixed}, 1, 1},
	"translatez": {[]quantity{length}, 1, 1}, "translate3d": {[]quantity{length, percentage, mixed}, 3, 3},
	"scale": {[]quantity{plain, percentage}, 1, 2}, "scalex": {[]quantity{plain, percentage}, 1, 1}, "scaley": {[]quantity{plain, percentage}, 1, 1}, "scalez": {[]quantity{plain, percentage}, 1, 1}, "scale3d": {[]quantity{plain, percentage}, 3, 3},
	"rotate": {[]quantity{angle}, 1, 1}, "rotatex": {[]quantity{angle}, 1, 1}, "rotatey": {[]quantity{angle}, 1, 1}, "rotatez": {[]quantity{angle}, 1, 1}, "rotate3d": {[]quantity{plain, angle}, 4, 4},
	"skew": {[]quantity{angle}, 1, 2}, "skewx": {[]quantity{angle}, 1, 1}, "skewy": {[]quantity{angle}, 1, 1}, "perspective": {[]quantity{length}, 1, 1},
}

func readTransform(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	var all Value
	for !v.done() {
		name, args, ok := v.function()
		f, known := transformFunctions[name]
		if !ok || !known {
			return Value{}, false
		}
		one := Part{Name: name}
		if word, ok := args.peekWord(); ok && word == "none" && name == "perspective" {
			args.at++
			one.Numbers = append(one.Numbers, pixels(0))
		}
		for !args.done() {
			if len(one.Numbers) > 0 && !args.take(',') {
				return Value{}, false
			}
			n, ok := args.numberOf(f.quantities...)
			if !ok {
				return Value{}, false
			}
			all.Doubt = all.Doubt || n.op == '?'
			one.Numbers = append(one.Numbers, n)
		}
		if len(one.Numbers) < f.least || len(one.Numbers) > f.most {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	return all, true
}

func readTranslate(v *reader) (Value, bool) {
	return readFunctionProperty(v, "translate", length, percentage, mixed)
}
func readScale(v *reader) (Value, bool) {
	return readFunctionProperty(v, "scale", plain, percentage)
}

// readFunctionProperty reads one of the properties that say what a transform of that name does.
func readFunctionProperty(v *reader, name string, quantities ...quantity) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	one := Part{Name: name}
	for !v.done() {
		n, ok := v.numberOf(quantities...)
		if !ok {
			return Value{}, false
		}
		one.Numbers = append(one.Numbers, n)
	}
	if len(one.Numbers) == 3 {
		one.Numbers = one.Numbers[:2]
	}
	return Value{Parts: []Part{one}}, len(one.Numbers) > 0 && len(one.Numbers) < 3
}

func readRotate(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok && word == "none" {
		v.at++
		return Value{Word: word}, true
	}
	one := Part{Name: "rotate"}
	var axis []Number
	for !v.done() {
		if word, ok := v.word(); ok {
			if word != "x" && word != "y" && word != "z" {
				return Value{}, false
			}
			one.Name = "rotate" + word
			continue
		}
		if n, ok := v.numberOf(plain); ok && len(axis) < 3 {
			axis = append(axis, n)
			continue
		}
		n, ok := v.numberOf(angle)
		if !ok {
			return Value{}, false
		}
		one.Numbers = append(one.Numbers, n)
	}
	if len(axis) == 3 {
		one.Name, one.Numbers = "rotate3d", append(axis, one.Numbers...)
		return Value{Parts: []Part{one}}, len(one.Numbers) == 4
	}
	return Value{Parts: []Part{one}}, len(one.Numbers) == 1 && axis == nil
}

var decorationWords = wordSet("none underline overline line-through blink spelling-error grammar-error solid double dotted dashed wavy auto from-font")

func readDecoration(v *reader) (Value, bool) {
	var all []string
	for !v.done() {
		at := v.at
		if word, ok := v.word(); ok && decorationWords[word] {
			all = append(all, word)
			continue
		}
		v.at = at
		if _, ok := v.numberOf(length, percentage); ok {
			continue
		}
		if _, ok := v.colour(); !ok {
			return Value{}, false
		}
	}
	return Value{Word: strings.Join(all, " ")}, true
}

func readContainer(v *reader, set func(Property, Value)) bool {
	names := css.Span{From: v.at, To: v.in.To}
	kind := Value{Word: "normal"}
	for i := v.at; i < v.in.To; i = v.t.After(i) {
		if v.t.Is(i, v.in, '/') {
			names.To = i
			word, ok := readWords(v.within(css.Span{From: i + 1, To: v.in.To}))
			if !ok {
				return false
			}
			kind = word
		}
	}
	set(ContainerName, Value{Word: v.t.Between(v.t.Trim(names))})
	set(ContainerType, kind)
	v.at = v.in.To
	return true
}

func readFlex(v *reader, set func(Property, Value)) bool {
	basis, grow := Value{Numbers: []Number{pixels(0)}}, Value{Numbers: []Number{{n: 1}}}
	if word, ok := v.peekWord(); ok && (word == "none" || word == "auto") {
		v.at++
		set(FlexBasis, Value{Word: "auto"})
		if word == "none" {
			grow.Numbers = []Number{{}}
		}
		set(FlexGrow, grow)
		return v.done()
	}
	factors := 0
	for !v.done() {
		if factors < 2 {
			if n, ok := v.numberOf(plain); ok {
				if factors++; factors == 1 {
					grow.Numbers = []Number{n}
				}
				continue
			}
		}
		got, ok := numbers(sizeWords+" content", false, length, percentage, mixed)(v)
		if !ok {
			return false
		}
		basis = got
	}
	set(FlexBasis, basis)
	set(FlexGrow, grow)
	return true
}

func readFlexFlow(v *reader) (Value, bool) {
	got := Value{Word: "row"}
	for !v.done() {
		word, ok := v.word()
		switch {
		case !ok:
			return Value{}, false
		case strings.HasPrefix(word, "row"), strings.HasPrefix(word, "column"):
			got.Word = word
		}
	}
	return got, true
}

// readTracks reads the tracks of a grid. The name of a part is "zero" if the track has no size of its own.
func readTracks(v *reader) (Value, bool) {
	all := Value{Word: "tracks"}
	for !v.done() {
		one := Part{Name: "other"}
		if n, ok := v.numberOf(length, percentage, flex, mixed); !ok {
			v.at = v.t.After(v.at)
		} else if n.op == 0 && n.n == 0 {
			one.Name = "zero"
		}
		all.Parts = append(all.Parts, one)
	}
	return all, true
}

func readGridTemplate(v *reader, set func(Property, Value)) bool {
	rows, columns := v.in, css.Span{}
	for i := v.at; i < v.in.To; i = v.t.After(i) {
		if v.t.Is(i, v.in, '/') {
			rows.To, columns = i, css.Span{From: i + 1, To: v.in.To}
		}
	}
	r, _ := readTracks(v.within(rows))
	c := Value{Word: "other"}
	if !columns.Empty() {
		c, _ = readTracks(v.within(columns))
	}
	set(GridTemplateRows, r)
	set(GridTemplateColumns, c)
	v.at = v.in.To
	return true
}

var timings = wordSet("ease ease-in ease-out ease-in-out linear step-start step-end")

// readAnimation reads the shorthand of animations. A word is what it can be first of all, and then the name.
func readAnimation(v *reader, set func(Property, Value)) bool {
	var lists [8]Value
	of := [...]Property{AnimationName, AnimationDuration, AnimationDelay, AnimationIterations, AnimationDirection, AnimationFill, AnimationState}
	for _, part := range v.parts() {
		one := [...]Part{{Name: "none"}, {Numbers: []Number{{quantity: duration}}}, {Numbers: []Number{{quantity: duration}}}, {Numbers: []Number{{n: 1}}}, {Name: "normal"}, {Name: "none"}, {Name: "running"}}
		times, given := 0, map[int]bool{}
		place := func(i int, p Part) bool {
			if given[i] {
				return false
			}
			given[i], one[i] = true, p
			return true
		}
		for !part.done() {
			if n, ok := part.numberOf(duration); ok {
				if times++; times > 2 {
					return false
				}
				one[times].Numbers = []Number{n}
				continue
			}
			if n, ok := part.numberOf(plain); ok {
				if !place(3, Part{Numbers: []Number{n}}) {
					return false
				}
				continue
			}
			if _, _, ok := part.function(); ok { // a timing
				continue
			}
			word, ok := part.word()
			if !ok && part.kind(part.at) == css.String {
				part.at++
				ok = true
			}
			if !ok {
				return false
			}
			name := Part{Name: part.t.Name(part.at - 1)}
			switch {
			case timings[word] && !given[9]:
				given[9] = true
			case word == "infinite" && place(3, Part{Name: word}):
			case (word == "normal" || word == "reverse" || word == "alternate" || word == "alternate-reverse") && place(4, Part{Name: word}):
			case (word == "none" || word == "forwards" || word == "backwards" || word == "both") && place(5, Part{Name: word}):
			case (word == "running" || word == "paused") && place(6, Part{Name: word}):
			case word == "auto":
			case !place(0, name):
				return false
			}
		}
		for i := range of {
			lists[i].Parts = append(lists[i].Parts, one[i])
		}
	}
	for i, p := range of {
		set(p, lists[i])
	}
	set(AnimationTimeline, Value{Word: "auto"})
	v.at = v.in.To
	return true
}
