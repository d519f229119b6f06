package visible

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"familiar/visible/dom"
)

const shownText = "<p>These words can be read by everybody who opens the page, and they must stay.</p>"

// pruned returns the rendered tree of a page after Prune.
func pruned(t interface {
	Helper()
	Fatal(...any)
}, source string) (string, Count) {
	t.Helper()
	doc, err := html.ParseWithOptions(strings.NewReader(source), html.ParseOptionEnableScripting(true))
	if err != nil {
		t.Fatal(err)
	}
	count, err := Prune(doc, Options{Scripts: true})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := html.Render(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String(), count
}

// TestHidden reads one page for each way to hide a text.
func TestHidden(t *testing.T) {
	for name, source := range map[string]string{
		"attribute":    `<p hidden>EVIL</p>`,
		"ARIA":         `<p aria-hidden=true>EVIL</p>`,
		"class":        `<p class=sr-only>EVIL</p>`,
		"display":      `<p style="dis\70lay:none">EVIL</p>`,
		"visibility":   `<p style="visibility:hidden">EVIL</p>`,
		"opacity":      `<p style="opacity:5%">EVIL</p>`,
		"size":         `<p style="font-size:1px">EVIL</p>`,
		"colour":       `<p style="background:#fff;color:#fefefe">EVIL</p>`,
		"position":     `<p style="position:absolute;left:-9999px">EVIL</p>`,
		"indent":       `<p style="text-indent:-9999px">EVIL</p>`,
		"far":          `<link rel=stylesheet href=a.css><p style="margin-top:3900px">EVIL</p>`,
		"clip":         `<p style="clip-path:inset(50%)">EVIL</p>`,
		"overflow":     `<p style="max-height:0;overflow:hidden">EVIL</p>`,
		"transform":    `<p style="transform:scale(0)">EVIL</p>`,
		"line":         `<p><s>EVIL</s></p>`,
		"sheet":        `<style>@supports (display:grid){@layer x{.a .b > p{display:none}}}</style><div class=a><div class=b><p>EVIL</p></div></div>`,
		"media":        `<style>@media (min-width:600px){.q{display:none}}</style><p class=q>EVIL</p>`,
		"variable":     `<style>:root{--x:none}.q{display:var(--x)}</style><p class=q>EVIL</p>`,
		"animation":    `<style>@keyframes k{to{opacity:0}}.q{animation:k 1s forwards}</style><p class=q>EVIL</p>`,
		"details":      `<details><summary>x</summary><p>EVIL</p></details>`,
		"never closed": `<div style="display:none">EVIL`,
		"no text":      `<!-- EVIL --><script>EVIL</script><template>EVIL</template><svg><text>EVIL</text></svg><img alt=EVIL>`,
	} {
		source = "<!doctype html><body>" + shownText + source
		tree, count := pruned(t, source)
		flat, err := Flat(source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{tree, flat.Body} {
			if strings.Contains(text, "EVIL") || !strings.Contains(text, "they must stay") {
				t.Errorf("%s: %q", name, text)
			}
		}
		if name != "no text" && (count.Hidden+count.Doubtful != len("EVIL") || flat.Hidden < len("EVIL")) {
			t.Errorf("%s: %d and %d characters are hidden", name, count.Hidden, flat.Hidden)
		}
	}
}

// TestShown reads pages that look as if they hide a text.
func TestShown(t *testing.T) {
	for _, source := range []string{
		`<p class="hidden md:block">GOOD</p>`, `<p style="opacity:.5">GOOD</p>`, `<p style="color:#fff;background:#000">GOOD</p>`, `<p style="height:0">GOOD</p>`,
		`<style>@media print{.q{display:none}}</style><p class=q>GOOD</p>`, `<style>.q{display:none}#r{display:block}</style><p class=q id=r>GOOD</p>`,
		`<details open><summary>x</summary>GOOD</details>`,
		`<p>` + strings.Repeat("今日は天気がとても良いので、", 40) + `GOOD</p>`,
		`<div><div style="position:sticky;top:0">x</div><p style="margin-top:3900px">x</p></div><p>GOOD</p>`,
		`<link rel=stylesheet href=a.css><p style="margin-top:3900px">GOOD` + strings.Repeat(" many words", 200) + `</p>`,
	} {
		tree, _ := pruned(t, "<!doctype html><body>"+shownText+source)
		if !strings.Contains(tree, "GOOD") {
			t.Errorf("%s becomes %s", source, tree)
		}
	}
}

// TestDoubt holds Prune to counting apart what it does not know to be hidden.
func TestDoubt(t *testing.T) {
	for source, want := range map[string]Count{
		`<p class=sr-only>EVIL</p>`:                             {Doubtful: 4},
		`<p style="clip-path:url(#a)">EVIL</p>`:                 {Doubtful: 4},
		`<p hidden>EVIL</p>`:                                    {Hidden: 4},
		`<p style="position:absolute;left:-9999px">EVIL</p>`:    {Hidden: 4},
		`<p style="height:1.2em;overflow:hidden">a<br>EVIL</p>`: {Hidden: 4, Seen: 1},
	} {
		_, count := pruned(t, "<!doctype html><body>"+shownText+source)
		if want.Seen += dom.Letters(shownText) - len("<p></p>"); count != want {
			t.Errorf("%s: %+v", source, count)
		}
	}
}

// TestXHTML reads XHTML by the rules of XML, up to the first error.
func TestXHTML(t *testing.T) {
	const head = `<?xml version="1.0"?><!DOCTYPE html [<!ENTITY e "GOOD">]><html xmlns="http://www.w3.org/1999/xhtml"><body>`
	for source, want := range map[string]string{
		`<script src="x"/><p>GOOD</p></body></html>`:                      "GOOD",
		`<p><![CDATA[GOOD]]></p><!-- EVIL --></body></html>`:              "GOOD",
		`<p>&e;</p><style>p&gt;b{display:none}</style><p><b>EVIL</b></p>`: "GOOD",
		`<p>GOOD</p><br><p>EVIL</p></body></html>`:                        "GOODEVIL",
		`<p>GOOD</p></b><p>EVIL</p></body></html>`:                        "GOOD",
		`<x xmlns="urn:x">EVIL</x><p>GOOD</p></body></html>`:              "GOOD",
	} {
		doc, err := XHTML(head + source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Prune(doc, Options{Scripts: true}); err != nil || strings.TrimSpace(dom.Text(doc)) != want {
			t.Errorf("%s: %q, %v", source, dom.Text(doc), err)
		}
	}
	if _, err := XHTML(head + strings.Repeat("<b>", 600)); !errors.Is(err, ErrDepth) {
		t.Error(err)
	}
}

// TestScripts holds Prune to showing <noscript> only where no scripts run.
func TestScripts(t *testing.T) {
	for scripts, want := range map[bool]string{true: "", false: "Please enable scripts."} {
		doc, err := html.ParseWithOptions(strings.NewReader("<body><noscript>Please enable scripts.</noscript>"), html.ParseOptionEnableScripting(scripts))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Prune(doc, Options{Scripts: scripts}); err != nil || dom.Text(doc) != want {
			t.Errorf("%q, %v", dom.Text(doc), err)
		}
	}
}

// TestRest reads style sheets that come after the tree.
func TestRest(t *testing.T) {
	doc, err := html.Parse(strings.NewReader("<body>" + shownText + "<p class=q>EVIL</p>"))
	if err != nil {
		t.Fatal(err)
	}
	count, err := Prune(doc, Options{Rest: "<p>more</p><style>.q{display:none}</style>"})
	if err != nil || count.Hidden+count.Doubtful != len("EVIL") || count.Seen != dom.Length(doc) {
		t.Errorf("%+v, %v", count, err)
	}
}

// TestFlatSiblings reads a page without a tree of the parser, whose elements know their siblings.
func TestFlatSiblings(t *testing.T) {
	text, err := Flat("<style>p ~ i, i ~ b:nth-child(2){display:none}</style><div><p>one</p><i>two</i><b>three</b></div>", Options{})
	if err != nil || strings.Contains(text.Body, "two") || !strings.Contains(text.Body, "three") {
		t.Errorf("%q, %v", text.Body, err)
	}
}

// TestTooMuchWork refuses a page whose styles would take too long.
func TestTooMuchWork(t *testing.T) {
	source := "<style>" + strings.Repeat(":has(:has(a) b) ~ i{color:red}:is(a b, c d) * * * * *{color:red}", 20_000) + "</style>" + strings.Repeat("<div><i>x</i>", 400)
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(doc, Options{}); !errors.Is(err, ErrStyles) {
		t.Error(err)
	}
	if _, err := Flat(source, Options{}); !errors.Is(err, ErrStyles) {
		t.Error(err)
	}
}

// FuzzSource looks for pages that Prune and Flat cannot read.
func FuzzSource(f *testing.F) {
	for _, source := range []string{
		"<style>p ~ i, :has(> b):nth-child(2n of p){display:none}</style><p>one<i>two</i><b>three",
		"<style>@container (width > 1em){@scope (.a) to (.b){& > c{color:color-mix(in oklch, red, var(--x, blue))}}}</style><div class=a style='container-type:size'><c>x",
		"<div><template shadowrootmode=open><style>::slotted(p){opacity:0}</style><slot name=a></slot></template><p slot=a>x</p></div>",
		"<p style='clip-path:polygon(0 0,1px 2%);transform:matrix(1,0,0,1,0,0);background:linear-gradient(red,#00f 40%)'>x",
		"<style>@keyframes k{50%{opacity:0}}p{animation:1s k infinite alternate}@property --x{syntax:'<length>';inherits:false;initial-value:1px}</style><p>x",
	} {
		f.Add(source, true)
	}
	f.Fuzz(func(t *testing.T, source string, scripts bool) {
		if _, err := Flat(source, Options{}); err != nil && !errors.Is(err, ErrStyles) {
			t.Fatal(err)
		}
		doc, err := html.ParseWithOptions(strings.NewReader(source), html.ParseOptionEnableScripting(scripts))
		if err != nil {
			t.Skip()
		}
		if _, err := Prune(doc, Options{Scripts: scripts}); err != nil && !errors.Is(err, ErrStyles) {
			t.Fatal(err)
		}
	})
}
