package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/text"
)

// forecast is the weather at one place, now and on the coming days. Every weather service fills one in, so that all use
// the same sentences. Unknown values are left out.
type forecast struct {
	where  string // such as "Berlin, Germany"
	units  units
	now    moment
	days   []day
	credit string // the attribution that the service's licence requires
	page   string // a page with the same forecast
}

// moment is the weather at one time.
type moment struct {
	at          time.Time // in the place's zone; zero if unknown
	floating    bool      // at is the place's local time, but its zone is unknown
	sky         string    // a value of [skies]
	temperature number
	feels       number
	wind        number
	humidity    number // in percent
	rain        number // in the last hour
}

// day is the weather of one day.
type day struct {
	date            time.Time
	sky             string
	low, high       number
	chance          number // of precipitation, in percent
	sunrise, sunset time.Time
}

// number is a JSON number. If it is null, missing or of another type, it is unknown and not zero: zero would be a
// temperature.
type number struct {
	value float64
	valid bool
}

func (n *number) UnmarshalJSON(b []byte) error {
	n.valid = string(b) != "null" && json.Unmarshal(b, &n.value) == nil
	return nil
}

// times converts n to another unit.
func (n number) times(factor float64) number { return number{n.value * factor, n.valid} }

// units are the units of a forecast's figures.
type units struct{ temperature, wind, rain string }

func unitsFor(imperial bool) units {
	if imperial {
		return units{"°F", "mph", "in"}
	}
	return units{"°C", "km/h", "mm"}
}

// imperialUnits depends on the reader's region, or on the place's if the reader's is unknown.
func imperialUnits(language, country string) bool {
	_, region := locale(language)
	if region == "" {
		region = country
	}
	return region == "US" || region == "LR"
}

// noWeather says that the reply of a weather service has an unknown form.
const noWeather = "the reply holds no weather"

// hits returns the forecast as the only hit of a weather service, or nil if it is empty.
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

// text returns the weather in sentences. Each names place, date and figures, so that it can be quoted alone. The first
// line is the weather now; each day has a line. It is "" if nothing is known.
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

// skies describes the WMO weather codes of table 4677 that forecasts use.
var skies = map[int]string{
	0: "a clear sky", 1: "a mainly clear sky", 2: "a partly cloudy sky", 3: "an overcast sky", 45: "fog", 48: "fog",
	51: "drizzle", 53: "drizzle", 55: "drizzle", 56: "freezing drizzle", 57: "freezing drizzle",
	61: "light rain", 63: "rain", 65: "heavy rain", 66: "freezing rain", 67: "freezing rain",
	71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains",
	80: "rain showers", 81: "rain showers", 82: "rain showers", 85: "snow showers", 86: "snow showers",
	95: "thunderstorms", 96: "thunderstorms with hail", 99: "thunderstorms with hail",
}

// unknownSky is a code that is not in skies.
const unknownSky = -1

// placeIn returns the place in a question about the weather: "New York" for "Will it rain in New York tonight?" and for
// "New York weather". It returns "" if there is none.
func placeIn(query string) string {
	known := &text.AllTables().Weather
	tokens := strings.Fields(cjkWeather(query))
	for i, token := range tokens {
		// Names may contain prepositions ("Rio de Janeiro"), so the preposition before a name must follow a common
		// word.
		if !known.Before.Has(fold(token)) || i > 0 && !isAround(fold(tokens[i-1])) {
			continue
		}
		if found := placeName(tokens[i+1:]); found != "" {
			return found
		}
	}
	// Without a preposition, the name is what remains after the question's words.
	for len(tokens) > 0 && isAround(fold(tokens[0])) {
		if known.Articles.Has(fold(tokens[0])) && len(tokens) > 1 && !isAround(fold(tokens[1])) {
			break
		}
		tokens = tokens[1:]
	}
	return placeName(tokens)
}

// isAround reports whether a word belongs to the question and not to the place.
func isAround(word string) bool {
	known := &text.AllTables().Weather
	return word == "" || endsPlace(word) || known.Filler.Has(word) || known.Before.Has(word) || known.Articles.Has(word)
}

// endsPlace reports whether the place's name ends before the word.
func endsPlace(word string) bool {
	known := &text.AllTables().Weather
	return known.When.Has(word) || known.Week.Has(word) || known.Weather.Has(word)
}

// maxPlaceWords limits the words of a place's name. "Santa Cruz de la Sierra, Bolivia" has six.
const maxPlaceWords = 6

// placeName joins words up to the first that cannot be in a place's name. Small words inside a name stay.
func placeName(tokens []string) string {
	known := &text.AllTables().Weather
	var name []string
	for _, token := range tokens {
		word := fold(token)
		if endsPlace(word) || len(name) == maxPlaceWords || len(name) == 0 && known.Filler.Has(word) {
			break
		}
		name = append(name, token)
		if strings.HasSuffix(token, "?") || strings.HasSuffix(token, "!") {
			break
		}
	}
	for len(name) > 0 { // drop "for" from "Berlin for tomorrow"
		if last := fold(name[len(name)-1]); last != "" && !known.Before.Has(last) && !known.Articles.Has(last) {
			break
		}
		name = name[:len(name)-1]
	}
	return strings.TrimFunc(strings.Join(name, " "), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
}

// fold returns a word in the form that the word lists use.
func fold(token string) string {
	return strings.ToLower(strings.TrimFunc(token, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }))
}

