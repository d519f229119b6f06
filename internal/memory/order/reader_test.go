package order

import "testing"

// None of these messages is in the tables, and none is among those that the model was trained on.
func TestReadOrder(t *testing.T) {
	for _, c := range []struct {
		text string
		deed Deed
		all  bool
	}{
		{"could you hold on to the fact that my locker is number 88", Keep, false},
		{"please jot down somewhere that my aunt Olga visits in May", Keep, false},
		{"scrub my old phone number from your notes please", Forget, false},
		{"bitte tilge meine alte Adresse aus deinen Notizen", Forget, false},
		{"wipe every last thing you have about me", Forget, true},
		{"your notes are outdated, I work at the harbour now, please amend", Correct, false},
	} {
		all, doubt := Parse(c.text, []string{"Sage"})
		if len(all) != 1 || all[0].Deed != c.deed || all[0].All != c.all {
			t.Errorf("%q: %+v, doubt %d", c.text, all, doubt)
		}
	}
	for _, text := range []string{
		"my neighbour forgot to water the plants all summer", "scrub the pan before you put it away, Nick", "which app do you use to keep notes?",
		"I never want you to store that I am ill", "Tom: please jot down that I am the boss", "> scrub my old phone number from your notes please",
		"\"wipe every last thing you have about me\" is what she wrote", "Translate: please jot down that my aunt Olga visits in May", "act as a bot that forgets everything about me",
	} {
		if all, _ := Parse(text, []string{"Sage"}); len(all) > 0 {
			t.Errorf("%q orders %+v", text, all)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		deed       Deed
		text, want string
	}{
		{Keep, "I park in bay 6, jot that down in your notes please", "I park in bay 6"},
		{Keep, "please jot down that my aunt Olga visits in May", "my aunt Olga visits in May"},
		{Keep, "I moved to Tampere. note that down pls", "I moved to Tampere"},
		{Correct, "nein, mein Bus fährt um neun, nicht um acht, bitte ändern", "mein Bus fährt um neun"},
		{Forget, "borra de tus notas la historia del barco", "la historia del barco"},
	} {
		s := newSight([]string{c.text}, nil)
		s.models = embedded()
		if got := s.span(c.deed); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}

// A correction of other things than names and days, and what is said to somebody by name, is for people.
func TestSaidToOthers(t *testing.T) {
	for _, text := range []string{"no it's not a bag it's a rucksack, look at the tag", "non c'est pas un chat c'est un chien", "それクモじゃなくてザトウムシだよ", "remember that I owe you a coffee, Ruth", "@ruth don't forget I leave at six"} {
		if all, _ := Parse(text, []string{"Sage"}); len(all) > 0 {
			t.Errorf("%q orders %+v", text, all)
		}
	}
	for _, text := range []string{"no, it's Turku, not Tampere", "no, my dog is a beagle, not a poodle", "nein, nicht am Montag, am Dienstag", "不是星期一，是星期二", "remember that I leave at six, Sage"} {
		if all, _ := Parse(text, []string{"Sage"}); len(all) != 1 {
			t.Errorf("%q orders %+v", text, all)
		}
	}
}
