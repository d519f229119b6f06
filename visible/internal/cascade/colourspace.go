package cascade

import "math"

// colourSpace is a way to write colours.
type colourSpace struct {
	scales [3]float64 // the value of 100 %, by component
	hue    int        // the number of the component that is a hue, from 1; 0: none
	legacy bool       // its components may be separated by commas
	names  [3]string  // of the components
	toRGB  func(c [4]float64) RGBA
	from   func(c RGBA) [4]float64
}

var colourSpaces = map[string]colourSpace{
	"rgb": {scales: [3]float64{255, 255, 255}, legacy: true, names: [3]string{"r", "g", "b"}, toRGB: func(c [4]float64) RGBA {
		return RGBA{clamp01(c[0] / 255), clamp01(c[1] / 255), clamp01(c[2] / 255), c[3]}
	}, from: func(c RGBA) [4]float64 { return [4]float64{c[0] * 255, c[1] * 255, c[2] * 255, c[3]} }},
	"hsl":   {scales: [3]float64{360, 100, 100}, hue: 1, legacy: true, names: [3]string{"h", "s", "l"}, toRGB: fromHSL, from: toHSL},
	"hwb":   {scales: [3]float64{360, 100, 100}, hue: 1, names: [3]string{"h", "w", "b"}, toRGB: fromHWB, from: toHWB},
	"lab":   {scales: [3]float64{100, 125, 125}, names: [3]string{"l", "a", "b"}, toRGB: fromLab, from: toLab},
	"lch":   {scales: [3]float64{100, 150, 360}, hue: 3, names: [3]string{"l", "c", "h"}, toRGB: func(c [4]float64) RGBA { return fromLab(fromPolar(c)) }, from: func(c RGBA) [4]float64 { return toPolar(toLab(c)) }},
	"oklab": {scales: [3]float64{1, .4, .4}, names: [3]string{"l", "a", "b"}, toRGB: fromOKLab, from: toOKLab},
	"oklch": {scales: [3]float64{1, .4, 360}, hue: 3, names: [3]string{"l", "c", "h"}, toRGB: func(c [4]float64) RGBA { return fromOKLab(fromPolar(c)) }, from: func(c RGBA) [4]float64 { return toPolar(toOKLab(c)) }},
}

func linearSpace(matrix [9]float64, decode func(float64) float64) colourSpace {
	return colourSpace{scales: [3]float64{1, 1, 1}, toRGB: func(c [4]float64) RGBA {
		x, y, z := times(matrix, decode(c[0]), decode(c[1]), decode(c[2]))
		return fromXYZ(x, y, z, c[3])
	}}
}

func same(n float64) float64 { return n }

func power(p float64) func(float64) float64 {
	return func(n float64) float64 { return math.Copysign(math.Pow(math.Abs(n), p), n) }
}

// d50 adapts colours from the white of print (D50) to the white of screens (D65).
var d50 = [9]float64{0.9554734, -0.0230985, 0.0632593, -0.0283697, 1.0099955, 0.0210414, 0.0123140, -0.0205077, 1.3303659}

var predefinedSpaces = map[string]colourSpace{
	"srgb":              {scales: [3]float64{1, 1, 1}, toRGB: func(c [4]float64) RGBA { return RGBA{clamp01(c[0]), clamp01(c[1]), clamp01(c[2]), c[3]} }},
	"srgb-linear":       {scales: [3]float64{1, 1, 1}, toRGB: func(c [4]float64) RGBA { return RGBA{encode(c[0]), encode(c[1]), encode(c[2]), c[3]} }},
	"display-p3":        linearSpace([9]float64{0.4865709, 0.2656677, 0.1982173, 0.2289746, 0.6917385, 0.0792869, 0, 0.0451134, 1.0439444}, decode),
	"display-p3-linear": linearSpace([9]float64{0.4865709, 0.2656677, 0.1982173, 0.2289746, 0.6917385, 0.0792869, 0, 0.0451134, 1.0439444}, same),
	"a98-rgb":           linearSpace([9]float64{0.5766690, 0.1855582, 0.1882286, 0.2973450, 0.6273636, 0.0752915, 0.0270314, 0.0706889, 0.9913375}, power(563./256)),
	"rec2020":           linearSpace([9]float64{0.6369580, 0.1446169, 0.1688810, 0.2627002, 0.6779981, 0.0593017, 0, 0.0280727, 1.0609851}, power(2.4)),
	"xyz":               linearSpace([9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, same),
	"xyz-d65":           linearSpace([9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, same),
	"xyz-d50":           linearSpace(d50, same),
	"prophoto-rgb":      linearSpace(product3(d50, [9]float64{0.7977604, 0.1351859, 0.0313493, 0.2880711, 0.7118432, 0.0000857, 0, 0, 0.8251046}), power(1.8)),
}

func product3(a, b [9]float64) (c [9]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[3*i+j] += a[3*i+k] * b[3*k+j]
			}
		}
	}
	return c
}

func times(m [9]float64, a, b, c float64) (x, y, z float64) {
	return m[0]*a + m[1]*b + m[2]*c, m[3]*a + m[4]*b + m[5]*c, m[6]*a + m[7]*b + m[8]*c
}

func clamp01(n float64) float64 { return min(max(n, 0), 1) }

// decode turns a channel of sRGB into linear light, and encode does the reverse.
func decode(n float64) float64 {
	if n <= .04045 {
		return n / 12.92
	}
	return math.Pow((n+.055)/1.055, 2.4)
}

