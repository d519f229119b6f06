package backend

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// openweathermap returns the weather at a place from OpenWeather: https://openweathermap.org/current, /forecast5 and
// /api/geocoding-api. A free key is enough for these, unlike for the One Call API. The key is part of every address, so
// errors must not show addresses.
type openweathermap struct{ *service }

func newOpenWeatherMap(s *service) search.Backend {
	s.hints = map[turn.Code]string{turn.CodeUnauthorized: "; a new key takes up to two hours to work", turn.CodeQuota: "; a free key's requests are 60 a minute and 1,000,000 a month"}
	return openweathermap{s.withKey(phrases(phrase{"temporary blocked", turn.CodeQuota}))}
}

func (o openweathermap) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	spot, err := locate(ctx, q, o.places)
	if err != nil || spot == nil {
		return search.Reply{}, err
	}
	imperial := imperialUnits(q.Language, spot.CountryCode)
	params := url.Values{"lat": {coordinate(spot.Latitude)}, "lon": {coordinate(spot.Longitude)}, "units": {"metric"}, "appid": {o.secret()}}
	if imperial {
		params.Set("units", "imperial")
	}
	var now openweatherNow
	var coming openweatherComing
	_, err = o.ask(ctx, request{path: "/data/2.5/weather", params: params, language: q.Language}, &now)
	if err == nil {
		_, err = o.ask(ctx, request{path: "/data/2.5/forecast", params: params, language: q.Language}, &coming)
	}
	f := forecast{
		where: spot.name(), units: unitsFor(imperial), now: now.moment(imperial), days: coming.days(forecastDays(q.Text), now),
		credit: "Weather data provided by OpenWeather.", page: "https://openweathermap.org/",
	}
	if now.ID.valid {
		f.page += fmt.Sprintf("city/%.0f", now.ID.value)
	}
	hits := f.hits()
	return search.Reply{Hits: hits}, o.expect(len(hits) > 0, noWeather, err)
}

// places returns the places of a name, the most likely first.
func (o openweathermap) places(ctx context.Context, name, tag string) ([]place, error) {
	var found []struct {
		Name, State, Country string // Country is an ISO 3166 code
		Lat, Lon             number
	}
	// Commas would separate city, state and country.
	params := url.Values{"q": {strings.ReplaceAll(name, ",", " ")}, "limit": {"5"}, "appid": {o.secret()}}
	_, err := o.ask(ctx, request{path: "/geo/1.0/direct", params: params, language: tag}, &found)
	var places []place
	for _, p := range found {
		places = append(places, place{
			Name: p.Name, Admin1: p.State, CountryCode: p.Country, Country: countryName(p.Country), Latitude: p.Lat, Longitude: p.Lon,
		})
	}
	return places, err
}

// countries has a line for each country: its ISO 3166 code and its English name in the Unicode CLDR, https://cldr.unicode.org.
//
//go:embed countries.txt
var countries string

// countryName returns the English name of a country for its ISO 3166 code, or the code.
func countryName(code string) string {
	for line := range strings.Lines(countries) {
		if c, name, _ := strings.Cut(line, " "); strings.EqualFold(c, code) {
			return strings.TrimSpace(name)
		}
	}
	return code
}

type openweatherNow struct {
	ID       number
	Weather  []openweatherSky
	Main     openweatherMain
	Wind     struct{ Speed number }
	Rain     openweatherFall
	Snow     openweatherFall
	At       number `json:"dt"`
	Sys      struct{ Sunrise, Sunset number }
	Timezone number // seconds from UTC
}

type openweatherMain struct {
	Temp, Humidity number
	Feels          number `json:"feels_like"`
	Min            number `json:"temp_min"`
	Max            number `json:"temp_max"`
}

type openweatherSky struct{ ID number }

// openweatherFall is the rain or snow of an hour, in millimetres in every system of units.
type openweatherFall struct {
	Hour number `json:"1h"`
}

