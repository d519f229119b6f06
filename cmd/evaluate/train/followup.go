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

	"familiar/internal/question"
	"familiar/internal/text"
)

// followUpFiles are the project's own messages that depend on an earlier question, and some that do not. Each language has a folder.
// followups.jsonl has whole conversations, with phrases that a query must and must not contain. slots.jsonl has more, for the model of slots
// alone: with them, the other model leaves more messages as they are. prefixes.txt has openings of another
// question, such as "by the way". leads.txt has what people say of an answer before that, in other languages than English. Each of the other
// files is named after the class of its messages, which may follow any question.
//
//go:embed followups
var followUpFiles embed.FS

// followUp is a message after a question.
type followUp struct {
	Before    []string
	Text      string
	Want, Not []string

	lang string
}

func (r followUp) before() string { return r.Before[len(r.Before)-1] }

// completes reports whether a query has all that it must have, and nothing that it must not.
func (r followUp) completes(query string) bool {
	has := func(phrase string) bool { return Holds(query, phrase) }
	return !slices.ContainsFunc(r.Want, func(s string) bool { return !has(s) }) && !slices.ContainsFunc(r.Not, has)
}

// class is the relation of the message to the question. It depends on the question if it lacks a wanted phrase.
func (r followUp) class() string {
	switch {
	case r.completes(r.before()):
		return "again"
	case slices.ContainsFunc(r.Want, func(s string) bool { return !Holds(r.Text, s) && Holds(r.before(), s) }):
		return "onward"
	}
	return "alone"
}

// Holds reports whether a text contains a phrase as whole words, in any case. In scripts without spaces it may be anywhere.
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

// followUpSet is the training data of the models of follow-ups.
type followUpSet struct {
	rows      []followUp
	slots     []followUp                     // for the model of slots alone
	lines     map[string]map[string][]string // by class and language
	prefixes  map[string][]string            // openings of another question, by language
	leads     map[string][]string            // what people say before that
	questions map[string][]string            // own messages that are looked up, by language
	others    map[string][]string            // all own messages, by language
}

func readFollowUps() (followUpSet, error) {
	s := followUpSet{lines: map[string]map[string][]string{}, prefixes: map[string][]string{}, leads: map[string][]string{}, questions: map[string][]string{}, others: map[string][]string{}}
	err := readOwn(func(m message) {
		if m.Intent != "none" {
			s.questions[m.lang] = append(s.questions[m.lang], m.Text)
		}
		s.others[m.lang] = append(s.others[m.lang], m.Text)
	})
	if err != nil {
		return s, err
	}
	return s, fs.WalkDir(followUpFiles, "followups", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := followUpFiles.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read follow-ups: %w", err)
		}
		language := path.Base(path.Dir(name))
		class, isLines := strings.CutSuffix(path.Base(name), ".txt")
		if into := map[string]map[string][]string{"prefixes": s.prefixes, "leads": s.leads}[class]; into != nil {
			into[language] = strings.Split(strings.TrimSpace(string(file)), "\n")
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
			if class == "slots.jsonl" {
				s.slots = append(s.slots, r)
			} else {
				s.rows = append(s.rows, r)
			}
		}
		return nil
	})
}

// pairs is how many questions each message that fits any question is put after.
const pairs = 3

// otherShare and englishShare choose one of so many own messages, in other languages and in English. There are more in English.
const (
	otherShare   = 3
	englishShare = 5
)

// question returns a question in a language, a different one for each n.
func (s followUpSet) question(language, text string, n int) string {
	all := s.questions[language]
	return all[int(spread(fmt.Sprint(text, n)))%len(all)]
}

// like returns a question that begins with the first word of a message, or "".
func (s followUpSet) like(language, text string) string {
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

// opened puts an opening before a question.
func (s followUpSet) opened(language, text string) string {
	prefix := s.prefixes[language][int(spread(text)>>4)%len(s.prefixes[language])]
	if language == "ja" || language == "zh" {
		return prefix + text
	}
	return prefix + " " + text
}

// led puts what people say of an answer before a question, or an opening, or both.
func (s followUpSet) led(language, text string) string {
	n := int(spread(text) >> 4)
	lead := s.leads[language][n/4%len(s.leads[language])]
	switch whole := s.opened(language, text); {
	case n%4 == 0:
		return whole
	case n%4 == 1:
		whole = text
		fallthrough
	case language == "ja" || language == "zh":
		return lead + whole
	default:
		return lead + " " + whole
	}
}

func spread(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32() >> 8
}

// task is the relation of a message to the question before it.
func (s followUpSet) task() task {
	t := task{file: "question/followup.model", classes: question.FollowUpKinds, seldom: 4, lasso: 6}
	add := func(text, before, class string) {
		t.rows = append(t.rows, example{text: text, source: class, features: question.FollowUpFeatures(text, before), class: slices.Index(t.classes, class)})
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

// learnSlots trains the model of where in a question a message belongs, on all rows except those of a fold.
func (s followUpSet) learnSlots(fold int) *text.Model {
	var choices []choice
	for _, r := range slices.Concat(s.rows, s.slots) {
		if Fold(r.Text) == fold || r.class() != "onward" {
			continue
		}
		var c choice
		for _, o := range question.Completions(r.Text, r.before()) {
			c.Options = append(c.Options, o.Features)
			c.Right = append(c.Right, r.completes(o.Query))
		}
		choices = append(choices, c)
	}
	return fitChoices("right", choices, slotPenalty)
}

const slotPenalty = 1

// trainFollowUps trains the models of follow-ups. By language, it prints how often unseen models complete a row, and how often they complete
// an independent message.
func trainFollowUps(w io.Writer, out string) error {
	s, err := readFollowUps()
	if err != nil {
		return err
	}
	t := s.task()
	fmt.Fprintf(w, "followup.model, slot.model: %d and %d rows\n", len(t.rows), len(s.rows))
	var models [folds]question.Models
	for i := range models {
		models[i] = question.Models{FollowUp: t.train(outside(i)), Slot: s.learnSlots(i)}
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
	return save(w, s.learnSlots(-1), out, "question/slot.model")
}

func found(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
