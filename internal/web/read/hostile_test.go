package read

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"familiar/internal/web/clean"
)

// FuzzReplies checks that no reply makes the program send a request elsewhere. The page stays on its host, and the text is bounded.
func FuzzReplies(f *testing.F) {
	pages := []string{
		"https://en.wikipedia.org/wiki/Go#History", "https://youtu.be/dQw4w9WgXcQ", "https://github.com/golang/go",
		"https://github.com/golang/go/issues/1", "https://stackoverflow.com/a/1", thread8863,
	}
	for i, body := range []string{
		`{"parse":{"title":"//evil.net/x?y","text":"<h2 id=History>H</h2><p>x","redirects":[{"tofragment":"History"}]}}`,
		`ytInitialPlayerResponse = {"captions":{"playerCaptionsTracklistRenderer":{"captionTracks":[{"baseUrl":"//evil.net/api/timedtext?v=dQw4w9WgXcQ"}]}},` +
			`"videoDetails":{"videoId":"dQw4w9WgXcQ","title":"T"}}`,
		`{"full_name":"../../user","description":"D","owner":{"login":"\u202e"}}`,
		`{"title":"T","comments":1,"body_html":"<p>B<script>x</script>","pull_request":{"merged_at":"?"}}`,
		`{"items":[{"question_id":1,"answer_count":1,"title":"T","body":"<table><tr><td>B"}],"backoff":-1}`,
		`{"id":1,"title":"T","url":"http://[::1/","children":[{"author":"a","text":"x","children":[{"author":"b","text":"y"}]}]}`,
	} {
		f.Add(byte(i), body)
	}
	f.Fuzz(func(t *testing.T, which byte, body string) {
		raw := pages[int(which)%len(pages)]
		e := recognise(raw, "en")
		var mu sync.Mutex
		asked := 0
		r := NewServices(ServicesConfig{Client: service(func(r *http.Request) (int, string, string) {
			mu.Lock()
			defer mu.Unlock()
			if asked++; r.URL.Scheme+"://"+r.URL.Host != e.origin || asked > 3 {
				t.Errorf("request %d for %s", asked, r.URL)
			}
			return 200, "", body
		}).client})
		defer r.Close()
		doc, err := r.read(t.Context(), raw, serviceOptions{Language: "en"})
		if err != nil {
			if code(err) == "" {
				t.Errorf("%v", err)
			}
			return
		}
		final, err := url.Parse(doc.Final)
		before, _ := url.Parse(e.final)
		if canonical, ok := clean.Canonical(doc.Final); err != nil || !ok || canonical != doc.Final || final.Host != before.Host {
			t.Errorf("final %q", doc.Final)
		}
		if strings.TrimSpace(doc.Page.Markdown) == "" || len(doc.Page.Markdown) > maxText {
			t.Errorf("%d bytes", len(doc.Page.Markdown))
		}
	})
}
