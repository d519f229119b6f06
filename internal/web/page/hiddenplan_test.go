package page

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/visible/dom"
)

// wrapper is markup that hides what stands for %s.
type wrapper struct {
	source  string
	machine bool // its content is for machines and is not counted as hidden
}

// hiding are wrappers that hide any elements.
var hiding = []wrapper{
	{`<div hidden>%s</div>`, false}, {`<div aria-hidden="true">%s</div>`, false}, {`<details>%s</details>`, false},
	{`<div class="sr-only">%s</div>`, false}, {`<div class="a visually-hidden b">%s</div>`, false}, {`<div class="d-none">%s</div>`, false}, {`<div class="invisible">%s</div>`, false},
	{`<div style="display/**/:/**/none">%s</div>`, false}, {`<div style="DISPLAY: none !important">%s</div>`, false}, {`<div style="content-visibility:hidden">%s</div>`, false},
	{`<div style="opacity:0">%s</div>`, false}, {`<div style="opacity:9%%">%s</div>`, false}, {`<div style="filter:opacity(0)">%s</div>`, false},
	{`<div style="position:absolute;left:-9999px">%s</div>`, false}, {`<div style="text-indent:-999em">%s</div>`, false}, {`<div style="transform:translateX(-9999px)">%s</div>`, false},
	{`<div style="clip:rect(0,0,0,0);position:absolute">%s</div>`, false}, {`<div style="clip-path:inset(50%%)">%s</div>`, false}, {`<div style="transform:scale(0)">%s</div>`, false},
	{`<div style="height:0;overflow:hidden">%s</div>`, false}, {`<div style="width:1px;height:1px">%s</div>`, false}, {`<div style="max-height:0;overflow:clip">%s</div>`, false},
	{`<div class="q7">%s</div>`, false}, {`<section id="zz9">%s</section>`, false}, {`<blink>%s</blink>`, false}, {`<div class="up"><div class="down">%s</div></div>`, false},
	{`<div class="wide">%s</div>`, false}, {`<div class="flat shut">%s</div>`, false}, {`<div class="firm" style="display:block">%s</div>`, false},
	{`<template>%s</template>`, true}, {`<object>%s</object>`, true}, {`<canvas>%s</canvas>`, true}, {`<dialog>%s</dialog>`, false},
}

// machines are wrappers that hide text. They cannot hold elements.
var machines = []string{
	`<noscript>%s</noscript>`, `<script>%s</script>`, `<style>/*%s*/</style>`, `<!-- %s -->`, `<svg><text>%s</text></svg>`, `<math><mtext>%s</mtext></math>`,
	`<iframe>%s</iframe>`, `<textarea>%s</textarea>`, `<select><option>%s</option></select>`, `<button>%s</button>`, `<noembed>%s</noembed>`, `<xmp>%s</xmp>`,
	`<img alt="%s">`, `<p title="%[1]s" data-x="%[1]s" aria-label="%[1]s"></p>`, `<input value="%s">`, `<iframe srcdoc="%s"></iframe>`,
}

// inheritedStyles are styles that text inherits and an element inside can undo: one that hides, and one that shows again.
var inheritedStyles = [...][2]string{
	{"visibility:hidden", "visibility:visible"}, {"font-size:0", "font-size:16px"}, {"color:transparent", "color:black"},
}

// showing are wrappers that look like hiding ones and hide nothing.
var showing = []string{
	`<div class="hidden md:block">%s</div>`, `<div class="d-none d-md-block">%s</div>`, `<div class="sr-only lg:not-sr-only">%s</div>`, `<div class="invisible lg:visible">%s</div>`,
	`<div style="opacity:.5">%s</div>`, `<div style="clip-path:inset(-200em)">%s</div>`, `<div style="height:0">%s</div>`, `<div style="font-size:.8em">%s</div>`,
	`<div class="paper">%s</div>`, `<div class="phone">%s</div>`, `<div class="hover">%s</div>`, `<div class="twice">%s</div>`, `<div class="q7" style="display:block!important">%s</div>`,
	`<details open>%s</details>`, `<section inert>%s</section>`, `<div title="display:none" data-hidden="true">%s</div>`, `<section>%s</section>`, `<div><div>%s</div></div>`,
}

const styles = `<style>.q7{display:none}#zz9{clip-path:inset(50%)}blink{opacity:0}.up > .down{position:relative;left:-9999px}.flat{height:0}.shut{overflow:hidden}
.firm{display:none!important}@media (min-width:600px){.wide{display:none}}@media print{.paper{display:none}}@media (max-width:600px){.phone{display:none}}
.hover:hover{display:none}.twice{display:none}.twice{display:block}</style>`

