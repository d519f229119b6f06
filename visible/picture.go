package visible

import (
	"bytes"
	"image"
	_ "image/gif"  // pictures in pages
	_ "image/jpeg" // pictures in pages
	_ "image/png"  // pictures in pages
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// picture is what is known of a picture: its size and the rectangles in it, as parts of that size.
type picture struct {
	width, height float64
	known         bool // nothing but the rectangles is in it
	rectangles    []painted
}

// painted is a rectangle of one colour.
type painted struct {
	area   rectangle
	colour cascade.RGBA
}

type rectangle struct{ left, top, right, bottom float64 }

func (r *rectangle) holds(x, y float64) bool {
	return x >= r.left && x < r.right && y >= r.top && y < r.bottom
}

// The largest picture in an address that is decoded: its bytes, and its pixels.
const (
	maxPicture = 64 << 10
	maxPixels  = 256 * 256
)

// pictureOf returns the picture of an <img>, or nil if the page does not hold it.
func (l *layout) pictureOf(n *html.Node) *picture {
	address, _ := dom.Attr(n, "src")
	return l.pictureAt(address)
}

// pictureAt returns the picture in an address. Each address is read once.
func (l *layout) pictureAt(address string) *picture {
	p, known := l.pictures[address]
	if !known {
		p = readPicture(address)
		if l.pictures == nil {
			l.pictures = map[string]*picture{}
		}
		l.pictures[address] = p
	}
	return p
}

func readPicture(address string) *picture {
	if len(address) > maxPicture {
		return nil
	}
	data, kind, ok := cascade.Data(address)
	switch {
	case !ok:
		return nil
	case strings.HasPrefix(kind, "image/svg"):
		doc, err := html.Parse(strings.NewReader(data))
		if err != nil {
			return nil
		}
		for n := range doc.Descendants() {
			if n.DataAtom == atom.Svg {
				return drawing(n, 0, 0)
			}
		}
		return nil
	}
	size, _, err := image.DecodeConfig(strings.NewReader(data))
	if err != nil || size.Width*size.Height > maxPixels {
		return nil
	}
	pixels, _, err := image.Decode(bytes.NewReader([]byte(data)))
	if err != nil {
		return nil
	}
	p := &picture{width: float64(size.Width), height: float64(size.Height), known: true}
	const grid = 8
	for i := range grid * grid {
		x, y := float64(i%grid), float64(i/grid)
		at := pixels.Bounds().Min.Add(image.Pt(int((x+.5)/grid*p.width), int((y+.5)/grid*p.height)))
		r, g, b, a := pixels.At(at.X, at.Y).RGBA()
		if a > 0 {
			f := float64(a)
			p.rectangles = append(p.rectangles, painted{rectangle{x / grid, y / grid, (x + 1) / grid, (y + 1) / grid}, cascade.RGBA{float64(r) / f, float64(g) / f, float64(b) / f, f / 0xFFFF}})
		}
	}
	return p
}

// drawing reads the shapes of an <svg> element of that size; 0 stands for its own size. A shape counts as the rectangle
// around it.
func drawing(n *html.Node, width, height float64) *picture {
	p := &picture{width: 300, height: 150, known: true}
	view := rectangle{0, 0, 0, 0}
	for _, a := range n.Attr {
		switch strings.ToLower(a.Key) {
		case "width":
			p.width = measureIn(a.Val, p.width)
		case "height":
			p.height = measureIn(a.Val, p.height)
		case "viewbox":
			var v [4]float64
			for i, field := range strings.FieldsFunc(a.Val, func(c rune) bool { return c == ' ' || c == ',' }) {
				if i < 4 {
					v[i], _ = strconv.ParseFloat(field, 64)
				}
			}
			view = rectangle{v[0], v[1], v[0] + v[2], v[1] + v[3]}
		}
	}
	if width > 0 && height > 0 {
		p.width, p.height = width, height
	}
	if view.right <= view.left || view.bottom <= view.top {
		view = rectangle{0, 0, p.width, p.height}
	}
	shapes := 0
	for c := range n.Descendants() {
		if shapes++; shapes > 1_000 {
			break
		}
		if c.Type != html.ElementNode {
			continue
		}
		if one, ok := shapeIn(c, view); ok {
			p.rectangles = append(p.rectangles, one)
		}
	}
	return p
}

// measureIn reads a length of an attribute, where 100 % is all.
func measureIn(text string, all float64) float64 {
	text = strings.TrimSuffix(strings.TrimSpace(text), "px")
	plain, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(plain, 64)
	switch {
	case err != nil || math.IsInf(n, 0) || n != n:
		return 0
	case percent:
		return n / 100 * all
	}
	return n
}

// shapeIn returns the rectangle around a shape, as a part of what is shown.
func shapeIn(n *html.Node, view rectangle) (painted, bool) {
	wide, tall := view.right-view.left, view.bottom-view.top
	get := func(key string, all float64) float64 {
		text, _ := dom.Attr(n, key)
		return measureIn(text, all)
	}
	var r rectangle
	switch n.Data {
	case "rect", "image", "foreignobject", "foreignObject":
		r.left, r.top = get("x", wide), get("y", tall)
		r.right, r.bottom = r.left+get("width", wide), r.top+get("height", tall)
	case "circle", "ellipse":
		rx, ry := max(get("r", wide), get("rx", wide)), max(get("r", tall), get("ry", tall))
		r = rectangle{get("cx", wide) - rx*.7, get("cy", tall) - ry*.7, get("cx", wide) + rx*.7, get("cy", tall) + ry*.7}
	case "polygon", "path":
		text, _ := dom.Attr(n, "points")
		if n.Data == "path" {
			text, _ = dom.Attr(n, "d")
		}
		r = rectangle{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		fields := strings.FieldsFunc(text[:min(len(text), 4_000)], func(c rune) bool { return (c < '0' || c > '9') && c != '.' && c != '-' })
		low, high := math.Inf(1), math.Inf(-1)
		for _, field := range fields {
			if v, err := strconv.ParseFloat(field, 64); err == nil {
				low, high = min(low, v), max(high, v)
			}
		}
		if len(fields) > 24 { // a figure, not a ground
			return painted{}, false
		}
		r = rectangle{low, low, high, high}
	default:
		return painted{}, false
	}
	c := cascade.RGBA{0, 0, 0, 1}
	style, _ := dom.Attr(n, "style")
	fill, _ := dom.Attr(n, "fill")
	if _, after, ok := dom.CutFold(style, "fill:"); ok {
		fill, _, _ = strings.Cut(after, ";")
	}
	if fill != "" {
		got, ok := cascade.ParseColour(fill)
		if !ok {
			return painted{}, false
		}
		c = got
	}
	opacity, ok := dom.Attr(n, "fill-opacity")
	if !ok {
		opacity, ok = dom.Attr(n, "opacity")
	}
	if ok {
		c[3] *= measureIn(opacity, 1)
	}
	r = rectangle{(r.left - view.left) / wide, (r.top - view.top) / tall, (r.right - view.left) / wide, (r.bottom - view.top) / tall}
	return painted{r, c}, r.right > r.left && r.bottom > r.top
}
