package redact

import "slices"

// forms are texts of at least gramBytes that are looked for together. Wherever one stands, one of its grams begins at a multiple
// of stride: only there the text is looked at.
type forms struct {
	all    []string
	stride int
	filter [1 << 10]uint64   // a bit for each hash of a gram; false alarms are few
	grams  map[uint32][]gram // by their bytes
}

// A gram is four bytes of a form.
type gram struct{ form, at int }

const gramBytes = 4

func formsOf(all []string) forms {
	slices.Sort(all)
	f := forms{all: slices.Compact(all), grams: map[uint32][]gram{}}
	for n, form := range f.all {
		if most := len(form) - gramBytes + 1; n == 0 || most < f.stride {
			f.stride = most
		}
		for at := range len(form) - gramBytes + 1 {
			g := gramAt(form, at)
			word, bit := place(g)
			f.filter[word] |= bit
			f.grams[g] = append(f.grams[g], gram{n, at})
		}
	}
	return f
}

// place returns where a gram's bit is, by a multiplicative hash.
func place(g uint32) (word int, bit uint64) {
	h := g * 0x9E3779B1 >> 16
	return int(h >> 6), 1 << (h & 63)
}

func gramAt[T string | []byte](text T, i int) uint32 {
	return uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24
}

// holds reports whether one of the forms is in text.
func holds[T string | []byte](text T, f *forms) bool {
	if len(f.all) == 0 {
		return false
	}
	for i := 0; i+gramBytes <= len(text); i += f.stride {
		g := gramAt(text, i)
		if word, bit := place(g); f.filter[word]&bit == 0 {
			continue
		}
		for _, found := range f.grams[g] {
			form := f.all[found.form]
			if from := i - found.at; from >= 0 && from+len(form) <= len(text) && string(text[from:from+len(form)]) == form {
				return true
			}
		}
	}
	return false
}
