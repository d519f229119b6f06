package backends

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

// wttr is the weather at a place by wttr.in, without a key: https://github.com/chubin/wttr.in, format j1. It is often
// overloaded and says so in plain text with status 200. It is never asked without a place: it would then tell the
// weather where this machine stands.
type wttr struct{ *service }

func newWttr(c Config, base string) (search.Backend, error) {
	s, err := newService(c, "wttr", base)
	if err != nil {
		return nil, err
	}
	s.explain = explainWttr
	return wttr{s}, nil
}

func (wttr) Name() string { return "wttr" }

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
	asked := wttrPlace(askedPlace(q))
	if asked == "" {
		return search.Reply{}, nil
	}
	var reply wttrReply
	err := w.get(ctx, "/"+asked, url.Values{"format": {"j1"}}, q.Language, &reply)
	if h, ok := reply.forecast(asked, q).hit(); ok {
		return search.Reply{Hits: []turn.Hit{h}}, nil
	}
	if err == nil {
		err = w.fail(turn.CodeMalformed, "the reply holds no weather")
	}
	return search.Reply{}, err
}

// wttrPlace makes a name nothing but a name: "~", "@" and ":" before it, and a path, ask wttr.in for other things. It
// is "" if that leaves no name.
func wttrPlace(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\?#%&+`, r) {
			return ' '
		}
		return r
	}, name)
	name = strings.TrimLeftFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
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

func (r *wttrReply) forecast(asked string, q search.Query) forecast {
	spot := r.spot()
	imperial := imperialUnits(q.Language, spot.CountryCode)
	f := forecast{
		where: nearby(asked, spot), units: unitsFor(imperial), credit: "Weather data by wttr.in.",
		page: (&url.URL{Scheme: "https", Host: "wttr.in", Path: "/" + asked}).String(),
	}
	if len(r.Current) > 0 {
		c := r.Current[0]
		f.now = moment{
			at: clock("2006-01-02 03:04 PM", c.Local), floating: true, sky: sky(wttrSky(c.Code)), temperature: parsed(c.TempC),
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

// spot is the place that the weather is of.
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

// nearby names a place as it was asked for, with the name of the weather's where that is another: it is often a
// part of a town.
func nearby(asked string, spot *place) string {
	city, _, _ := strings.Cut(asked, ",")
	switch found := spot.name(); {
	case spot.Name == "":
		return asked
	case strings.EqualFold(city, spot.Name):
		return found
	default:
		return asked + " (" + found + ")"
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
	of.sky = sky(severest)
	if len(d.Astronomy) > 0 {
		of.sunrise, of.sunset = clock("03:04 PM", d.Astronomy[0].Sunrise), clock("03:04 PM", d.Astronomy[0].Sunset)
	}
	return of
}

// clock reads a time that says nothing of its zone; zero if it is none.
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

// wttrSky is a condition of World Weather Online, whose figures these are, as a code of table 4677.
func wttrSky(code string) int {
	switch code {
	case "113":
		return 0
	case "116":
		return 2
	case "119", "122":
		return 3
	case "143", "248", "260":
		return 45
	case "176", "353", "356", "359":
		return 80
	case "263", "266":
		return 51
	case "185", "281", "284":
		return 56
	case "293", "296":
		return 61
	case "299", "302":
		return 63
	case "305", "308":
		return 65
	case "311", "314":
		return 66
	case "182", "317", "320", "323", "326":
		return 71
	case "227", "329", "332":
		return 73
	case "230", "335", "338":
		return 75
	case "350", "374", "377":
		return 77
	case "179", "362", "365", "368", "371":
		return 85
	case "200", "386", "389", "392", "395":
		return 95
	}
	return unknownSky
}
