package websearch

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
		{"ja", "先週の金曜日のニュース", "2026年11月13日のニュース"},
	} {
		if got, steps := absolute(tt.in, tt.lang, friday); got != tt.want || (got != tt.in) != (len(steps) > 0) {
			t.Errorf("%q: %q %q, want %q", tt.in, got, steps, tt.want)
		}
	}
	// A month has no 31st in every other, and a year no week 53.
	for in, want := range map[string]string{"last month": "February 2026", "next month": "April 2026", "tomorrow": "1 April 2026"} {
		if got, _ := absolute(in, "en", time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("%s of March: %q, want %q", in, got, want)
		}
	}
}
