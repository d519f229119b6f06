package text

import (
	"slices"
	"testing"
)

// Words and emojis show a mood in every language of the program. What is denied, and what belongs to another language, does not count.
func TestMoodOf(t *testing.T) {
	for _, c := range []struct{ language, said, want string }{
		{"en", "The tide turns at nine.", "neutral"},
		{"en", "*smiles* I'm so glad you came!", "joy"},
		{"en", "I am not angry.", "neutral"},
		{"en", "I'm sorry, that was my fault. Still, *smiles*.", "remorse"},
		{"en", "Well. 😢", "sadness"},
		{"en", "*laughs* HAHA, that is hilarious", "amusement"},
		{"en", "Ich bin traurig.", "neutral"},
		{"de", "Ach, ich bin so traurig.", "sadness"},
		{"de", "Igitt, wie eklig!", "disgust"},
		{"es", "¡Qué miedo! Estoy asustado.", "fear"},
		{"fr", "Merci, merci beaucoup !", "gratitude"},
		{"it", "Non vedo l'ora, evviva!", "excitement"},
		{"nl", "Het spijt me, sorry.", "remorse"},
		{"pl", "Kocham cię.", "love"},
		{"pt", "Que nojo, eca!", "disgust"},
		{"ru", "Я очень рада, чудесно!", "joy"},
		{"tr", "Korkuyorum.", "fear"},
		{"ja", "ごめんなさい、すみません。", "remorse"},
		{"ko", "정말 고마워요!", "gratitude"},
		{"zh", "我好害怕，太可怕了", "fear"},
		{"", "🎉", "excitement"},
		{"xx", "happy", "neutral"},
		{"en", "", "neutral"},
	} {
		if got := MoodOf(c.said, c.language); got != c.want {
			t.Errorf("%s: %q is %s, want %s", c.language, c.said, got, c.want)
		}
	}
}

// The moods are a closed list. Each name leads to one of it, and so does each way to another mood.
func TestMoods(t *testing.T) {
	if len(Moods()) != 28 || !slices.IsSorted(Moods()) {
		t.Errorf("%d moods: %v", len(Moods()), Moods())
	}
	known := func(what, mood string) {
		if !slices.Contains(Moods(), mood) {
			t.Errorf("%s: there is no mood %q", what, mood)
		}
	}
	m := AllTables().Mood
	for _, mood := range Moods() {
		for _, near := range NearMoods(mood) {
			known("near "+mood, near)
		}
		if all := NearMoods(mood); all[0] != mood || all[len(all)-1] != Neutral {
			t.Errorf("near %s: %v", mood, all)
		}
	}
	for mood := range m.Also {
		known("also", mood)
	}
	for mood := range m.Signs {
		known("signs", mood)
	}
	for mood := range m.Words {
		known("words", mood)
	}
	for name, want := range map[string]string{"joy": "joy", "Happy": "joy", "DEFAULT": "neutral", "owl": "", "": ""} {
		if got := MoodNamed(name); got != want {
			t.Errorf("%q is the mood %q", name, got)
		}
	}
}
