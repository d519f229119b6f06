package backends

import (
	"slices"
	"strings"
	"unicode"

	"familiar/internal/text"
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

// languageOf is the language to ask a service in: the tag's, unless most of the text is written in a script that this
// language is not. Somebody who asks for 東京タワー in an English chat finds it among the Japanese articles only.
func languageOf(tag, query string) string {
	if text.MostlyLatin(query) {
		return tag
	}
	base, _ := locale(tag)
	for _, s := range alphabets() {
		if !strings.ContainsFunc(query, func(r rune) bool { return unicode.Is(s.letters, r) }) {
			continue
		}
		languages := strings.Fields(s.languages)
		if slices.Contains(languages, base) {
			return tag
		}
		return languages[0]
	}
	return tag
}

// alphabet is a set of letters with the languages written in it, the one with the most readers first.
type alphabet struct {
	letters   *unicode.RangeTable
	languages string
}

// alphabets lists Japanese letters before those that Japanese shares with Chinese.
func alphabets() []alphabet {
	return []alphabet{
		{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh ja ko yue"},
		{unicode.Cyrillic, "ru uk bg sr mk be kk ky mn tg"}, {unicode.Arabic, "ar fa ur ps ckb sd ug"}, {unicode.Hebrew, "he yi"},
		{unicode.Greek, "el"}, {unicode.Thai, "th"}, {unicode.Devanagari, "hi mr ne sa"}, {unicode.Bengali, "bn as"},
		{unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Georgian, "ka"}, {unicode.Armenian, "hy"},
	}
}
