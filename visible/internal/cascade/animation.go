package cascade

import (
	"math"
	"sort"
	"strings"

	"familiar/visible/internal/css"
)

// watched is the time at which a page is looked at, in seconds after it was opened.
const watched = 60

// animated returns the declarations that are in force at the end of an element's animations, the strongest last.
func (s *Sheets) animated(st *Style) (all []declaration) {
	names := st.Get(AnimationName).Parts
	timeline := st.Word(AnimationTimeline)
	around := st.Around(math.NaN())
	part := func(p Property, i int) Part {
		if v := st.Get(p); v != nil && len(v.Parts) > 0 {
			return v.Parts[i%len(v.Parts)]
		}
		return Part{}
	}
	number := func(p Property, i int, initial float64) float64 {
		if one := part(p, i); len(one.Numbers) > 0 {
			return one.Numbers[0].Value(around)
		}
		return initial
	}
	for i, name := range names {
		frames, ok := s.keyframes[name.Name]
		if !ok || len(frames) == 0 || i >= 16 {
			continue
		}
		run := timing{
			duration: number(AnimationDuration, i, 0), delay: number(AnimationDelay, i, 0), times: number(AnimationIterations, i, 1),
			direction: part(AnimationDirection, i).Name, fill: part(AnimationFill, i).Name, paused: part(AnimationState, i).Name == "paused",
		}
		if part(AnimationIterations, i).Name == "infinite" {
			run.times = math.Inf(1)
		}
		if timeline != "" && timeline != "auto" {
			if timeline != "none" {
				all = append(all, frame(frames, scrolled(timeline, st.Word(AnimationRange)))...)
			}
			continue
		}
		if at, applies := run.progress(); applies {
			all = append(all, frame(frames, at)...)
		} else if at < 0 {
			all = append(all, constant(frames)...)
		}
		s.work.steps += len(frames)
	}
	return all
}

// scrolled returns how far an animation is that runs while the page is scrolled. It is at its beginning if it depends on the page. It is
// near its end if it depends on the place of the element. A person scrolls to what is read.
func scrolled(timeline, span string) float64 {
	late := strings.Contains(span, "exit ") || strings.HasPrefix(span, "cover 9") || strings.HasPrefix(span, "cover 100") || strings.HasPrefix(span, "contain 100")
	if !strings.HasPrefix(timeline, "view") || late {
		return 0
	}
	return 1
}

// timing says when an animation runs.
type timing struct {
	duration, delay, times float64 // in seconds
	direction, fill        string
	paused                 bool
}

// progress returns how far an animation is when the page is looked at, from 0 to 1. It returns -1 if it never ends.
func (t timing) progress() (at float64, applies bool) {
	now := float64(watched)
	if t.paused {
		now = 0
	}
	now -= t.delay
	total := t.duration * t.times
	if t.duration == 0 {
		total = 0
	}
	var round float64
	switch {
	case now < 0:
		if t.fill != "backwards" && t.fill != "both" {
			return 0, false
		}
	case now >= total:
		if t.fill != "forwards" && t.fill != "both" {
			return 0, false
		}
		round = math.Max(math.Ceil(t.times)-1, 0)
		at = t.times - round
		if t.times == 0 {
			at = 0
		}
		if math.IsInf(t.times, 1) {
			round, at = 0, 1
		}
	case math.IsInf(t.times, 1) && !t.paused:
		return -1, false
	default:
		at = now / t.duration
		round = math.Floor(at)
		at -= round
	}
	odd := math.Mod(round, 2) == 1
	if t.direction == "reverse" || t.direction == "alternate" && odd || t.direction == "alternate-reverse" && !odd {
		at = 1 - at
	}
	return at, true
}

// frame returns the declarations that are in force at a point of an animation. For each property they are those of the keyframe before that
// point. At the end only the last keyframe counts. A property that it does not set returns to its value without the animation.
func frame(frames []keyframe, at float64) (all []declaration) {
	last := map[Property]float64{}
	for _, f := range frames {
		for _, d := range f.declarations {
			last[d.property] = max(last[d.property], f.at)
		}
	}
	for _, f := range frames {
		if f.at > at+1e-9 {
			break
		}
		for _, d := range f.declarations {
			if at >= 1 && last[d.property] < 1 && d.custom == "" {
				continue
			}
			all = append(all, d)
		}
	}
	return all
}

// constant returns the declarations that all keyframes of an endless animation share.
func constant(frames []keyframe) (all []declaration) {
	from, to := frame(frames, 0), frame(frames, 1)
	for _, a := range from {
		for _, b := range to {
			if a.property == b.property && a.custom == "" && a.value.Word == b.value.Word && sameNumbers(a.value.Numbers, b.value.Numbers) && a.value.Word+firstName(a.value) == b.value.Word+firstName(b.value) {
				all = append(all, a)
			}
		}
	}
	return all
}

func firstName(v *Value) string {
	if len(v.Parts) > 0 {
		return v.Parts[0].Name
	}
	return ""
}

