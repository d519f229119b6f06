package cascade

import (
	"slices"
	"strings"

	"familiar/internal/web/page/visible/css"
)

// layer is a cascade layer.
type layer struct {
	name   string
	layers []*layer
	index  int // in the order of strength
}

// sub returns a layer below l by its name, parts separated by points. A name that is empty is a layer of its own.
func (l *layer) sub(name string) *layer {
	for part := range strings.SplitSeq(name, ".") {
		i := slices.IndexFunc(l.layers, func(s *layer) bool { return s.name == part && part != "" })
		if i < 0 {
			i = len(l.layers)
			l.layers = append(l.layers, &layer{name: part})
		}
		l = l.layers[i]
	}
	return l
}

// number orders the layers: those below a layer are weaker than what stands in the layer itself.
func (l *layer) number(next int) int {
	for _, s := range l.layers {
		next = s.number(next)
	}
	l.index = next
	return next + 1
}

// declareLayers reads the names of layers in a list. The order in which they are first named is that of their strength.
func (r *sheetReader) declareLayers(in css.Span, l *layer) {
	for part := range r.t.Split(in, css.Comma) {
		if name, ok := r.layerName(part); ok && name != "" {
			l.sub(name)
		}
	}
}

func (r *sheetReader) layerName(in css.Span) (string, bool) {
	text := r.t.Between(in)
	if text == "" {
		return "", true
	}
	for i := in.From; i < in.To; i++ {
		if k := r.t.Kind(i, in); k != css.Ident && !r.t.Is(i, in, '.') {
			return "", false
		}
	}
	return text, true
}
