package backend

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// openmeteo returns the weather at a place, now and on the coming days: https://open-meteo.com/en/docs. Its second
// address searches places. The data are under CC BY 4.0, and the text names the source. It always passes a place:
// services without one guess it from the machine's address.
type openmeteo struct{ *service }

func newOpenMeteo(s *service) search.Backend {
	s.explain, s.second.explain = explainOpenMeteo, explainOpenMeteo
	return openmeteo{s}
}

// explainOpenMeteo distinguishes the daily limit from the one per minute. Both have status 429.
func explainOpenMeteo(status int, page []byte) (code turn.Code, detail string) {
	if status == http.StatusTooManyRequests && strings.Contains(string(page), "aily") {
		return turn.CodeQuota, "the day's free requests are used up"
	}
	return "", ""
}

func (o openmeteo) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	spot, err := locate(ctx, q, o.places)
	if err != nil || spot == nil {
		return search.Reply{}, err
	}
	imperial := imperialUnits(q.Language, spot.CountryCode)
	params := url.Values{
		"latitude": {coordinate(spot.Latitude)}, "longitude": {coordinate(spot.Longitude)}, "timezone": {"auto"},
		"current":       {"temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m"},
		"daily":         {"weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,sunrise,sunset"},
		"forecast_days": {strconv.Itoa(forecastDays(q.Text))},
	}
	if imperial {
		params.Set("temperature_unit", "fahrenheit")
		params.Set("wind_speed_unit", "mph")
		params.Set("precipitation_unit", "inch")
	}
	var reply openmeteoReply
	_, err = o.ask(ctx, request{path: "/v1/forecast", params: params, language: q.Language}, &reply)
	return outcome(reply.forecast(spot, unitsFor(imperial)).hits(), search.Allowance{}, o.expect(false, noWeather, err))
}

// places returns the places of a name, the most likely first.
func (o openmeteo) places(ctx context.Context, name, language string) ([]place, error) {
	if utf8.RuneCountInString(name) < 2 { // the service finds nothing for shorter names
		return nil, nil
	}
	base, _ := locale(language)
	var reply struct{ Results []place }
	_, err := o.second.ask(ctx, request{path: "/v1/search", language: language, params: url.Values{
		"name": {name}, "count": {"10"}, "language": {cmp.Or(base, "en")}, "format": {"json"},
	}}, &reply)
	return reply.Results, err
}

// openmeteoReply is the weather now, and a column for each daily figure, with null for unknown values.
type openmeteoReply struct {
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

func (r *openmeteoReply) forecast(spot *place, u units) forecast {
	now := r.Current
	f := forecast{
		where: spot.name(), units: u, credit: "Weather data by Open-Meteo.com, CC BY 4.0.",
		page: fmt.Sprintf("https://open-meteo.com/en/docs?latitude=%s&longitude=%s", coordinate(spot.Latitude), coordinate(spot.Longitude)),
		now: moment{
			at: r.local(now.Time), sky: wmoSky(now.Code), temperature: now.Temperature, feels: now.Apparent, wind: now.Wind,
			humidity: now.Humidity, rain: now.Precipitation,
		},
	}
	for i, date := range r.Daily.Time {
		f.days = append(f.days, day{
			date: r.local(date), sky: wmoSky(column(r.Daily.Code, i)), low: column(r.Daily.Min, i), high: column(r.Daily.Max, i),
			chance: column(r.Daily.Rain, i), sunrise: r.local(column(r.Daily.Sunrise, i)), sunset: r.local(column(r.Daily.Sunset, i)),
		})
	}
	return f
}

// local parses a local time without offset and seconds; zero if it is invalid.
func (r *openmeteoReply) local(s string) time.Time {
	for _, layout := range []string{"2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, zoneAt(r.UTCOffset, r.ZoneAbbreviation)); err == nil {
			return t
		}
	}
	return time.Time{}
}

func wmoSky(code number) string {
	if !code.valid {
		return ""
	}
	return skies[int(code.value)]
}

// column returns the value of a day, or the zero value. Columns may differ in length.
func column[T any](values []T, i int) (none T) {
	if i < len(values) {
		return values[i]
	}
	return none
}
