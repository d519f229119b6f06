package cascade

import (
	"math"
	"strings"

	"familiar/visible/internal/css"
)

// image reads an image: none, an address, a gradient, or one that is not computed here ("unknown").
func (v *reader) image() (Part, bool) {
	if v.done() {
		return Part{}, false
	}
	if word, ok := v.peekWord(); ok {
		if word == "none" {
			v.at++
		}
		return Part{Name: "none"}, word == "none"
	}
	if v.kind(v.at) == css.URL {
		v.at++
		return Part{Name: "url", Address: v.t.Name(v.at - 1)}, true
	}
	at := v.at
	name, args, ok := v.function()
	switch {
	case !ok:
		return Part{}, false
	case name == "url" || name == "src":
		one := Part{Name: "url"}
		if !args.done() && args.kind(args.at) == css.String {
			one.Address = args.t.Name(args.at)
		}
		return one, true
	case strings.HasSuffix(name, "-gradient") && name != "-webkit-gradient":
		one, ok := readGradient(name, args)
		return one, ok
	case name == "image-set", name == "-webkit-image-set":
		if one, ok := args.parts()[0].image(); ok {
			return one, true
		}
		return Part{Name: "unknown"}, true
	case name == "-webkit-gradient", name == "cross-fade", name == "-webkit-cross-fade", name == "element", name == "paint", name == "image":
		return Part{Name: "unknown"}, true
	}
	v.at = at
	return Part{}, false
}

// readGradient reads the colours of a gradient and their places.
func readGradient(name string, v *reader) (Part, bool) {
	one := Part{Name: strings.TrimPrefix(strings.TrimPrefix(name, "-webkit-"), "-moz-")}
	one.Name, one.repeats = strings.CutPrefix(one.Name, "repeating-")
	switch one.Name {
	case "linear-gradient", "radial-gradient", "conic-gradient":
	default:
		return one, false
	}
	for i, part := range v.parts() {
		c, ok := part.colour()
		if !ok {
			part.at = part.in.From
			n, isNumber := part.numberOf(length, percentage, mixed, angle)
			if isNumber && i > 0 {
				if c, ok = part.colour(); !ok { // a hint between two colours
					if !part.done() {
						return one, false
					}
					continue
				}
				one.Stops = append(one.Stops, Stop{c, &n})
				continue
			}
			if i > 0 {
				return one, false
			}
			if part.at = part.in.From; isNumber {
				one.Numbers = []Number{n}
			} else {
				one.Address = strings.ToLower(part.t.Between(part.in))
			}
			continue // the direction
		}
		s := Stop{Colour: c}
		for !part.done() {
			n, ok := part.numberOf(length, percentage, mixed, angle)
			if !ok {
				return one, false
			}
			if s.At != nil {
				one.Stops = append(one.Stops, s)
			}
			s.At = &n
		}
		one.Stops = append(one.Stops, s)
	}
	return one, len(one.Stops) > 0
}

// Samples returns the colours of a gradient at eight places at equal distances.
func (p *Part) Samples(in *Surroundings, current RGBA, dark bool) (samples [8]RGBA) {
	whole := *in
	if whole.Percent != whole.Percent || whole.Percent == 0 {
		whole.Percent = 300
	}
	for k := range samples {
		samples[k] = p.ColourAt((float64(k)+.5)/float64(len(samples)), &whole, current, dark)
	}
	return samples
}

// ColourAt returns the colour of a gradient at a part of its way. 100 % of in is the length of the way.
func (p *Part) ColourAt(where float64, in *Surroundings, current RGBA, dark bool) RGBA {
	n := len(p.Stops)
	at := make([]float64, n)
	for i, s := range p.Stops {
		at[i] = -1
		switch {
		case s.At != nil && s.At.quantity == angle:
			at[i] = s.At.Value(in) / 360
		case s.At != nil:
			at[i] = s.At.Value(in) / in.Percent
		case i == 0:
			at[i] = 0
		case i == n-1:
			at[i] = 1
		}
	}
	for i := range at { // stops without a place are evenly between those that have one
		if p.Stops[i].At == nil && i > 0 && i < n-1 {
			next := i + 1
			for next < n-1 && p.Stops[next].At == nil {
				next++
			}
			at[i] = at[i-1] + (at[next]-at[i-1])/float64(next-i+1)
		}
		if i > 0 {
			at[i] = max(at[i], at[i-1])
		}
	}
	if last := at[n-1]; p.repeats && last > at[0] {
		where = at[0] + math.Mod(where-at[0], last-at[0])
	}
	i := 0
	for i < n && at[i] <= where {
		i++
	}
	switch i {
	case 0:
		return p.Stops[0].Colour.At(current, dark)
	case n:
		return p.Stops[n-1].Colour.At(current, dark)
	}
	share := 1 - (where-at[i-1])/max(at[i]-at[i-1], 1e-9)
	return mix("rgb", p.Stops[i-1].Colour.At(current, dark), p.Stops[i].Colour.At(current, dark), share)
}