func sameNumbers(a, b []Number) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].op != b[i].op || a[i].n != b[i].n || a[i].unit != b[i].unit {
			return false
		}
	}
	return true
}

func readAnimationName(v *reader) (Value, bool) {
	if v.done() || v.kind(v.at) != css.Ident && v.kind(v.at) != css.String {
		return Value{}, false
	}
	v.at++
	return Value{Word: v.t.Name(v.at - 1)}, true
}

// animationWords maps the keywords of the shorthand to their properties. Easing does not matter; its keywords count as
// AnimationTimeline, which the shorthand cannot set.
var animationWords = map[string]Property{
	"ease": AnimationTimeline, "ease-in": AnimationTimeline, "ease-out": AnimationTimeline, "ease-in-out": AnimationTimeline, "linear": AnimationTimeline, "step-start": AnimationTimeline, "step-end": AnimationTimeline,
	"infinite": AnimationIterations,
	"normal":   AnimationDirection, "reverse": AnimationDirection, "alternate": AnimationDirection, "alternate-reverse": AnimationDirection,
	"none": AnimationFill, "forwards": AnimationFill, "backwards": AnimationFill, "both": AnimationFill,
	"running": AnimationState, "paused": AnimationState,
}

// animationShorthand holds the values in the shorthand of one animation, by property from AnimationName on.
type animationShorthand struct {
	parts [AnimationTimeline - AnimationName + 1]Part
	given [AnimationTimeline - AnimationName + 1]bool
	times int // times read so far: the first is the duration, the second the delay
}

// readAnimation reads the shorthand of animations.
func readAnimation(v *reader, set func(Property, Value)) bool {
	var lists [AnimationTimeline - AnimationName]Value
	for _, part := range v.parts() {
		one := animationShorthand{parts: [...]Part{
			{Name: "none"}, {Numbers: []Number{{quantity: duration}}}, {Numbers: []Number{{quantity: duration}}}, {Numbers: []Number{{n: 1}}},
			{Name: "normal"}, {Name: "none"}, {Name: "running"}, {},
		}}
		for !part.done() {
			if !one.read(part) {
				return false
			}
		}
		for i := range lists {
			lists[i].Parts = append(lists[i].Parts, one.parts[i])
		}
	}
	for i := range lists {
		set(AnimationName+Property(i), lists[i])
	}
	set(AnimationTimeline, Value{Word: "auto"})
	v.at = v.in.To
	return true
}

// read reads the next component. A word is the first keyword that it can be, and otherwise the name.
func (a *animationShorthand) read(v *reader) bool {
	if n, ok := v.numberOf(duration); ok {
		if a.times++; a.times > 2 {
			return false
		}
		a.parts[a.times].Numbers = []Number{n}
		return true
	}
	if n, ok := v.numberOf(plain); ok {
		return a.place(AnimationIterations, Part{Numbers: []Number{n}})
	}
	if _, _, ok := v.function(); ok { // an easing
		return true
	}
	word, ok := v.word()
	if !ok {
		if v.kind(v.at) != css.String {
			return false
		}
		v.at++
	}
	if p, known := animationWords[word]; known && a.place(p, Part{Name: word}) || word == "auto" {
		return true
	}
	return a.place(AnimationName, Part{Name: v.t.Name(v.at - 1)})
}

// place sets the value of a property, if it has none yet.
func (a *animationShorthand) place(p Property, value Part) bool {
	i := p - AnimationName
	if a.given[i] {
		return false
	}
	a.given[i], a.parts[i] = true, value
	return true
}

// keyframe is a step of an animation, from 0 to 1.
type keyframe struct {
	at           float64
	declarations []declaration
}

func (r *sheetReader) keyframes(item css.Item) {
	name := r.t.Trim(item.Prelude)
	if k := r.t.Kind(name.From, name); name.To != name.From+1 || k != css.Ident && k != css.String {
		return
	}
	var frames []keyframe
	for step := range r.t.Block(item.Block) {
		if !step.IsRule || step.Name != "" {
			continue
		}
		var own []declaration
		for d := range r.t.Block(step.Block) {
			if !d.IsRule && !d.Important && matters(d.Name) {
				own = appendDeclarations(own, d.Name, r.t.Between(d.Value), false, r.s.quirks)
			}
		}
		for part := range r.t.Split(step.Prelude, css.Comma) {
			switch {
			case r.t.Kind(part.From, part) == css.Percentage:
				n, _ := r.t.Number(part.From)
				frames = append(frames, keyframe{n / 100, own})
			case r.t.Kind(part.From, part) != css.Ident:
			case r.t.Lower(part.From) == "from":
				frames = append(frames, keyframe{0, own})
			case r.t.Lower(part.From) == "to":
				frames = append(frames, keyframe{1, own})
			}
		}
	}
	sort.SliceStable(frames, func(i, j int) bool { return frames[i].at < frames[j].at })
	r.s.keyframes[r.t.Name(name.From)] = frames
}
