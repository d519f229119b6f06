package fetch

import (
	"net/http"
	"testing"
	"time"
)

func TestLifetime(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name   string
		header []string // names and values in turn
		want   time.Duration
	}{
		{"silence", nil, 5 * time.Minute},
		{"no-store", []string{"Cache-Control", "max-age=60, No-Store"}, 0},
		{"no-cache", []string{"Cache-Control", "no-cache"}, 0},
		{"private", []string{"Cache-Control", "private"}, 5 * time.Minute},
		{"private for ten minutes", []string{"Cache-Control", "private, max-age=600"}, 10 * time.Minute},
		{"private fields", []string{"Cache-Control", `private="Set-Cookie", max-age=600`}, 10 * time.Minute},
		{"private, not to be kept", []string{"Cache-Control", "private, no-cache"}, 0},
		{"second header", []string{"Cache-Control", "max-age=60", "Cache-Control", "no-store"}, 0},
		{"max-age", []string{"Cache-Control", "public, max-age=600"}, 10 * time.Minute},
		{"quoted", []string{"Cache-Control", `max-age="600"`}, 10 * time.Minute},
		{"a year", []string{"Cache-Control", "max-age=31536000, immutable"}, time.Hour},
		{"beyond numbers", []string{"Cache-Control", "max-age=99999999999999999999"}, time.Hour},
		{"zero", []string{"Cache-Control", "max-age=0"}, 0},
		{"negative", []string{"Cache-Control", "max-age=-1"}, 0},
		{"nonsense", []string{"Cache-Control", "max-age=soon"}, 0},
		{"twice", []string{"Cache-Control", "max-age=60, max-age=600"}, time.Minute},
		{"s-maxage", []string{"Cache-Control", "max-age=0, s-maxage=120"}, 2 * time.Minute},
		{"unknown", []string{"Cache-Control", "stale-if-error=60"}, 5 * time.Minute},
		{"expires", []string{"Expires", at(20 * time.Minute)}, 20 * time.Minute},
		{"expires by the site's clock", []string{"Expires", at(-time.Hour), "Date", at(-2 * time.Hour)}, time.Hour},
		{"expired", []string{"Expires", at(-time.Second)}, 0},
		{"expires 0", []string{"Expires", "0"}, 0},
		{"max-age over expires", []string{"Expires", "0", "Cache-Control", "max-age=60"}, time.Minute},
		{"age", []string{"Cache-Control", "max-age=600", "Age", "240"}, 6 * time.Minute},
		{"a year, a week old", []string{"Cache-Control", "max-age=31536000", "Age", "604800"}, time.Hour},
		{"too old", []string{"Cache-Control", "max-age=600", "Age", "601"}, 0},
		{"age that is none", []string{"Cache-Control", "max-age=600", "Age", "-5"}, 10 * time.Minute},
		{"vary by anything", []string{"Vary", "*"}, 0},
		{"vary", []string{"Vary", "Accept-Encoding, Cookie"}, 5 * time.Minute},
	} {
		h := make(http.Header)
		for i := 0; i < len(c.header); i += 2 {
			h.Add(c.header[i], c.header[i+1])
		}
		if got := lifetime(h, now, 5*time.Minute, time.Hour); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
