package train

import (
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/linear"
	"familiar/internal/lookup/followup"
)

// leaning are the project's own messages that lean on a question before them, and some that do not, in a folder for each language.
// followups.jsonl has whole conversations, with what a query must hold and must not. prefixes.txt has what people open another question with,
// "by the way". The lines of the other files, each named after the class of its messages, lean on whatever was asked.
//
//go:embed leaning
var leaning embed.FS

// followUp is a message behind a question.
type followUp struct {
	Before    []string
	Text      string
	Want, Not []string

	lang string
}

func (r followUp) before() string { return r.Before[len(r.Before)-1] }

// completes reports whether a query has what it must have, and nothing that it must not.
func (r followUp) completes(query string) bool {
	has := func(phrase string) bool { return Holds(query, phrase) }
	return !slices.ContainsFunc(r.Want, func(s string) bool { return !has(s) }) && !slices.ContainsFunc(r.Not, has)
}

// class is how the message stands to the question: it leans on that if it lacks what is wanted of it.
func (r followUp) class() string {
	switch {
	case r.completes(r.before()):
		return "again"
	case slices.ContainsFunc(r.Want, func(s string) bool { return !Holds(r.Text, s) && Holds(r.before(), s) }):
		return "onward"
	}
	return "alone"
}

// Holds reports whether a phrase is in a text as whole words, whatever its case. In scripts without spaces it may stand anywhere.
func Holds(text, phrase string) bool {
	text, phrase = strings.ToLower(text), strings.ToLower(phrase)
	if strings.ContainsFunc(phrase, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	}) {
		return strings.Contains(text, phrase)
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+i])
		behind, _ := utf8.DecodeRuneInString(text[from+i+len(phrase):])
		if !inWord(before) && !inWord(behind) {
			return true
		}
		from += i + 1
	}
}

// leaningSet is what the models of follow-ups learn from.
type leaningSet struct {
	rows      []followUp
	lines     map[string]map[string][]string // by class and language
	prefixes  map[string][]string            // what people open another question with, by language
	questions map[string][]string            // own messages that are looked up, by language
	others    map[string][]string            // all own messages, by language
}

func readLeaning() (leaningSet, error) {
	s := leaningSet{lines: map[string]map[string][]string{}, prefixes: map[string][]string{}, questions: map[string][]string{}, others: map[string][]string{}}
	err := readOwn(func(m message) {
		if m.Intent != "none" {
			s.questions[m.lang] = append(s.questions[m.lang], m.Text)
		}
		s.others[m.lang] = append(s.others[m.lang], m.Text)
	})
	if err != nil {
		return s, err
	}
	return s, fs.WalkDir(leaning, "leaning", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := leaning.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read follow-ups: %w", err)
		}
		language := path.Base(path.Dir(name))
		class, isLines := strings.CutSuffix(path.Base(name), ".txt")
		if class == "prefixes" {
			s.prefixes[language] = strings.Split(strings.TrimSpace(string(file)), "\n")
			return nil
		}
		if isLines && s.lines[class] == nil {
			s.lines[class] = map[string][]string{}
		}
		for line := range strings.Lines(string(file)) {
			if isLines {
				s.lines[class][language] = append(s.lines[class][language], strings.TrimSpace(line))
				continue
			}
			r := followUp{lang: language}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return fmt.Errorf("read follow-ups %s: %w", name, err)
			}
			s.rows = append(s.rows, r)
		}
		return nil
	})
}

// pairs is how many questions a message that leans on any is put behind.
const pairs = 3

// otherShare and englishShare are of how many own messages one is taken, in another language and in English, of which there are more.
const (
	otherShare   = 3
	englishShare = 5
)

// question returns a question in a language, another one for each n.
func (s leaningSet) question(language, text string, n int) string {
	all := s.questions[language]
	return all[int(spread(fmt.Sprint(text, n)))%len(all)]
}

// like returns a question that begins with the first word of a message, or "".
func (s leaningSet) like(language, text string) string {
	first := func(s string) string {
		if language == "ja" || language == "zh" {
			return string([]rune(s)[:min(3, len([]rune(s)))])
		}
		one, _, _ := strings.Cut(s, " ")
		return one
	}
	all := s.questions[language]
	from := int(spread(text)) % len(all)
	for _, q := range slices.Concat(all[from:], all[:from]) {
		if q != text && first(q) == first(text) {
			return q
		}
	}
	return ""
}

