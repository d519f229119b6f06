package cascade

import "familiar/internal/web/page/visible/css"

func readClip(v *reader) (Value, bool) {
	if word, ok := v.word(); ok {
		return Value{Word: word}, word == "auto"
	}
	name, args, ok := v.function()
	if !ok || name != "rect" {
		return Value{}, false
	}
	got := Value{}
	for !args.done() {
		args.take(',')
		one, ok := readOffset(args)
		if !ok {
			return Value{}, false
		}
		if one.Numbers == nil {
			one.Numbers = []Number{{op: '?', args: []Number{{}}}}
		}
		got.Numbers = append(got.Numbers, one.Numbers[0])
	}
	return got, len(got.Numbers) == 4
}

var boxWords = wordSet("border-box padding-box content-box margin-box fill-box stroke-box view-box")

// readClipPath reads a shape. Its numbers are those of its arguments, NaN for words.
func readClipPath(v *reader) (Value, bool) {
	var got Value
	for !v.done() {
		if word, ok := v.peekWord(); ok {
			v.at++
			if !boxWords[word] && word != "none" {
				return Value{}, false
			}
			continue
		}
		if v.kind(v.at) == css.URL {
			v.at++
			got.Doubt = true
			continue
		}
		name, args, ok := v.function()
		if !ok || len(got.Parts) > 0 {
			return Value{}, false
		}
		if name == "url" {
			got.Doubt = true
			continue
		}
		one, ok := readShape(name, args)
		if !ok {
			return Value{}, false
		}
		got.Parts = append(got.Parts, one)
	}
	return got, true
}

func readShape(name string, v *reader) (Part, bool) {
	one := Part{Name: name}
	lengths := func(words string, least, most int) bool {
		allowed := wordSet(words)
		n := 0
		for ; n < most && !v.done(); n++ {
			if word, ok := v.peekWord(); ok {
				if !allowed[word] {
					break
				}
				v.at++
				one.Numbers = append(one.Numbers, Number{op: '?', args: []Number{{}}})
				one.Address += word + " "
				continue
			}
			number, ok := v.numberOf(length, percentage, mixed)
			if !ok {
				return false
			}
			one.Numbers = append(one.Numbers, number)
		}
		return n >= least
	}
	rounded := func() bool {
		word, ok := v.peekWord()
		if ok && word == "round" {
			v.at = v.in.To
		}
		return v.done()
	}
	switch name {
	case "inset":
		ok := lengths("", 1, 4) && rounded()
		return one, ok
	case "rect":
		ok := lengths("auto", 4, 4) && rounded()
		return one, ok
	case "xywh":
		ok := lengths("", 4, 4) && rounded()
		return one, ok
	case "circle", "ellipse":
		ok := lengths("closest-side farthest-side closest-corner farthest-corner", 0, 2)
		if word, is := v.peekWord(); is && word == "at" {
			v.at++
			radii := len(one.Numbers)
			for len(one.Numbers) < 2 {
				one.Numbers = append(one.Numbers, Number{op: '?', args: []Number{{}}})
			}
			if name == "circle" && radii == 1 {
				one.Numbers[1] = one.Numbers[0]
			}
			for !v.done() {
				if word, is := v.word(); is {
					share := map[string]float64{"left": 0, "top": 0, "center": 50, "right": 100, "bottom": 100}
					n, known := share[word]
					if !known {
						return one, false
					}
					one.Numbers = append(one.Numbers, Number{quantity: percentage, n: n, unit: '%'})
					continue
				}
				number, is := v.numberOf(length, percentage, mixed)
				if !is {
					return one, false
				}
				one.Numbers = append(one.Numbers, number)
			}
			return one, ok && len(one.Numbers) <= 6
		}
		if name == "circle" && len(one.Numbers) == 1 {
			one.Numbers = append(one.Numbers, one.Numbers[0])
		}
		return one, ok && v.done()
	case "polygon":
		for i, part := range v.parts() {
			if word, is := part.peekWord(); i == 0 && is && (word == "nonzero" || word == "evenodd") {
				continue
			}
			for range 2 {
				number, ok := part.numberOf(length, percentage, mixed)
				if !ok {
					return one, false
				}
				one.Numbers = append(one.Numbers, number)
			}
			if !part.done() {
				return one, false
			}
		}
		return one, len(one.Numbers) > 0
	case "path":
		for !v.done() {
			if v.kind(v.at) == css.String {
				one.Address = v.t.Name(v.at)
			}
			v.at++
		}
		return one, one.Address != ""
	case "shape":
		return one, true
	}
	return one, false
}
