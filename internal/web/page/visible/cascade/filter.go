package cascade

import "familiar/internal/web/page/visible/css"

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
