package page

import (
	"strings"
	"testing"
)

// prose is enough text for an article.
var prose = strings.Repeat("<p>The tide comes twice a day, and whoever walks out on the flats has to know when it turns; every year some forget it, and have to be fetched.</p>", 8)

func TestArticleEdges(t *testing.T) {
	const title = "The walk to the island"
	head := `<title>` + title + `</title><script type="application/ld+json">{"@type":"NewsArticle","headline":"` + title + `"}</script>`
	tests := []struct {
		body   string
		kept   bool
		phrase string
	}{
		{`<p>From the coast</p><h1>A ` + title + ` at night</h1>` + prose, false, "From the coast"},                        // nothing precedes the title
		{`<p>From the coast</p>` + prose + `<h1>A ` + title + ` at night</h1>` + prose, true, "From the coast"},            // unless it is long
		{`<h1>Another heading than that</h1><p>From the coast</p>` + prose, true, "From the coast"},                        // or the heading is not the title
		{`<ul><li>6 May 2024, 08:57</li></ul>` + prose, false, "08:57"},                                                    // a date at the top
		{prose + `<ul><li>The flood of 6 May 2024</li><li>The ebb</li></ul>` + prose, true, "6 May 2024"},                  // a date in the text stays
		{prose + `<div class="photo"><img src="a"><p>The flats at ebb</p></div>` + prose, false, "flats at ebb"},           // the caption of a picture
		{prose + `<div class="photo"><p>Pictures of the flats at ebb</p></div>` + prose, true, "flats at ebb"},             // unless there is no picture
		{prose + `<blockquote><p>I looked at the wrong table, as many do.</p></blockquote>` + prose, true, "\n> I looked"}, // quotations stay quotations
	}
	for _, test := range tests {
		p, err := Read([]byte(head+`<body><article>`+test.body+`</article></body>`), "text/html", nil)
		if err != nil || p.Type != "article" || strings.Contains(p.Markdown, test.phrase) != test.kept {
			t.Errorf("%.90s…: %q kept is not %v: %s, %v\n%s", test.body, test.phrase, test.kept, p.Type, err, p.Markdown)
		}
	}
}

// TestAboveHeadline reads lists whose headline has something above it.
func TestAboveHeadline(t *testing.T) {
	const notice = "<div>Free delivery this week</div>"
	items := strings.Repeat(`<div class="card"><h3><a href="/a">A lamp of brass</a></h3><p>It stands on three feet, and it costs 40 €.</p></div>`, 8)
	tests := []struct {
		body string
		kept bool
	}{
		{notice + `<h1>Lamps</h1>` + items, false},
		{notice + items, true},                    // no headline
		{notice + `<h2>Lamps</h2>` + items, true}, // it is not that of the page
		{items + notice + `<h1>Lamps</h1>`, true}, // too much is above it
		{notice + `<p>` + strings.Repeat("The lamps of this page are made by hand. ", 4) + `</p><h1>Lamps</h1>` + items + items, true}, // prose
	}
	for _, test := range tests {
		p, err := Read([]byte(`<body>`+test.body+`</body>`), "text/html", nil)
		if err != nil || strings.Contains(p.Markdown, "Free delivery") != test.kept || !strings.Contains(p.Markdown, "three feet") {
			t.Errorf("%.90s…: kept is not %v: %v\n%s", test.body, test.kept, err, p.Markdown)
		}
	}
}

func TestButtonLabelsAreDropped(t *testing.T) {
	var cards strings.Builder
	for range 8 {
		cards.WriteString(`<div class="card"><h3><a href="/a">A lamp of brass</a></h3><p>It stands on three feet.</p>%</div>`)
	}
	tests := []struct {
		label  string
		kept   bool
		phrase string
	}{
		{`<a class="btn btn-small" href="/app">Try the lamp at home</a>`, false, "Try the lamp"},
		{`<a role="button" href="/app">Try the lamp at home</a>`, false, "Try the lamp"},
		{`<div class="cta"><span>Try the lamp at home</span></div>`, false, "Try the lamp"},
		{`<a href="/app">Add to cart</a>`, false, "Add to cart"},
		{`<a class="name" href="/app">Try the lamp at home</a>`, true, "Try the lamp"},
		{`<p>You may <a class="btn" href="/app">try the lamp</a> at home.</p>`, true, "try the lamp"}, // part of a sentence
		{`<a class="btn" href="/app">Try the lamp at home, for as long as you like</a>`, true, "Try the lamp"},
	}
	for _, test := range tests {
		p, err := Read([]byte(`<body>`+strings.ReplaceAll(cards.String(), "%", test.label)+`</body>`), "text/html", nil)
		if err != nil || strings.Contains(p.Markdown, test.phrase) != test.kept || !strings.Contains(p.Markdown, "three feet") {
			t.Errorf("%s: kept is not %v: %v\n%s", test.label, test.kept, err, p.Markdown)
		}
	}
}
