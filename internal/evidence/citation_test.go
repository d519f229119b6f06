package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"familiar/internal/test/webtest"
)

const claimEverest = `Mount Everest is the highest mountain on Earth. The height of Mount Everest is 8,849 metres,
as China and Nepal announced on 8 December 2020. Edmund Hillary and Tenzing Norgay reached the top on May 29, 1953.
The permit costs 11,000 dollars. It is not the tallest mountain from base to peak. About 1.5 million people visit Nepal.`

func TestCheckCitation(t *testing.T) {
	cited := []*Page{NewPage("Mount Everest", claimEverest), NewPage("Ferries", "The ferry took 1,280 metres in the 1980s. It opened at 17:00, and the old ferry boat never sank.")}
	for _, tt := range []struct{ sentence, want string }{
		{"Everest is 8,849 m high.", "[ nothing of it]"},
		{"It is about 8,800 metres high.", "[ nothing of it]"},
		{"It is 8,700 metres high.", "[number number]"},
		{"About 1,500,000 people visit Nepal.", "[ nothing of it]"},
		{"The ferry took 1.28 km.", "[nothing of it ]"},
		{"The ferry of the 1980s opened at 5 pm.", "[nothing of it ]"},
		{"Norgay was there in 1953.", "[ nothing of it]"},
		{"It was announced on 9 December 2020.", "[date date]"},
		{`He said: "the permit costs 11,000 dollars".`, "[ nothing of it]"},
		{`He said: "the permit costs a great deal".`, "[quote quote]"},
		{"It is the tallest mountain from base to peak.", "[negation nothing of it]"},
		{"The old ferry boat sank.", "[nothing of it negation]"},
		{"Der Berg ist hoch und die Fähre ist weg.", "[ ]"},
		{"See the source:", "[ ]"},
	} {
		if got := fmt.Sprint(CheckCitation("Before. "+tt.sentence, cited)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.sentence, got, tt.want)
		}
	}
}

