package cascade

import (
	"math"
	"strings"

	"familiar/internal/web/page/visible/css"
)

// containerQuery is the condition of @container.
type containerQuery struct {
	t  *css.Text
	in css.Span
}

func newContainerQuery(text string) containerQuery {
	t := css.Tokenize(text)
	return containerQuery{t, t.Trim(t.All())}
}

// container evaluates a condition of @container for an element, of which only the parent is computed.
func (s *Sheets) container(q containerQuery, parent *Style) bool {
	s.work.steps += 4
	in := q.in
	name := ""
	c := condition{t: q.t}
	if word := c.word(in.From, in); word != "" && word != "not" {
		name = q.t.Name(in.From)
		in = q.t.Trim(css.Span{From: in.From + 1, To: in.To})
		if in.Empty() {
			return containerNamed(parent, name, false) != nil
		}
	}
	c.leaf = func(function string, inside css.Span) truth {
		switch function {
		case "":
			box := containerNamed(parent, name, true)
			if box == nil {
				return unknown
			}
			return compare(q.t, inside, box.feature, box.Around(math.NaN()))
		case "style":
			box := containerNamed(parent, name, false)
			if box == nil {
				return unknown
			}
			return s.styleQuery(q.t, inside, box)
		}
		return unknown
	}
	got := c.eval(in)
	return got == yes && !c.bad
}

// containerNamed returns the nearest element around that is a container, with a name and with a known size if these are asked for.
func containerNamed(st *Style, name string, size bool) *Style {
	for ; st != nil; st = st.Parent {
		if kind := st.Word(ContainerType); size && !strings.Contains(kind, "size") {
			continue
		}
		if name == "" || wordIn(strings.Fields(st.Word(ContainerName)), name) {
			return st
		}
	}
	return nil
}

func (st *Style) feature(name string) (float64, bool) {
	height, known := st.Length(Height, math.NaN())
	known = known && st.Word(ContainerType) == "size"
	switch name {
	case "width", "inline-size":
		return st.Inner, true
	case "height", "block-size":
		return height, known
	case "aspect-ratio":
		return st.Inner / height, known
	}
	return 0, false
}

// styleQuery evaluates a question about a custom property.
func (s *Sheets) styleQuery(t *css.Text, in css.Span, box *Style) truth {
	if t.Kind(in.From, in) == css.Ident && in.To == in.From+1 {
		_, ok := s.custom(box.customs, t.Name(in.From))
		return truthOf(ok)
	}
	for item := range t.Block(in) {
		if item.IsRule || !strings.HasPrefix(item.Name, "--") {
			return unknown
		}
		have, ok := s.custom(box.customs, item.Name)
		want, ok2 := s.substitute(t.Between(item.Value), nil, func(name string) (string, bool) { return s.custom(box.customs, name) })
		return truthOf(ok && ok2 && strings.TrimSpace(have) == strings.TrimSpace(want))
	}
	return unknown
}
