package page

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
)

// shownText is enough text for a readable page.
const shownText = "<p>These words can be read by everybody who opens the page, and they must stay.</p>"

func TestReadOtherTypes(t *testing.T) {
	tests := []struct{ body, contentType, want, kind string }{
		{"# Title\r\n\r\nText <b>as it is</b>.", "text/markdown", "# Title\n\nText <b>as it is</b>.", "text"},
		{`{"a":[1]}`, "application/json", "```json\n{\n  \"a\": [\n    1\n  ]\n}\n```", "json"},
		{"{\"a\":\"```\"}", "application/ld+json; charset=utf-8", "````json\n{\n  \"a\": \"```\"\n}\n````", "json"},
		{`{broken`, "application/json", "```json\n{broken\n```", "json"},
		{"plain", "", "plain", "text"},
		{"<!doctype html><p>Sniffed as a page.</p>", "", "Sniffed as a page.", "page"},
	}
	for _, test := range tests {
		p, err := Read([]byte(test.body), test.contentType, nil)
		if err != nil || p.Markdown != test.want || p.Type != test.kind || !p.Low {
			t.Errorf("Read(%q, %q) = %+v, %v, want %q", test.body, test.contentType, p, err, test.want)
		}
	}
	if p, _ := Read([]byte("# Title\nText"), "text/markdown", nil); p.Title != "Title" {
		t.Errorf("title of a Markdown text is %q", p.Title)
	}
}

// frame returns a shop's page with a menu, a footer and more.
func frame(more string) string {
	places := strings.Repeat("<li><a href=/place>Another place of this shop</a></li>", 30)
	return "<title>Shop</title><body><div class=sort>Sort by: price, name</div><nav><ul>" + places + "</ul></nav>" + more +
		"<div class='page-footer'><h4>Company</h4><ul>" + places + "</ul></div></body>"
}

