package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzLifetime checks that any headers give a lifetime within bounds, and that headers which forbid caching are obeyed.
func FuzzLifetime(f *testing.F) {
	for _, s := range [][4]string{{"max-age=60", "", "", ""}, {"private, s-maxage=\"1\", max-age=2", "", "30", ""}, {"", "Sat, 21 Nov 2026 09:10:00 GMT", "", "*"},
		{"max-age=99999999999999999999", "0", "-1", "Accept"}, {",,=,no-cache", "", "1e3", ""}} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, control, expires, age, vary string) {
		h := http.Header{"Cache-Control": {control}, "Expires": {expires}, "Age": {age}, "Vary": {vary}}
		if d := lifetime(h, now, 5*time.Minute, time.Hour); d < 0 || d > time.Hour {
			t.Errorf("%v of %v", d, h)
		}
		h["Cache-Control"] = append(h["Cache-Control"], "No-Store")
		if d := lifetime(h, now, 5*time.Minute, time.Hour); d != 0 {
			t.Errorf("lifetime %v although caching is forbidden: %v", d, h)
		}
		if wait := retryAfter(http.Header{"Retry-After": {expires}}, now); wait < 0 {
			t.Errorf("wait %v for %q", wait, expires)
		}
	})
}

// FuzzContentType checks that only accepted types pass, and that nothing remains of a declaration but the type and the
// charset.
func FuzzContentType(f *testing.F) {
	for _, s := range []string{"text/html", "TEXT/HTML; charset=\"utf-8\"", "text/html;charset=utf-8;charset=x", "application/ld+json", "image/png", ";", "text/html; charset=a b",
		"text/plain; charset=" + strings.Repeat("x", 50), "text/html\r\nX: y", "text/html, text/plain"} {
		f.Add(s, []byte("<!doctype html>"))
	}
	f.Fuzz(func(t *testing.T, declared string, body []byte) {
		h := http.Header{"Content-Type": {declared}}
		got, err := contentType(h, true, false)
		if err != nil {
			checkNoLeak(t, err)
			return
		}
		if !readableType(got.name) && !isJSON(got.name) {
			t.Errorf("%q is read as %q", declared, got.name)
		}
		if got.charset != "" && (!isCharset(got.charset) || !strings.Contains(declared, got.charset)) {
			t.Errorf("%q has the charset %q", declared, got.charset)
		}
		if again, err := contentType(http.Header{"Content-Type": {got.String()}}, true, false); err != nil || again != got {
			t.Errorf("%q is %q, and that is %q, %v", declared, got, again, err)
		}
		if sitemap, err := contentType(h, true, true); err != nil || sitemap != got {
			t.Errorf("%q is %q, and %q, %v, where XML may come", declared, got, sitemap, err)
		}
		if err := got.agrees(body); err != nil {
			checkNoLeak(t, err)
		}
		if _, err := imageType(h); err != nil {
			checkNoLeak(t, err)
		}
	})
}
