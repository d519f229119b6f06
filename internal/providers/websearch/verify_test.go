package websearch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/context/turn"
)

// TestVerdicts checks questions against pages: an archive a question, whose comment it is, with the pages by their
// hosts, title first, and what came of it.
func TestVerdicts(t *testing.T) {
	files, err := filepath.Glob("testdata/verdicts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no verdicts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var sheets []sheet
			for i, f := range a.Files[:len(a.Files)-1] {
				title, text, _ := strings.Cut(strings.TrimSpace(string(f.Data)), "\n")
				sheets = append(sheets, sheet{rank: i, page: turn.Page{URL: "https://" + f.Name, Site: f.Name, Title: title, Text: text}, index: newIndex(text)})
			}
			var s summary
			s.check(strings.TrimSpace(string(a.Comment)), sheets)
			_, sources := number(s.claims, sheets)
			s.numberVerdict(sheets)
			var got strings.Builder
			fmt.Fprintf(&got, "%s %.2f\n", s.verdict.Label, s.verdict.Confidence)
			for _, side := range [][]turn.Claim{s.verdict.For, s.verdict.Against} {
				for _, c := range side {
					if n := len(split(c.Quote)); n > quoteWords {
						t.Errorf("a quote of %d words: %q", n, c.Quote)
					}
					fmt.Fprintf(&got, "%s %s %s\n", sources[c.Source-1].URL, strings.Join(c.Checks, ","), c.Quote)
				}
			}
			fmt.Fprintf(&got, "%s\n", verdictLine(s.verdict, ""))
			last := &a.Files[len(a.Files)-1]
			goldenFile(t, file, a, last, got.String())
		})
	}
}

func goldenFile(t *testing.T, path string, a *txtar.Archive, f *txtar.File, got string) {
	t.Helper()
	want := string(f.Data)
	if *update && got != want {
		f.Data, want = []byte(got), got
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", f.Name, got, want)
	}
}

func TestStated(t *testing.T) {
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
		if got := stated(question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestRuling(t *testing.T) {
	for _, c := range []struct {
		pro, contra int
		want        string
	}{
		{0, 0, inconclusive}, {1, 0, inconclusive}, {2, 0, inconclusive}, {3, 0, supports}, {3, 1, supports}, {3, 2, inconclusive},
		{0, 3, contradicts}, {1, 3, contradicts}, {2, 3, inconclusive}, {4, 2, inconclusive}, {5, 2, supports},
	} {
		if got, sure := ruling(c.pro, c.contra); got != c.want || sure < 0.3 || sure > 0.95 {
			t.Errorf("%d for, %d against: %s %.2f, want %s", c.pro, c.contra, got, sure, c.want)
		}
	}
}

func TestConflict(t *testing.T) {
	for _, c := range []struct{ claim, sentence, want string }{
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
		if got := Weigh(c.claim, "", []string{c.sentence}).Conflict; got != c.want {
			t.Errorf("%q against %q: %q, want %q", c.sentence, c.claim, got, c.want)
		}
	}
}

func TestCopiesCountOnce(t *testing.T) {
	text := strings.Repeat("The ferry to the island was painted green by its crew before the season began. ", 3)
	for i := range 40 {
		text += fmt.Sprintf("Passenger number %d took seat %d near the window. ", i, i*7)
	}
	st := stance{site: "a.org", text: "one", near: shingles(text)}
	for name, c := range map[string]struct {
		st   stance
		want bool
	}{
		"same site":      {stance{site: "a.org", text: "two"}, true},
		"another":        {stance{site: "b.org", text: "two", near: shingles("A quite different page, in words of its own, about another boat and its long way.")}, false},
		"copied":         {stance{site: "b.org", text: "two", near: shingles("Our sister paper reports. " + text + " More tomorrow.")}, true},
		"copied the one": {stance{site: "b.org", text: "The old ferry to the island was painted bright green by its whole crew", near: nil}, false},
	} {
		if got := repeats(c.st, []stance{st}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	long := "The old ferry to the island was painted bright green by its whole crew."
	if st = (stance{site: "a.org", text: long}); !repeats(stance{site: "b.org", text: "Reportedly " + long}, []stance{st}) {
		t.Error("a sentence that another site has copied counts twice")
	}
	if !sameWords(long, "Reportedly "+long) || sameWords("It is green.", "It is green.") {
		t.Error("copies of sentences are not told")
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
		if got := living("Jane Sample was arrested", []statementPage{{Text: text}}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