func TestFramedContentIsRead(t *testing.T) {
	for _, matter := range []string{"<h1>Lamps</h1>", "<p>We are closed until the end of this summer, with thanks to everybody.</p>"} {
		p, err := Read([]byte(frame(matter)), "text/html; charset=utf-8", nil)
		if err != nil || p.Markdown == "" {
			t.Errorf("%s inside a frame is not read: %v", matter, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	long := strings.Repeat("An article that goes on and on, about robots and captchas, just a moment at a time. ", 40)
	tests := []struct {
		body, contentType string
		code              turn.Code
	}{
		{"", "text/html", "empty"},
		{" \n ", "text/plain", "empty"},
		{"<html><body><!-- nothing --></body></html>", "text/html", "empty"},
		{`<div id="root"></div><script src="app.js"></script>`, "text/html", "javascript_required"},
		{frame(""), "text/html", "extraction_failed"},
		{frame("<script src=app.js></script>"), "text/html", "javascript_required"},
		{`<p>Loading…</p><script>go()</script>`, "text/html", "javascript_required"},
		{`<p>You need to enable JavaScript to run this application properly.</p><script src="app.js"></script>`, "text/html", "javascript_required"},
		{`<title>Just a moment...</title><p>Checking your browser before you go on. This takes a few seconds at most.</p><script src=x></script>`, "text/html", "challenge"},
		{`<title>Just a moment...</title><script src=x></script>`, "text/html", "challenge"},
		{`<title>Shop</title><p>Please verify you are a human by pressing the button below and waiting.</p>`, "text/html", "challenge"},
		{`<title>Shop</title><p>One more step before you can go on to the page that you asked for.</p><div class="h-captcha"></div>`, "text/html", "challenge"},
		{`<title>Before you continue</title><p>We use cookies and data to deliver our services, and our partners do so too.</p>`, "text/html", "challenge"},
		{"<p>+ADw-script+AD4-</p>", "text/html; charset=utf-7", "bad_charset"},
		{`<meta charset="UTF-7"><p>text</p>`, "text/html", "bad_charset"},
		{"<p>x</p>", "text/html; charset=iso-2022-kr", "bad_charset"},
		{"<p>x</p>", "text/html; charset=HZ-GB-2312", "bad_charset"},
		{"<p>x</p>", "text/html; charset=ISO-2022-CN", "bad_charset"},
		{"\xff\xfe\x00\x00<\x00\x00\x00", "text/html", "bad_charset"},
		{"<p>x</p>", "text/html; charset=utf-32le", "bad_charset"},
		{strings.Repeat("<div>", 600) + "<p hidden>x", "text/html", "unparsable"},
		{`<title>Just a moment</title><p>` + long, "text/html", ""},
		{`<p>Please verify you are a human, it said. ` + long, "text/html", ""},
	}
	for _, test := range tests {
		_, err := Read([]byte(test.body), test.contentType, nil)
		var e *Error
		errors.As(err, &e)
		if test.code == "" && err != nil || test.code != "" && (e == nil || e.Code != test.code) {
			t.Errorf("Read(%.60q) fails with %v, want %q", test.body, err, test.code)
		}
	}
}

func TestCharsets(t *testing.T) {
	tests := []struct{ body, contentType string }{
		{"<p>caf\xe9 \x80</p>", "text/html"},
		{"<p>caf\xc3\xa9 \xe2\x82\xac</p>", "text/html"},
		{strings.Repeat("<!-- ascii -->", 100) + "<p>caf\xc3\xa9 \xe2\x82\xac</p>", "text/html"},
		{"\xef\xbb\xbf<p>caf\xc3\xa9 \xe2\x82\xac</p>", "text/html; charset=iso-8859-1"},
		{"<p>caf\xe9 \xa4</p>", "text/html; charset=iso-8859-15"},
		{`<meta charset="iso-8859-15"><p>` + "caf\xe9 \xa4</p>", "text/html"},
		{"\xff\xfe<\x00p\x00>\x00c\x00a\x00f\x00\xe9\x00 \x00\xac\x20", "text/html"},
		{"\xfe\xff\x00<\x00p\x00>\x00c\x00a\x00f\x00\xe9\x00 \x20\xac", "text/html"},
		{"caf\xe9 \xa4", "text/plain; charset=latin-9"},
		{"caf\xe9 \x80", "text/plain"},
	}
	for _, test := range tests {
		p, err := Read([]byte(test.body), test.contentType, nil)
		if err != nil || !strings.Contains(p.Markdown, "café") || !strings.Contains(p.Markdown, "€") && test.contentType != "text/plain; charset=latin-9" {
			t.Errorf("Read(%.50q, %q) = %q, %v", test.body, test.contentType, p.Markdown, err)
		}
	}
}

func TestLinks(t *testing.T) {
	base, _ := url.Parse("https://example.org/dir/page")
	body := `<base href="/other/">` + shownText + `<p>Read <a href="a#1">one</a> <a href="a#2">again</a> <a href="//example.net/b">two</a> <a href="#top">top</a>
		<a href="javascript:x">js</a> <a href="data:,x">data</a> <a href="https://u:p@example.org/">user</a> <a href="c"><img alt="x"></a> and all the rest of it.</p>`
	p, err := Read([]byte(body), "text/html", base)
	if got, want := fmt.Sprint(p.Links), "[{https://example.org/other/a one} {https://example.net/b two}]"; err != nil || got != want {
		t.Errorf("links %s, %v, want %s", got, err, want)
	}
}

func TestWithoutScripts(t *testing.T) {
	story := "<h1>A thread</h1><p>" + strings.Repeat("What is said here can be read without scripts. ", 10) + "</p>"
	shell := `<div id="app"></div><script src="app.js"></script>`
	tests := []struct{ body, want string }{
		{shell + "<noscript>" + story + "</noscript>", "can be read"},
		{shell + "<noscript>" + story + "<p hidden>secret</p></noscript>", "can be read"},
		{shell + "<noscript>Please enable JavaScript.</noscript>", ""},
		{shownText + shell + "<noscript>" + story + "</noscript>", "These words"},
	}
	for _, test := range tests {
		p, err := Read([]byte(test.body), "text/html", nil)
		if test.want == "" != (err != nil) || !strings.Contains(p.Markdown, test.want) || strings.Contains(p.Markdown, "secret") ||
			strings.HasPrefix(test.body, shownText) && strings.Contains(p.Markdown, "What is said") {
			t.Errorf("Read(%q) = %q, %v", test.body, p.Markdown, err)
		}
	}
}

func TestBoilerplateLeavesText(t *testing.T) {
	var body strings.Builder
	for i := range 8 {
		fmt.Fprintf(&body, `<div class="sidebar"><p>Part %d of what this page has to say, in a block with the wrong name.</p></div>`, i)
	}
	if p, err := Read([]byte(body.String()), "text/html", nil); err != nil || !strings.Contains(p.Markdown, "Part 3") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestBesideAnArticle reads an article with one extra element.
func TestBesideAnArticle(t *testing.T) {
	paragraph := "<p>The tide comes in twice a day, and whoever walks on the flats has to know when, for the water is faster than they are, and nobody hears them.</p>"
	links := strings.Repeat("<li><a href=/other>Another article of this site</a></li>", 5)
	comments := strings.Repeat("<div class=comment-entry><p>I have read all of it, and I have an opinion on it that is a few lines long, as everybody has.</p></div>", 80)
	tests := []struct {
		name, before, after, text string
		read                      bool
	}{
		{"lead", "<p>Visitors underestimate currents: every summer lifeguards rescue dozens.</p>", "", "lifeguards rescue", true},
		{"lead that says nothing new", "<p>The tide comes in twice a day, and the water is faster than you.</p>", "", "faster than you", false},
		{"byline", "<p class=byline>Ada Example, our correspondent on the coast, writes about water</p>", "", "correspondent", false},
		{"heading over other pages", "", "<h3>Das könnte Sie auch interessieren</h3><ul>" + links + "</ul>", "Another", false},
		{"line over other pages", "", "<div><p>Lees ook</p><ul>" + links + "</ul></div>" + paragraph, "Another", false},
		{"links at the end", "", "<p><a href=/>Back to all</a></p>", "Back to all", false},
		{"comments", "", "<div id=comments><h3>80 Comments</h3>" + comments + "</div>", "opinion", false},
	}
	for _, test := range tests {
		page := "<html><head><title>Tides of the flats</title><meta property=og:type content=article></head><body><header><h1>Tides of the flats</h1>" + test.before +
			"</header><article>" + strings.Repeat(paragraph, 30) + test.after + "</article></body></html>"
		p, err := Read([]byte(page), "text/html; charset=utf-8", nil)
		if err != nil || strings.Contains(p.Markdown, test.text) != test.read || !strings.Contains(p.Markdown, "whoever walks") {
			t.Errorf("%s: read %v of %s: %v\n%.300s", test.name, !test.read, p.Type, err, p.Markdown)
		}
	}
}

func TestThreadWithQuotations(t *testing.T) {
	said := "The tide comes in twice a day, and whoever walks on the flats has to know when."
	post := func(quote, text string) string {
		return "<div class=post><div class=author><a>Ada</a><em>Member</em><em>Joined 2019</em></div><div class=content>" + quote + "<p>" + text + "</p></div></div>"
	}
	page := post("", said) + post("<blockquote>Ada said: <p>"+said+"</p></blockquote>", "So says my grandmother, who has lived there for all of her life.") +
		post("<blockquote><p>Time and tide wait for no man, as they say.</p></blockquote>", "That is a quotation of somebody who is not here with us.")
	p, err := Read([]byte(page), "text/html; charset=utf-8", nil)
	if err != nil || p.Type != "forum" || strings.Count(p.Markdown, "twice a day") != 1 || !strings.Contains(p.Markdown, "no man") || strings.Contains(p.Markdown, "Joined") {
		t.Errorf("read %q, %v", p.Markdown, err)
	}
}

func TestAllLinks(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/a/"}
	got, err := Links([]byte(`<base href="/b/"><nav><a href="x">X</a><ul hidden><li><a href="y#z">Y</a></ul></nav><p><a href="x#2">X again</a><a href="javascript:1">no</a><a href="//evil.net/">Z</a>`),
		"text/html", base)
	want := []Link{{"https://example.org/b/x", "X"}, {"https://example.org/b/y", "Y"}, {"https://evil.net/", "Z"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := Links([]byte(strings.Repeat("<div>", 5_000)), "", nil); !isCode(err, turn.CodeUnparsable) {
		t.Errorf("5,000 deep: %v", err)
	}
}

func TestPart(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/a/b"}
	got, err := Part(`<style>.x{display:none}</style><p>Short, and <a href="../c#d">all of it</a> matter.<p class=x>Unseen.</p><nav>Menu</nav><ul><li>one<li>two</ul>`+
		`<pre><code class="language-go">a &lt; b</code></pre><h2>Gone</h2>`, base, func(root *html.Node) {
		for n := range root.Descendants() {
			if n.DataAtom == atom.H2 {
				n.Parent.RemoveChild(n)
				return
			}
		}
	})
	want := Page{
		Markdown: "Short, and all of it matter.\n\n- one\n- two\n\n```go\na < b\n```",
		Links:    []Link{{URL: "https://example.org/c", Text: "all of it"}}, Hidden: 7, Low: true,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, code := range map[string]turn.Code{"": "empty", "<p hidden>x": "empty", "<frameset><frame>": "unparsable"} {
		if p, err := Part(text, nil, nil); !isCode(err, code) || p.Markdown != "" {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	if p, err := Part(strings.Repeat("<div>", 5_000)+"deep", nil, nil); err != nil || p.Markdown != "deep" {
		t.Errorf("5,000 deep: %+v, %v", p, err)
	}
}

// tablePage returns a page of about size bytes with one table. Its styles depend on the positions of rows and cells.
func tablePage(size int) []byte {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Heights</title><style>tr:nth-child(2n) td{background:#eee}td:first-child{color:#333}tr.none~tr{opacity:.9}</style><h1>Heights</h1><table><tr><th>Name<th>Height<th>Note</tr>\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "<tr><td><a href=/m/%d>Mountain %d</a></td><td>%d metres</td><td>a note of some words</td></tr>\n", i, i, 1_000+i)
	}
	b.WriteString("</table>")
	return []byte(b.String())
}

// BenchmarkTable measures how the time to read a table grows with its length.
func BenchmarkTable(b *testing.B) {
	for _, size := range []int{50 << 10, 100 << 10, 200 << 10, 400 << 10} {
		body := tablePage(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(body, "text/html", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestXHTML reads a page whose type says that it is XML.
func TestXHTML(t *testing.T) {
	source := `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>A page</title><script src="x.js"/></head><body>` + shownText +
		`<p><![CDATA[GOOD <words>]]></p><div hidden="hidden"><p>EVIL</p></div></body></html>`
	p, err := Read([]byte(source), "application/xhtml+xml; charset=utf-8", nil)
	if err != nil || !strings.Contains(p.Markdown, "GOOD") || strings.Contains(p.Markdown, "EVIL") || p.Title != "A page" || p.Hidden != len("EVIL") {
		t.Errorf("%+v, %v", p, err)
	}
}

// A page that is sent in pieces is read as its scripts join it. What no script moves stays hidden.
func TestStream(t *testing.T) {
	const define = `<script>$RC=function(a,b){};$RS=function(a,b){}</script>`
	late := "<p>GOOD words that came late, and which the script moves to where everybody reads them.</p>"
	place := `<main><h1>News</h1>` + shownText + `<!--$?--><template id="B:0"></template><p>Loading</p><!--$--><i>x</i><!--/$--><!--/$--><p>END of the page, which no piece replaces.</p></main>`
	move := `<script>$RC("B:0","S:0")</script>`
	for source, want := range map[string]bool{
		define + place + `<div hidden id="S:0">` + late + `</div>` + move: true,
		define + place + `<div hidden id="S:0"><template id="P:1"></template></div><div hidden id="S:1">` + late + `</div><script>$RS("S:1","P:1")` + `;$RC("B:0","S:0")</script>`: true,
		place + `<div hidden id="S:0">` + late + `</div>` + move:                            false, // nobody says what $RC does
		define + place + `<div hidden id="S:0">` + late + `</div>`:                          false,
		define + place + `<div hidden id="S:2">` + late + `</div>` + move:                   false,
		define + place + `<div hidden id="S:0"><div hidden>` + late + `</div></div>` + move: false,
		define + `<div hidden id="S:0">` + late + place + `</div>` + move:                   false, // into itself
		define + place + strings.Repeat("<div>", 200) + `<template id="B:1"></template>` + strings.Repeat("</div>", 200) + `<div hidden id="S:1">` + late + `</div><script>$RC("B:1","S:1")</script>`: false, // too deep
	} {
		p, err := Read([]byte(source), "text/html", nil)
		if got := strings.Contains(p.Markdown, "GOOD"); err != nil && want || got != want {
			t.Errorf("%s is read as %q, %v", source, p.Markdown, err)
		}
		if want && (strings.Contains(p.Markdown, "Loading") || strings.Index(p.Markdown, "GOOD") > strings.Index(p.Markdown, "END")) {
			t.Errorf("%s is read as %q", source, p.Markdown)
		}
	}
}
