package backends

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/search"
	"familiar/internal/text/lang"
)

// place is one result of a place search.
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

func (p *place) matches(qualifier string) bool {
	for _, s := range []string{p.Country, p.Admin1, p.CountryCode} {
		if s != "" && strings.Contains(strings.ToLower(s), qualifier) {
			return true
		}
	}
	return strings.HasPrefix(qualifier, "usa") && p.CountryCode == "US"
}

// placeOf is the place that a question about the weather is about; "" if it has none.
func placeOf(q search.Query) string { return cmp.Or(line(q.Place, 100), placeIn(q.Text)) }

// locate finds the place that q is about with lookup, the place search of a service; nil without an error is a place that
// does not exist, or a question without one. What follows a comma picks among places of one name.
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

// spellings are the forms in which a place's name may be known: as it was written, without its article ("Schweiz"
// for "der Schweiz"), and in the nominative where it stands in the locative of a Slavic language.
func spellings(name string) []string {
	if name == "" {
		return nil
	}
	all := []string{name}
	if first, rest, two := strings.Cut(name, " "); two && lang.All().Weather.Articles.Has(fold(first)) {
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

// locatives are the endings that names have after "in" in Russian and Ukrainian, with those of the nominative: "в Москве"
// is in Москва, "в Лондоне" in Лондон, "в Казани" in Казань, "в России" in Россия. The longest come first.
var locatives = []struct{ locative, nominative string }{
	{"ове-на-Дону", "ов-на-Дону"}, {"ии", "ия"}, {"ії", "ія"}, {"и", "ь"}, {"е", "а "}, {"і", "а "}, {"у", " "},
}

func isCyrillic(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }

// coordinate has the two digits that a forecast needs; they are about a kilometre.
func coordinate(n number) string { return strconv.FormatFloat(n.value, 'f', 2, 64) }

// zoneAt is a zone by its distance from UTC in seconds; UTC if that is none.
func zoneAt(offset number, name string) *time.Location {
	if offset.value < -86400 || offset.value > 86400 {
		offset.value = 0
	}
	return time.FixedZone(line(name, 10), int(offset.value))
}
