package backends

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// openweathermap is the weather at a place by OpenWeather: https://openweathermap.org/current, /forecast5 and
// /api/geocoding-api, all of which a free key opens; the One Call API it does not. The key is part of every
// address, so no address may be in an error.
type openweathermap struct{ *keyed }

func newOpenWeatherMap(c Config, base string) (search.Backend, error) {
	k, err := newKeyed(c, "openweathermap", base, func(_ int, says string) turn.Code {
		if contains(says, "temporary blocked") {
			return turn.CodeQuota
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	k.hints = map[turn.Code]string{turn.CodeUnauthorized: "; a new key takes up to two hours to work", turn.CodeQuota: "; a free key's requests are 60 a minute and 1,000,000 a month"}
	return &openweathermap{k}, nil
}

func (o *openweathermap) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	spot, err := locate(ctx, q, o.named)
	if err != nil || spot == nil {
		return search.Reply{}, err
	}
	imperial := imperialUnits(q.Language, spot.CountryCode)
	params := url.Values{"lat": {coordinate(spot.Latitude)}, "lon": {coordinate(spot.Longitude)}, "units": {"metric"}, "appid": {o.secret}}
	if imperial {
		params.Set("units", "imperial")
	}
	var now openweatherNow
	var coming openweatherComing
	err = o.get(ctx, "/data/2.5/weather", params, q.Language, &now)
	if err == nil {
		err = o.get(ctx, "/data/2.5/forecast", params, q.Language, &coming)
	}
	f := forecast{
		where: spot.name(), units: unitsFor(imperial), now: now.moment(imperial), days: coming.days(daysAsked(q.Text), now),
		credit: "Weather data provided by OpenWeather.", page: "https://openweathermap.org/",
	}
	if now.ID.known {
		f.page += fmt.Sprintf("city/%.0f", now.ID.value)
	}
	h, ok := f.hit()
	switch {
	case ok:
		return search.Reply{Hits: []turn.Hit{h}}, err
	case err == nil:
		err = o.fail(turn.CodeMalformed, "the reply holds no weather")
	}
	return search.Reply{}, err
}

// named returns the places of a name, the most likely first.
func (o *openweathermap) named(ctx context.Context, name, tag string) ([]place, error) {
	var found []struct {
		Name, State, Country string // Country is a code
		Lat, Lon             number
	}
	// Commas would be read as separators between city, state and country.
	params := url.Values{"q": {strings.ReplaceAll(name, ",", " ")}, "limit": {"5"}, "appid": {o.secret}}
	err := o.get(ctx, "/geo/1.0/direct", params, tag, &found)
	var places []place
	for _, p := range found {
		places = append(places, place{
			Name: p.Name, Admin1: p.State, CountryCode: p.Country, Country: countryName(p.Country), Latitude: p.Lat, Longitude: p.Lon,
		})
	}
	return places, err
}

// countryName is the English name of a country by its ISO 3166 code, or the code.
func countryName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return code
	}
	return cmp.Or(display.English.Regions().Name(region), code)
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

// openweatherFall is what fell in an hour, in millimetres in all systems of units.
type openweatherFall struct {
	Hour number `json:"1h"`
}

func (n *openweatherNow) moment(imperial bool) moment {
	m := moment{
		at: unixAt(n.At, n.Timezone), temperature: n.Main.Temp, feels: n.Main.Feels, humidity: n.Main.Humidity,
		wind: n.Wind.Speed, rain: number{n.Rain.Hour.value + n.Snow.Hour.value, n.Rain.Hour.known || n.Snow.Hour.known},
	}
	if len(n.Weather) > 0 {
		m.sky = sky(n.Weather[0].wmo())
	}
	if imperial {
		m.rain = m.rain.times(1 / 25.4)
	} else {
		m.wind = m.wind.times(3.6) // from metres a second
	}
	return m
}

// openweatherComing is the weather every three hours on five days.
type openweatherComing struct {
	List []struct {
		At      number `json:"dt"`
		Main    openweatherMain
		Weather []openweatherSky
		Pop     number // probability of precipitation, 0 to 1
	}
	City struct{ Timezone number }
}

// halfDay is how many of a day's eight figures must be there to speak of the day: an evening's do not tell how warm
// a day gets.
const halfDay = 4

// days sums up the hours, in the place's own days. The sky is the severest of a day.
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
			d.sky = sky(severest)
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
	if !a.known || b.known && b.value < a.value {
		return b
	}
	return a
}

func higher(a, b number) number {
	if !a.known || b.known && b.value > a.value {
		return b
	}
	return a
}

// unixAt is a time in the zone that is offset seconds from UTC; zero if it is not known.
func unixAt(seconds, offset number) time.Time {
	if !seconds.known {
		return time.Time{}
	}
	return time.Unix(int64(seconds.value), 0).In(zoneAt(offset, ""))
}

// wmo is OpenWeather's condition (https://openweathermap.org/weather-conditions) as a code of table 4677.
func (s openweatherSky) wmo() int {
	if !s.ID.known {
		return unknownSky
	}
	id := int(s.ID.value)
	switch id {
	case 500:
		return 61
	case 501:
		return 63
	case 511:
		return 66
	case 520, 521, 522, 531:
		return 80
	case 600:
		return 71
	case 601, 611, 615, 616:
		return 73
	case 602:
		return 75
	case 612, 613, 620, 621, 622:
		return 85
	case 741, 701:
		return 45
	case 800:
		return 0
	case 801:
		return 1
	case 802:
		return 2
	case 803, 804:
		return 3
	}
	switch id / 100 {
	case 2:
		return 95
	case 3:
		return 51
	case 5:
		return 65
	}
	return unknownSky
}
