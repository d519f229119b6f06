package question

import (
	"math/big"
	"strings"
	"sync"

	"familiar/internal/text"
)

// unit is a unit of measure: so many of the base unit of its kind, counted from an offset.
type unit struct {
	kind, sign     string
	factor, offset string // decimal or a fraction
}

// units are the units by their names, which several languages share. The factors are exact by definition: https://www.nist.gov/pml/owm/metric-si/unit-conversion
var units = sync.OnceValue(func() map[string]unit {
	all := map[string]unit{}
	for names, u := range map[string]unit{
		"m meter meters metre metres":                                 {"length", "m", "1", "0"},
		"km kilometer kilometers kilometre kilometres":                {"length", "km", "1000", "0"},
		"cm centimeter centimeters centimetre centimetres zentimeter": {"length", "cm", "1/100", "0"},
		"mm millimeter millimeters millimetre millimetres":            {"length", "mm", "1/1000", "0"},
		"mile miles mi meilen meile":                                  {"length", "mi", "1609.344", "0"},
		"yard yards yd":                                               {"length", "yd", "0.9144", "0"},
		"foot feet ft fuß":                                            {"length", "ft", "0.3048", "0"},
		"inch inches zoll":                                            {"length", "in", "0.0254", "0"},
		"kg kilo kilos kilogram kilograms kilogramm":                  {"mass", "kg", "1", "0"},
		"g gram grams gramm":                                          {"mass", "g", "1/1000", "0"},
		"lb lbs pound pounds":                                         {"mass", "lb", "0.45359237", "0"},
		"oz ounce ounces":                                             {"mass", "oz", "0.028349523125", "0"},
		"stone stones":                                                {"mass", "st", "6.35029318", "0"},
		"l liter liters litre litres":                                 {"volume", "l", "1", "0"},
		"ml milliliter milliliters millilitre millilitres":            {"volume", "ml", "1/1000", "0"},
		"gallon gallons gal":                                          {"volume", "US gal", "3.785411784", "0"},
		"pint pints":                                                  {"volume", "US pt", "0.473176473", "0"},
		"cup cups":                                                    {"volume", "US cups", "0.2365882365", "0"},
		"c celsius °c":                                                {"temperature", "°C", "1", "0"},
		"f fahrenheit °f":                                             {"temperature", "°F", "5/9", "-160/9"},
		"k kelvin":                                                    {"temperature", "K", "1", "-273.15"},
		"kmh km/h kph":                                                {"speed", "km/h", "1", "0"},
		"mph":                                                         {"speed", "mph", "1.609344", "0"},
		"m/s":                                                         {"speed", "m/s", "3.6", "0"},
		"s second seconds sec sekunden sekunde":                       {"time", "s", "1", "0"},
		"min minute minutes minuten":                                  {"time", "min", "60", "0"},
		"h hour hours stunden stunde":                                 {"time", "h", "3600", "0"},
		"day days tage tag":                                           {"time", "d", "86400", "0"},
		"week weeks wochen woche":                                     {"time", "weeks", "604800", "0"},
		"byte bytes":                                                  {"data", "B", "1", "0"},
		"kb kilobyte kilobytes":                                       {"data", "kB", "1000", "0"},
		"mb megabyte megabytes":                                       {"data", "MB", "1000000", "0"},
		"gb gigabyte gigabytes":                                       {"data", "GB", "1000000000", "0"},
		"gib gibibyte gibibytes":                                      {"data", "GiB", "1073741824", "0"},
		"tb terabyte terabytes":                                       {"data", "TB", "1000000000000", "0"},
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = u
		}
	}
	return all
})

// Conversion works out a conversion of units that a message asks for, as "5 miles in km" or "how many ounces in a kilo?".
func Conversion(message string) (result string, ok bool) {
	fields := strings.Fields(strings.ToLower(strings.TrimRight(splitUnits(message), " ?.!")))
	for i := 1; i+2 < len(fields)+1; i++ {
		from, known := units()[fields[i]]
		value, isNumber := new(big.Rat).SetString(pointed(fields[i-1]))
		if !known || !isNumber || len(fields[i-1]) > maxSumDigits || strings.ContainsAny(fields[i-1], "/e") {
			continue
		}
		for j := range fields {
			if to, known := units()[fields[j]]; j != i && known && to.kind == from.kind && to != from {
				return number(value) + " " + from.sign + " = " + convert(value, from, to), true
			}
		}
	}
	for i := 2; i+2 < len(fields); i++ { // "how many ounces in a kilo"
		to, known := units()[fields[i]]
		from, also := units()[fields[len(fields)-1]]
		if known && also && to.kind == from.kind && to != from && (fields[i-1] == "many" || fields[i-1] == "viele") {
			return "1 " + from.sign + " = " + convert(big.NewRat(1, 1), from, to), true
		}
	}
	return "", false
}

func convert(value *big.Rat, from, to unit) string {
	rat := func(s string) *big.Rat {
		r, _ := new(big.Rat).SetString(s)
		return r
	}
	base := new(big.Rat).Mul(value, rat(from.factor))
	base.Add(base, rat(from.offset)).Sub(base, rat(to.offset))
	return number(base.Quo(base, rat(to.factor))) + " " + to.sign
}

// splitUnits puts a space between a number and the unit that is written to it: "5km".
func splitUnits(s string) string {
	var b strings.Builder
	digit := false
	for _, r := range s {
		if digit && (text.InWord(r) || r == '°') && (r < '0' || r > '9') {
			b.WriteByte(' ')
		}
		digit = r >= '0' && r <= '9'
		b.WriteRune(r)
	}
	return b.String()
}
