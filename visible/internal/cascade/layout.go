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
