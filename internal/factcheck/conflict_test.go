package factcheck

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// TestConflicts compares sentences of two pages. An expected conflict is "value / value".
func TestConflicts(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want string }{
		"year":               {"The club was founded in 1912.", "The club was founded in 1913.", "1912 / 1913"},
		"year, passive":      {"The Sample Bridge was opened in 1937.", "Crowds cheered. The Sample Bridge was opened to cars in spring 1932, the plate says.", "1937 / 1932"},
		"day":                {"The treaty was signed on 3 May 2021.", "The treaty was signed on 5 May 2021 in Exampleton.", "3 May 2021 / 5 May 2021"},
		"day, other writing": {"The treaty was signed on May 3, 2021.", "The treaty was signed on 5 May 2021.", "May 3, 2021 / 5 May 2021"},
		"month":              {"The treaty was signed in May 2021.", "The treaty was signed in June 2021.", "May 2021 / June 2021"},
		"synonym":            {"The Sample Institute was established in 1912.", "The Sample Institute was founded in 1913.", "1912 / 1913"},
		"longer name":        {"Ada Sample was born in 1912.", "The painter said: Sample was born in 1913 in Lyon.", "1912 / 1913"},
		"other language":     {"Der Verein wurde 1912 gegründet.", "Im Jahr 1913 wurde der Verein gegründet.", "1912 / 1913"},
		"Spanish":            {"El museo fue fundado en 1912.", "El museo fue fundado en 1915.", "1912 / 1915"},
		"year first":         {"In 1912 the club was founded.", "The club was founded in 1913.", "1912 / 1913"},
		"clauses":            {"Ada Sample, who was born in Paris in 1912, founded the club in 1930.", "Ada Sample was born in 1913.", "1912 / 1913"},

		"versions":              {"Lorem 10 was released on 29 July 2015.", "Lorem 11 was released on 5 October 2021.", ""},
		"chapters":              {"Chapter 3 was published in 2015.", "Chapter 4 was published in 2016.", ""},
		"countries, money":      {"The Lorem phone costs $799 in the United States.", "The Lorem phone costs $899 in Canada.", ""},
		"sizes":                 {"The Lorem phone costs $799 with 128 GB.", "The Lorem phone costs $899 with 256 GB.", ""},
		"quarters":              {"Lorem Motors earned $5.2 billion in the third quarter.", "Lorem Motors earned $4.9 billion in the second quarter.", ""},
		"places of a journey":   {"The train takes 2 hours from Lyon to Paris.", "The train takes 3 hours from Marseille to Paris.", ""},
		"the same day":          {"The treaty was signed on 3 May 2021.", "The treaty was signed on May 3, 2021.", ""},
		"less exact":            {"The treaty was signed on 3 May 2021.", "The treaty was signed in 2021.", ""},
		"other events":          {"The club was founded in 1912.", "The club was dissolved in 1913.", ""},
		"other things":          {"The Sample Bridge was opened in 1912.", "The Sample Tunnel was opened in 1913.", ""},
		"a part":                {"The Sample Bridge was opened in 1912.", "The second lane of the Sample Bridge was opened in 1950.", ""},
		"another person":        {"Ada Sample was born in 1912.", "Bob Sample was born in 1913.", ""},
		"recurring":             {"The club won the cup in 1912.", "The club won the cup in 1913.", ""},
		"since":                 {"The club has been open since 1990.", "The club was opened in 1989.", ""},
		"about":                 {"The club was founded around 1912.", "The club was founded in 1913.", ""},
		"range":                 {"The bridge was built from 1912 to 1915.", "The bridge was built in 1915.", ""},
		"dashed range":          {"The bridge was built in 1912–1915.", "The bridge was built in 1914.", ""},
		"life":                  {"Ada Sample (1912–1990) was a painter.", "Ada Sample (born 1912, died 1991) was a painter.", ""},
		"born and died":         {"Ada Sample was born in 1912.", "Ada Sample died in 1990.", ""},
		"decade":                {"The club was founded in the 1910s.", "The club was founded in 1913.", ""},
		"countries":             {"The game was released in Japan on 3 May 2021.", "The game was released in Europe on 5 May 2021.", ""},
		"one country":           {"The game was released on 3 May 2021.", "The game was released in Europe on 5 May 2021.", ""},
		"country behind":        {"The game was released on 3 May 2021 in Japan.", "The game was released on 5 May 2021.", ""},
		"planned":               {"The bridge was to be opened in 1935, as planned.", "The bridge was planned to be opened in 1935.", ""},
		"planned and done":      {"The bridge was scheduled to be opened in 1935.", "The bridge was opened in 1937.", ""},
		"denied":                {"The club was not founded in 1912.", "The club was founded in 1913.", ""},
		"gives both":            {"The club was founded in 1912. Some books say that the club was founded in 1913.", "The club was founded in 1913.", ""},
		"gives both, elsewhere": {"The club was founded in 1912.", "The club was founded in 1913. Older papers hold that it was founded in 1912.", ""},
		"a number, no year":     {"The club was founded by 1912 people.", "The club was founded in 1913.", ""},

		"number":            {"The Sample Bridge is 1,280 metres long.", "The Sample Bridge is 1,410 metres long.", "1,280 metres / 1,410 metres"},
		"scale":             {"The city of Sampletown has 5 million people.", "The city of Sampletown has 5,200,000 people.", "5 million people / 5,200,000 people"},
		"two scales":        {"The city of Sampletown has 3 million people.", "The city of Sampletown has 4 million people.", "3 million people / 4 million people"},
		"money":             {"The Sample Bridge cost $5 million.", "The Sample Bridge cost 7 million dollars.", "$5 million / 7 million dollars"},
		"scale, written":    {"The city of Sampletown has 5 million people.", "The city of Sampletown has 5,000,000 people.", ""},
		"scale, German":     {"Die Stadt Sampletown hat 5,2 Millionen Einwohner.", "Die Stadt Sampletown hat 5.200.000 Einwohner.", ""},
		"about a number":    {"The city of Sampletown has about 5,000 people.", "The city of Sampletown has 4,987 people.", ""},
		"rounded":           {"The city of Sampletown has 5,000 people.", "The city of Sampletown has 4,987 people.", ""},
		"decimal":           {"The Sample Bridge is 5.0 metres wide.", "The Sample Bridge is 5 metres wide.", ""},
		"other dimension":   {"The Sample Bridge is 1,280 metres long.", "The Sample Bridge is 27 metres wide.", ""},
		"dimension by noun": {"The length of the Sample Bridge is 1,280 metres.", "The width of the Sample Bridge is 27 metres.", ""},
		"other unit":        {"The Sample Bridge is 1.28 kilometres long.", "The Sample Bridge is 4,200 feet long.", ""},
		"other currency":    {"The Sample Bridge cost $5 million.", "The Sample Bridge cost €7 million.", ""},
		"other thing":       {"The Sample Company has 500 employees.", "The Sample Company laid off 300 employees.", ""},
		"other year":        {"In 2010 the city of Sampletown had 5,000 people.", "In 2020 the city of Sampletown had 6,000 people.", ""},
		"of one year":       {"The city of Sampletown had 5,000 people in 2010.", "The city of Sampletown has 6,000 people.", ""},
		"number range":      {"The Sample Snake is 3 to 5 metres long.", "The Sample Snake is 4 metres long.", ""},
		"bound":             {"The city of Sampletown has more than 5,000 people.", "The city of Sampletown has 8,000 people.", ""},
		"a name's number":   {"The crew of Apollo 11 came home.", "The crew of Apollo 13 came home.", ""},
		"ordinal":           {"Ada Sample was the 5th president.", "Ada Sample was the 6th member.", ""},
		"number, both":      {"The Sample Bridge is 1,280 metres long. With its ramps the Sample Bridge is 1,410 metres long.", "The Sample Bridge is 1,410 metres long.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			pages := map[int]string{1: c.a, 2: c.b}
			var claims []turn.Claim
			for n := 1; n <= len(pages); n++ {
				sentences := text.Sentences(pages[n])
				claims = append(claims, turn.Claim{Text: sentences[0], Source: n})
				if strings.HasPrefix(sentences[0], "Crowds") {
					claims[n-1].Text = sentences[1]
				}
			}
			got := ""
			for _, c := range FindConflicts(claims, pages) {
				got += c.Values[0].Value + " / " + c.Values[1].Value
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestConflictsOfMerged checks that all sources of one claim are on one side.
func TestConflictsOfMerged(t *testing.T) {
	claims := []turn.Claim{
		{Text: "The club was founded in 1913.", Source: 2},
		{Text: "The club was founded in 1912.", Source: 1, Also: []turn.Backing{{Source: 3}}},
		{Text: "The club was founded in 1913, a plate says.", Source: 3},
	}
	got := FindConflicts(claims, nil)
	if lines := fmt.Sprint(ConflictLines(got)); len(got) != 1 || lines != "[Sources [1][3] and [2] give different dates for what looks like the same: name both.]" {
		t.Errorf("%+v: %s", got, lines)
	}
}