// plannedPage is a page that is written after a plan. It has the words that a reader sees and the number of characters that are hidden.
type plannedPage struct {
	plan   []byte
	source strings.Builder
	shown  []string
	hidden int
	n      int // of the last paragraph
}

// choose takes the plan's next step, one of n. At the end of the plan it takes the first.
func (p *plannedPage) choose(n int) int {
	if len(p.plan) == 0 {
		return 0
	}
	step := int(p.plan[0]) % n
	p.plan = p.plan[1:]
	return step
}

// place is how a place in the page is hidden.
type place struct {
	hidden    bool // whatever is inside
	machine   bool // and not counted
	inherited [len(inheritedStyles)]bool
}

func (p place) hides() bool { return p.hidden || p.inherited != [len(inheritedStyles)]bool{} }

const maxPlanDepth = 5

func (p *plannedPage) blocks(depth int, at place) {
	for range 1 + p.choose(3) {
		p.block(depth, at)
	}
}

func (p *plannedPage) block(depth int, at place) {
	kind := p.choose(6)
	if depth == maxPlanDepth || kind == 0 {
		p.source.WriteString("<p>" + p.words(at) + "</p>")
		return
	}
	switch kind {
	case 1:
		w := hiding[p.choose(len(hiding))]
		at.hidden, at.machine = true, at.machine || w.machine
		p.wrap(w.source, depth, at)
	case 2:
		source := machines[p.choose(len(machines))]
		at.hidden, at.machine = true, true
		fmt.Fprintf(&p.source, source, p.words(at))
	case 3, 4:
		i := p.choose(len(inheritedStyles))
		at.inherited[i] = kind == 3
		p.wrap(`<div style="`+inheritedStyles[i][kind-3]+`">%s</div>`, depth, at)
	default:
		p.wrap(showing[p.choose(len(showing))], depth, at)
	}
}

// wrap writes blocks into a wrapper.
func (p *plannedPage) wrap(source string, depth int, at place) {
	before, after, _ := strings.Cut(strings.ReplaceAll(source, "%%", "%"), "%s")
	p.source.WriteString(before)
	p.blocks(depth+1, at)
	p.source.WriteString(after)
}

// words returns a paragraph that says whether it may be read.
func (p *plannedPage) words(at place) string {
	p.n++
	if !at.hides() {
		mark := fmt.Sprintf("GOOD%d", p.n)
		p.shown = append(p.shown, mark)
		return fmt.Sprintf("%s was told in house %d by everybody who had come up the hill, and number %d of them wrote it down for the others.", mark, 3*p.n, 7*p.n)
	}
	text := fmt.Sprintf("EVIL%d is what nobody in the house %d could see.", p.n, p.n)
	if !at.machine {
		p.hidden += dom.Letters(text)
	}
	return text
}

// checkPlan writes a page after a plan and reads it. What is hidden never shows and is counted, and what is seen always shows.
func checkPlan(plan []byte) error {
	w := plannedPage{plan: plan}
	w.source.WriteString(`<!doctype html><html><head>` + styles + `</head><body><article><h1>The house on the hill</h1><p>` + w.words(place{}) + `</p>`)
	for len(w.plan) > 0 && w.n < 60 {
		w.block(0, place{})
	}
	w.source.WriteString(`<p>` + w.words(place{}) + `</p></article></body></html>`)
	source := w.source.String()
	p, err := Read([]byte(source), "text/html; charset=utf-8", nil)
	if err != nil {
		return fmt.Errorf("%s\nis not read: %w", source, err)
	}
	if all := fmt.Sprint(p); strings.Contains(all, "EVIL") {
		return fmt.Errorf("%s\nshows what is hidden: %s", source, all)
	}
	for _, mark := range w.shown {
		if !strings.Contains(p.Markdown, mark+" ") {
			return fmt.Errorf("%s\nhides %s: %s", source, mark, p.Markdown)
		}
	}
	if p.Hidden != w.hidden {
		return fmt.Errorf("%s\nhides %d characters, and counts %d", source, w.hidden, p.Hidden)
	}
	return nil
}

func TestHiddenPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := checkPlan(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "plan")); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzHidden fuzzes the plans after which pages are written.
func FuzzHidden(f *testing.F) {
	f.Fuzz(func(t *testing.T, plan []byte) {
		if err := checkPlan(plan); err != nil {
			t.Fatal(err)
		}
	})
}
