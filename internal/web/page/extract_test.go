package page

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"familiar/visible"
)

// TestArticleKeepsTree checks that readability does not change a tree that extract passes without a copy.
func TestArticleKeepsTree(t *testing.T) {
	pieces := []string{"<br>", "<br>", " ", "&nbsp;", "Words of a text, with commas, long enough to be a paragraph of its own. ", "<p>", "</p>", "<div class=comment>", "<div>", "</div>", "<font>", "</font>",
		"<img>", "<img src=a.png>", "<img id=a.png>", "<span>", "</span>", "<!-- -->", "<table><tr><td>", "</table>", "<pre>", "</pre>", "<h1>A title</h1>", "<noscript><img src=a.png></noscript>", "<ul><li>"}
	untouched := 0
	rapid.Check(t, func(t *rapid.T) {
		source := "<title>A title</title><body>" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 30).Draw(t, "pieces"), "")
		doc, err := html.Parse(strings.NewReader(source))
		if err != nil {
			t.Skip()
		}
		if _, err := visible.Prune(doc, visible.Options{Scripts: rapid.Bool().Draw(t, "scripts")}); err != nil {
			t.Skip()
		}
		before := rendered(t, doc)
		if changesTree(doc) {
			return
		}
		untouched++
		article(doc, &url.URL{Scheme: "https", Host: "example.org"})
		if after := rendered(t, doc); after != before {
			t.Fatalf("%s\nbecame\n%s", before, after)
		}
	})
	if untouched == 0 {
		t.Error("every tree is copied")
	}
}

func rendered(t *rapid.T, doc *html.Node) string {
	var b strings.Builder
	if err := html.Render(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
