package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead puts a hidden marker before the fuzzer's page and checks that it is never read.
func FuzzRead(f *testing.F) {
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/"}
	const marker = "EVILMARKER"
	f.Fuzz(func(t *testing.T, source, contentType string) {
		if p, err := Read([]byte(source), contentType, base); err == nil && !utf8.ValidString(p.Markdown) {
			t.Errorf("Read(%q, %q) is not UTF-8: %q", source, contentType, p.Markdown)
		}
		if strings.Contains(strings.ToUpper(source), marker) {
			return
		}
		hidden := `<body>` + shownText + `<div style="display:none">` + marker + `</div><p hidden>` + marker + `</p>`
		p, err := Read([]byte(hidden+source), "text/html; charset=utf-8", base)
		if all := fmt.Sprint(p); err == nil && strings.Contains(all, marker) {
			t.Errorf("followed by %q, hidden text is read: %q", source, all)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	source := synthetic(300 << 10)
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(source, "text/html; charset=utf-8", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// synthetic is a page of about n bytes with the proportions of a news page. A third are scripts and styles, a third navigation and teasers,
// and a tenth is text.
func synthetic(n int) []byte {
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A title | A site</title><style>`)
	for i := 0; b.Len() < n/5; i++ {
		fmt.Fprintf(&b, ".module-%d .item>a{display:block;color:#123;width:%dpx}.state-%d{display:none}\n", i, i, i)
	}
	b.WriteString(`</style><script>`)
	for i := 0; b.Len() < n/3; i++ {
		fmt.Fprintf(&b, "window.data[%d]={id:%d,name:\"a name\",url:\"/path/%d\"};\n", i, i, i)
	}
	b.WriteString(`</script></head><body><nav><ul>`)
	for i := range 100 {
		fmt.Fprintf(&b, `<li class="item module-%d"><a href="/section/%d">Section %d</a></li>`, i, i, i)
	}
	b.WriteString(`</ul></nav><main><article><h1>A title</h1>`)
	for i := range 60 {
		fmt.Fprintf(&b, `<p class="paragraph p-%d">The text of paragraph %d is made of ordinary words, with commas, a <a href="/link/%d">link</a> and some <em>emphasis</em>, and it goes on for about as long as paragraphs in newspapers do, which is not very long, but long enough to be found.</p>`, i, i, i)
	}
	b.WriteString(`</article></main><div class="teasers">`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `<div class="teaser module-%d" data-id="%d"><a href="/story/%d" title="story"><img src="/i/%d.jpg" alt="picture"><h3>Story number %d</h3></a><span class="meta">%d minutes</span></div>`, i, i, i, i, i, i)
	}
	b.WriteString(`</div><footer>Imprint</footer></body></html>`)
	return []byte(b.String())
}
