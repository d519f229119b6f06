package backend

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"familiar/internal/search"
)

// The advanced depth requests pages of results from the first on, until it has enough.
func TestSearXNGPages(t *testing.T) {
	for _, test := range []struct {
		depth string
		limit int
		full  int // pages that have results, ten each
		want  int
		pages string
	}{
		{"advanced", 25, 9, 30, "1 2 3"}, {"advanced", 15, 9, 20, "1 2"}, {"advanced", 25, 2, 20, "1 2 3"}, {"basic", 25, 9, 10, "1"},
	} {
		var asked []string
		base, _ := farEnd(t, func(rw http.ResponseWriter, r *http.Request) {
			page := r.URL.Query().Get("pageno")
			asked = append(asked, page)
			var results []string
			for i := range 10 {
				if n, err := strconv.Atoi(page); err == nil && n <= test.full {
					results = append(results, fmt.Sprintf(`{"url":"https://example.org/%s/%d"}`, page, i))
				}
			}
			fmt.Fprintf(rw, `{"results":[%s]}`, strings.Join(results, ","))
		})
		b := connect(t, "searxng", Config{SearXNG: base, Client: clients(t)})
		got, err := b.Search(t.Context(), search.Query{Text: "q", Limit: test.limit, Depth: test.depth})
		if err != nil || len(got.Hits) != test.want || strings.Join(asked, " ") != test.pages {
			t.Errorf("%+v: %d hits of pages %s, %v", test, len(got.Hits), asked, err)
		}
	}
}
