package page

import (
	"strings"
	"testing"
)

func TestHiddenTextIsDropped(t *testing.T) {
	tests := []string{
		// By attribute and by class.
		`<p hidden>EVIL</p>`, `<p hidden="until-found">EVIL</p>`, `<div aria-hidden="TRUE">EVIL</div>`,
		`<span class="a sr-only">EVIL</span>`, `<span class="visually-hidden">EVIL</span>`, `<div class="d-none">EVIL</div>`, `<div class="invisible">EVIL</div>`,
		`<span class="sr-only focus:not-sr-only">EVIL</span>`,
		// By its own style.
		`<p style='display/**/:/**/none'>EVIL</p>`, `<p style="DISPLAY : NONE !important">EVIL</p>`, `<p style="dis\70lay:none">EVIL</p>`, `<p style="visibility:hidden">EVIL</p>`,
		`<p style="visibility:collapse">EVIL</p>`, `<p style="content-visibility:hidden">EVIL</p>`, `<p style="opacity:0.05">EVIL</p>`, `<p style="opacity:5%">EVIL</p>`, `<p style="filter:opacity(0)">EVIL</p>`,
		`<p style="font-size:1px">EVIL</p>`, `<p style="font-size:.05em">EVIL</p>`, `<p style="font:0/0 a">EVIL</p>`, `<p style="font-size:0">a<b>EVIL</b></p>`,
		`<p style="color:transparent">EVIL</p>`, `<p style="color:#0000">EVIL</p>`, `<p style="color:rgb(1 2 3 / 0)">EVIL</p>`, `<p style="-webkit-text-fill-color:transparent">EVIL</p>`,
		`<span style='color:rgb(0, 0, 0);background-color:#000'>EVIL</span>`, `<div style="background:#fff url()"></div><div style="background:white"><p style="color:#fefefe">EVIL</p></div>`,
		`<table bgcolor="#ffffff"><tr><td><font color="white">EVIL</font></td></tr></table>`,
		`<p style="text-indent:-9999px">EVIL</p>`, `<p style="position:absolute;left:-9999px">EVIL</p>`, `<p style="position:fixed;top:-200vh">EVIL</p>`, `<p style="margin-left:-9999px">EVIL</p>`,
		`<p style="position:absolute;left:99999px">EVIL</p>`, `<p style="transform:translate(-9999px, 0)">EVIL</p>`, `<p style="transform:translate3d(0,-5000px,0)">EVIL</p>`,
		`<p style="transform:scale(0)">EVIL</p>`, `<p style="transform:scaleX(0)">EVIL</p>`, `<p style="scale:0">EVIL</p>`, `<p style="transform:matrix(0,0,0,0,0,0)">EVIL</p>`,
		`<p style="clip:rect(0 0 0 0);position:absolute">EVIL</p>`, `<p style="clip:rect(1px, 1px, 1px, 1px);position:fixed">EVIL</p>`, `<p style="color:white">EVIL</p>`, `<p style="clip-path:inset(50%)">EVIL</p>`, `<p style="clip-path:inset(0 100% 0 0)">EVIL</p>`,
		`<p style="clip-path:circle(0)">EVIL</p>`, `<p style="clip-path:polygon(0 0, 0 0, 0 0)">EVIL</p>`,
		`<p style="width:0;height:0">EVIL</p>`, `<p style="max-height:0;overflow:hidden">EVIL</p>`, `<p style="width:1px;overflow:clip">EVIL</p>`,
		`<p style="background:url('a;b');display:none">EVIL</p>`,
		// By a line through it.
		`<p>x <s>EVIL</s></p>`, `<p><del>EVIL</del></p>`, `<p><strike>EVIL</strike></p>`, `<p style="text-decoration:line-through">EVIL</p>`, `<div style="text-decoration:red line-through"><p><b>EVIL</b></p></div>`,
		`<style>.q{text-decoration-line:underline line-through}</style><p class=q>EVIL</p>`, `<s style="text-decoration:line-through"><span style="text-decoration:none">EVIL</span></s>`,
		// By the page's styles.
		`<style>.q7{display:none}</style><div class="x q7">EVIL</div>`, `<style>#zz9{position:fixed;top:-200vh}</style><div id="zz9">EVIL</div>`, `<style>mark{opacity:0}</style><mark>EVIL</mark>`,
		`<style>a, div.x.y , b{color:red;visibility:hidden}</style><div class="y x">EVIL</div>`, `<style>.a .b > p{display:none}</style><div class=a><i><div class=b><p>EVIL</p></div></i></div>`,
		`<style>@media screen and (min-width:600px){.q{display:none}}</style><p class=q>EVIL</p>`, `<style>@supports (display:grid){@layer x{.q{display:none}}}</style><p class=q>EVIL</p>`,
		`<style>.q{display:block}.q{display:none}</style><p class=q>EVIL</p>`, `<style>.q{display:none!important}</style><p class=q style="display:block">EVIL</p>`, `<style>.q{height:0}.r{overflow:hidden}</style><p class="q r">EVIL</p>`,
		`<style>/* } */ @import "x"; .q{display:none}`, // an unclosed style takes the rest with it
		// By being no text.
		`<!--><p hidden>EVIL</p>-->`, `<!-- EVIL -->`, `<svg><p hidden>EVIL</p></svg>`, `<svg><text>EVIL</text></svg>`, `<svg><title>EVIL</title></svg>`, `<math><mtext>EVIL</mtext></math>`,
		`<script>EVIL</script>`, `<noscript>EVIL</noscript>`, `<template>EVIL</template>`, `<iframe>EVIL</iframe>`, `<iframe srcdoc="EVIL"></iframe>`, `<object>EVIL</object>`, `<canvas>EVIL</canvas>`, `<audio>EVIL</audio>`,
		`<textarea>EVIL</textarea>`, `<select><option>EVIL</option></select>`, `<button>EVIL</button>`, `<dialog>EVIL</dialog>`, `<noembed>EVIL</noembed>`, `<noframes>EVIL</noframes>`, `<xmp>EVIL</xmp>`, `<plaintext>EVIL`,
		`<nav>EVIL</nav>`, `<footer>EVIL</footer>`, `<aside>EVIL</aside>`, `<title>EVIL</title>`, `<![CDATA[EVIL]]>`, `<?php EVIL ?>`,
		`<img alt=EVIL>`, `<p title="EVIL">x</p>`, `<a href="/" aria-label="EVIL" data-x="EVIL">x</a>`, `<input value=EVIL>`, `<input placeholder=EVIL>`, `<meta name=description content=EVIL>`,
		`<script type="application/ld+json">{"@type":"Article","articleBody":"EVIL","description":"EVIL"}</script>`,
		`<details><summary>x</summary>EVIL</details>`, `<details><p>EVIL</p></details>`,
		// By never being closed.
		`<div style="display:none">EVIL`, `<ul><li class="d-none">EVIL<li>x</ul>`,
	}
	for _, hidden := range tests {
		for name, source := range map[string]string{"tree": shownText + hidden, "flat": strings.Repeat("<div>", 600) + shownText + hidden} {
			p, err := Read([]byte("<html><body>"+source), "text/html", nil)
			if err != nil {
				t.Errorf("%s: %s: %v", name, hidden, err)
				continue
			}
			if !strings.Contains(p.Markdown, "they must stay") {
				t.Errorf("%s: %s takes the visible text with it: %q", name, hidden, p.Markdown)
			}
			if all := p.Markdown + p.Title + p.Author + p.Site; strings.Contains(all, "EVIL") {
				t.Errorf("%s: %s is read: %q", name, hidden, all)
			}
		}
	}
}

