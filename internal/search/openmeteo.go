package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
)

// openmeteo is the weather at a place, now and on the coming days, in sentences: https://open-meteo.com/en/docs.
// The data are under CC BY 4.0; the text names the source. It never asks for the weather of nowhere: services
// that are given no place guess one from the address of the machine.
type openmeteo struct {
	forecasts *service
	places    *service
}

// geocoding is the public host of the place search. A base of the operator's own serves both.
const geocoding = "https://geocoding-api.open-meteo.com"

func newOpenMeteo(c Config, base string) (Backend, error) {
	search := geocoding
	if c.Base["openmeteo"] != "" {
		search = base
	}
	places, err := newService(c, "openmeteo", search)
	if err != nil {
		return nil, err
	}
	forecasts, err := newService(c, "openmeteo", base)
	if err != nil {
		return nil, err
	}
	places.explain, forecasts.explain = explainOpenMeteo, explainOpenMeteo
	return &openmeteo{forecasts: forecasts, places: places}, nil
}

func (*openmeteo) Name() string { return "openmeteo" }

// explainOpenMeteo tells the limit of a day from that of a minute: both are 429.
func explainOpenMeteo(status int, page []byte) (code, detail string) {
	if status == http.StatusTooManyRequests && strings.Contains(string(page), "aily") {
		return Quota, "the day's free requests are used up"
	}
	return "", ""
}

func (o *openmeteo) Search(ctx context.Context, q Query) (Reply, error) {
	asked := q.Place
	if asked == "" {
		asked = placeIn(q.Text)
	}
	spot, err := o.locate(ctx, asked, q.Language)
	if err != nil || spot == nil {
		return Reply{}, err
	}
	imperial := imperialUnits(q.Language, spot.CountryCode)
	days := daysAsked(q.Text)
	params := url.Values{
		"latitude": {coordinate(spot.Latitude)}, "longitude": {coordinate(spot.Longitude)}, "timezone": {"auto"},
		"current":       {"temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m"},
		"daily":         {"weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,sunrise,sunset"},
		"forecast_days": {strconv.Itoa(days)},
	}
	if imperial {
		params.Set("temperature_unit", "fahrenheit")
		params.Set("wind_speed_unit", "mph")
		params.Set("precipitation_unit", "inch")
	}
	var reply forecast
	err = o.forecasts.get(ctx, "/v1/forecast", params, q.Language, &reply)
	if text := reply.text(spot.name(), unitsFor(imperial)); text != "" {
		return Reply{Hits: []turn.Hit{reply.hit(spot, text)}}, nil
	}
	if err == nil {
		err = o.forecasts.fail(Malformed, "the reply holds no weather")
	}
	return Reply{}, err
}

// place is one result of the place search.
type place struct {
	Name, Country, Admin1 string
	CountryCode           string `json:"country_code"`
	Latitude, Longitude   number
}

// name is "Berlin, Germany", or "Paris, Texas, United States" where the region says more than the name.
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

// locate finds a place by name; nil without an error is a place that does not exist. What follows a comma picks
// among places of one name.
func (o *openmeteo) locate(ctx context.Context, asked, language string) (*place, error) {
	name, qualifier, _ := strings.Cut(asked, ",")
	name, qualifier = strings.TrimSpace(name), strings.ToLower(strings.TrimSpace(qualifier))
	found, err := o.named(ctx, name, language)
	if bare := withoutArticle(name); err == nil && len(found) == 0 && bare != "" {
		found, err = o.named(ctx, bare, language)
	}
	for i := range found {
		if found[i].matches(qualifier) {
			return &found[i], nil
		}
	}
	if len(found) > 0 {
		return &found[0], nil
	}
	return nil, err
}

// named returns the places of a name, the most likely first.
func (o *openmeteo) named(ctx context.Context, name, language string) ([]place, error) {
	name = cutWords(name, 100)
	if utf8.RuneCountInString(name) < 2 { // the service finds nothing for less
		return nil, nil
	}
	base, _ := locale(language)
	var reply struct{ Results []place }
	err := o.places.get(ctx, "/v1/search", url.Values{
		"name": {name}, "count": {"10"}, "language": {cmp.Or(base, "en")}, "format": {"json"},
	}, language, &reply)
	found := slices.DeleteFunc(reply.Results, func(p place) bool { return !p.Latitude.known || !p.Longitude.known || p.Name == "" })
	if len(found) > 0 {
		return found, nil
	}
	return nil, err
}

func (p *place) matches(qualifier string) bool {
	for _, s := range []string{p.Country, p.Admin1, p.CountryCode} {
		if s != "" && strings.Contains(strings.ToLower(s), qualifier) {
			return true
		}
	}
	return strings.HasPrefix(qualifier, "usa") && p.CountryCode == "US"
}

// number is a JSON number that may be null, missing or something else, which is all the same: not known. A zero
// would be a temperature.
type number struct {
	value float64
	known bool
}

func (n *number) UnmarshalJSON(b []byte) error {
	n.known = string(b) != "null" && json.Unmarshal(b, &n.value) == nil
	return nil
}

// coordinate has the two digits that a forecast needs; they are about a kilometre.
func coordinate(n number) string { return strconv.FormatFloat(n.value, 'f', 2, 64) }

// imperialUnits follows the reader's region, and the place's where the reader's is not known.
func imperialUnits(language, country string) bool {
	_, region := locale(language)
	if region == "" {
		region = country
	}
	return region == "US" || region == "LR"
}

// hit is the forecast as the one thing that this backend finds.
func (f *forecast) hit(spot *place, text string) turn.Hit {
	first, _, _ := strings.Cut(text, "\n")
	address := fmt.Sprintf("https://open-meteo.com/en/docs?latitude=%s&longitude=%s", coordinate(spot.Latitude), coordinate(spot.Longitude))
	at, _ := f.local(f.Current.Time)
	return turn.Hit{
		Title: "Weather in " + spot.name(), URL: address, Snippet: line(first, maxSnippet),
		Text: text, Answer: true, Published: at, Language: "en",
	}
}

// local reads a time of the reply: local, without offset and seconds.
func (f *forecast) local(s string) (time.Time, bool) {
	offset := int(f.UTCOffset.value)
	if offset < -86400 || offset > 86400 {
		offset = 0
	}
	zone := time.FixedZone(line(f.ZoneAbbreviation, 10), offset)
	for _, layout := range []string{"2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
