package cascade

import (
	"strings"

	"familiar/visible/internal/css"
)

// displays holds the values of display that are one keyword.
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
	basis, factors := Value{Numbers: []Number{pixels(0)}}, [2]Value{{Numbers: []Number{{n: 1}}}, {Numbers: []Number{{n: 1}}}}
	n := 0
	if word, ok := v.peekWord(); ok && (word == "none" || word == "auto") {
		v.at++
		if basis = (Value{Word: "auto"}); word == "none" {
			factors[0].Numbers, factors[1].Numbers = []Number{{}}, []Number{{}}
		}
	}
	for !v.done() {
		if n < 2 {
			if one, ok := v.numberOf(plain); ok {
				factors[n].Numbers = []Number{one}
				n++
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
	set(FlexGrow, factors[0])
	set(FlexShrink, factors[1])
	return true
}

func readFlexFlow(v *reader, set func(Property, Value)) bool {
	direction, wrap := "row", "nowrap"
	for !v.done() {
		word, ok := v.word()
		switch {
		case !ok:
			return false
		case strings.HasPrefix(word, "row"), strings.HasPrefix(word, "column"):
			direction = word
		default:
			wrap = word
		}
	}
	set(FlexDirection, Value{Word: direction})
	set(FlexWrap, Value{Word: wrap})
	return true
}

// maxTracks is how many tracks of a grid are read.
const maxTracks = 200

// readTracks reads the tracks of a grid. The name of a part is "fr" for a share of the rest and "size" for a length. It is "auto" for
// anything else.
func readTracks(v *reader) (Value, bool) {
	all := Value{Word: "tracks"}
	all.Parts = v.tracks(nil)
	return all, true
}

func (v *reader) tracks(all []Part) []Part {
	for !v.done() && len(all) < maxTracks {
		if n, ok := v.numberOf(flex); ok {
			all = append(all, Part{Name: "fr", Numbers: []Number{n}})
			continue
		}
		if n, ok := v.numberOf(length, percentage, mixed); ok {
			all = append(all, Part{Name: "size", Numbers: []Number{n}})
			continue
		}
		name, args, ok := v.function()
		switch {
		case !ok:
			if word, isWord := v.word(); isWord && word != "none" {
				all = append(all, Part{Name: "auto"})
			} else if !isWord {
				v.at = v.t.After(v.at)
			}
		case name == "repeat":
			parts := args.parts()
			if len(parts) < 2 {
				return all
			}
			times := 1
			if n, ok := parts[0].numberOf(plain); ok && n.op == 0 {
				times = int(min(max(n.n, 1), maxTracks))
			}
			for range times {
				if all = parts[1].within(parts[1].in).tracks(all); len(all) >= maxTracks {
					break
				}
			}
		case name == "minmax":
			if parts := args.parts(); len(parts) == 2 {
				if most := parts[1].tracks(nil); len(most) == 1 && most[0].Name != "auto" {
					all = append(all, most[0])
					continue
				}
			}
			all = append(all, Part{Name: "auto"})
		default:
			all = append(all, Part{Name: "auto"})
		}
	}
	return all
}

func readGridTemplate(v *reader, set func(Property, Value)) bool {
	rows, columns := v.in, css.Span{}
	var areas []string
	for i := v.at; i < v.in.To; i = v.t.After(i) {
		if v.t.Is(i, v.in, '/') {
			rows.To, columns = i, css.Span{From: i + 1, To: v.in.To}
		}
		if v.kind(i) == css.String {
			areas = append(areas, `"`+v.t.Name(i)+`"`)
		}
	}
	r, _ := readTracks(v.within(rows))
	c := Value{Word: "other"}
	if !columns.Empty() {
		c, _ = readTracks(v.within(columns))
	}
	set(GridTemplateRows, r)
	set(GridTemplateColumns, c)
	if areas != nil {
		set(GridAreas, Value{Word: strings.Join(areas, " ")})
	}
	v.at = v.in.To
	return true
}

func readColumns(v *reader) (Value, bool) {
	got := Value{Word: "auto"}
	for !v.done() {
		if n, ok := v.numberOf(plain); ok {
			got = Value{Numbers: []Number{n}}
		} else {
			v.at = v.t.After(v.at)
		}
	}
	return got, true
}

// readRatio reads a ratio: the width that belongs to a height of 1.
func readRatio(v *reader) (Value, bool) {
	got := Value{}
	for !v.done() {
		if _, ok := v.word(); ok {
			continue
		}
		n, ok := v.numberOf(plain)
		if !ok {
			return Value{}, false
		}
		if v.take('/') {
			by, ok := v.numberOf(plain)
			if !ok {
				return Value{}, false
			}
			n = Number{op: '/', args: []Number{n, by}}
		}
		got.Numbers = []Number{n}
	}
	return got, true
}
