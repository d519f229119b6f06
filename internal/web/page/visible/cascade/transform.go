package cascade

// transformFunctions are the transforms: the quantities of their arguments, and how many they take.
var transformFunctions = map[string]struct {
	quantities  []quantity
	least, most int
}{
	"matrix": {[]quantity{plain}, 6, 6}, "matrix3d": {[]quantity{plain}, 16, 16},
	"translate": {[]quantity{length, percentage, mixed}, 1, 2}, "translatex": {[]quantity{length, percentage, mixed}, 1, 1}, "translatey": {[]quantity{length, percentage, mixed}, 1, 1},
	"translatez": {[]quantity{length}, 1, 1}, "translate3d": {[]quantity{length, percentage, mixed}, 3, 3},
	"scale": {[]quantity{plain, percentage}, 1, 2}, "scalex": {[]quantity{plain, percentage}, 1, 1}, "scaley": {[]quantity{plain, percentage}, 1, 1}, "scalez": {[]quantity{plain, percentage}, 1, 1}, "scale3d": {[]quantity{plain, percentage}, 3, 3},
	"rotate": {[]quantity{angle}, 1, 1}, "rotatex": {[]quantity{angle}, 1, 1}, "rotatey": {[]quantity{angle}, 1, 1}, "rotatez": {[]quantity{angle}, 1, 1}, "rotate3d": {[]quantity{plain, angle}, 4, 4},
	"skew": {[]quantity{angle}, 1, 2}, "skewx": {[]quantity{angle}, 1, 1}, "skewy": {[]quantity{angle}, 1, 1}, "perspective": {[]quantity{length}, 1, 1},
}

func readTransform(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	var all Value
	for !v.done() {
		name, args, ok := v.function()
		f, known := transformFunctions[name]
		if !ok || !known {
			return Value{}, false
		}
		one := Part{Name: name}
		if word, ok := args.peekWord(); ok && word == "none" && name == "perspective" {
			args.at++
			one.Numbers = append(one.Numbers, pixels(0))
		}
		for !args.done() {
			if len(one.Numbers) > 0 && !args.take(',') {
				return Value{}, false
			}
			n, ok := args.numberOf(f.quantities...)
			if !ok {
				return Value{}, false
			}
			all.Doubt = all.Doubt || n.op == '?'
			one.Numbers = append(one.Numbers, n)
		}
		if len(one.Numbers) < f.least || len(one.Numbers) > f.most {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	return all, true
}

func readTranslate(v *reader) (Value, bool) {
	return readFunctionProperty(v, "translate", length, percentage, mixed)
}
func readScale(v *reader) (Value, bool) {
	return readFunctionProperty(v, "scale", plain, percentage)
}

// readFunctionProperty reads one of the properties that say what a transform of that name does.
func readFunctionProperty(v *reader, name string, quantities ...quantity) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	one := Part{Name: name}
	for !v.done() {
		n, ok := v.numberOf(quantities...)
		if !ok {
			return Value{}, false
		}
		one.Numbers = append(one.Numbers, n)
	}
	if len(one.Numbers) == 3 {
		one.Numbers = one.Numbers[:2]
	}
	return Value{Parts: []Part{one}}, len(one.Numbers) > 0 && len(one.Numbers) < 3
}

func readRotate(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok && word == "none" {
		v.at++
		return Value{Word: word}, true
	}
	one := Part{Name: "rotate"}
	var axis []Number
	for !v.done() {
		if word, ok := v.word(); ok {
			if word != "x" && word != "y" && word != "z" {
				return Value{}, false
			}
			one.Name = "rotate" + word
			continue
		}
		if n, ok := v.numberOf(plain); ok && len(axis) < 3 {
			axis = append(axis, n)
			continue
		}
		n, ok := v.numberOf(angle)
		if !ok {
			return Value{}, false
		}
		one.Numbers = append(one.Numbers, n)
	}
	if len(axis) == 3 {
		one.Name, one.Numbers = "rotate3d", append(axis, one.Numbers...)
		return Value{Parts: []Part{one}}, len(one.Numbers) == 4
	}
	return Value{Parts: []Part{one}}, len(one.Numbers) == 1 && axis == nil
}