func readImages(v *reader) (Value, bool) {
	var all Value
	for _, part := range v.parts() {
		one, ok := part.image()
		if !ok || !part.done() {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	v.at = v.in.To
	return all, true
}

// size reads one or two lengths or keywords, for the size or the place of an image.
func (v *reader) size(words map[string]bool) (Part, bool) {
	var one Part
	for !v.done() && len(one.Numbers) < 4 {
		if word, ok := v.peekWord(); ok {
			if !words[word] {
				break
			}
			v.at++
			one.Name += word + " "
			n := Number{op: '?', args: []Number{{}}}
			if at, known := positionWords[word]; known {
				n = Number{quantity: percentage, n: at, unit: '%'}
			}
			one.Numbers = append(one.Numbers, n)
			continue
		}
		n, ok := v.numberOf(length, percentage, mixed)
		if !ok {
			break
		}
		one.Numbers = append(one.Numbers, n)
	}
	return one, len(one.Numbers) > 0
}

var placeWords = wordSet("auto cover contain left right top bottom center")

func readSizes(v *reader) (Value, bool) {
	var all Value
	for _, part := range v.parts() {
		one, ok := part.size(placeWords)
		if !ok || !part.done() {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	v.at = v.in.To
	return all, true
}

var layerWords = wordSet(`repeat repeat-x repeat-y no-repeat space round scroll fixed local border-box padding-box content-box text border-area
	add subtract intersect exclude alpha luminance match-source no-clip fill-box stroke-box view-box source-over source-in source-out xor`)

// layer reads a layer of a background or a mask: its image, place, size and keywords.
func (v *reader) layer(isLast bool) (image, place, size Part, words []string, colour *Colour, ok bool) {
	image.Name = "none"
	given := false
	for !v.done() {
		at := v.at
		if word, is := v.word(); is && layerWords[word] {
			words = append(words, word)
			continue
		}
		v.at = at
		if got, is := v.image(); is {
			if given {
				return image, place, size, words, colour, false
			}
			image, given = got, true
			continue
		}
		v.at = at
		if got, is := v.size(placeWords); is {
			place = got
			if v.take('/') {
				if size, is = v.size(placeWords); !is {
					return image, place, size, words, colour, false
				}
			}
			continue
		}
		v.at = at
		c, is := v.colour()
		if !is || !isLast || colour != nil {
			return image, place, size, words, colour, false
		}
		colour = &c
	}
	return image, place, size, words, colour, true
}

var repeatWords = wordSet("repeat repeat-x repeat-y no-repeat space round")

func readRepeat(v *reader) (Value, bool) {
	first, ok := v.word()
	second, _ := v.word()
	return Value{Word: first}, ok && repeatWords[first] && (second == "" || repeatWords[second])
}

func readBackground(v *reader, set func(Property, Value)) bool {
	var images, sizes, places, clips, repeats Value
	var colour Colour
	layers := v.parts()
	for i, part := range layers {
		image, place, size, words, c, ok := part.layer(i == len(layers)-1)
		if !ok || part.in.Empty() {
			return false
		}
		clip, repeat := "border-box", "repeat"
		for _, word := range words {
			if repeatWords[word] {
				repeat = word
			}
			if strings.HasSuffix(word, "-box") || word == "text" {
				clip = word
			}
		}
		if c != nil {
			colour = *c
		}
		images.Parts, sizes.Parts, places.Parts = append(images.Parts, image), append(sizes.Parts, size), append(places.Parts, place)
		clips.Parts, repeats.Parts = append(clips.Parts, Part{Name: clip}), append(repeats.Parts, Part{Name: repeat})
	}
	set(BackgroundImage, images)
	set(BackgroundSize, sizes)
	set(BackgroundPosition, places)
	set(BackgroundClip, clips)
	set(BackgroundRepeat, repeats)
	set(BackgroundColor, Value{Colour: colour})
	v.at = v.in.To
	return true
}

func readMask(v *reader, set func(Property, Value)) bool {
	var images, sizes, places, modes, composites Value
	for _, part := range v.parts() {
		image, place, size, words, _, ok := part.layer(false)
		if !ok || part.in.Empty() {
			return false
		}
		mode, composite := "match-source", "add"
		for _, word := range words {
			switch word {
			case "alpha", "luminance":
				mode = word
			case "subtract", "intersect", "exclude":
				composite = word
			}
		}
		if len(place.Numbers) > 0 && place.Name == "" && !wordIn(words, "no-repeat") {
			place = Part{}
		}
		images.Parts, sizes.Parts, places.Parts = append(images.Parts, image), append(sizes.Parts, size), append(places.Parts, place)
		modes.Parts, composites.Parts = append(modes.Parts, Part{Name: mode}), append(composites.Parts, Part{Name: composite})
	}
	set(MaskImage, images)
	set(MaskSize, sizes)
	set(MaskPosition, places)
	set(MaskMode, modes)
	set(MaskComposite, composites)
	v.at = v.in.To
	return true
}

func wordIn(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}
