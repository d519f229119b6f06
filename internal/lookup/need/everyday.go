package need

import (
	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// Everyday reports whether a word is one that the tables know.
func Everyday(key string) bool {
	if text.StopWords[key] || text.Pronouns[key] != "" || text.MonthNames[key] > 0 {
		return true
	}
	one := []text.Word{{Key: key}}
	for _, t := range []text.Phrases{Topics, Times, Against, intents, calendar.Calendar} {
		if n, _ := t.Prefix(one); n > 0 {
			return true
		}
	}
	return false
}
