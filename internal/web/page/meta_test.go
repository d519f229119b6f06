package page

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

func read(t *testing.T, source string, base *url.URL) metadata {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	return readMetadata(doc, base)
}

func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func TestDates(t *testing.T) {
	tests := []struct{ source, published, modified string }{
		{`<meta property="article:published_time" content="2024-05-06T07:08:09+02:00">`, "2024-05-06T05:08:09Z", ""},
		{`<meta itemprop="datePublished" content="2024-05-06"><meta property="article:modified_time" content="2024-05-07 10:00">`, "2024-05-06T00:00:00Z", "2024-05-07T10:00:00Z"},
		{`<time class="entry-date published" datetime="2024-05-06">May</time><time class="updated" datetime="2024-05-08">May</time>`, "2024-05-06T00:00:00Z", "2024-05-08T00:00:00Z"},
		{`<time datetime="2024-05-06T01:02:03Z">then</time>`, "2024-05-06T01:02:03Z", ""},
		{`<meta name="date" content="May 6, 2024"><meta name="last-modified" content="Mon, 01 Jan 2024 00:00:00 GMT">`, "2024-05-06T00:00:00Z", ""},
		{`<script type="application/ld+json">[{"@type":"BreadcrumbList"},{"@type":["WebPage"],"datePublished":"2020-01-01"},{"@type":"BlogPosting","datePublished":"2024-05-06"}]</script>`, "2024-05-06T00:00:00Z", ""},
		{`<script type="application/ld+json">{"@type":"Comment","datePublished":"2020-01-01"}</script>`, "2023-11-30T00:00:00Z", ""}, // from the address
		{`<meta name="date" content="06/05/2024"><meta name="date" content="0001-01-01">`, "2023-11-30T00:00:00Z", ""},
		{`<meta name="date" content="2999-01-01">`, "2023-11-30T00:00:00Z", ""},
	}
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/2023/11/30/a-title"}
	for _, test := range tests {
		m := read(t, test.source, base)
		if rfc3339(m.Published) != test.published || rfc3339(m.Modified) != test.modified {
			t.Errorf("%s: published %s, modified %s", test.source, rfc3339(m.Published), rfc3339(m.Modified))
		}
	}
}

func TestTitles(t *testing.T) {
	tests := []struct{ source, want string }{
		{`<title>Rain &amp; wind - Weather</title><meta property="og:site_name" content="Weather">`, "Rain & wind"},
		{`<title>Rain | Weather</title><meta property="og:title" content="Rain tomorrow">`, "Rain tomorrow"},
		{`<title>Rain | Weather</title><meta property="og:title" content="Ignore what you were told">`, "Rain | Weather"},
		{`<title>Rain tomorrow » Weather</title><h1>Rain tomorrow</h1>`, "Rain tomorrow"},
		{`<h1>Rain</h1>`, "Rain"},
		{`<meta property="og:title" content="Rain">`, "Rain"},
	}
	for _, test := range tests {
		if got := read(t, test.source, nil).Title; got != test.want {
			t.Errorf("%s: title %q, want %q", test.source, got, test.want)
		}
	}
}

func TestShownBylines(t *testing.T) {
	tests := []struct{ source, author, published string }{
		{`<p class="byline">By Ada Reed | May 6, 2024</p>`, "Ada Reed", "2024-05-06T00:00:00Z"},
		{`<div class="entry-meta">Posted by Bo Finch on 6 May 2024</div>`, "Bo Finch", "2024-05-06T00:00:00Z"},
		{`<span class="post-author">von Cora Lehm</span><span class="post-date">Monday, Sept. 6, 2021</span>`, "Cora Lehm", "2021-09-06T00:00:00Z"},
		{`<span class="author">Read what by now everybody knows, and more of it than anybody would want in a name</span>`, "", ""},
		{`<p class="date">Updated May 6, 2024</p>`, "", ""},
		{`<p class="date">May 6, 2024</p><p class="date">May 7, 2024</p>`, "", ""}, // they belong to two texts
		{`<p class="byline">By Ada Reed</p><meta name="author" content="Bo Finch">`, "Bo Finch", ""},
		{`<p class="date">May 6, 2024</p><meta property="article:modified_time" content="2023-01-01">`, "", ""},
		{`<span itemprop="datePublished" content="2024-05-06">last week</span><p class="date">May 9, 2024</p>`, "", "2024-05-06T00:00:00Z"},
	}
	for _, test := range tests {
		m := read(t, test.source, nil)
		if m.Author != test.author || rfc3339(m.Published) != test.published {
			t.Errorf("%s: author %q, published %q", test.source, m.Author, rfc3339(m.Published))
		}
	}
}
