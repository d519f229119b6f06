package visible_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/web/page"
	"familiar/internal/web/page/dom"
)

// cloak is a way to hide what is put for %s. Text hidden by it is counted (H4), unless it is a machine's.
type cloak struct {
	source  string
	machine bool
}

// cloaks hide whatever elements are in them.
var cloaks = []cloak{
	{`<div hidden>%s</div>`, false}, {`<section inert>%s</section>`, false}, {`<div aria-hidden="true">%s</div>`, false}, {`<details>%s</details>`, false},
	{`<div class="sr-only">%s</div>`, false}, {`<div class="a visually-hidden b">%s</div>`, false}, {`<div class="d-none">%s</div>`, false}, {`<div class="invisible">%s</div>`, false},
	{`<div style="dis/**/play:none">%s</div>`, false}, {`<div style="DISPLAY: none !important">%s</div>`, false}, {`<div style="content-visibility:hidden">%s</div>`, false},
	{`<div style="opacity:0">%s</div>`, false}, {`<div style="opacity:9%%">%s</div>`, false}, {`<div style="filter:opacity(0)">%s</div>`, false},
	{`<div style="position:absolute;left:-9999px">%s</div>`, false}, {`<div style="text-indent:-999em">%s</div>`, false}, {`<div style="transform:translateX(-9999px)">%s</div>`, false},
	{`<div style="clip:rect(0,0,0,0);position:absolute">%s</div>`, false}, {`<div style="clip-path:inset(50%%)">%s</div>`, false}, {`<div style="transform:scale(0)">%s</div>`, false},
	{`<div style="height:0;overflow:hidden">%s</div>`, false}, {`<div style="width:1px;height:1px">%s</div>`, false}, {`<div style="max-height:0;overflow:clip">%s</div>`, false},
	{`<div class="q7">%s</div>`, false}, {`<section id="zz9">%s</section>`, false}, {`<blink>%s</blink>`, false}, {`<div class="up"><div class="down">%s</div></div>`, false},
	{`<div class="wide">%s</div>`, false}, {`<div class="flat shut">%s</div>`, false}, {`<div class="firm" style="display:block">%s</div>`, false},
	{`<template>%s</template>`, true}, {`<object>%s</object>`, true}, {`<canvas>%s</canvas>`, true}, {`<dialog>%s</dialog>`, true},
}

// cages hide text; elements in them would be none, or would break out.
var cages = []string{
	`<noscript>%s</noscript>`, `<script>%s</script>`, `<style>/*%s*/</style>`, `<!-- %s -->`, `<svg><text>%s</text></svg>`, `<math><mtext>%s</mtext></math>`,
	`<iframe>%s</iframe>`, `<textarea>%s</textarea>`, `<select><option>%s</option></select>`, `<button>%s</button>`, `<noembed>%s</noembed>`, `<xmp>%s</xmp>`,
	`<img alt="%s">`, `<p title="%[1]s" data-x="%[1]s" aria-label="%[1]s"></p>`, `<input value="%s">`, `<iframe srcdoc="%s"></iframe>`,
}

// shades are what text inherits and an element inside can undo: a style that hides, and one that shows again.
var shades = [...][2]string{
	{"visibility:hidden", "visibility:visible"}, {"font-size:0", "font-size:16px"}, {"color:transparent", "color:black"},
}

// windows look like cloaks and hide nothing.
var windows = []string{
	`<div class="hidden md:block">%s</div>`, `<div class="d-none d-md-block">%s</div>`, `<div class="sr-only lg:not-sr-only">%s</div>`, `<div class="invisible lg:visible">%s</div>`,
	`<div style="opacity:.5">%s</div>`, `<div style="clip-path:inset(0%%)">%s</div>`, `<div style="height:0">%s</div>`, `<div style="font-size:.8em">%s</div>`,
	`<div class="paper">%s</div>`, `<div class="phone">%s</div>`, `<div class="hover">%s</div>`, `<div class="twice">%s</div>`, `<div class="q7" style="display:block!important">%s</div>`,
	`<details open>%s</details>`, `<div title="display:none" data-hidden="true">%s</div>`, `<section>%s</section>`, `<div><div>%s</div></div>`,
}

const veilStyles = `<style>.q7{display:none}#zz9{clip-path:inset(50%)}blink{opacity:0}.up > .down{left:-9999px}.flat{height:0}.shut{overflow:hidden}
.firm{display:none!important}@media (min-width:600px){.wide{display:none}}@media print{.paper{display:none}}@media (max-width:600px){.phone{display:none}}
.hover:hover{display:none}.twice{display:none}.twice{display:block}</style>`