func (n *openweatherNow) moment(imperial bool) moment {
	m := moment{
		at: unixAt(n.At, n.Timezone), temperature: n.Main.Temp, feels: n.Main.Feels, humidity: n.Main.Humidity,
		wind: n.Wind.Speed, rain: number{n.Rain.Hour.value + n.Snow.Hour.value, n.Rain.Hour.valid || n.Snow.Hour.valid},
	}
	if len(n.Weather) > 0 {
		m.sky = skies[n.Weather[0].wmo()]
	}
	if imperial {
		m.rain = m.rain.times(1 / 25.4)
	} else {
		m.wind = m.wind.times(3.6) // from metres per second
	}
	return m
}

// openweatherComing is the weather every three hours for five days.
type openweatherComing struct {
	List []struct {
		At      number `json:"dt"`
		Main    openweatherMain
		Weather []openweatherSky
		Pop     number // probability of precipitation, 0 to 1
	}
	City struct{ Timezone number }
}

// halfDay is how many of a day's eight figures are needed to describe the day. Those of the evening alone do not tell
// how warm it gets.
const halfDay = 4

// days sums up the hours by the place's local days. A day's sky is its most severe one.
func (c *openweatherComing) days(wanted int, now openweatherNow) []day {
	var days []day
	figures, severest := 0, unknownSky
	finish := func() {
		if figures > 0 && figures < halfDay {
			days = days[:len(days)-1]
		}
		figures, severest = 0, unknownSky
	}
	for _, hour := range c.List {
		at := unixAt(hour.At, c.City.Timezone)
		if at.IsZero() {
			continue
		}
		year, month, date := at.Date()
		midnight := time.Date(year, month, date, 0, 0, 0, 0, at.Location())
		if figures == 0 || !days[len(days)-1].date.Equal(midnight) {
			finish()
			days = append(days, day{date: midnight})
		}
		d := &days[len(days)-1]
		d.low, d.high = lower(d.low, hour.Main.Min), higher(d.high, hour.Main.Max)
		d.chance = higher(d.chance, hour.Pop.times(100))
		if len(hour.Weather) > 0 {
			severest = max(severest, hour.Weather[0].wmo())
			d.sky = skies[severest]
		}
		figures++
	}
	finish()
	days = days[:min(len(days), wanted)]
	if rise := unixAt(now.Sys.Sunrise, now.Timezone); len(days) > 0 && days[0].date.Format(time.DateOnly) == rise.Format(time.DateOnly) {
		days[0].sunrise, days[0].sunset = rise, unixAt(now.Sys.Sunset, now.Timezone)
	}
	return days
}

func lower(a, b number) number {
	if !a.valid || b.valid && b.value < a.value {
		return b
	}
	return a
}

func higher(a, b number) number {
	if !a.valid || b.valid && b.value > a.value {
		return b
	}
	return a
}

// unixAt returns a time in the zone with the offset in seconds from UTC; zero if it is unknown.
func unixAt(seconds, offset number) time.Time {
	if !seconds.valid {
		return time.Time{}
	}
	return time.Unix(int64(seconds.value), 0).In(zoneAt(offset, ""))
}

// openweatherCodes maps OpenWeather's conditions (https://openweathermap.org/weather-conditions) to codes of table
// 4677, some directly and the others by group.
var openweatherCodes = map[int]int{
	500: 61, 501: 63, 511: 66, 520: 80, 521: 80, 522: 80, 531: 80,
	600: 71, 601: 73, 602: 75, 611: 73, 612: 85, 613: 85, 615: 73, 616: 73, 620: 85, 621: 85, 622: 85,
	701: 45, 741: 45, 800: 0, 801: 1, 802: 2, 803: 3, 804: 3,
	2: 95, 3: 51, 5: 65,
}

func (s openweatherSky) wmo() int {
	id := int(s.ID.value)
	for _, code := range []int{id, id / 100} {
		if wmo, ok := openweatherCodes[code]; ok && s.ID.valid && id >= 100 {
			return wmo
		}
	}
	return unknownSky
}
