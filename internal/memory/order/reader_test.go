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

