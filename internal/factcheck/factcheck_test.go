package factcheck

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
)

func TestStatement(t *testing.T) {
	for question, want := range map[string]string{
		"Is it true that the Sample Bridge was opened in 1932?": "the Sample Bridge was opened in 1932",
		"fact check: cats have nine lives":                      "cats have nine lives",
		"Did Ada really write the first program?":               "Ada write the first program",
		"The moon is made of cheese, true or false?":            "The moon is made of cheese",
		"The bridge fell down in 1940, is that true?":           "The bridge fell down in 1940",
		"is it true?": "is it true?",
		"I heard that the bridge fell, is that true?":      "the bridge fell",
		"is this real: the bridge fell":                    "the bridge fell",
		"can you verify whether the bridge fell?":          "the bridge fell",
		"Stimmt das: die Brücke ist eingestürzt?":          "die Brücke ist eingestürzt",
		"Hat Ada wirklich das erste Programm geschrieben?": "Ada das erste Programm geschrieben",
		"est-il vrai que le pont est tombé ?":              "le pont est tombé",
		"¿Es cierto que el puente cayó?":                   "el puente cayó",
		"é verdade que a ponte caiu?":                      "a ponte caiu",
		"Is it true that Swedes drive on the right?":       "Swedes drive on the right",
		"is the customer always right?":                    "the customer always right",
		"is it a myth that Einstein failed math?":          "Einstein failed math",
		"Everest is the highest mountain, right?":          "Everest is the highest mountain",
		"honey never spoils, is that true?":                "honey never spoils",
		"did Ada really write the first program":           "Ada write the first program",
		"stimmt es, dass der Mond sich entfernt?":          "der Mond sich entfernt",
		"fact check: the moon is made of cheese, really?":  "the moon is made of cheese",
	} {
		if got := Statement(question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestMajority(t *testing.T) {
	const none, pro, contra = turn.VerdictInconclusive, turn.VerdictSupports, turn.VerdictContradicts
	for _, c := range []struct {
		pro, contra int
		want        turn.VerdictLabel
	}{
		{0, 0, none}, {1, 0, none}, {2, 0, pro}, {0, 2, contra}, {2, 1, none}, {3, 0, pro}, {3, 1, pro}, {3, 2, none},
		{0, 3, contra}, {1, 3, contra}, {2, 3, none}, {4, 2, none}, {5, 2, pro},
	} {
		if got, sure := majority(c.pro, c.contra, agreeing); got != c.want || sure < 0.3 || sure > 0.95 {
			t.Errorf("%d for, %d against: %s %.2f, want %s", c.pro, c.contra, got, sure, c.want)
		}
	}
}

func TestContradictions(t *testing.T) {
	for _, c := range []struct{ statement, sentence, want string }{
		{"The bridge is 900 metres long", "The bridge is 1,280 metres long and carries six lanes.", otherNumber},
		{"The bridge is over 900 metres long", "The bridge is 1,280 metres long and carries six lanes.", ""},
		{"The bridge is about 1,300 metres long", "The bridge is 1,280 metres long and carries six lanes.", ""},
		{"The bridge cost 2 million dollars", "The bridge cost 27 million dollars when it was built.", otherNumber},
		{"The bridge cost 27 million dollars", "The bridge cost 27,000,000 dollars when it was built.", ""},
		{"The bridge was opened in 1932", "The bridge was opened to cars in 1937 by the mayor.", otherDate},
		{"The bridge was opened in the 1930s", "The bridge was opened to cars in 1937 by the mayor.", ""},
		{"The bridge was opened in 1937", "The bridge was opened to cars in 1937 by the mayor.", ""},
		{"The painter was born in Lyon", "The painter was born in Paris as the son of a baker.", otherName},
		{"The painter was born in May", "The painter was born in Paris as the son of a baker.", ""},
		{"Vaccines cause the illness", "Vaccines do not cause the illness, all large studies say.", oneDenies},
		{"Vaccines cause the illness", "That vaccines cause the illness is a myth.", oneDenies},
		{"Vaccines do not cause the illness", "Vaccines do not cause the illness, all large studies say.", ""},
		{"It is a myth that vaccines cause the illness", "Vaccines do not cause the illness, all large studies say.", ""},
		{"The bridge opened before the tunnel", "The bridge opened after the tunnel was dug.", opposite},
		{"The bridge holds 5 million litres", "The bridge holds 5,000,000 litres of paint in its tanks.", ""},
		{"Vaccines cause the illness", "There is no evidence that vaccines cause the illness.", oneDenies},
		{"There is no evidence that vaccines cause the illness", "Vaccines do not cause the illness, it says.", ""},
		{"Impfungen verursachen die Krankheit", "Es ist falsch, dass Impfungen die Krankheit verursachen.", oneDenies},
		{"Las vacunas causan la enfermedad", "Es falso que las vacunas causan la enfermedad.", oneDenies},
		{"The bridge never closed", "The bridge closed for two weeks after the storm.", oneDenies},
		{"All whales eat krill", "Some whales eat krill, others eat fish.", lessSweeping},
		{"The whale eats only krill", "The whale eats krill, and also eats small fish.", lessSweeping},
		{"The whale eats krill", "Rivers are long, and the sea is deep.", ""},
	} {
		if got := Compare(c.statement, "", []string{c.sentence}).Conflict; got != c.want {
			t.Errorf("%q against %q: %q, want %q", c.sentence, c.statement, got, c.want)
		}
	}
}

func TestCopiesCountOnce(t *testing.T) {
	s := strings.Repeat("The ferry to the island was painted green by its crew before the season began. ", 3)
	for i := range 40 {
		s += fmt.Sprintf("Passenger number %d took seat %d near the window. ", i, i*7)
	}
	st := Stance{domain: "a.org", Quote: evidence.Quote{Text: "one"}, sketch: sketchOf(s)}
	for name, c := range map[string]struct {
		st   Stance
		want bool
	}{
		"same site":      {Stance{domain: "a.org", Quote: evidence.Quote{Text: "two"}}, true},
		"another":        {Stance{domain: "b.org", Quote: evidence.Quote{Text: "two"}, sketch: sketchOf("A quite different page, in words of its own, about another boat and its long way.")}, false},
		"copied":         {Stance{domain: "b.org", Quote: evidence.Quote{Text: "two"}, sketch: sketchOf("Our sister paper reports. " + s + " More tomorrow.")}, true},
		"copied the one": {Stance{domain: "b.org", Quote: evidence.Quote{Text: "The old ferry to the island was painted bright green by its whole crew"}}, false},
	} {
		if got := c.st.repeats([]Stance{st}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	long := "The old ferry to the island was painted bright green by its whole crew."
	if st = (Stance{domain: "a.org", Quote: evidence.Quote{Text: long}}); !(Stance{domain: "b.org", Quote: evidence.Quote{Text: "Reportedly " + long}}).repeats([]Stance{st}) {
		t.Error("a sentence that another site has copied counts twice")
	}
	if !sameWords(long, "Reportedly "+long) || sameWords("It is green.", "It is green.") {
		t.Error("copies of sentences are not recognised")
	}
}

func TestLiving(t *testing.T) {
	for text, want := range map[string]bool{
		"Jane Sample (born 4 May 1980) is a singer.":                                                     true,
		"Jane Sample (born 4 May 1980) is a singer. Her father died in 1999; she was mayor (2010–2015).": true,
		"Jane Sample's father, a smith, died in 1999. Jane Sample is a British singer.":                  true,
		"A court heard on Monday that Jane Sample, 45, had left the town.":                               true,
		"Jane Sample (1815 – 1861) was a singer.":                                                        false,
		"Jane Sample was born 4 May 1880 in Lyon. Sample, who died in 1950, is a singer of the past.":    false,
		"Bob Other (born 4 May 1980) is a singer.":                                                       false,
		"The Sample Bridge is long.":                                                                     false,
	} {
		if _, got := aboutPerson("Jane Sample was arrested", []Page{{Text: text}}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestOrder checks that a sentence which says what somebody is comes before one that somebody said.
func TestOrder(t *testing.T) {
	c := Compare("Ada Quill comes from Sampleton.", "Ada Quill", []string{
		`"I know nobody there", Quill replied when she was asked about the people of Sampleton`,
		"In 1931 a team from Sampleton beat all of the others, which had travelled far, in each of fourteen games that summer.",
		"She is a weaver (and a singer) from Sampleton.",
	})
	if c.Order[0] != 2 || len(c.Order) != 3 {
		t.Errorf("in the order %v", c.Order)
	}
}