func encode(n float64) float64 {
	if n <= .0031308 {
		return clamp01(n * 12.92)
	}
	return clamp01(1.055*math.Pow(n, 1/2.4) - .055)
}

func fromXYZ(x, y, z, alpha float64) RGBA {
	r, g, b := times([9]float64{3.2409699, -1.5373832, -0.4986108, -0.9692436, 1.8759675, 0.0415551, 0.0556301, -0.2039770, 1.0569715}, x, y, z)
	return RGBA{encode(r), encode(g), encode(b), alpha}
}

func toXYZ(c RGBA) (x, y, z float64) {
	return times([9]float64{0.4123908, 0.3575843, 0.1804808, 0.2126390, 0.7151687, 0.0721923, 0.0193308, 0.1191948, 0.9505322}, decode(c[0]), decode(c[1]), decode(c[2]))
}

// Luminance returns the relative luminance of a colour, as WCAG 2 defines it.
func Luminance(c RGBA) float64 {
	return .2126*decode(c[0]) + .7152*decode(c[1]) + .0722*decode(c[2])
}

func fromHSL(c [4]float64) RGBA {
	h, s, l := math.Mod(math.Mod(c[0], 360)+360, 360), clamp01(c[1]/100), clamp01(c[2]/100)
	channel := func(n float64) float64 {
		k := math.Mod(n+h/30, 12)
		return l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1))
	}
	return RGBA{channel(0), channel(8), channel(4), c[3]}
}

func toHSL(c RGBA) [4]float64 {
	most, least := max(c[0], c[1], c[2]), min(c[0], c[1], c[2])
	l, d := (most+least)/2, most-least
	if d == 0 {
		return [4]float64{0, 0, l * 100, c[3]}
	}
	h := 0.0
	switch most {
	case c[0]:
		h = math.Mod((c[1]-c[2])/d+6, 6)
	case c[1]:
		h = (c[2]-c[0])/d + 2
	default:
		h = (c[0]-c[1])/d + 4
	}
	return [4]float64{h * 60, 100 * d / (1 - math.Abs(2*l-1)), l * 100, c[3]}
}

func fromHWB(c [4]float64) RGBA {
	w, b := clamp01(c[1]/100), clamp01(c[2]/100)
	if w+b >= 1 {
		return RGBA{w / (w + b), w / (w + b), w / (w + b), c[3]}
	}
	rgb := fromHSL([4]float64{c[0], 100, 50, c[3]})
	for i := range 3 {
		rgb[i] = rgb[i]*(1-w-b) + w
	}
	return rgb
}

func toHWB(c RGBA) [4]float64 {
	return [4]float64{toHSL(c)[0], 100 * min(c[0], c[1], c[2]), 100 * (1 - max(c[0], c[1], c[2])), c[3]}
}

func fromLab(c [4]float64) RGBA {
	fy := (c[0] + 16) / 116
	f := func(t float64) float64 {
		if t*t*t > 216./24389 {
			return t * t * t
		}
		return (116*t - 16) * 27 / 24389
	}
	x, y, z := times(d50, f(fy+c[1]/500)*0.9642956, f(fy), f(fy-c[2]/200)*0.8251046)
	return fromXYZ(x, y, z, c[3])
}

func toLab(c RGBA) [4]float64 {
	x, y, z := toXYZ(c)
	x, y, z = times([9]float64{1.0479298, 0.0229468, -0.0501922, 0.0296278, 0.9904345, -0.0170738, -0.0092430, 0.0150552, 0.7518743}, x, y, z)
	f := func(t float64) float64 {
		if t > 216./24389 {
			return math.Cbrt(t)
		}
		return (t*24389/27 + 16) / 116
	}
	fx, fy, fz := f(x/0.9642956), f(y), f(z/0.8251046)
	return [4]float64{116*fy - 16, 500 * (fx - fy), 200 * (fy - fz), c[3]}
}

func fromOKLab(c [4]float64) RGBA {
	l, m, s := times([9]float64{1, 0.3963378, 0.2158038, 1, -0.1055613, -0.0638542, 1, -0.0894842, -1.2914855}, c[0], c[1], c[2])
	r, g, b := times([9]float64{4.0767417, -3.3077116, 0.2309699, -1.2684380, 2.6097574, -0.3413194, -0.0041961, -0.7034186, 1.7076147}, l*l*l, m*m*m, s*s*s)
	return RGBA{encode(r), encode(g), encode(b), c[3]}
}

func toOKLab(c RGBA) [4]float64 {
	l, m, s := times([9]float64{0.4122215, 0.5363325, 0.0514460, 0.2119035, 0.6806995, 0.1073970, 0.0883025, 0.2817188, 0.6299787}, decode(c[0]), decode(c[1]), decode(c[2]))
	x, y, z := times([9]float64{0.2104543, 0.7936178, -0.0040720, 1.9779985, -2.4285922, 0.4505937, 0.0259040, 0.7827718, -0.8086758}, math.Cbrt(l), math.Cbrt(m), math.Cbrt(s))
	return [4]float64{x, y, z, c[3]}
}

func fromPolar(c [4]float64) [4]float64 {
	return [4]float64{c[0], c[1] * math.Cos(c[2]*math.Pi/180), c[1] * math.Sin(c[2]*math.Pi/180), c[3]}
}

func toPolar(c [4]float64) [4]float64 {
	return [4]float64{c[0], math.Hypot(c[1], c[2]), math.Mod(math.Atan2(c[2], c[1])*180/math.Pi+360, 360), c[3]}
}
