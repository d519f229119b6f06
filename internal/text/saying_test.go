package text

import "testing"

func TestSaying(t *testing.T) {
	set := NewPhraseSet("just kidding, used to, night shift*, s/he, 冗談", "")
	for s, want := range map[string][2]bool{
		"JUST   kidding!":              {true, true},
		"I used to sing in a choir":    {true, false},
		"unused tools":                 {false, false},
		"he works on night shifts now": {true, false},
		"the nights shift":             {false, false},
		"S/he sings in a choir":        {true, false},
		"それは冗談です":                      {true, true},
		"":                             {false, false},
	} {
		if said := NewSaying(s); said.Has(set) != want[0] || said.EndsWith(set) != want[1] {
			t.Errorf("%q: has one %v, ends with one %v", s, said.Has(set), said.EndsWith(set))
		}
	}
	if in, from, to := NewSaying("Well, I used to. Just kidding.").Find(set); from < 0 || in[from:to] != " used to " {
		t.Errorf("found %q from %d to %d", in, from, to)
	}
	for s, want := range map[string]bool{"could you come over here": true, "I am coming over here": false, "kommst du am Abend zu uns": true} {
		if NewSaying(s).SpeaksTo() != want {
			t.Errorf("%q speaks to somebody: %v", s, !want)
		}
	}
	if got := Flat("IŞIK, Éa"); got != " isik ea " {
		t.Errorf("flat: %q", got)
	}
}
