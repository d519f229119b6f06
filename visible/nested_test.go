package visible

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// covers hide their content, which replaces %s, whatever is around them.
var covers = []string{
	`<div hidden>%s</div>`, `<div style="display:none">%s</div>`, `<div class="sr-only">%s</div>`, `<div class="q7">%s</div>`, `<section id="zz9">%s</section>`,
	`<div style="opacity:0">%s</div>`, `<div style="position:absolute;left:-9999px">%s</div>`, `<div aria-hidden="true">%s</div>`, `<div style="height:0;overflow:hidden">%s</div>`,
	`<div style="visibility:hidden">%s</div>`, `<div style="font-size:0">%s</div>`, `<template>%s</template>`, `<details>%s</details>`,
	`<noscript>%s</noscript>`, // the last one, since its content is not markup and can hold none of them
}

const coverStyles = `<style>.q7{display:none}#zz9{clip-path:inset(50%)}</style>`

// plainWraps hide nothing. None is a heading. The end of another heading inside it would close everything that was opened in between, also
// an element that hides.
var plainWraps = []string{
	`<div>%s</div>`, `<p>%s</p>`, `<ul><li>%s</li></ul>`, `<table><tr><td>%s</td><td>x</td></tr></table>`, `<blockquote>%s</blockquote>`, `<article>%s</article>`,
	`<b>%s`, `<h2>A heading</h2><div>%s</div>`, `<pre>%s</pre>`, `<section><p>A sentence, to have some text, and a second part of it.</p>%s</section>`, `<a href="/x">%s</a>`, `%s<br>`,
}

// TestNothingHiddenIsRead nests elements, and looks for the text inside those that hide.
func TestNothingHiddenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree func(depth int, hidden bool) string
		tree = func(depth int, hidden bool) string {
			var b strings.Builder
			for range rapid.IntRange(1, 3).Draw(t, "children") {
				word, usable := "These are words that may be read. ", covers
				if hidden {
					word, usable = "EVIL ", covers[:len(covers)-1]
				}
				if depth == 0 {
					b.WriteString(word)
					continue
				}
				if rapid.IntRange(0, 3).Draw(t, "hide") == 0 {
					fmt.Fprintf(&b, rapid.SampledFrom(usable).Draw(t, "cover"), tree(depth-1, true))
				} else {
					fmt.Fprintf(&b, rapid.SampledFrom(plainWraps).Draw(t, "wrap"), word+tree(depth-1, hidden))
				}
			}
			return b.String()
		}
		source := "<!doctype html>" + coverStyles + shownText + tree(rapid.IntRange(0, 4).Draw(t, "depth"), false)
		left, _ := pruned(t, source)
		flat, err := Flat(source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{left, flat.Body} {
			if strings.Contains(text, "EVIL") {
				t.Fatalf("%s\nis read as %q", source, text)
			}
		}
	})
}