// opened puts what people open another question with before a question.
func (s leaningSet) opened(language, text string) string {
	prefix := s.prefixes[language][int(spread(text)>>4)%len(s.prefixes[language])]
	if language == "ja" || language == "zh" {
		return prefix + text
	}
	return prefix + " " + text
}

func spread(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32() >> 8
}

// task is how a message stands to the question before it.
func (s leaningSet) task() task {
	t := task{file: "followup/leaning.model", classes: followup.Classes, seldom: 4, lasso: 6}
	add := func(text, before, class string) {
		t.rows = append(t.rows, example{text: text, source: class, features: followup.Features(text, before), class: slices.Index(t.classes, class)})
	}
	for _, language := range slices.Sorted(maps.Keys(s.others)) {
		share := uint32(otherShare)
		if language == "en" {
			share = englishShare
		}
		for _, text := range s.others[language] {
			if spread(text)%share == 0 && len(strings.Fields(text)) <= 25 {
				add(text, s.question(language, text, 0), "alone")
				if before := s.like(language, text); before != "" {
					add(text, before, "alone")
				}
			}
		}
		for _, text := range s.questions[language] {
			if spread(text)%share != 0 && (language != "en" || spread(text)%3 == 0) && len(strings.Fields(text)) <= 25 {
				add(s.opened(language, text), s.question(language, text, 1), "alone")
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(s.lines)) {
		for _, language := range slices.Sorted(maps.Keys(s.lines[class])) {
			for _, text := range s.lines[class][language] {
				for n := range pairs {
					add(text, s.question(language, text, n), class)
				}
			}
		}
	}
	for _, r := range s.rows {
		add(r.Text, r.before(), r.class())
		for n := range pairs {
			add(r.Text, s.question(r.lang, r.Text, n), r.class())
		}
	}
	return t
}

// learnSlots makes the model of where in a question a message belongs, of all rows but those of a fold.
func (s leaningSet) learnSlots(fold int) *linear.Model {
	var choices []linear.Choice
	for _, r := range s.rows {
		if Fold(r.Text) == fold || r.class() != "onward" {
			continue
		}
		var c linear.Choice
		for _, o := range followup.Readings(r.Text, r.before()) {
			c.Options = append(c.Options, o.Features)
			c.Right = append(c.Right, r.completes(o.Query))
		}
		choices = append(choices, c)
	}
	return linear.TrainChoices("right", choices, slotPenalty)
}

const slotPenalty = 3

// trainLeaning makes the models of follow-ups, and prints how often models that have not seen a row complete it, by language, and how often
// they complete one that stands alone.
func trainLeaning(w io.Writer, out string) error {
	s, err := readLeaning()
	if err != nil {
		return err
	}
	t := s.task()
	fmt.Fprintf(w, "leaning.model, slot.model: %d and %d rows\n", len(t.rows), len(s.rows))
	var models [folds]followup.Models
	for i := range models {
		models[i] = followup.Models{Leaning: t.train(outside(i)), Slot: s.learnSlots(i)}
	}
	var completed, spoilt tally
	for _, r := range s.rows {
		query, ok := models[Fold(r.Text)].Complete(r.Text, r.before())
		if r.class() == "alone" {
			spoilt.add(r.lang, found(ok))
			continue
		}
		completed.add(r.lang, found(ok && r.completes(query)))
	}
	for _, language := range completed.classes() {
		fmt.Fprintf(w, "    %s: completed %.1f, completed and stood alone %.1f\n", language, completed.part(language, "yes"), spoilt.part(language, "yes"))
	}
	fmt.Fprintf(w, "  unseen follow-ups: completed %.1f, completed and stood alone %.1f\n", completed.share("yes"), spoilt.share("yes"))
	if err := save(w, t.train(everything), out, t.file); err != nil {
		return err
	}
	return save(w, s.learnSlots(-1), out, "followup/slot.model")
}

func found(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
