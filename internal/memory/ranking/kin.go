package ranking

import (
	"embed"
	"path"
	"strings"
	"sync"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// kinFiles have a field a line: its names, which questions ask by, and behind a colon what belongs to it. Names of one field stand for each
// other. There is a file for each language in which people can order what is to be remembered.
//
//go:embed kin/*.txt
var kinFiles embed.FS

// fields are the words of the fields of one language, by the stem of a name.
type fields func() map[string][]string

// kin has the fields of each language, read when they are first asked for.
var kin = func() map[string]fields {
	all := map[string]fields{}
	files, _ := kinFiles.ReadDir("kin") // they are in the program
	for _, f := range files {
		language := strings.TrimSuffix(f.Name(), ".txt")
		all[language] = sync.OnceValue(func() map[string][]string { return readKin(language) })
	}
	return all
}()

func readKin(language string) map[string][]string {
	content, _ := kinFiles.ReadFile(path.Join("kin", language+".txt"))
	all := map[string][]string{}
	for line := range strings.Lines(string(content)) {
		names, members, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names) {
			stem := Stem(text.Fold(begins(name)), language)
			for _, w := range strings.Fields(names + " " + members) {
				if w != name {
					all[stem] = text.AddOnce(all[stem], begins(w))
				}
			}
		}
	}
	return all
}

// begins is a word as it is looked for: of a script whose texts are cut into pairs of characters, its first pair.
func begins(word string) string {
	if !text.Unspaced(word) {
		return word
	}
	return text.Pairs(word)[0]
}

// kinOf are the words of the fields that a word of the question names: where its language is not clear, of the first that knows the word.
func (q *Question) kinOf(key, stem string) []string {
	if of := kin[q.lang]; of != nil {
		if words := of()[stem]; len(words) > 0 || !q.unsure {
			return words
		}
	}
	if q.unsure {
		for _, language := range lang.Codes() {
			if of := kin[language]; of != nil {
				if words := of()[Stem(key, language)]; len(words) > 0 {
					return words
				}
			}
		}
	}
	return nil
}