// veiled is a page that a plan makes: which of its words a reader sees, and how many characters are hidden.
type veiled struct {
	plan   []byte
	source strings.Builder
	shown  []string
	hidden int
	n      int // of the last paragraph
}

// choose takes the plan's next step: one of n, the first when the plan is at its end.
func (v *veiled) choose(n int) int {
	if len(v.plan) == 0 {
		return 0
	}
	step := int(v.plan[0]) % n
	v.plan = v.plan[1:]
	return step
}

// dusk is how a place in the page is hidden.
type dusk struct {
	cloaked bool // for good
	machine bool // and not counted
	shaded  [len(shades)]bool
}

func (d dusk) dark() bool { return d.cloaked || d.shaded != [len(shades)]bool{} }

const deepest = 5

func (v *veiled) blocks(depth int, d dusk) {
	for range 1 + v.choose(3) {
		v.block(depth, d)
	}
}

func (v *veiled) block(depth int, d dusk) {
	kind := v.choose(6)
	if depth == deepest || kind == 0 || kind == 2 && d.cloaked { // what is a machine's and hidden besides may count
		v.source.WriteString("<p>" + v.words(d) + "</p>")
		return
	}
	switch kind {
	case 1:
		c := cloaks[v.choose(len(cloaks))]
		if !d.cloaked {
			d.cloaked, d.machine = true, c.machine
		}
		v.around(c.source, depth, d)
	case 2:
		cage := cages[v.choose(len(cages))]
		d.cloaked, d.machine = true, true
		fmt.Fprintf(&v.source, cage, v.words(d))
	case 3:
		i := v.choose(len(shades))
		d.shaded[i] = true
		v.around(`<div style="`+shades[i][0]+`">%s</div>`, depth, d)
	case 4:
		i := v.choose(len(shades))
		d.shaded[i] = false
		v.around(`<div style="`+shades[i][1]+`">%s</div>`, depth, d)
	default:
		v.around(windows[v.choose(len(windows))], depth, d)
	}
}

// around writes blocks into what stands around them.
func (v *veiled) around(source string, depth int, d dusk) {
	before, after, _ := strings.Cut(strings.ReplaceAll(source, "%%", "%"), "%s")
	v.source.WriteString(before)
	v.blocks(depth+1, d)
	v.source.WriteString(after)
}

// words is a paragraph that says whether it may be read.
func (v *veiled) words(d dusk) string {
	v.n++
	if !d.dark() {
		mark := fmt.Sprintf("GOOD%d", v.n)
		v.shown = append(v.shown, mark)
		return fmt.Sprintf("%s was told in house %d by everybody who had come up the hill, and number %d of them wrote it down for the others.", mark, 3*v.n, 7*v.n)
	}
	text := fmt.Sprintf("EVIL%d is what nobody in the house %d could see.", v.n, v.n)
	if !d.machine {
		v.hidden += dom.Letters(text)
	}
	return text
}

// checkVeil builds a page by a plan and reads it: what is hidden never shows, what is seen always does, and what was
// hidden is counted.
func checkVeil(plan []byte) error {
	v := veiled{plan: plan}
	v.source.WriteString(`<!doctype html><html><head>` + veilStyles + `</head><body><article><h1>The house on the hill</h1><p>` + v.words(dusk{}) + `</p>`)
	for len(v.plan) > 0 && v.n < 60 {
		v.block(0, dusk{})
	}
	v.source.WriteString(`<p>` + v.words(dusk{}) + `</p></article></body></html>`)
	source := v.source.String()
	p, err := page.Read([]byte(source), "text/html; charset=utf-8", nil)
	if err != nil {
		return fmt.Errorf("%s\nis not read: %w", source, err)
	}
	if all := fmt.Sprint(p); strings.Contains(all, "EVIL") {
		return fmt.Errorf("%s\nshows what is hidden: %s", source, all)
	}
	for _, mark := range v.shown {
		if !strings.Contains(p.Markdown, mark+" ") {
			return fmt.Errorf("%s\nhides %s: %s", source, mark, p.Markdown)
		}
	}
	if p.Hidden != v.hidden {
		return fmt.Errorf("%s\nhides %d characters, and counts %d", source, v.hidden, p.Hidden)
	}
	return nil
}

func TestVeil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := checkVeil(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "plan")); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzHidden is rule H with all its parts. What is fuzzed is a plan by which a page is made.
func FuzzHidden(f *testing.F) {
	f.Fuzz(func(t *testing.T, plan []byte) {
		if err := checkVeil(plan); err != nil {
			t.Fatal(err)
		}
	})
}
