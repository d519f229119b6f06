package cascade

import (
	"hash/maphash"
	"strings"

	"golang.org/x/net/html"

	"familiar/internal/web/page/visible/css"
)

// nameSet is a set of names that may hold some that were not added: a bit for each hash, in 4 KB.
type nameSet struct {
	seed maphash.Seed
	bits [512]uint64
}

func newNameSet() *nameSet { return &nameSet{seed: maphash.MakeSeed()} }

func (s *nameSet) bit(name string) (word *uint64, mask uint64) {
	hash := maphash.String(s.seed, name)
	return &s.bits[hash/64%uint64(len(s.bits))], 1 << (hash % 64)
}

func (s *nameSet) add(name string) {
	word, mask := s.bit(name)
	*word |= mask
}

func (s *nameSet) mayHold(name string) bool {
	word, mask := s.bit(name)
	return *word&mask != 0
}

// addNames adds the classes and ids of the elements below n to the names of the page.
func (s *Sheets) addNames(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		for i := range c.Attr {
			switch a := &c.Attr[i]; a.Key {
			case "id":
				s.names.add(s.fold(a.Val))
			case "class":
				for class := range strings.FieldsSeq(a.Val) {
					s.names.add(s.fold(class))
				}
			}
		}
		s.addNames(c)
	}
}

// isVain reports whether a selector can select nothing, since no element of the page has one of its classes or ids. Most rules
// of most pages are written for other pages of the site.
func (r *sheetReader) isVain(one css.Span) bool {
	if r.s.names == nil {
		return false
	}
	for i := one.From; i < one.To; i = r.t.After(i) {
		name := i
		switch {
		case r.t.Is(i, one, '.') && r.t.Kind(i+1, one) == css.Ident:
			name++
		case r.t.Kind(i, one) != css.Hash:
			continue
		}
		if !r.s.names.mayHold(r.s.fold(r.t.Name(name))) {
			return true
		}
	}
	return false
}

// isPlain reports whether a block holds nothing but declarations, which only count if a selector of its rule selects something.
func (r *sheetReader) isPlain(block css.Span) bool {
	for i := block.From; i < block.To; i++ {
		if r.t.Kind(i, block) == css.At || r.t.Is(i, block, '{') {
			return false
		}
	}
	return true
}

// areVain reports whether all selectors of a list are vain.
func (r *sheetReader) areVain(list css.Span) bool {
	for one := range r.t.Split(list, css.Comma) {
		if !r.isVain(one) {
			return false
		}
	}
	return true
}
