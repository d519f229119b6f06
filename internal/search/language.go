package search

import (
	"slices"
	"strings"
)

// locale splits a BCP 47 tag into base language and region: "pt-BR" into "pt" and "BR". A part that is missing or
// is not made of the right number of ASCII letters is empty, so both are safe in a host name or a parameter.
func locale(tag string) (base, region string) {
	parts := strings.Split(strings.ReplaceAll(tag, "_", "-"), "-")
	if p := strings.ToLower(parts[0]); (len(p) == 2 || len(p) == 3) && letters(p) {
		base = p
	}
	for _, p := range parts[1:] {
		if p = strings.ToUpper(p); len(p) == 2 && letters(p) {
			return base, p
		}
	}
	return base, ""
}

func letters(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// languageTag is the query's language in the form all services accept, or otherwise.
func languageTag(tag, otherwise string) string {
	base, region := locale(tag)
	switch {
	case base == "":
		return otherwise
	case region == "":
		return base
	}
	return base + "-" + region
}

// script is "hant" or "hans", for the Chinese that a tag names.
func script(tag string) string {
	_, region := locale(tag)
	if strings.Contains(strings.ToLower(tag), "hant") || region == "TW" || region == "HK" || region == "MO" {
		return "hant"
	}
	return "hans"
}

// oneOf is word if it stands in a list of words, and nothing otherwise: what a service does not know it may refuse
// a whole request for.
func oneOf(list, word string) string {
	if slices.Contains(strings.Fields(list), word) {
		return word
	}
	return ""
}