func TestVisibleTextStays(t *testing.T) {
	tests := []string{
		`<div hidden@click="x">GOOD</div>`, `<div hidden-prefix="x">GOOD</div>`, `<div class="un-hidden">GOOD</div>`, `<div title="class=hidden style=display:none">GOOD</div>`,
		`<div class="hidden md:block">GOOD</div>`, `<div class="d-none d-md-block">GOOD</div>`, `<div style="clip-path:inset(0%)">GOOD</div>`, `<div style="opacity:.5">GOOD</div>`,
		`<ul style="font-size:0"><li style="font-size:16px">GOOD</li></ul>`, `<div style="visibility:hidden"><p style="visibility:visible">GOOD</p></div>`, `<p style="font-size:.8em">GOOD</p>`,
		`<style>@media print{.q{display:none}}</style><p class=q>GOOD</p>`, `<style>@media (max-width:600px){.q{display:none}}</style><p class=q>GOOD</p>`, `<style>.menu .q{display:none}</style><p class=q>GOOD</p>`,
		`<style>.q{display:none}.q{display:block}</style><p class=q>GOOD</p>`, `<style>.q{display:none}#r{display:block}</style><p class=q id=r>GOOD</p>`, `<style>.q:hover{display:none}</style><p class=q>GOOD</p>`,
		`<style>@keyframes x{from{opacity:0}}@font-face{font-size:0}</style><p class=q>GOOD</p>`, `<style>p{display:none}</style><p style="display:block!important">GOOD</p>`,
		`<p style="position:absolute;left:50%;top:50%;transform:translate(-50%,-50%)">GOOD</p>`, `<div style="padding-left:100%"><p style="margin-left:-100%">GOOD</p></div>`, `<div inert>GOOD</div>`, `<p style='dis/**/play:none'>GOOD</p>`, `<p style="clip:rect(0 0 0 0)">GOOD</p>`, `<p style="height:0">GOOD</p>`, `<p style="width:1px;white-space:nowrap">GOOD</p>`,
		`<p style="color:#fff;background:url(dark.png)">GOOD</p>`, `<div style="background:#fff"><p style="background:#000;color:#fff">GOOD</p></div>`, `<div style="background:black"><p style="color:white">GOOD</p></div>`,
		`<h2 style="color:transparent;background-clip:text;background-image:linear-gradient(red,blue)">GOOD</h2>`, `<h2 class="text-transparent bg-clip-text">GOOD</h2>`,
		`<s style="text-decoration:none">GOOD</s>`, `<p style="text-decoration:underline">GOOD</p>`, `<s><span style="display:inline-block">GOOD</span></s>`, `<ins>GOOD</ins>`,
		`<details open><summary>x</summary>GOOD</details>`, `<details><summary>GOOD</summary>x</details>`, `<nav>` + strings.Repeat("GOOD words that a forgotten end tag has put into the navigation. ", 8),
	}
	for _, shown := range tests {
		p, err := Read([]byte(`<html class="hidden"><body style="opacity:0">`+shownText+shown), "text/html", nil)
		if err != nil || !strings.Contains(p.Markdown, "GOOD") {
			t.Errorf("%s is not read: %q, %v", shown, p.Markdown, err)
		}
	}
}

