package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// beginnings are images cut after their signatures.
var beginnings = map[string]string{
	"image/png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR",
	"image/jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF\x00",
	"image/gif":  "GIF89a\x01\x00\x01\x00",
	"image/webp": "RIFF\x24\x00\x00\x00WEBPVP8 ",
}

// picture answers with a status, a declared type and a body.
func picture(status int, declared, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header()["Content-Type"] = nil
		if declared != "" {
			rw.Header().Set("Content-Type", declared)
		}
		rw.Header().Set("Location", "/png")
		rw.WriteHeader(status)
		fmt.Fprint(rw, body)
	}
}

func TestFetchImage(t *testing.T) {
	f, w := open(t, archive(t), func(_ *Config, l *limits) { l.body = 10_000 })
	png := beginnings["image/png"]
	w.Handle("example.org/png", picture(200, "image/png", png))
	for i, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string // type, or code and reason
	}{
		{"png", picture(200, "image/png", png), "image/png"},
		{"gif", picture(200, "Image/GIF", beginnings["image/gif"]), "image/gif"},
		{"webp", picture(203, "image/webp", beginnings["image/webp"]), "image/webp"},
		{"jpeg", picture(200, "image/jpeg; q=1", beginnings["image/jpeg"]), "image/jpeg"},
		{"jpg", picture(200, "image/jpg", beginnings["image/jpeg"]), "image/jpeg"},

		{"svg", picture(200, "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"), "unsupported_content_type/bad_image"},
		{"svg as png", picture(200, "image/png", "<svg xmlns='http://www.w3.org/2000/svg'/>"), "unsupported_content_type/type_mismatch"},
		{"html as gif", picture(200, "image/gif", "<html><p>GIF89a"), "unsupported_content_type/type_mismatch"},
		{"png as jpeg", picture(200, "image/jpeg", png), "unsupported_content_type/type_mismatch"},
		{"bmp", picture(200, "image/bmp", "BM\x00\x00"), "unsupported_content_type/bad_image"},
		{"any image", picture(200, "image/*", png), "unsupported_content_type/bad_image"},
		{"a page", picture(200, "text/html", "<p>page"), "unsupported_content_type/bad_image"},
		{"no type", picture(200, "", png), "unsupported_content_type/missing_type"},
		{"empty", picture(200, "image/png", ""), "extraction_failed/empty"},
		{"large", picture(200, "image/png", png+strings.Repeat("\x00", 10_000)), "response_too_large/too_large"},

		{"301", picture(301, "image/png", png), "http_error/redirect_not_followed"},
		{"302", picture(302, "image/png", png), "http_error/redirect_not_followed"},
		{"300", picture(300, "image/png", png), "http_error/redirect_not_followed"},
		{"308", picture(308, "image/png", png), "http_error/redirect_not_followed"},
		{"404", picture(404, "image/png", png), "http_error/http_4xx"},
		{"503", picture(503, "image/png", png), "http_error/http_5xx"},
	} {
		at := fmt.Sprintf("example.org/i%d", i)
		w.Handle(at, c.handler)
		got, err := f.FetchImage(t.Context(), "https://"+at+"#x", Options{})
		if err != nil {
			e := err.(*Error)
			checkNoLeak(t, e)
			if got := string(e.Code + "/" + e.Reason); got != c.want {
				t.Errorf("%s: got %s, want %s", c.name, got, c.want)
			}
			continue
		}
		if got.ContentType != c.want || string(got.Body) != beginnings[c.want] || got.URL != "https://"+at || got.Fetched.IsZero() {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
	}
	if n := w.Hits("https://example.org/png"); n > 0 {
		t.Error("a redirect was followed")
	}
	for _, r := range w.Requests() {
		checkRequest(t, r)
	}
}

// TestFetchImageIsGuarded checks that images follow the rules for pages.
func TestFetchImageIsGuarded(t *testing.T) {
	f, _ := open(t, archive(t), nil)
	deny, err := clean.NewDomains(nil, []string{"www.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for url, reason := range map[string]turn.Code{
		"http://private.example.org/must-not":     "denied_address",
		"http://127.0.0.1/must-not":               "invalid_target",
		"data:image/png;base64,iVBORw0KGgo=":      "bad_scheme",
		"https://www.example.org/closed/must-not": "robots",
		"https://robots-500.example.org/must-not": "robots_unreachable",
		"https://gone.example.org/must-not":       "dns",
		"https://bad.example.org/no-such-image":   "http_4xx",
	} {
		if _, err := f.FetchImage(t.Context(), url, Options{}); !is(err, reason) {
			t.Errorf("%s: got %v, want %s", url, err, reason)
		}
	}
	if _, err := f.FetchImage(t.Context(), "https://www.example.org/plain.html", Options{Domains: deny}); !is(err, "denied_domain") {
		t.Errorf("past a deny list: %v", err)
	}
	f.Close()
	if _, err := f.FetchImage(t.Context(), "https://www.example.org/plain.html", Options{}); !is(err, "canceled") {
		t.Errorf("closed: %v", err)
	}
}

// TestImagesAndPagesKeepApart requests one address as an image and as a page.
func TestImagesAndPagesKeepApart(t *testing.T) { synctest.Test(t, testImagesAndPagesKeepApart) }

func testImagesAndPagesKeepApart(t *testing.T) {
	f, w := open(t, "", nil)
	w.Handle("example.org/x", func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(50 * time.Millisecond)
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			picture(200, "text/html", "<p>page")(rw, r)
			return
		}
		picture(200, "image/gif", beginnings["image/gif"])(rw, r)
	})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := f.Fetch(t.Context(), "https://example.org/x", Options{}); err != nil {
				t.Errorf("page: %v", err)
			}
		})
		all.Go(func() {
			if _, err := f.FetchImage(t.Context(), "https://example.org/x", Options{}); err != nil {
				t.Errorf("image: %v", err)
			}
		})
	}
	all.Wait()
	if n := w.Hits("https://example.org/x"); n != 2 {
		t.Errorf("%d requests, want one for each", n)
	}
}
