package search

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// forecast is Open-Meteo's reply: the weather now, and one column for each daily figure, with null where a model
// does not know it.
type forecast struct {
	UTCOffset        number `json:"utc_offset_seconds"`
	ZoneAbbreviation string `json:"timezone_abbreviation"`
	Current          struct {
		Time          string
		Temperature   number `json:"temperature_2m"`
		Apparent      number `json:"apparent_temperature"`
		Humidity      number `json:"relative_humidity_2m"`
		Precipitation number
		Code          number `json:"weather_code"`
		Wind          number `json:"wind_speed_10m"`
	}
	Daily struct {
		Time    []string
		Code    []number `json:"weather_code"`
		Max     []number `json:"temperature_2m_max"`
		Min     []number `json:"temperature_2m_min"`
		Rain    []number `json:"precipitation_probability_max"`
		Sunrise []string
		Sunset  []string
	}
}

// units are the names behind the figures.
type units struct{ temperature, wind, rain string }

func unitsFor(imperial bool) units {
	if imperial {
		return units{"°F", "mph", "in"}
	}
	return units{"°C", "km/h", "mm"}
}

// text tells the weather in sentences that each hold place, date and figures, so that one of them can be quoted
// alone: the weather now on the first line, then a line for each day. It is "" if nothing is known.
func (f *forecast) text(where string, u units) string {
	var lines []string
	if now := f.now(where, u); now != "" {
		lines = append(lines, now)
	}
	for i, date := range f.Daily.Time {
		if day := f.day(i, date, where, u); day != "" {
			lines = append(lines, day)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(append(lines, "Weather data by Open-Meteo.com, CC BY 4.0."), "\n")
}

func (f *forecast) now(where string, u units) string {
	at, ok := f.local(f.Current.Time)
	if !ok || !f.Current.Temperature.known {
		return ""
	}
	text := fmt.Sprintf("Now, on %s at %s local time, it is %s in %s", at.Format("Monday 2 January 2006"), at.Format("15:04"),
		figure(f.Current.Temperature, u.temperature), where)
	if sky := sky(f.Current.Code); sky != "" {
		text += ", with " + sky
	}
	if f.Current.Apparent.known {
		text += ", and feels like " + figure(f.Current.Apparent, u.temperature)
	}
	text += "."
	var more []string
	if f.Current.Wind.known {
		more = append(more, "the wind blows at "+figure(f.Current.Wind, u.wind))
	}
	if f.Current.Humidity.known {
		more = append(more, "the humidity is "+percent(f.Current.Humidity))
	}
	if p := f.Current.Precipitation; p.known && p.value > 0 {
		more = append(more, "the precipitation is "+figure(p, u.rain))
	}
	if len(more) > 0 {
		text += " In " + where + " " + strings.Join(more, ", ") + "."
	}
	return text
}

func (f *forecast) day(i int, date, where string, u units) string {
	at, ok := f.local(date)
	high, low := column(f.Daily.Max, i), column(f.Daily.Min, i)
	if !ok || !high.known && !low.known {
		return ""
	}
	text := fmt.Sprintf("On %s, %s has", at.Format("Monday 2 January 2006"), where)
	if sky := sky(column(f.Daily.Code, i)); sky != "" {
		text += " " + sky + ","
	}
	switch {
	case high.known && low.known:
		text += fmt.Sprintf(" temperatures between %s and %s", figure(low, u.temperature), figure(high, u.temperature))
	case high.known:
		text += " temperatures up to " + figure(high, u.temperature)
	default:
		text += " temperatures down to " + figure(low, u.temperature)
	}
	if rain := column(f.Daily.Rain, i); rain.known {
		text += " and a " + percent(rain) + " chance of precipitation"
	}
	text += "."
	rise, up := f.local(column(f.Daily.Sunrise, i))
	set, down := f.local(column(f.Daily.Sunset, i))
	if up && down {
		text += fmt.Sprintf(" The sun rises at %s and sets at %s.", rise.Format("15:04"), set.Format("15:04"))
	}
	return text
}

// column is the value of a day, or none: the columns need not be of one length.
func column[T any](values []T, i int) (none T) {
	if i < len(values) {
		return values[i]
	}
	return none
}

func figure(n number, unit string) string {
	value := math.Round(n.value*10) / 10
	return strconv.FormatFloat(value+0, 'f', -1, 64) + " " + unit // +0: no "-0"
}

func percent(n number) string { return strconv.FormatFloat(math.Round(n.value), 'f', -1, 64) + "%" }

// sky puts a WMO weather code (table 4677, the part that forecasts use) into words; "" for one it does not know.
func sky(code number) string {
	if !code.known {
		return ""
	}
	switch int(code.value) {
	case 0:
		return "a clear sky"
	case 1:
		return "a mainly clear sky"
	case 2:
		return "a partly cloudy sky"
	case 3:
		return "an overcast sky"
	case 45, 48:
		return "fog"
	case 51, 53, 55:
		return "drizzle"
	case 56, 57:
		return "freezing drizzle"
	case 61:
		return "light rain"
	case 63:
		return "rain"
	case 65:
		return "heavy rain"
	case 66, 67:
		return "freezing rain"
	case 71:
		return "light snow"
	case 73:
		return "snow"
	case 75:
		return "heavy snow"
	case 77:
		return "snow grains"
	case 80, 81, 82:
		return "rain showers"
	case 85, 86:
		return "snow showers"
	case 95:
		return "thunderstorms"
	case 96, 99:
		return "thunderstorms with hail"
	}
	return ""
}
