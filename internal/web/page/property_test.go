package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// covers are ways to hide what is put for %s, whatever stands around them.
var covers = []string{
	`<div hidden>%s</div>`, `<div style="display:none">%s</div>`, `<div class="sr-only">%s</div>`, `<div class="q7">%s</div>`, `<section id="zz9">%s</section>`,
	`<div style="opacity:0">%s</div>`, `<div style="position:absolute;left:-9999px">%s</div>`, `<div aria-hidden="true">%s</div>`, `<div style="height:0;overflow:hidden">%s</div>`,
	`<div style="visibility:hidden">%s</div>`, `<div style="font-size:0">%s</div>`, `<template>%s</template>`, `<details>%s</details>`,
	`<noscript>%s</noscript>`, // the last one: its inside is no markup, so there can be none in it
}

const coverStyles = `<style>.q7{display:none}#zz9{clip-path:inset(50%)}</style>`

// plainWraps are elements that hide nothing. No heading goes around anything: the end of one inside it closes all that was
// opened between, what hides included.
var plainWraps = []string{
	`<div>%s</div>`, `<p>%s</p>`, `<ul><li>%s</li></ul>`, `<table><tr><td>%s</td><td>x</td></tr></table>`, `<blockquote>%s</blockquote>`, `<article>%s</article>`,
	`<b>%s`, `<h2>A heading</h2><div>%s</div>`, `<pre>%s</pre>`, `<section><p>A sentence, to have some text, and a second part of it.</p>%s</section>`, `<a href="/x">%s</a>`, `%s<br>`,
}

// TestNothingHiddenIsRead nests elements in each other, some of which hide, and looks for what was inside those.
func TestNothingHiddenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree func(depth int, hidden bool) string
		tree = func(depth int, hidden bool) string {
			var b strings.Builder
			for range rapid.IntRange(1, 3).Draw(t, "children") {
				word := "These are words that may be read. "
				if hidden {
					word = "EVIL "
				}
				if depth == 0 {
					b.WriteString(word)
					continue
				}
				if rapid.IntRange(0, 3).Draw(t, "hide") == 0 {
					fmt.Fprintf(&b, rapid.SampledFrom(covers[:len(covers)-b2i(hidden)]).Draw(t, "cover"), tree(depth-1, true))
				} else {
					fmt.Fprintf(&b, rapid.SampledFrom(plainWraps).Draw(t, "wrap"), word+tree(depth-1, hidden))
				}
			}
			return b.String()
		}
		source := coverStyles + visible + tree(rapid.IntRange(0, 4).Draw(t, "depth"), false)
		p, err := Read([]byte(source), "text/html", nil)
		if err != nil || strings.Contains(p.Markdown, "EVIL") {
			t.Fatalf("%s\nis read as %q, %v", source, p.Markdown, err)
		}
	})
}

// FuzzRead puts a hidden marker before and around whatever page the fuzzer writes.
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
		hidden := `<body>` + visible + `<div style="display:none">` + marker + `</div><p hidden>` + marker + `</p>`
		p, err := Read([]byte(hidden+source), "text/html; charset=utf-8", base)
		if all := fmt.Sprint(p); err == nil && strings.Contains(all, marker) {
			t.Errorf("with %q behind it, hidden text is read: %q", source, all)
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

// synthetic is a page of about n bytes with the proportions of a news page: a third scripts and styles, a third
// navigation and teasers, a tenth text.
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