// TestOneCitation checks sentences that cite one page.
func TestOneCitation(t *testing.T) {
	far := strings.Repeat(" The weather was fine and nobody came.", 30) + " "
	for _, tt := range []struct{ name, sentence, page, want string }{
		{"together", "Ada Lorem designed the old tower in Ipsum for the railway.", "The old tower was designed by Ada Lorem. The railway opened it in Ipsum.", ""},
		{"paraphrased", "The railway put the tower up.", "The tower was built by the workers of the railway.", ""},
		{"other names", "The old tower of the railway in Ipsum is a design of Bob Dolor and Eve Sitamet.", "The old tower was designed by Ada Lorem. The railway opened it in Ipsum.", checkCoverage},
		{"half of it", "In Lorem the tower won a prize for its steel roof, and the jury praised the engineers for their courage and modesty.", "The tower of Lorem has a steel roof. It is open daily and there is a café.", checkCoverage},
		{"spread over the page", "The tower has a steel roof that the engineers painted red.",
			"The tower." + far + "A roof is good." + far + "Steel is hard." + far + "To be painted!" + far + "The engineers and the red ones.", checkCoverage},
		{"of a page in another language", "Bob Dolor and Eve Sitamet designed the old tower in Amet.", "Der alte Turm in Amet ist von der Eisenbahn und wurde nicht von Ada gebaut.", ""},
		{"the year is elsewhere", "The tower opened on 8 May 1937.", "News of 1937. The tower opened on May 8 at last.", ""},
		{"another day", "The tower opened on 9 May 1937.", "News of 1937. The tower opened on May 8 at last.", checkDate},
		{"the day is of another year", "The tower opened on 8 May 1938.", "The tower opened on 8 May 1937. It closed in 1938.", checkDate},
		{"the month is without a year", "The tower opened in June 1937.", "News of 1937. The tower will be opened in June.", ""},
		{"the month is of another year", "The tower opened in June 1937.", "News of 1937. The tower will be opened in June 1939.", checkDate},
		{"a timestamp", "The news of the tower is from June 2018.", "Published 2018-06-30T07:00:00Z. The tower is in the news.", ""},
		{"marks inside a quotation", `She said: "the roof is fine — and so's the tower".`, `"The roof is fine, and so’s the tower," she said.`, ""},
		{"a title", `The tower is in the film "Tower: The Lorem Story".`, "The tower was filmed for Tower - The Lorem Story.", ""},
		{"thousands in words", "Twenty thousand people saw the tower.", "The tower was seen by 20,000 people.", ""},
		{"thousands in words, wrong", "Thirty thousand people saw the tower.", "The tower was seen by 20,000 people.", checkNumber},
		{"hundreds in words", "Two hundred and fifty-six steps lead up the tower.", "The tower has 256 steps that lead up.", ""},
		{"digits for words", "The tower was seen by 20,000 people.", "Twenty thousand people saw the tower.", ""},
		{"a name of numbers", "The tower stands in Thousand Oaks.", "The tower stands in Thousand Oaks.", ""},
		{"denied of another year", "The tower club won the Lorem Cup in 2021.", "The tower club did not win the Lorem Cup in 2019, but the next two times it did.", checkNumber},
		{"denied of another year, and won", "The tower club won the Lorem Cup in 2021.", "The tower club did not win the Lorem Cup in 2019. In 2021 it did.", ""},
		{"denied of that year", "The tower club won the Lorem Cup in 2019.", "The tower club did not win the Lorem Cup in 2019. In 2021 it did.", checkNegation},
	} {
		if got := CheckCitation(tt.sentence, []*Page{NewPage(tt.page)})[0]; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRank(t *testing.T) {
	sentences := []string{"Home | About", "The weather was fine.", "It was opened by the mayor in Ipsum.", "The Lorem tower is a work of Ada Dolor.", "Read more"}
	if got := Rank("Ada Dolor built the Lorem tower, which the mayor opened.", sentences); !slices.Equal(got[:2], []int{3, 2}) || len(got) != 5 {
		t.Errorf("got %v", got)
	}
}

// TestCitationIsLinearOnHostilePages checks that a check's work grows with the lengths of page and sentence, not with
// their product.
func TestCitationIsLinearOnHostilePages(t *testing.T) {
	for _, unit := range []string{"tower ", "Tower Lorem ", "twenty ", "two hundred and ", "May ", "1937-", "tower. ", "a b c ", "\"tower\" "} {
		sentence := strings.Repeat("The Tower in Lorem was opened in May 1937 by twenty people, ", 30)
		check := func(n int) float64 {
			page := NewPage(strings.Repeat(unit, n/len(unit)))
			return testing.AllocsPerRun(1, func() { CheckCitation(sentence, []*Page{page}) })
		}
		if few, many := check(20_000), check(80_000); many > 8*few+1000 {
			t.Errorf("%q: %v allocations for a page, %v for four times as much", unit, few, many)
		}
	}
}

// BenchmarkCitation prepares five cited pages of 50 KB and checks eight sentences of a reply.
func BenchmarkCitation(b *testing.B) {
	var texts []string
	for i := range 5 {
		texts = append(texts, webtest.Article(uint64(i)))
	}
	reply := "The Sample Bridge over the Lorem was opened in 1932, and its length is 812 metres"
	pages := func() (cited []*Page) {
		for _, t := range texts {
			cited = append(cited, NewPage("Sample Bridge", t))
		}
		return cited
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			CheckCitation(reply, pages())
		}
	})
	ready := pages()
	b.Run("8 sentences", func(b *testing.B) {
		for b.Loop() {
			for range 8 {
				CheckCitation(reply, ready)
			}
		}
	})
}

func TestSpelledNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"eighty-five and twenty thousand":              "[eighty-five=85 twenty thousand=20000]",
		"Two hundred and fifty-six steps":              "[Two hundred and fifty-six=256]",
		"two hundred and then two hundred":             "[two hundred=200 two hundred=200]",
		"two hundred and and two":                      "[two hundred=200 two=2]",
		"two hundred and two hundred":                  "[two hundred and two=202]",
		"three million two hundred thousand and eight": "[three million two hundred thousand=3.2e+06 eight=8]",
		"one two three":                                "[]",
		"in nineteen seventy and twenty twenty-one":    "[]",
		"one hundred thousand":                         "[one hundred thousand=100000]",
		"a million in Thousand Oaks":                   "[]",
		"5 million":                                    "[]",
		"twenty. Five":                                 "[twenty=20 Five=5]",
	} {
		got := []string{}
		for _, n := range spelledNumbers(in) {
			got = append(got, fmt.Sprintf("%s=%v", in[n.From:n.To], n.Value))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", in, got, want)
		}
	}
}
