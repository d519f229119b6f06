package backends

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// forecast is the weather at one place, now and on the coming days. The replies of all weather services are turned into
// one, so that all tell the same things in the same sentences. What is not known is left out.
type forecast struct {
	where  string // as in "Berlin, Germany"
	units  units
	now    moment
	days   []day
	credit string // the sentence that the service's licence asks for
	page   string // where a person can see the same
}

// moment is the weather at one time.
type moment struct {
	at          time.Time // in the place's zone; zero: not known
	floating    bool      // at is the place's clock, but its zone is not known
	sky         string    // of [skies]
	temperature number
	feels       number
	wind        number
	humidity    number // percent
	rain        number // of the last hour
}

// day is the weather of one day.
type day struct {
	date            time.Time
	sky             string
	low, high       number
	chance          number // of precipitation, in percent
	sunrise, sunset time.Time
}

// number is a JSON number that may be null, missing or something else, which is all the same: not known. A zero
// would be a temperature.
type number struct {
	value float64
	valid bool
}

func (n *number) UnmarshalJSON(b []byte) error {
	n.valid = string(b) != "null" && json.Unmarshal(b, &n.value) == nil
	return nil
}

// times is n in another unit.
func (n number) times(factor float64) number { return number{n.value * factor, n.valid} }

// units are the names behind the figures.
type units struct{ temperature, wind, rain string }

func unitsFor(imperial bool) units {
	if imperial {
		return units{"°F", "mph", "in"}
	}
	return units{"°C", "km/h", "mm"}
}

// imperialUnits follows the reader's region, and the place's where the reader's is not known.
func imperialUnits(language, country string) bool {
	_, region := locale(language)
	if region == "" {
		region = country
	}
	return region == "US" || region == "LR"
}

// noWeather is what the reply of a weather service lacks that is not as agreed.
const noWeather = "the reply holds no weather"

// hits is the forecast as the one hit of a weather service; nil if it knows nothing.
func (f forecast) hits() []turn.Hit {
	text := f.text()
	if text == "" {
		return nil
	}
	first, _, _ := strings.Cut(text, "\n")
	h := turn.Hit{
		Title: "Weather in " + f.where, URL: f.page, Snippet: line(first, maxSnippet), Text: text, Answer: true,
		Published: f.now.at, Language: "en",
	}
	if f.now.floating {
		year, month, date := f.now.at.Date()
		h.Published, h.DayOnly = time.Date(year, month, date, 0, 0, 0, 0, time.UTC), true
	}
	return []turn.Hit{h}
}

// text tells the weather in sentences that each hold place, date and figures, so that one can be quoted alone: the
// weather now on the first line, then a line for each day. It is "" if nothing is known.
func (f forecast) text() string {
	var lines []string
	if now := f.present(); now != "" {
		lines = append(lines, now)
	}
	for _, d := range f.days {
		if text := f.day(d); text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(append(lines, f.credit), "\n")
}

func (f forecast) present() string {
	now := f.now
	if now.at.IsZero() || !now.temperature.valid {
		return ""
	}
	text := fmt.Sprintf("Now, on %s at %s local time, it is %s in %s", now.at.Format("Monday 2 January 2006"), now.at.Format("15:04"),
		figure(now.temperature, f.units.temperature), f.where)
	if now.sky != "" {
		text += ", with " + now.sky
	}
	if now.feels.valid {
		text += ", and feels like " + figure(now.feels, f.units.temperature)
	}
	text += "."
	var more []string
	if now.wind.valid {
		more = append(more, "the wind blows at "+figure(now.wind, f.units.wind))
	}
	if now.humidity.valid {
		more = append(more, "the humidity is "+percent(now.humidity))
	}
	if now.rain.valid && now.rain.value > 0 {
		more = append(more, "the precipitation is "+figure(now.rain, f.units.rain))
	}
	if len(more) > 0 {
		text += " In " + f.where + " " + strings.Join(more, ", ") + "."
	}
	return text
}

func (f forecast) day(d day) string {
	if d.date.IsZero() || !d.high.valid && !d.low.valid {
		return ""
	}
	text := fmt.Sprintf("On %s, %s has", d.date.Format("Monday 2 January 2006"), f.where)
	if d.sky != "" {
		text += " " + d.sky + ","
	}
	switch {
	case d.high.valid && d.low.valid:
		text += fmt.Sprintf(" temperatures between %s and %s", figure(d.low, f.units.temperature), figure(d.high, f.units.temperature))
	case d.high.valid:
		text += " temperatures up to " + figure(d.high, f.units.temperature)
	default:
		text += " temperatures down to " + figure(d.low, f.units.temperature)
	}
	if d.chance.valid {
		text += " and a " + percent(d.chance) + " chance of precipitation"
	}
	text += "."
	if !d.sunrise.IsZero() && !d.sunset.IsZero() {
		text += fmt.Sprintf(" The sun rises at %s and sets at %s.", d.sunrise.Format("15:04"), d.sunset.Format("15:04"))
	}
	return text
}

func figure(n number, unit string) string {
	value := math.Round(n.value*10) / 10
	return strconv.FormatFloat(value+0, 'f', -1, 64) + " " + unit // +0: no "-0"
}

func percent(n number) string { return strconv.FormatFloat(math.Round(n.value), 'f', -1, 64) + "%" }

// skies are the WMO weather codes (table 4677, the part that forecasts use) in words.
var skies = map[int]string{
	0: "a clear sky", 1: "a mainly clear sky", 2: "a partly cloudy sky", 3: "an overcast sky", 45: "fog", 48: "fog",
	51: "drizzle", 53: "drizzle", 55: "drizzle", 56: "freezing drizzle", 57: "freezing drizzle",
	61: "light rain", 63: "rain", 65: "heavy rain", 66: "freezing rain", 67: "freezing rain",
	71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains",
	80: "rain showers", 81: "rain showers", 82: "rain showers", 85: "snow showers", 86: "snow showers",
	95: "thunderstorms", 96: "thunderstorms with hail", 99: "thunderstorms with hail",
}

// unknownSky is a code that skies has no words for.
const unknownSky = -1
