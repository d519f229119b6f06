package text

import (
	"testing"
	"time"
)

func TestAbsolute(t *testing.T) {
	friday := time.Date(2026, 11, 20, 22, 3, 0, 0, time.UTC)
	for _, tt := range []struct{ lang, in, want string }{
		{"en", "who won yesterday", "who won 19 November 2026"},
		{"en", "what happened the day before yesterday in Rome", "what happened 18 November 2026 in Rome"},
		{"en", "results of last Friday", "results of 13 November 2026"},
		{"en", "concerts next Friday and next Saturday", "concerts 27 November 2026 and 21 November 2026"},
		{"en", "launches next week", "launches November 2026"},
		{"en", "earthquakes last month", "earthquakes October 2026"},
		{"en", "best films of last year", "best films of 2025"},
		{"en", "who directed The Day After Tomorrow", "who directed The Day After Tomorrow"},
		{"en", `who sang "yesterday once more" last year`, `who sang "yesterday once more" 2025`},
		{"de", "wer hat gestern abend gewonnen", "wer hat 19. November 2026 gewonnen"},
		{"de", "Konzerte am nächsten Freitag", "Konzerte 27. November 2026"},
		{"fr", "résultats de vendredi dernier", "résultats de 13 novembre 2026"},
		{"es", "quién ganó ayer", "quién ganó 19 de noviembre de 2026"},
		{"es", "a las nueve de la mañana", "a las nueve de la mañana"},
		{"pt", "quem ganhou ontem", "quem ganhou 19 de novembro de 2026"},
		{"ru", "кто выиграл вчера", "кто выиграл 19 ноября 2026"},
		{"ja", "昨日の試合の結果", "2026年11月19日の試合の結果"},
		{"ja", "明後日の予定と明日の予定", "2026年11月22日の予定と2026年11月21日の予定"},
		{"en", "score of last Friday's match", "score of 13 November 2026 match"},
		{"en", "new laws since Monday", "new laws since 16 November 2026"},
		{"en", "new laws since monday", "new laws since 16 November 2026"},
		{"en", "what opens this Friday and this Sunday", "what opens 20 November 2026 and 22 November 2026"},
		{"en", "games on Friday", "games on Friday"},
		{"en", "games monday next week", "games 23 November 2026"},
		{"en", "who resigned this morning", "who resigned 20 November 2026"},
		{"en", "festivals next weekend", "festivals November 2026"},
		{"en", "what happened 3 days ago", "what happened 17 November 2026"},
		{"en", "what happened three weeks ago in Rome", "what happened October 2026 in Rome"},
		{"en", "who was king 100 years ago", "who was king 1926"},
		{"en", "what happened a year ago", "what happened 2025"},
		{"en", "what happened a few days ago", "what happened a few days ago"},
		{"en", "what is happening in two days", "what is happening 22 November 2026"},
		{"en", "how to learn chess in two days", "how to learn chess in two days"},
		{"en", "who wrote around the world in 80 days", "who wrote around the world in 80 days"},
		{"en", "hottest month in a year", "hottest month in a year"},
		{"en", "earnings of last quarter", "earnings of Q3 2026"},
		{"en", "earnings next quarter", "earnings Q1 2027"},
		{"en", "wildfires last summer", "wildfires summer 2026"},
		{"en", "snow last winter and this winter", "snow winter 2025/2026 and winter 2026/2027"},
		{"en", "medals of the last winter olympics", "medals of the last winter olympics"},
		{"en", "wildfires last summer in Spain", "wildfires summer 2026 in Spain"},
		{"en", "films of next spring", "films of spring 2027"},
		{"en", "elections last March, last December and next March", "elections March 2026, December 2025 and March 2027"},
		{"en", "who starred in I Know What You Did Last Summer", "who starred in I Know What You Did Last Summer"},
		{"de", "was geschah vor zwei Tagen in Rom", "was geschah 18. November 2026 in Rom"},
		{"de", "neue Gesetze seit Montag", "neue Gesetze seit 16. November 2026"},
		{"de", "Waldbrände im letzten Sommer", "Waldbrände Sommer 2026"},
		{"fr", "que s'est-il passé il y a trois jours", "que s'est-il passé 17 novembre 2026"},
		{"fr", "incendies de l'été dernier", "incendies de l'été 2026"},
		{"es", "qué pasó hace dos días", "qué pasó 18 de noviembre de 2026"},
		{"es", "qué pasó el viernes pasado", "qué pasó 13 de noviembre de 2026"},
		{"it", "cosa è successo 3 giorni fa", "cosa è successo 17 novembre 2026"},
		{"ru", "что было 3 дня назад", "что было 17 ноября 2026"},
		{"ja", "先週の金曜日のニュース", "2026年11月13日のニュース"},
	} {
		if got, steps := AbsoluteDates(tt.in, tt.lang, friday); got != tt.want || (got != tt.in) != (len(steps) > 0) {
			t.Errorf("%q: %q %q, want %q", tt.in, got, steps, tt.want)
		}
	}
	for _, tt := range []struct{ on, in, want string }{
		// Some months have no 31st, and some years no week 53.
		{"2026-03-31", "last month", "February 2026"},
		{"2026-03-31", "next month", "April 2026"},
		{"2026-03-31", "tomorrow", "1 April 2026"},
		{"2026-12-31", "tomorrow", "1 January 2027"},
		{"2026-12-31", "next month", "January 2027"},
		{"2026-12-31", "next week", "January 2027"},
		{"2026-12-31", "this weekend", "January 2027"},
		{"2027-01-01", "yesterday", "31 December 2026"},
		{"2027-01-01", "last month", "December 2026"},
		{"2027-01-01", "last quarter", "Q4 2026"},
		{"2027-01-01", "last Friday", "25 December 2026"},
		{"2027-01-01", "last December", "December 2026"},
		{"2027-01-01", "this winter", "winter 2026/2027"},
		{"2027-01-01", "last winter", "winter 2025/2026"},
		{"2028-02-28", "the day after tomorrow", "1 March 2028"},
		{"2028-02-29", "last year", "2027"},
		{"2026-11-30", "this weekend", "December 2026"}, // a Monday
		{"2026-11-30", "this week", "December 2026"},
		{"2026-12-01", "last weekend", "November 2026"},
		{"2026-11-29", "this weekend", "November 2026"}, // a Sunday
		{"2026-11-29", "monday next week", "30 November 2026"},
		{"2026-05-01", "next summer", "summer 2026"},
		{"2026-07-01", "last summer", "summer 2025"},
		{"2026-07-01", "this summer", "summer 2026"},
	} {
		now, err := time.Parse(time.DateOnly, tt.on)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := AbsoluteDates(tt.in, "en", now.Add(22*time.Hour)); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.in, tt.on, got, tt.want)
		}
	}
}

func TestDay(t *testing.T) {
	friday := time.Date(2026, 11, 20, 22, 3, 0, 0, time.UTC)
	for s, want := range map[string]Date{
		"weather in Rome today":                  {Year: 2026, Month: 11, Day: 20},
		"weather in Rome right now":              {Year: 2026, Month: 11, Day: 20},
		"weather in Rome the day after tomorrow": {Year: 2026, Month: 11, Day: 22},
		"Wetter in Rom übermorgen":               {Year: 2026, Month: 11, Day: 22},
		"who won three days ago":                 {Year: 2026, Month: 11, Day: 17},
		"who won last Friday":                    {Year: 2026, Month: 11, Day: 13},
		"東京の明後日の天気":                              {Year: 2026, Month: 11, Day: 22},
		"一昨日の試合":                                 {Year: 2026, Month: 11, Day: 18},
		"오늘 서울 날씨":                               {Year: 2026, Month: 11, Day: 20},
		"what happened last week":                {},
		"height of Mount Everest":                {},
	} {
		if got := DayIn(s, Words(s), friday); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}
