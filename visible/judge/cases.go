package main

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

//go:embed cases.txt
var listed string

// later holds pages that were written after the code that they test.
//
//go:embed later.txt
var later string

// painted holds pages by class, for what depends on where boxes are and what is painted over what.
//
//go:embed painted.txt
var painted string

// tuned ends the names of classes without pages that only measure.
const tuned = ", tuned"

// testCase is a page, with the first words of its texts.
type testCase struct {
	page   string
	words  []string
	stated bool
	class  string
	held   bool // it only measures: the code was not tuned on it
}

// allCases returns the pages of cases.txt, the combined ones, those of later.txt and those of painted.txt, always the same.
func allCases() []testCase {
	var all []testCase
	for line := range strings.Lines(listed) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, stated := strings.CutPrefix(line, "?")
		c := newCase(len(all), strings.ReplaceAll(line, "⏎", "\n"))
		c.stated = stated
		all = append(all, c)
	}
	for _, source := range combined() {
		all = append(all, newCase(len(all), source))
	}
	for line := range strings.Lines(later) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			line, stated := strings.CutPrefix(line, "?")
			c := newCase(len(all), line)
			c.stated = stated
			all = append(all, c)
		}
	}
	class, held := "", false
	for line := range strings.Lines(painted) {
		line = strings.TrimSuffix(line, "\n")
		if name, is := strings.CutPrefix(line, "# "); is {
			class = name
			held = held && !strings.HasSuffix(class, tuned)
		} else if line != "" {
			c := newCase(len(all), strings.ReplaceAll(line, "⏎", "\n"))
			c.class, c.held = class, held
			held = !held && !strings.HasSuffix(class, tuned)
			all = append(all, c)
		}
	}
	return all
}

// sentence returns a text that begins with a word.
func sentence(word string) string { return word + " lies by the old river bank" }

// newCase puts texts into the places of a source. Their first words identify the page.
func newCase(n int, source string) testCase {
	var c testCase
	source, whole := strings.CutPrefix(source, "%")
	if !whole && !strings.HasPrefix(source, "<!doctype") && !strings.HasPrefix(source, "<html") && !strings.HasPrefix(source, "<?xml") {
		source = "<!doctype html><title>t</title><body><p>{0}</p>" + source
	}
	for i := range 10 {
		place, word := fmt.Sprintf("{%d}", i), fmt.Sprintf("q%d%c", n, 'a'+i)
		if strings.Contains(source, place) {
			source = strings.ReplaceAll(source, place, sentence(word))
			c.words = append(c.words, word)
		}
	}
	c.page = source
	return c
}

