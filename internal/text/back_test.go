package text

import (
	"testing"
	"time"
)

// Spans are understood in the languages of the commands.
func TestBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 19, 15, 0, 0, 0, time.UTC) // a Thursday
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for span, want := range map[string]time.Time{
		"yesterday": day(18), "gestern": day(18), "seit gestern": day(18), "hier": day(18), "depuis hier": day(18), "ayer": day(18), "desde ayer": day(18), "ontem": day(18), "desde ontem": day(18), "昨日": day(18), "昨日から": day(18),
		"since Monday": day(16), "seit Montag": day(16), "depuis lundi": day(16), "desde el lunes": day(16), "desde lunes": day(16), "desde segunda-feira": day(16), "desde segunda": day(16), "月曜日から": day(16), "月曜から": day(16),
		"3h": now.Add(-3 * time.Hour), "3 hours": now.Add(-3 * time.Hour), "3 Stunden": now.Add(-3 * time.Hour), "3 heures": now.Add(-3 * time.Hour), "3 horas": now.Add(-3 * time.Hour), "3時間": now.Add(-3 * time.Hour),
		"30 min": now.Add(-30 * time.Minute), "30 Minuten": now.Add(-30 * time.Minute), "30 minutos": now.Add(-30 * time.Minute), "30分": now.Add(-30 * time.Minute),
		"2 days": now.AddDate(0, 0, -2), "2 Tage": now.AddDate(0, 0, -2), "2 jours": now.AddDate(0, 0, -2), "2 días": now.AddDate(0, 0, -2), "2 dias": now.AddDate(0, 0, -2), "2日": now.AddDate(0, 0, -2), "2d": now.AddDate(0, 0, -2),
		"2 days ago": now.AddDate(0, 0, -2), "vor 2 Tagen": now.AddDate(0, 0, -2), "il y a 2 jours": now.AddDate(0, 0, -2), "hace 2 días": now.AddDate(0, 0, -2), "há 2 dias": now.AddDate(0, 0, -2), "2日前から": now.AddDate(0, 0, -2), "the last 2 days": now.AddDate(0, 0, -2),
		"last week": day(9), "letzte Woche": day(9), "la semaine dernière": day(9), "la semana pasada": day(9), "semana passada": day(9), "先週": day(9),
		"today": day(19), "heute": day(19), "aujourd'hui": day(19), "hoy": day(19), "hoje": day(19), "今日": day(19),
	} {
		if got, ok := ParseSince(span, now); !ok || !got.Equal(want) {
			t.Errorf("%s: %v, %v; want %v", span, got, ok, want)
		}
	}
	for _, span := range []string{"whenever", "tomorrow", "morgen", "demain", "mañana", "amanhã", "明日", "3 owls", "-2d"} {
		if got, ok := ParseSince(span, now); ok {
			t.Errorf("%s is understood as %v", span, got)
		}
	}
}
