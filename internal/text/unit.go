package text

import (
	"math/big"
	"strings"
	"sync"
)

// measure is a unit of measure: so many of the base unit of its kind, counted from an offset.
type measure struct {
	kind, sign     string
	factor, offset string // decimal or a fraction
}

// measures are the units of measure by their names, which several languages share. The factors are exact by definition: https://www.nist.gov/pml/owm/metric-si/unit-conversion
var measures = sync.OnceValue(func() map[string]measure {
	all := map[string]measure{}
	for names, u := range map[string]measure{
		"m meter meters metre metres metern meterów metr metra metry metrów metrach mètre mètres metro metros metri м метр метра метров метры метрах メートル 米 미터":                                                                                                               {"length", "m", "1", "0"},
		"km kilometer kilometers kilometre kilometres kilometern kilomètre kilomètres kilómetro kilómetros chilometro chilometri quilómetro quilómetros quilômetro quilômetros км километр километра километров 公里 千米 kilometr kilometra kilometry kilometrów キロメートル 킬로미터 킬로": {"length", "km", "1000", "0"},
		"cm centimeter centimeters centimetre centimetres zentimeter": {"length", "cm", "1/100", "0"},
		"mm millimeter millimeters millimetre millimetres":            {"length", "mm", "1/1000", "0"},
		"mile miles mi meilen meile mille milles milla millas miglia milha milhas миля мили миль 英里 mijl mijlen mil mila マイル 마일": {"length", "mi", "1609.344", "0"},
		"yard yards yd":    {"length", "yd", "0.9144", "0"},
		"foot feet ft fuß": {"length", "ft", "0.3048", "0"},
		"inch inches zoll": {"length", "in", "0.0254", "0"},
		"kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos chilo chili kilogramów кг килограмм килограммов 公斤 キログラム 킬로그램": {"mass", "kg", "1", "0"},
		"g gram grams gramm": {"mass", "g", "1/1000", "0"},
		"lb lbs pound pounds pfund livres libras фунт фунтов": {"mass", "lb", "0.45359237", "0"},
		"oz ounce ounces": {"mass", "oz", "0.028349523125", "0"},
		"t tonne tonnes tonnen tonelada toneladas tonnellate ton tonów тонн 吨 トン 톤": {"mass", "t", "1000", "0"},
		"stone stones":                                     {"mass", "st", "6.35029318", "0"},
		"l liter liters litre litres":                      {"volume", "l", "1", "0"},
		"ml milliliter milliliters millilitre millilitres": {"volume", "ml", "1/1000", "0"},
		"gallon gallons gal":                               {"volume", "US gal", "3.785411784", "0"},
		"pint pints":                                       {"volume", "US pt", "0.473176473", "0"},
		"cup cups":                                         {"volume", "US cups", "0.2365882365", "0"},
		"c celsius °c":                                     {"temperature", "°C", "1", "0"},
		"f fahrenheit °f":                                  {"temperature", "°F", "5/9", "-160/9"},
		"k kelvin":                                         {"temperature", "K", "1", "-273.15"},
		"kmh km/h kph":                                     {"speed", "km/h", "1", "0"},
		"mph":                                              {"speed", "mph", "1.609344", "0"},
		"m/s":                                              {"speed", "m/s", "3.6", "0"},
		"s second seconds sec sekunden sekunde":            {"time", "s", "1", "0"},
		"min minute minutes minuut minuten minuto minutos minuti minuta minuty minut минута минуты минут dakika dakikada 分 分鐘 分钟 분":                            {"time", "min", "60", "0"},
		"h hour hours stunden stunde heure heures hora horas ora ore uur godzina godziny godzin godzinę час часа часов saat saatte 時間 小时 小時 시간":                {"time", "h", "3600", "0"},
		"day days tage tagen tag jour jours día días giorno giorni dia dias dag dagen dzień dni день дня дней gün günde":                                       {"time", "d", "86400", "0"},
		"week weeks wochen woche semaine semaines semana semanas settimana settimane weken tydzień tygodni tygodnie неделя недели недель hafta haftada 週間 周 주": {"time", "weeks", "604800", "0"},
		"bit bits":               {"data", "bit", "1/8", "0"},
		"byte bytes":             {"data", "B", "1", "0"},
		"kb kilobyte kilobytes":  {"data", "kB", "1000", "0"},
		"mb megabyte megabytes":  {"data", "MB", "1000000", "0"},
		"gb gigabyte gigabytes":  {"data", "GB", "1000000000", "0"},
		"gib gibibyte gibibytes": {"data", "GiB", "1073741824", "0"},
		"tb terabyte terabytes":  {"data", "TB", "1000000000000", "0"},
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = u
		}
	}
	return all
})

// Conversion works out a conversion of units that a message asks for and nothing else. Examples are "5 miles in km" and "how many ounces in
// a kilo?".
func Conversion(message string) (result string, ok bool) {
	fields := strings.Fields(strings.ToLower(strings.TrimRight(splitUnits(message), " ?.!")))
	value, named := (*big.Rat)(nil), []int(nil) // the places of the units
	valued := -1                                // the place of the number
	for i, field := range fields {
		if n, isNumber := new(big.Rat).SetString(pointed(field)); isNumber && len(field) <= maxSumDigits && field[0] >= '0' && field[0] <= '9' && !strings.ContainsAny(field, "/e") {
			if value != nil {
				return "", false
			}
			value, valued = n, i
		} else if _, known := measures()[field]; known && (len(field) > 1 || i == valued+1 && valued >= 0 || i == len(fields)-1) {
			named = append(named, i)
		} else if !onlyAsks(field) {
			return "", false
		}
	}
	if len(named) != 2 {
		return "", false
	}
	from, to := measures()[fields[named[0]]], measures()[fields[named[1]]]
	switch {
	case valued >= 0 && valued == named[1]-1, value == nil: // "how many ounces in a kilo?"
		from, to = to, from
	case valued != named[0]-1:
		return "", false
	}
	if value == nil {
		value = big.NewRat(1, 1)
	}
	if from.kind != to.kind || from == to || valued < 0 && len(fields) < 4 {
		return "", false
	}
	return number(value) + " " + from.sign + " = " + convert(value, from, to), true
}

// BaseUnit returns the kind of a unit, such as "length". It also returns how many of the base unit of its kind it is. Temperatures have
// none.
func BaseUnit(name string) (factor float64, kind string) {
	u, known := measures()[strings.ToLower(name)]
	if !known || u.offset != "0" {
		return 0, ""
	}
	f, _ := new(big.Rat).SetString(u.factor)
	factor, _ = f.Float64()
	return factor, u.kind
}

func convert(value *big.Rat, from, to measure) string {
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
		if digit && (InWord(r) || r == '°') && (r < '0' || r > '9') {
			b.WriteByte(' ')
		}
		digit = r >= '0' && r <= '9'
		b.WriteRune(r)
	}
	return b.String()
}