// cjkWeather puts spaces around the words for weather and time, for languages that write without spaces.
func cjkWeather(query string) string {
	var pairs []string
	for word := range strings.SplitSeq(string(text.AllTables().Weather.Unspaced), ",") {
		pairs = append(pairs, strings.TrimSpace(word), " ")
	}
	return strings.NewReplacer(pairs...).Replace(query)
}

// forecastDays returns how many days a forecast should cover, today included. That is four, or seven if the question names a weekday or a
// weekend.
func forecastDays(query string) int {
	known := &text.AllTables().Weather
	weekday := func(word string) bool { return known.Week.Has(fold(word)) }
	within := func(part string) bool { return strings.Contains(query, part) }
	if slices.ContainsFunc(strings.Fields(query), weekday) || slices.ContainsFunc(known.UnspacedWeek.Fields(), within) {
		return 7
	}
	return 4
}

// place is one result of a place search.
type place struct {
	Name, Country, Admin1 string
	CountryCode           string `json:"country_code"`
	Latitude, Longitude   number
}

// name returns "Berlin, Germany", or "Paris, Texas, United States" in countries whose regions people name.
func (p *place) name() string {
	name, region, country := line(p.Name, 80), line(p.Admin1, 80), line(p.Country, 80)
	if region != "" && (p.CountryCode == "US" || p.CountryCode == "CA" || p.CountryCode == "AU") {
		name += ", " + region
	}
	if country != "" && country != name {
		name += ", " + country
	}
	return name
}

func (p *place) matches(qualifier string) bool {
	for _, s := range []string{p.Country, p.Admin1, p.CountryCode} {
		if s != "" && strings.Contains(strings.ToLower(s), qualifier) {
			return true
		}
	}
	return strings.HasPrefix(qualifier, "usa") && p.CountryCode == "US"
}

// placeOf returns the place that a question about the weather names, or "".
func placeOf(q search.Query) string { return cmp.Or(line(q.Place, 100), placeIn(q.Text)) }

// locate finds the place of q with lookup, the place search of a service. It returns nil and no error if the place does
// not exist or q names none. Words after a comma choose among places of the same name.
func locate(ctx context.Context, q search.Query, lookup func(ctx context.Context, name, language string) ([]place, error)) (*place, error) {
	name, qualifier, _ := strings.Cut(placeOf(q), ",")
	qualifier = strings.ToLower(strings.TrimSpace(qualifier))
	language := languageOf(languageOf(q.Language, q.Text), name)
	for _, spelling := range spellings(cutWords(strings.TrimSpace(name), 100)) {
		found, err := lookup(ctx, spelling, language)
		found = slices.DeleteFunc(found, func(p place) bool { return !p.Latitude.valid || !p.Longitude.valid || p.Name == "" })
		for i := range found {
			if found[i].matches(qualifier) {
				return &found[i], nil
			}
		}
		if len(found) > 0 {
			return &found[0], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// spellings returns the forms in which a place's name may be known. They are as written, without its article ("Schweiz" for "der Schweiz"),
// and the nominative of a Slavic locative.
func spellings(name string) []string {
	if name == "" {
		return nil
	}
	all := []string{name}
	if first, rest, two := strings.Cut(name, " "); two && text.AllTables().Weather.Articles.Has(fold(first)) {
		all = append(all, rest)
	}
	for _, ending := range locatives {
		if stem, ok := strings.CutSuffix(name, ending.locative); ok && strings.ContainsFunc(name, isCyrillic) {
			for nominative := range strings.SplitSeq(ending.nominative, " ") {
				all = append(all, stem+nominative)
			}
			break
		}
	}
	return all
}

// locatives maps endings of Russian and Ukrainian names after "in" to nominative endings. "в Москве" becomes Москва, "в Лондоне" Лондон, "в
// Казани" Казань, and "в России" Россия. The longest come first.
var locatives = []struct{ locative, nominative string }{
	{"ове-на-Дону", "ов-на-Дону"}, {"ии", "ия"}, {"ії", "ія"}, {"и", "ь"}, {"е", "а "}, {"і", "а "}, {"у", " "},
}

func isCyrillic(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }

// coordinate has two digits, about a kilometre, which is enough for a forecast.
func coordinate(n number) string { return strconv.FormatFloat(n.value, 'f', 2, 64) }

// zoneAt returns a zone by its offset from UTC in seconds, or UTC if the offset is impossible.
func zoneAt(offset number, name string) *time.Location {
	if offset.value < -86400 || offset.value > 86400 {
		offset.value = 0
	}
	return time.FixedZone(line(name, 10), int(offset.value))
}
