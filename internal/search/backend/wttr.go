package backend

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// wttr returns the weather at a place from wttr.in, without a key: https://github.com/chubin/wttr.in, format j1. It is
// often overloaded and says so in plain text with status 200. It is never asked without a place, or it would return the
// weather at this machine's location.
type wttr struct{ *service }

func newWttr(s *service) search.Backend {
	s.explain = explainWttr
	return wttr{s}
}

func explainWttr(status int, page []byte) (code turn.Code, detail string) {
	text := bytes.ToLower(page[:min(len(page), 4<<10)])
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) && status == http.StatusOK:
		return "", ""
	case bytes.Contains(text, []byte("running out of queries")):
		return turn.CodeQuota, "its own weather service lets it ask no more until 0:00 UTC"
	case bytes.Contains(text, []byte("unknown location")), bytes.Contains(text, []byte("location not found")):
		return turn.CodeUpstream, "it does not know the place, or its own weather service lets it ask no more until 0:00 UTC: it says the same of both"
	}
	return "", ""
}

func (w wttr) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	name := wttrPlace(placeOf(q))
	if name == "" {
		return search.Reply{}, nil
	}
	var reply wttrReply
	left, err := w.ask(ctx, request{path: "/" + name, params: url.Values{"format": {"j1"}}, language: q.Language}, &reply)
	return outcome(reply.forecast(name, q).hits(), left, w.expect(false, noWeather, err))
}

// wttrPlace removes what has another meaning to wttr.in from a place's name: a leading "~", "@" or ":", or a path. It
// returns "" if no name remains.
func wttrPlace(name string) string {
	name = strings.TrimLeftFunc(blank(name, `/\?#%&+`), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if !strings.ContainsFunc(name, unicode.IsLetter) {
		return ""
	}
	return line(name, 100)
}

// wttrReply has a string for every figure.
type wttrReply struct {
	Current []struct {
		TempC        string `json:"temp_C"`
		TempF        string `json:"temp_F"`
		FeelsLikeC   string
		FeelsLikeF   string
		Humidity     string
		Code         string `json:"weatherCode"`
		WindKmph     string `json:"windspeedKmph"`
		WindMiles    string `json:"windspeedMiles"`
		PrecipMM     string
		PrecipInches string
		Local        string `json:"localObsDateTime"`
	} `json:"current_condition"`
	Area []struct {
		Name    wttrWords `json:"areaName"`
		Region  wttrWords
		Country wttrWords
	} `json:"nearest_area"`
	Weather []wttrDay
}

type wttrWords []struct{ Value string }

func (w wttrWords) String() string {
	if len(w) == 0 {
		return ""
	}
	return w[0].Value
}

type wttrDay struct {
	Date               string
	MaxTempC, MinTempC string
	MaxTempF, MinTempF string
	Astronomy          []struct{ Sunrise, Sunset string }
	Hourly             []struct {
		ChanceOfRain, ChanceOfSnow string
		Code                       string `json:"weatherCode"`
	}
}

func (r *wttrReply) forecast(name string, q search.Query) forecast {
	spot := r.spot()
	imperial := imperialUnits(q.Language, spot.CountryCode)
	f := forecast{
		where: nearby(name, spot), units: unitsFor(imperial), credit: "Weather data by wttr.in.",
		page: (&url.URL{Scheme: "https", Host: "wttr.in", Path: "/" + name}).String(),
	}
	if len(r.Current) > 0 {
		c := r.Current[0]
		f.now = moment{
			at: clock("2006-01-02 03:04 PM", c.Local), floating: true, sky: skies[wttrSky(c.Code)], temperature: parsed(c.TempC),
			feels: parsed(c.FeelsLikeC), wind: parsed(c.WindKmph), rain: parsed(c.PrecipMM), humidity: parsed(c.Humidity),
		}
		if imperial {
			f.now.temperature, f.now.feels = parsed(c.TempF), parsed(c.FeelsLikeF)
			f.now.wind, f.now.rain = parsed(c.WindMiles), parsed(c.PrecipInches)
		}
	}
	for _, d := range r.Weather {
		f.days = append(f.days, d.day(imperial))
	}
	return f
}

// spot returns the place that the weather is for.
func (r *wttrReply) spot() *place {
	p := &place{}
	if len(r.Area) > 0 {
		a := r.Area[0]
		p.Name, p.Admin1, p.Country = a.Name.String(), a.Region.String(), a.Country.String()
	}
	if p.Country == "United States of America" || p.Country == "USA" {
		p.Country, p.CountryCode = "United States", "US"
	}
	return p
}

// nearby returns the requested place's name. If the weather is for another place, often a part of a town, it adds that
// name.
func nearby(name string, spot *place) string {
	city, _, _ := strings.Cut(name, ",")
	switch found := spot.name(); {
	case spot.Name == "":
		return name
	case strings.EqualFold(city, spot.Name):
		return found
	default:
		return name + " (" + found + ")"
	}
}

func (d *wttrDay) day(imperial bool) day {
	of := day{date: clock(time.DateOnly, d.Date), low: parsed(d.MinTempC), high: parsed(d.MaxTempC)}
	if imperial {
		of.low, of.high = parsed(d.MinTempF), parsed(d.MaxTempF)
	}
	severest := unknownSky
	for _, h := range d.Hourly {
		severest = max(severest, wttrSky(h.Code))
		of.chance = higher(of.chance, higher(parsed(h.ChanceOfRain), parsed(h.ChanceOfSnow)))
	}
	of.sky = skies[severest]
	if len(d.Astronomy) > 0 {
		of.sunrise, of.sunset = clock("03:04 PM", d.Astronomy[0].Sunrise), clock("03:04 PM", d.Astronomy[0].Sunset)
	}
	return of
}

// clock parses a time without a zone; zero if it is invalid.
func clock(layout, s string) time.Time {
	t, err := time.Parse(layout, strings.TrimSpace(s))
	if err != nil {
		return time.Time{}
	}
	return t
}

func parsed(s string) number {
	value, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return number{value, err == nil && value > -1000 && value < 1000}
}

// wttrCodes maps the conditions of World Weather Online, which provides the data, to codes of table 4677.
var wttrCodes = map[string]int{
	"113": 0, "116": 2, "119": 3, "122": 3, "143": 45, "248": 45, "260": 45, "176": 80, "353": 80, "356": 80, "359": 80,
	"263": 51, "266": 51, "185": 56, "281": 56, "284": 56, "293": 61, "296": 61, "299": 63, "302": 63, "305": 65, "308": 65,
	"311": 66, "314": 66, "182": 71, "317": 71, "320": 71, "323": 71, "326": 71, "227": 73, "329": 73, "332": 73,
	"230": 75, "335": 75, "338": 75, "350": 77, "374": 77, "377": 77, "179": 85, "362": 85, "365": 85, "368": 85, "371": 85,
	"200": 95, "386": 95, "389": 95, "392": 95, "395": 95,
}

func wttrSky(code string) int {
	if wmo, ok := wttrCodes[code]; ok {
		return wmo
	}
	return unknownSky
}
