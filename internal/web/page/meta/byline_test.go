package meta

import "testing"

func TestShownBylines(t *testing.T) {
	tests := []struct{ source, author, published string }{
		{`<p class="byline">By Ada Reed | May 6, 2024</p>`, "Ada Reed", "2024-05-06T00:00:00Z"},
		{`<div class="entry-meta">Posted by Bo Finch on 6 May 2024</div>`, "Bo Finch", "2024-05-06T00:00:00Z"},
		{`<span class="post-author">von Cora Lehm</span><span class="post-date">Monday, Sept. 6, 2021</span>`, "Cora Lehm", "2021-09-06T00:00:00Z"},
		{`<span class="author">Read what by now everybody knows, and more of it than anybody would want in a name</span>`, "", ""},
		{`<p class="date">Updated May 6, 2024</p>`, "", ""},
		{`<p class="date">May 6, 2024</p><p class="date">May 7, 2024</p>`, "", ""}, // of two texts
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
