package backends

import (
	"cmp"
	"strings"

	"familiar/internal/context/turn"
)

// What the services that ask Google for us pass on to it. They cut a query that is longer.
const (
	maxGoogleQuery = 2048
	maxGoogleWords = 32
)

// googleLanguages are the languages of its pages, except those that it names in its own way.
const googleLanguages = "af ar be bg bn bs ca cs da de el en es et eu fa fi fr gl gu hi hr hu hy id is it ja ka kk km kn ko lt lv mk ml mn mr ms " +
	"ne nl no pa pl ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi"

// google is a language tag as Google's parameters hl and gl. A language that it does not know is empty.
func google(tag string) (hl, gl string) {
	base, region := locale(tag)
	if gl = strings.ToLower(region); gl == "gb" {
		gl = "uk"
	}
	switch base {
	case "zh":
		return map[string]string{"hans": "zh-cn", "hant": "zh-tw"}[script(tag)], gl
	case "pt":
		return map[bool]string{true: "pt-pt", false: "pt-br"}[region == "PT"], gl
	case "nb", "nn":
		return "no", gl
	case "he":
		return "iw", gl
	}
	return oneOf(googleLanguages, base), gl
}

// googleSafe is its parameter safe. Moderate is what it does by itself.
func googleSafe(safe string) string {
	return map[string]string{"strict": "active", "off": "off"}[safe]
}

// googleBox is what Google shows in a box above all results, taken from the page at Link.
type googleBox struct{ Title, Answer, Snippet, Link string }

func (b googleBox) hits(s *service) []turn.Hit {
	if b.Link == "" {
		return nil
	}
	h := s.hit(cmp.Or(b.Title, b.Answer), b.Link, b.Answer+" "+b.Snippet)
	h.Text, h.Answer = h.Snippet, h.Snippet != ""
	return []turn.Hit{h}
}
