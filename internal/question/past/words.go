package past

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/question"
	"familiar/internal/text"
)

// languageWords has the words of one language for questions about its own server, by the part that they play. They are the rows of the
// table "recall" in the language's file. A star stands for any ending or beginning of a word.
type languageWords struct {
	language     string
	phrases      text.Phrases        // also those of scripts without spaces, which are found within words
	begins, ends map[string][]string // parts of words, by their beginning or ending
	given        map[string]bool     // given names and their short forms: those who talk know a person who is called by one alone
	names        []string            // the same in scripts without spaces
	particles    []string            // what is between words in scripts without spaces, or ends them
	ofAsker      text.Phrases        // how people ask what only they can have told: "of_all" of them, "of_mine" something
}

// languages has the words of all languages, English first.
var languages = sync.OnceValue(func() (all []languageWords) {
	for _, code := range text.Languages() {
		if table := text.TablesOf(code).Recall; len(table) > 0 {
			all = append(all, readWords(code, table))
		}
	}
	return all
})

func readWords(language string, table map[string]text.PhraseList) languageWords {
	w := languageWords{language: language, begins: map[string][]string{}, ends: map[string][]string{}, given: map[string]bool{}}
	whole, ofAsker := map[string]text.PhraseList{}, map[string]text.PhraseList{}
	for part, phrases := range table {
		switch part {
		case "particles":
			w.particles = strings.Fields(string(phrases))
			continue
		case "of_all", "of_mine":
			ofAsker[part] = phrases
			continue
		case "given":
			for name := range strings.SplitSeq(string(phrases), ", ") {
				if text.Unspaced(name) {
					w.names = append(w.names, name)
				}
				w.given[text.Fold(name)] = true
			}
			continue
		}
		for phrase := range strings.SplitSeq(string(phrases), ", ") {
			if begin, cut := strings.CutSuffix(phrase, "*"); cut {
				key := text.Fold(begin)
				w.begins[key] = append(w.begins[key], part)
			} else if end, cut := strings.CutPrefix(phrase, "*"); cut {
				key := text.Fold(end)
				w.ends[key] = append(w.ends[key], part)
			} else {
				whole[part] += "," + text.PhraseList(phrase)
			}
		}
	}
	w.phrases, w.ofAsker = text.Compile(whole), text.Compile(ofAsker)
	return w
}

// part is a place in a sentence that plays a part in a question about the server.
type part struct {
	name       string
	start, end int // bytes
}

// find returns the parts of an utterance, in no order.
func (w *languageWords) find(u question.Utterance) []part {
	all := phrasesIn(w.phrases, u)
	for _, word := range u.Words {
		for at := range word.Key {
			for _, name := range w.begins[word.Key[:at]] {
				all = append(all, part{name, word.Start, word.End})
			}
			for _, name := range w.ends[word.Key[at:]] {
				all = append(all, part{name, word.Start, word.End})
			}
		}
		for _, name := range w.begins[word.Key] {
			all = append(all, part{name, word.Start, word.End})
		}
	}
	return all
}

// phrasesIn returns the places of phrases in an utterance.
func phrasesIn(phrases text.Phrases, u question.Utterance) (all []part) {
	for i, word := range u.Words {
		for _, p := range phrases.ByFirst[word.Key] {
			if text.HasPrefix(u.Words[i:], p.Words) {
				all = append(all, part{p.Cue, word.Start, u.Words[i+len(p.Words)-1].End})
			}
		}
	}
	if text.ASCII(u.Text) {
		return all
	}
	for _, p := range phrases.Inside {
		if at := strings.Index(u.Text, p.Words[0]); at >= 0 {
			all = append(all, part{p.Cue, at, at + len(p.Words[0])})
		}
	}
	return all
}

// webWords are other places to look than the server.
var webWords = text.LazySet(func() text.WordList {
	return "web internet google online wikipedia instagram tiktok twitter tweet facebook reddit youtube"
})

// kinds returns the table of what words say about the past of a group.
var kinds = sync.OnceValue(func() question.KindTable {
	return question.ReadKinds(func(t *text.Tables) map[string]text.PhraseList { return t.Past })
})

// isGiven reports whether a word is a given name in this language, or in another and no common word. Its owner may be named: "bens".
func (w *languageWords) isGiven(key string) bool {
	owner := strings.TrimSuffix(strings.TrimSuffix(key, "s"), "'")
	return w.given[key] || len(owner) > 2 && w.given[owner] || len(key) > 2 && !question.IsCommonWord(key) && !text.Set(text.TablesOf(w.language).Grammar.FunctionWords)[key] &&
		slices.ContainsFunc(languages(), func(other languageWords) bool { return other.given[key] })
}

// runs cuts what is left of a text without spaces into words. Each of them is a term of the topic.
func (w *languageWords) runs(rest string) (all []string) {
	for _, field := range text.Words(rest) {
		run := rest[field.Start:field.End]
		if !text.Unspaced(run) {
			all = append(all, run)
			continue
		}
		for _, p := range w.particles {
			if w.language == "ko" { // particles end a word
				if short, cut := strings.CutSuffix(run, p); cut && utf8.RuneCountInString(short) > 1 {
					run = short
				}
			} else {
				run = strings.ReplaceAll(run, p, " ")
			}
		}
		for _, r := range strings.Fields(run) {
			if utf8.RuneCountInString(r) > 1 && !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}