// hiding holds declarations that hide a block, and harmless holds some that look like them.
var (
	hiding = []string{
		"display:none", "visibility:hidden", "opacity:0", "font-size:0", "color:transparent", "color:#fff", "color:hsl(0 0% 100%)", "position:absolute;left:-9999px", "text-indent:-9999px",
		"transform:scale(0)", "clip-path:inset(50%)", "height:0;overflow:hidden", "max-height:0;overflow:clip", "filter:opacity(0)", "mask-image:linear-gradient(#0000,#0000)", "zoom:.01",
		"position:absolute;clip:rect(0,0,0,0)", "content-visibility:hidden", "transform:translateX(-200vw)", "position:fixed;inset-block-start:100vh", "color:oklch(1 0 0)", "width:calc(1px - 1px);overflow:hidden",
		"background:#222;color:#222", "-webkit-text-fill-color:#fff", "translate:-200vw", "scale:0", "opacity:calc(.5 - .5)", "color:color-mix(in srgb,#fff,#fff)", "inline-size:0;overflow:hidden", "letter-spacing:-2em",
	}
	harmless = []string{
		"display:block", "visibility:visible", "opacity:.7", "font-size:.9em", "color:#333", "color:hsl(0 0% 10%)", "position:relative;left:9px", "text-indent:2em", "transform:scale(.9)", "clip-path:inset(0)",
		"height:auto;overflow:hidden", "max-height:90px;overflow:clip", "filter:opacity(.8)", "mask-image:linear-gradient(#000,#000)", "zoom:1.1", "content-visibility:auto", "transform:translateX(5px)",
		"color:oklch(.4 0 0)", "background:#222;color:#eee", "width:calc(300px + 10%);overflow:hidden", "-webkit-text-fill-color:#222", "translate:3px", "scale:1", "opacity:calc(.5 + .5)", "letter-spacing:.1em",
		"display:bogus", "opacity:hidden", "color:nothing", "height:zero;overflow:hidden", "transform:scale()", "clip-path:inset()", "font-size:-1px", "DISPLAY:FLEX", "color:inherit", "all:unset;display:block",
	}
	// carriers apply declarations to texts in different ways. {h} is replaced by a declaration that hides, and {g} by one
	// that does not.
	carriers = []string{
		`<p style="{h}">{1}</p><p style="{g}">{2}</p>`,
		`<style>.x{{h}}.y{{g}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>.x{{g}}p.x{{h}}.y{{h}}p.y{{g};all:revert}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>@layer l{#i{{g}}}.x{{h}}@media print{.y{{h}}}.y{{g}}</style><p id="i" class="x">{1}</p><p class="y">{2}</p>`,
		`<style>.w{.x{{h}}& .y{{g}}}</style><div class="w"><p class="x">{1}</p><p class="y">{2}</p></div><p class="x">{3}</p>`,
		`<style>@supports (display:grid){.x{{h}}}@supports (display:gird){.y{{h}}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>:is(.x,:bogus()){{h}}.y,:bogus{{h}}.y{{g}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>[data-k~="b" i]{{h}}[data-k="B"]{{g}}</style><p data-k="a B">{1}</p><p data-k="c">{2}</p>`,
		`<style>p:has(b){{h}}p:not(:has(b)){{g}}</style><p><b>{1}</b></p><p>{2}</p>`,
		`<style>div>p:nth-child(2n){{h}}div>p:nth-child(2n+1){{g}}</style><div><p>{1}</p><p>{2}</p></div>`,
		`<style>/*}*/.a{content:"}"}.\78{{h}}.y{content:"{";{g}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>@scope (.s) to (.t){p{{h}}}</style><div class="s"><p>{1}</p><div class="t"><p>{2}</p></div></div>`,
		`<style>.x{{h}}</style><p class="x show visible">{1}</p><p class="y" style="{g}">{2}</p>`,
		`<style>@layer a,b;@layer b{.x{{h}}.y{{g}}}@layer a{.x{{g}}.y{{h};all:revert-layer}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>@media (width>=40em) and (hover){.x{{h}}}@media not all{.y{{h}}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>:where(#i.x){{h}}:where(#j){{h}}p{display:block}</style><p id="i" class="x">{1}</p><p class="y">{2}</p>`,
		`<link rel="stylesheet" href="data:text/css,.x%7B{u}%7D"><style type="text/plain">.y{{h}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<div style="{h}"><div><p>{1}</p></div></div><div style="{g}"><p>{2}</p></div>`,
		`<style>.x{{h}}.x:hover{{g}}.y:hover{{h}}</style><p class="x">{1}</p><p class="y">{2}</p>`,
		`<style>p+.x{{h}}div+.y{{h}}</style><p>{1}</p><p class="x">{2}</p><p class="y">{3}</p>`,
	}
)

// combined returns pages that combine ways to hide with ways to write them.
func combined() []string {
	dice := rand.New(rand.NewPCG(12, 1))
	var pages []string
	for range 8 {
		for _, carrier := range carriers {
			h := hiding[dice.IntN(len(hiding))]
			replace := strings.NewReplacer("{h}", h, "{g}", harmless[dice.IntN(len(harmless))], "{u}", escapePercent(h))
			pages = append(pages, replace.Replace(carrier))
		}
	}
	return pages
}

func escapePercent(s string) string {
	return strings.NewReplacer("%", "%25", "#", "%23", " ", "%20").Replace(s)
}
