package ranking

import (
	_ "embed"
	"strings"
	"sync"

	"familiar/internal/text"
)

// kinFile has a field a line: its names, which questions ask by, and behind a colon what belongs to it. Names of one field stand for each other.
//
//go:embed kin/en.txt
var kinFile string

// kin maps the stem of a name to the words of its field.
var kin = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(kinFile) {
		names, members, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names) {
			stem := text.Stem(text.Fold(name), "en")
			for _, w := range strings.Fields(names + " " + members) {
				if w != name {
					all[stem] = text.AddOnce(all[stem], w)
				}
			}
		}
	}
	return all
})
