//go:build !race

// The race detector makes pools drop their content, so allocations cannot be measured with it.

package page

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"familiar/internal/test/bulk"
)

// largestBody is the size of the largest body that package fetch returns, in bytes.
const largestBody = 5 << 20

// repeated returns as many copies of format as fit into n bytes, with a running number for each %d.
func repeated(n int, format string) string {
	var b strings.Builder
	numbered := strings.Contains(format, "%d")
	for i := 0; b.Len() < n; i++ {
		if numbered {
			fmt.Fprintf(&b, format, i, i)
		} else {
			b.WriteString(format)
		}
	}
	return b.String()
}

// nests returns as many trees as fit into n bytes. Each consists of open and close, nested depth times.
func nests(n, depth int, open, close string) string {
	return repeated(n, strings.Repeat(open, depth)+strings.Repeat(close, depth))
}

// hostile makes pages of about n bytes that are expensive to read.
var hostile = map[string]func(n int) string{
	"divs, 500 deep":         func(n int) string { return nests(n, 480, "<div>x", "</div>") },
	"divs with text, 100":    func(n int) string { return nests(n, 100, "<div>some words, and more of them, ", "</div>") },
	"divs with text, 30":     func(n int) string { return nests(n, 30, "<div>some words, and more of them, ", "</div>") },
	"divs, never closed":     func(n int) string { return repeated(n, "<div>x") },
	"tables, 150 deep":       func(n int) string { return nests(n, 150, "<table><tr><td>x", "</table>") },
	"tables, 100 deep":       func(n int) string { return nests(n, 100, "<table><tr><td>x<td>y", "</table>") },
	"tables, 400 deep":       func(n int) string { return nests(n, 400, "<table><tr><td>x", "</table>") },
	"tables, never closed":   func(n int) string { return repeated(n, "<table><tr><td>x") },
	"tables with paragraphs": func(n int) string { return nests(n, 60, "<table><tr><td><p>some words, and more of them", "</table>") },
	"tables side by side":    func(n int) string { return repeated(n, "<table><tr><td>x<td>y</table>") },
	"one table, short rows":  func(n int) string { return "<table>" + repeated(n, "<tr><td>x<td>y") },
	"one table, one row":     func(n int) string { return "<table><tr>" + repeated(n, "<td>x") },
	"one table, wide cells": func(n int) string {
		return "<table>" + repeated(n/500, "<tr><td>x<td>y") + "<tr>" + repeated(n/2, "<td>x") + "<tr><td>" + strings.Repeat("w", 400)
	},
	"one table, long cell": func(n int) string {
		return "<table><tr><td>y<td>" + strings.Repeat("w", 490) + repeated(n, "<tr><td>x<td>y")
	},
	"one table, spans":    func(n int) string { return "<table>" + repeated(n, "<tr><td colspan=1000 rowspan=1000>x<td>y") },
	"lists, 240 deep":     func(n int) string { return nests(n, 240, "<ul><li>x ", "</ul>") },
	"lists, never closed": func(n int) string { return repeated(n, "<ul><li>x ") },
	"lists, items below":  func(n int) string { return strings.Repeat("<ul><li>x ", 240) + repeated(n, "<li>y") },
	"lists, ordered":      func(n int) string { return "<ol>" + repeated(n, "<li>y") },
	"quotes":              func(n int) string { return nests(n, 480, "<blockquote>x ", "</blockquote>") },
	"quotes around text": func(n int) string {
		return strings.Repeat("<blockquote>", 400) + repeated(n, "<p>some words, and more of them.")
	},
	"quotes around a text": func(n int) string {
		return strings.Repeat("<blockquote>", 400) + repeated(n, "some words, and more of them. ")
	},
	"spans": func(n int) string { return nests(n, 480, "<span>x", "</span>") },
	"spans around text": func(n int) string {
		return strings.Repeat("<span>", 400) + repeated(n, "some words, and more of them. ")
	},
	"emphasis":             func(n int) string { return nests(n, 200, "<b><i>x", "</i></b>") },
	"code":                 func(n int) string { return nests(n, 400, "<code>x", "</code>") },
	"pre":                  func(n int) string { return "<pre>" + repeated(n, "<code>x</code>\n") },
	"adoption":             func(n int) string { return repeated(n, "<b><p>x</b>") },
	"adoption, links":      func(n int) string { return repeated(n, "<a><div>x") },
	"adoption, fonts":      func(n int) string { return repeated(n, "<font size=%d><p>x%d</font>") },
	"fonts, left open":     func(n int) string { return repeated(2400, "<font size=%d id=%d>") + repeated(n, "<p>x") },
	"fonts, few left open": func(n int) string { return repeated(300, "<font size=%d id=%d>") + repeated(n, "<p>x") },
	"fonts, closed by others": func(n int) string {
		return repeated(9600, "<font size=%d id=%d>") + repeated(3000, "</b>") + repeated(n, "<p>x")
	},
	"fonts, closed in a cell": func(n int) string {
		return repeated(9600, "<font size=%d id=%d>") + "<table><tr><td>" + repeated(3000, "</font>") + "</table>" + repeated(n, "<p>x")
	},
	"foster parents":   func(n int) string { return "<table>" + repeated(n, "<b>x<tr>") },
	"paragraphs, tiny": func(n int) string { return repeated(n, "<p>x") },
	"paragraphs":       func(n int) string { return repeated(n, "<p>some words, and more of them, enough to be counted.") },
	"paragraphs, sections": func(n int) string {
		return repeated(n, "<section><div><p>some words, and more of them, enough to count.</p></div></section>")
	},
	"paragraphs, unlikely":  func(n int) string { return repeated(n, "<div class=comment><p>some words, and more of them.</div>") },
	"breaks":                func(n int) string { return repeated(n, "x<br>") },
	"breaks, pairs":         func(n int) string { return "<div>" + repeated(n, "<br><br>") },
	"headings":              func(n int) string { return repeated(n, "<h2>References</h2><p>x") },
	"headings, one section": func(n int) string { return "<h1>x</h1>" + repeated(n, "<h3>References</h3>") },
	"rules":                 func(n int) string { return repeated(n, "<hr>") + "text" },
	"a long text":           func(n int) string { return repeated(n, "some words, and more of them, with a line\n") },
	"a long word":           func(n int) string { return strings.Repeat("w", n) },
	"blanks":                func(n int) string { return "<p>x" + strings.Repeat(" ", n) + "x" },
	"line feeds":            func(n int) string { return "<pre>x" + strings.Repeat("\n", n) + "x" },
	"entities":              func(n int) string { return "<p>" + repeated(n, "&amp;") },
	"entities, unknown":     func(n int) string { return "<p>" + repeated(n, "&CounterClockwiseContourIntegra") },
	"brackets, escaped":     func(n int) string { return "<p>" + repeated(n, "&lt;") },
	"brackets":              func(n int) string { return strings.Repeat("<", n) },
	"marks of Markdown":     func(n int) string { return "<p>" + repeated(n, "*_`[](#)!|") },
	"attribute, long":       func(n int) string { return `<p class="` + repeated(n, "a ") + `">x` },
	"attribute, hides":      func(n int) string { return `<p class="` + repeated(n, "hidden") + `">x` },
	"attribute, style":      func(n int) string { return `<p style="` + repeated(n, "color:red;left:0;") + `">x` },
	"attribute, calls":      func(n int) string { return `<p style="transform:` + repeated(n, "scale(1)") + `">x` },
	"attribute, brackets":   func(n int) string { return `<p style="background:` + repeated(n, "((((") + `">x` },
	"attribute, escapes":    func(n int) string { return `<p style="left:` + repeated(n, `\41 `) + `">x` },
	"attribute, comments":   func(n int) string { return `<p style="` + repeated(n, `/**/`) + `">x` },
	"attributes, many":      func(n int) string { return "<p " + repeated(n, "a%d=%d ") + ">x" },
	"attributes, same":      func(n int) string { return repeated(n, "<p class='a b c d e f' id=%d style='left:%dpx'>x") },
	"classes and rules": func(n int) string {
		return "<style>" + repeated(n/2, ".a%d .b%d{display:none}") + "</style>" + repeated(n/2, "<p class='a%d b%d'>x")
	},
	"rules, many": func(n int) string { return "<style>" + repeated(n, ".a%d,.b%d{display:none}") + "</style>" },
	"rules, one class": func(n int) string {
		return "<style>" + repeated(min(n/2, 300_000), ".a .b%d,.b{left:%dpx}") + "</style>" + repeated(n/2, "<p class=b>x")
	},
	"rules, showing": func(n int) string {
		return "<style>.b{left:-999px}" + repeated(min(n/2, 300_000), ".b{color:#%d;left:%dpx}") + "</style>" + repeated(n/2, "<p class=b>x")
	},
	"rules, long selector":    func(n int) string { return "<style>" + repeated(n, "a,") + "a{left:0}</style>" },
	"rules, long declaration": func(n int) string { return "<style>p{" + repeated(n, "left:0;top:-1px;") + "}</style><p>x" },
	"rules, nested":           func(n int) string { return "<style>" + repeated(n, "@media all{") + "</style><p>x" },
	"rules, queries": func(n int) string {
		return "<style>" + repeated(n, "@media (min-width:1px),") + "{p{left:0}}</style><p>x"
	},
	"styles":              func(n int) string { return repeated(n, "<style>.a%d{left:%dpx}</style>") },
	"asides":              func(n int) string { return nests(n, 400, "<aside>x ", "</aside>") },
	"forms":               func(n int) string { return repeated(n, "<form><p>x</form>") },
	"headings, elsewhere": func(n int) string { return repeated(n, "<div><h2>Related posts</h2></div>") },
	"headings, climbing":  func(n int) string { return nests(n, 400, "<div><p></p>", "<h2>Related posts</h2></div>") },
	"posts": func(n int) string {
		return repeated(n, `<div class=post><b class=author>name</b><div class=content>what %d said to %d</div></div>`)
	},
	"posts, nested": func(n int) string {
		return nests(n, 400, `<div class="comment content"><b class=author>name</b><div class=body>text`, "</div></div>")
	},
	"posts, nobody's": func(n int) string { return nests(n, 400, `<div class="comment content body">text`, "</div>") },
	"names":           func(n int) string { return repeated(n, `<div class="`+strings.Repeat("aB", 40)+` related-no">x</div>`) },
	"items":           func(n int) string { return nests(n, 400, `<div><a href=x>some words to count</a>`, "</div>") },
	"noscripts": func(n int) string {
		return "<script src=x></script>" + repeated(n, "<noscript><p>some words</noscript>")
	},
	"links":                func(n int) string { return repeated(n, `<a href="/path/%d?q=%d">x</a> `) },
	"links, one paragraph": func(n int) string { return "<p>" + repeated(n, `<a href="/path/%d?q=%d">some words, and more</a> `) },
	"links, long":          func(n int) string { return repeated(n, `<a href="`+strings.Repeat("a%%20", 2_000)+`">x</a>`) },
	"links, long label":    func(n int) string { return `<a href="/">` + repeated(n, "<p>some words") },
	"marks of citations":   func(n int) string { return "<p>" + repeated(n, `word<sup><a href="#n%d">[%d]</a></sup> `) },
	"sups":                 func(n int) string { return nests(n, 400, "<sup>x", "</sup>") },
	"pictures": func(n int) string {
		return repeated(n, `<figure><img src="%d.jpg" alt=x><figcaption>x%d</figcaption></figure>`)
	},
	"scripts":    func(n int) string { return repeated(n, "<script>x</script>") },
	"a script":   func(n int) string { return "<script>" + strings.Repeat("x", n) + "</script>" },
	"no scripts": func(n int) string { return repeated(n, `<img src=x><noscript><img src="%d"></noscript>%d`) },
	"linked data": func(n int) string {
		return repeated(n, `<script type="application/ld+json">{"@type":"Article","author":{"name":"x"}}</script>`)
	},
	"linked data, deep": func(n int) string {
		return repeated(n, `<script type="application/ld+json">`+strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)+`</script>`)
	},
	"linked data, long": func(n int) string {
		return repeated(n, `<script type="application/ld+json">[`+strings.Repeat("1,", 200_000)+`1]</script>`)
	},
	"metas":   func(n int) string { return repeated(n, `<meta name="a%d" content="b%d">`) },
	"times":   func(n int) string { return repeated(n, `<time datetime="%d" class=published>x%d</time>`) },
	"bylines": func(n int) string { return nests(n, 400, "<b rel=author>", "</b>") },
	"titles": func(n int) string {
		return "<title>" + repeated(n/2, "word %d %d ") + "</title><h1>" + repeated(n/2, "word %d %d ") + "</h1>"
	},
	"headings like the title": func(n int) string {
		return "<title>" + repeated(min(n/2, 20_000), "word %d %d ") + "</title>" + repeated(n/2, "<h2>word</h2>")
	},
	"comments":        func(n int) string { return repeated(n, "<!-- -->") },
	"selects":         func(n int) string { return repeated(n, "<select><option>") },
	"details":         func(n int) string { return nests(n, 200, "<details><summary>x</summary>y", "</details>") },
	"pictures in svg": func(n int) string { return repeated(n, "<svg><g>x") },
	"templates":       func(n int) string { return repeated(n, "<template>x") },
	"framesets":       func(n int) string { return repeated(n, "<frameset><frame>") },
	"definitions":     func(n int) string { return "<dl>" + repeated(n, "<dt>x<dd>y") },
	"invalid bytes":   func(n int) string { return "<p>" + strings.Repeat("\xff", n) },
	"null bytes":      func(n int) string { return "<p>x" + strings.Repeat("\x00", n) },
}

