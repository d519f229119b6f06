package backend

import (
	"cmp"
	"strings"

	"familiar/internal/context/turn"
)

// Limits of the services that pass a query to Google. They cut a longer query.
const (
	maxGoogleQuery = 2048
	maxGoogleWords = 32
)

// googleLanguages are the languages of its pages, except the ones for which it has its own code.
const googleLanguages = "af ar be bg bn bs ca cs da de el en es et eu fa fi fr gl gu hi hr hu hy id is it ja ka kk km kn ko lt lv mk ml mn mr ms " +
	"ne nl no pa pl ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi"

// google returns a language tag as Google's parameters hl and gl. Unknown languages are empty.
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

// googleSafe returns the parameter safe. Moderate is Google's default.
func googleSafe(safe string) string {
	return map[string]string{"strict": "active", "off": "off"}[safe]
}

// googleBox is the box that Google shows above all results, taken from the page at Link.
type googleBox struct{ Title, Answer, Snippet, Link string }

func (b googleBox) hits(s *service) []turn.Hit {
	if b.Link == "" {
		return nil
	}
	h := s.hit(cmp.Or(b.Title, b.Answer), b.Link, b.Answer+" "+b.Snippet)
	h.Text, h.Answer = h.Snippet, h.Snippet != ""
	return []turn.Hit{h}
}
