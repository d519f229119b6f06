package text

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Neutral is the mood of a text that shows no other.
const Neutral = "neutral"

// Moods returns the names of all moods, sorted. They are the 28 labels that packs of pictures use for a character's expressions.
var Moods = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(AllTables().Mood.Near)) })

// moodNames has each mood by its name and by the other names that pictures have.
var moodNames = sync.OnceValue(func() map[string]string {
	names := ByWord(AllTables().Mood.Also)
	for _, mood := range Moods() {
		names[mood] = mood
	}
	return names
})

// MoodNamed returns the mood with a name, such as "joy" or "happy", or "".
func MoodNamed(name string) string { return moodNames()[strings.ToLower(name)] }

// NearMoods returns the mood and those that may take its place, nearest first. The last is [Neutral].
func NearMoods(mood string) []string {
	return append([]string{mood}, append(AllTables().Mood.Near[mood].Fields(), Neutral)...)
}

// MoodOf returns the mood that a text in a language shows by its words and emojis. An emoji counts as two words, and a denied word does not
// count. Among equals the mood that comes first in [Moods] wins. A text without any is [Neutral].
func MoodOf(s, language string) string {
	points := map[string]int{}
	words, negations := Words(s), Negations()
	for _, m := range Compile(TablesOf(language).Mood.Words).FindAll(s, words) {
		if m.From == 0 || !negations[words[m.From-1].Key] {
			points[m.Cue]++
		}
	}
	for mood, signs := range AllTables().Mood.Signs {
		for _, sign := range signs.Fields() {
			points[mood] += 2 * strings.Count(s, sign)
		}
	}
	best := Neutral
	for _, mood := range Moods() {
		if points[mood] > points[best] {
			best = mood
		}
	}
	return best
}