// hostileTexts makes bodies of other types.
var hostileTexts = map[string]func(n int) string{
	"JSON, deep": func(n int) string {
		return strings.Repeat("[", 9_000) + repeated(n, "1,") + "1" + strings.Repeat("]", 9_000)
	},
	"JSON, fences": func(n int) string { return `"` + strings.Repeat("`", n) + `"` },
	"JSON, flat":   func(n int) string { return "[" + repeated(n, "1,") + "1]" },
}

// TestHostilePages reads expensive pages. A page's size limits what is allocated for it, so that it cannot use up the memory. It limits the
// resulting text, too. BenchmarkHostile measures the time.
func TestHostilePages(t *testing.T) {
	check := func(name, contentType string, body []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := Read(body, contentType, nil)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, 10*uint64(len(body))+160<<20; got > most {
			t.Errorf("%s, %d kB: %d MB allocated, at most %d expected", name, len(body)>>10, got>>20, most>>20)
		}
		if len(p.Markdown) > 3*len(body)+64<<10 {
			t.Errorf("%s: %d bytes became %d", name, len(body), len(p.Markdown))
		}
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v is not an *Error", name, err)
		}
	}
	for _, n := range []int{500 << 10, largestBody - 1_000}[:bulk.Of(1, 2)] {
		for name, page := range hostile {
			check(name, "text/html", []byte(shownText+page(n)))
		}
		for name, text := range hostileTexts {
			check(name, "application/json", []byte(text(n)))
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		body := []byte(shownText + hostile[name](largestBody-1_000))
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Read(body, "text/html", nil)
			}
		})
	}
}
