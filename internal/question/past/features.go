package past

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/text"
)

// Features returns the features that tell whether a message asks about the past of its own server, for training.
func Features(message string) []text.Feature {
	r := reader{u: question.Parse(message, nil), used: map[int]bool{}, req: turn.Request{Message: turn.Message{Text: message}}}
	if len(r.u.Words) == 0 {
		return nil
	}
	r.find(time.Unix(0, 0)) // whether a time is named does not depend on today
	s := r.spoken()
	return s.features()
}

// spoken returns the parts of the message's words in its language. If that is not known or has no table, it takes the one that knows most
// of them.
func (r *reader) spoken() (best spokenParts) {
	all, most := r.inLanguages(text.MessageLanguage(r.u.Text)), -1
	if len(all) == 0 {
		all = r.inLanguages("")
	}
	for _, s := range all {
		known := 0
		for _, w := range r.u.Words {
			if s.covers(w.Start, w.End) {
				known++
			}
		}
		if known > most {
			best, most = s, known
		}
	}
	return best
}

// covers reports whether a part overlaps a range of the text.
func (s *spokenParts) covers(start, end int) bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return p.start < end && start < p.end })
}

// pastWeight is the value of a kind of word that speaks of the past of a group. Kinds carry over between languages; spelling does not.
const pastWeight = 2

// somebody takes the place of a person's name, because the model must not learn who talks.
const somebody = "xyx"

// features returns the spelling of a message without names of people, and the parts that its words play. It adds what it names, and what
// the rules find.
func (s *spokenParts) features() []text.Feature {
	masked, people := s.withoutPeople()
	var all []text.Feature
	for _, f := range question.SpellingFeatures(masked) {
		switch kind, _, _ := strings.Cut(f.Name, " "); kind {
		case "words", "ends": // in another language, or of another writer, they are others
			continue
		case "run":
			f.Value /= 2
		}
		all = append(all, f)
	}
	add := func(name string) { all = append(all, text.Feature{Name: name, Value: 1}) }
	add(fmt.Sprint("about as long as ", min(len(s.u.Words), 20)/2*2))
	all = append(all, question.SpeechKinds().Features("", masked)...)
	for _, f := range kinds().Features("past ", masked) {
		all = append(all, text.Feature{Name: f.Name, Value: pastWeight})
	}
	parts := s.named()
	if people > 0 {
		parts = append(parts, "person")
	}
	for i, p := range parts {
		add("part " + p)
		for _, other := range parts[i+1:] {
			add("parts " + min(p, other) + " " + max(p, other))
		}
	}
	if why := s.decide().Why; why != "" {
		add("rule asks")
		add("rule " + why)
	}
	names, unknown := 0, 0
	for i, w := range s.u.Words {
		if !s.covers(w.Start, w.End) && text.Meaningful(w.Key) {
			unknown++
		}
		if i > 0 && w.Upper && !s.isPerson(i) && w.Key != "i" {
			names++
		}
	}
	add(fmt.Sprint("unknown ", min(unknown, 6)))
	add(fmt.Sprint("names ", min(names, 2)))
	return all
}

// named returns the parts that the words play, and the kinds of what they name.
func (s *spokenParts) named() (parts []string) {
	for _, p := range slices.SortedStableFunc(slices.Values(s.parts), func(a, b part) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.name, b.name)) }) {
		if s.isLead(p) {
			p.name = "lead " + p.name
		}
		parts = append(parts, p.name)
	}
	form := cmp.Or(string(s.u.Form()), "none")
	if s.u.Inquiry {
		form = "inquiry"
	}
	parts = append(text.Unique(parts), "form "+form)
	for kind, is := range map[string]bool{"quotation": strings.ContainsAny(s.u.Text, quotationMarks), "channel": len(s.q.Channels) > 0 || strings.Contains(s.u.Text, "#"), "span": s.spanned} {
		if is {
			parts = append(parts, kind)
		}
	}
	return parts
}

// isPerson reports whether word i is the name of a person who may be here.
func (s *spokenParts) isPerson(i int) bool {
	w := s.u.Words[i]
	return s.words.isGiven(w.Key) && !s.goesOn(i) && (i == 0 || !s.u.Words[i-1].Upper || i == 1) && (!question.IsCommonWord(w.Key) || w.Upper && i > 0)
}

// withoutPeople returns the text with [somebody] in place of the names of people, and how many there were.
func (s *spokenParts) withoutPeople() (masked string, people int) {
	var b strings.Builder
	at := 0
	for i, w := range s.u.Words {
		if s.isPerson(i) || slices.ContainsFunc(s.q.People, func(p string) bool { return slices.Contains(text.PhraseKeys(p), w.Key) }) {
			b.WriteString(s.u.Text[at:w.Start] + somebody)
			at, people = w.End, people+1
		}
	}
	masked = b.String() + s.u.Text[at:]
	for _, name := range s.words.names {
		if strings.Contains(masked, name) {
			masked, people = strings.ReplaceAll(masked, name, somebody), people+1
		}
	}
	return masked, people
}