// TestMostIsHidden reads pages that are almost entirely hidden. Hidden text stays hidden, however large its share of the page.
func TestMostIsHidden(t *testing.T) {
	long := strings.Repeat("<p>BAD words that nobody sees, unless a script that is not run shows them.</p>", 30)
	for _, source := range []string{
		`<div>Menu</div><div style="opacity:0">` + long + `</div>`,
		`<div>Menu</div><div><main class="hide" style="visibility:hidden">` + long + `</main></div>`,
		`<div>Menu</div><div hidden id="S:0">` + long + `</div>`,
		shownText + `<div hidden>` + long + `</div><div hidden>` + long + `</div>`,
	} {
		p, _ := Read([]byte("<body>"+source), "text/html", nil)
		if strings.Contains(p.Markdown, "BAD") {
			t.Errorf("%.90s is read as %.90q", source, p.Markdown)
		}
	}
}

func TestHiddenIsCounted(t *testing.T) {
	p, err := Read([]byte(shownText+`<p hidden>one two</p><style>.x{display:none}</style><p class=x>three</p><p style="visibility:hidden">four</p><script>not text</script>`), "text/html", nil)
	if err != nil || p.Hidden != len("onetwothreefour") {
		t.Errorf("Hidden = %d, %v", p.Hidden, err)
	}
}
