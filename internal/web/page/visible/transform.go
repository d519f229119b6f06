package visible

import (
	"math"
	"strings"

	"familiar/internal/web/page/visible/cascade"
)

// matrix is a transform in space, by columns.
type matrix [16]float64

var identity = matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}

func (m matrix) times(n matrix) (p matrix) {
	for c := range 4 {
		for r := range 4 {
			for k := range 4 {
				p[4*c+r] += m[4*k+r] * n[4*c+k]
			}
		}
	}
	return p
}

func turn(x, y, z, degrees float64) matrix {
	long := math.Sqrt(x*x + y*y + z*z)
	if long == 0 {
		return identity
	}
	x, y, z = x/long, y/long, z/long
	s, c := math.Sincos(degrees * math.Pi / 180)
	t := 1 - c
	return matrix{
		t*x*x + c, t*x*y + s*z, t*x*z - s*y, 0,
		t*x*y - s*z, t*y*y + c, t*y*z + s*x, 0,
		t*x*z + s*y, t*y*z - s*x, t*z*z + c, 0,
		0, 0, 0, 1,
	}
}

// smallest is how small letters may be made by a transform, as a factor, before they count as a line.
const smallest = .05

// transform moves, turns and scales an element. It reports false if nothing of it is left.
func (f *frame) transform() bool {
	st := &f.style
	m := identity
	some := false
	for _, p := range [...]cascade.Property{cascade.Translate, cascade.Rotate, cascade.Scale, cascade.Transform} {
		v := st.Get(p)
		if v == nil {
			continue
		}
		if v.Doubt {
			return false
		}
		for i := range v.Parts {
			some = true
			m = m.times(f.matrixOf(&v.Parts[i]))
		}
	}
	if path := st.Word(cascade.OffsetPath); path != "" && path != "none" {
		return false // it is somewhere along a path that is not computed
	}
	if !some {
		return true
	}
	f.hosts, f.pinned = f, f
	for _, n := range m {
		if n != n {
			return false
		}
	}
	area := math.Abs(m[0]*m[5] - m[1]*m[4])
	wide := max(math.Hypot(m[0], m[1]), math.Hypot(m[4], m[5]))
	volume := m[0]*(m[5]*m[10]-m[6]*m[9]) - m[4]*(m[1]*m[10]-m[2]*m[9]) + m[8]*(m[1]*m[6]-m[2]*m[5])
	if wide == 0 || math.Abs(volume) < 1e-9 || area/wide < smallest || m[15] <= 0 || m[10] < 0 && st.Word(cascade.BackfaceVisibility) == "hidden" {
		return false
	}
	f.scale *= area / wide
	f.box.x += m[12]
	f.box.y += m[13]
	return true
}

// matrixOf returns the matrix of one transform.
func (f *frame) matrixOf(part *cascade.Part) matrix {
	compute := matrices[part.Name]
	if compute == nil {
		return identity
	}
	width, tall := f.box.width, math.NaN()
	n := make([]float64, len(part.Numbers))
	for i := range n {
		base := 1.0
		if strings.HasPrefix(part.Name, "translate") {
			if base = width; part.Name == "translatey" || i == 1 {
				if tall != tall {
					tall = f.tall()
				}
				base = tall
			}
		}
		n[i] = part.Numbers[i].Value(f.style.Around(base))
	}
	return compute(n)
}

// matrices compute the matrices of transforms by name. Package cascade has counted the arguments.
var matrices = map[string]func(n []float64) matrix{
	"matrix":      func(n []float64) matrix { return planar(n[0], n[1], n[2], n[3], n[4], n[5]) },
	"matrix3d":    func(n []float64) matrix { return matrix(n) },
	"translate":   func(n []float64) matrix { return translation(n[0], second(n, 0), 0) },
	"translatex":  func(n []float64) matrix { return translation(n[0], 0, 0) },
	"translatey":  func(n []float64) matrix { return translation(0, n[0], 0) },
	"translatez":  func(n []float64) matrix { return translation(0, 0, n[0]) },
	"translate3d": func(n []float64) matrix { return translation(n[0], n[1], n[2]) },
	"scale":       func(n []float64) matrix { return scaling(n[0], second(n, n[0]), 1) },
	"scalex":      func(n []float64) matrix { return scaling(n[0], 1, 1) },
	"scaley":      func(n []float64) matrix { return scaling(1, n[0], 1) },
	"scalez":      func(n []float64) matrix { return scaling(1, 1, n[0]) },
	"scale3d":     func(n []float64) matrix { return scaling(n[0], n[1], n[2]) },
	"rotate":      func(n []float64) matrix { return turn(0, 0, 1, n[0]) },
	"rotatex":     func(n []float64) matrix { return turn(1, 0, 0, n[0]) },
	"rotatey":     func(n []float64) matrix { return turn(0, 1, 0, n[0]) },
	"rotatez":     func(n []float64) matrix { return turn(0, 0, 1, n[0]) },
	"rotate3d":    func(n []float64) matrix { return turn(n[0], n[1], n[2], n[3]) },
	"skew":        func(n []float64) matrix { return planar(1, slope(second(n, 0)), slope(n[0]), 1, 0, 0) },
	"skewx":       func(n []float64) matrix { return planar(1, 0, slope(n[0]), 1, 0, 0) },
	"skewy":       func(n []float64) matrix { return planar(1, slope(n[0]), 0, 1, 0, 0) },
	"perspective": func(n []float64) matrix { return perspective(n[0]) },
}

// second returns the second argument, or what stands for it.
func second(n []float64, other float64) float64 {
	if len(n) > 1 {
		return n[1]
	}
	return other
}

// planar is a transform in the plane.
func planar(a, b, c, d, x, y float64) matrix {
	return matrix{a, b, 0, 0, c, d, 0, 0, 0, 0, 1, 0, x, y, 0, 1}
}

func translation(x, y, z float64) matrix {
	return matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1}
}

func scaling(x, y, z float64) matrix {
	return matrix{x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1}
}

func slope(degrees float64) float64 { return math.Tan(degrees * math.Pi / 180) }

func perspective(distance float64) matrix {
	m := identity
	if distance > 0 {
		m[11] = -1 / distance
	}
	return m
}
