package question

import (
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// A follow-up that no form and no model completes for sure is asked in another way. It has the words of content of both messages. A word
// too many costs a search less than the place, the person or the thing that is asked about.

// Lengths in words. They are of such a query and of a completed question that is asked as it is. The third is of what takes the place of something in the question. The last is of what asks without a question's form.
const (
	maxQueryWords = 12
	maxWhole      = 13
	maxSwapped    = 3
	maxInquiry    = 6
)

// ownNeed is the need of the web from which a question is understood by itself.
const ownNeed = 0.82

// leans reports whether a message cannot be understood without those before it. It points to them, corrects them, or says too little by
// itself. A message that opens another subject does not, nor one about those who talk.
func (r *pair) leans() bool {
	in, u, n := dependentIn()[r.language], r.u, len(r.subject())
	switch {
	case len(r.said) == 0 || u.has(in.asides) || allReactions(u) || ReadChat(u.Text, nil) != NoChat || r.ofSpeakers() || !r.asksOrCorrects():
		return false
	case u.Asks() && r.pointsBack(in):
		return false
	case u.has(in.corrections) || u.has(in.pointers) || u.has(in.alike) || r.hasPronoun:
		return true
	}
	if n == 0 || r.beginsAlike() >= 3 {
		return false // "how far is the sun?" after "how far is the moon?"
	}
	return (r.opened || Assess(u.Text, nil).Score < ownNeed) && builtIn().FollowUp.Classify(pairFeatures(r))[kindAlone] < sureAlone
}

// pointsBack reports whether the message points only to what it said itself.
func (r *pair) pointsBack(in dependent) bool {
	found := r.u.find(in.pointers)
	return !r.u.has(in.corrections) && !r.u.has(in.alike) && !r.hasPronoun && len(found) > 0 && namesBefore(r.u.Words[:found[0].From])
}

// beginsAlike returns how many words at their beginnings the message and the question share, up to three.
func (r *pair) beginsAlike() (n int) {
	for n < min(3, len(r.said), len(r.before)) && r.said[n].key == r.before[n].key {
		n++
	}
	return n
}

// ofSpeakers reports whether the message is about the one who asks or the one who answers: "who asked you?".
func (r *pair) ofSpeakers() bool {
	return slices.ContainsFunc(r.u.find(speakerPhrases()), func(f text.Match) bool { return f.Cue == "you" || f.Cue == "me" })
}

// asksOrCorrects reports whether the message asks, corrects a question, or is a few words that tell nothing of the speakers.
func (r *pair) asksOrCorrects() bool {
	if r.u.Asks() || countRole(r.said, roleQuestionWord) > 0 || r.u.has(dependentIn()[r.language].corrections) {
		return true
	}
	return r.wordCount() <= maxInquiry && !r.u.has(speakerPhrases()) && !slices.ContainsFunc(r.u.Words, namesSpeaker)
}

// swap returns the question with what the message names in the place of what is like it. The message must say that this is wanted.
func (r *pair) swap() (string, bool) {
	in, own := dependentIn()[r.language], r.subject()
	corrects := r.u.find(in.corrections)
	if len(corrects) > 0 {
		all := own
		own = r.meant(own, corrects)
		if s, ok := r.instead(own, all); ok {
			return s, true
		}
	} else if !r.u.has(in.alike) || countRole(r.said, roleQuestionWord) > 0 {
		return "", false
	}
	if r.unspaced || len(own) == 0 || len(own) > maxSwapped || rolesIn(own)&^(1<<roleTime|1<<roleNumber) == 0 {
		return "", false
	}
	core := newPair(Parse(r.u.Text[own[0].start:own[len(own)-1].end], nil), r.p, r.language)
	core.opened = true
	if len(core.said) == len(own) {
		for i := range own { // a capital says more within a sentence
			core.said[i].role = own[i].role
		}
	}
	return builtIn().best(core.completions())
}

// meant returns the words of a correction that say what was meant. They follow the last phrase that corrects, or precede it.
func (r *pair) meant(own []token, corrects []text.Match) []token {
	last := corrects[len(corrects)-1]
	if last.To == last.From {
		return own // a script without spaces
	}
	from, to := r.u.Words[last.From].Start, r.u.Words[last.To-1].End
	together := func(a, b int) bool { return !strings.ContainsAny(r.u.Text[a:b], ",.;:!") }
	var before, behind []token
	for _, t := range own {
		switch {
		case t.end <= from && together(t.end, from):
			before = append(before, t)
		case t.start >= to && (len(behind) == 0 || together(behind[0].end, t.start)):
			behind = append(behind, t)
		}
	}
	if len(behind) > 0 {
		return behind
	}
	return before
}

// instead replaces words of the question that the message has, too, by the other words of it: "not roses, hydrangeas".
func (r *pair) instead(by, all []token) (string, bool) {
	stands := func(t token) int { return slices.IndexFunc(r.before, func(b token) bool { return b.key == t.key }) }
	by = slices.DeleteFunc(slices.Clone(by), func(t token) bool { return stands(t) >= 0 })
	from, to, n := len(r.before), 0, 0
	for _, t := range all {
		if at := stands(t); at >= 0 {
			from, to, n = min(from, at), max(to, at+1), n+1
		}
	}
	if len(by) == 0 || n == 0 || to-from > n {
		return "", false
	}
	return r.p.Text[:r.before[from].start] + r.u.Text[by[0].start:by[len(by)-1].end] + r.p.Text[r.before[to-1].end:], true
}

// otherNumber returns the question with its only number replaced by that of a message that begins with one: "12?" after "pasta for five".
func (r *pair) otherNumber() (string, bool) {
	own := r.subject()
	if len(own) == 0 || own[0].role != roleNumber || r.u.Asks() && !r.onlyThings() {
		return "", false
	}
	spans := text.NumberSpans(r.p.Text)
	for _, n := range text.NumbersInWords(r.p.Text, r.p.Words, r.language) {
		spans = append(spans, n.Span)
	}
	if len(spans) != 1 {
		return "", false
	}
	at, n := spans[0], own[0]
	for i, t := range r.before {
		if at.From < t.end && t.start < at.To && (t.role == roleTime || t.start < at.From || at.To < t.end && !r.unspaced) || t.start == at.From && i > 0 && r.before[i-1].role == roleName {
			return "", false // a date, or a part of a name
		}
	}
	return r.p.Text[:at.From] + r.u.Text[n.start:n.end] + r.p.Text[at.To:], true
}

// swapKind returns the question with another kind of the same thing. "a covid booster" becomes "a flu booster" if the message is "flu
// one?".
func (r *pair) swapKind() (string, bool) {
	own := r.subject()
	if r.unspaced || len(own) != 1 || !isContent(own[0]) || r.u.Form() != NoForm || !r.isBefore(own[0], proForms()) {
		return "", false
	}
	for i := 1; i < len(r.before); i++ {
		if a, b := r.before[i-1], r.before[i]; isContent(a) && isContent(b) && b.start == a.end+1 {
			return r.p.Text[:a.start] + r.u.Text[own[0].start:own[0].end] + r.p.Text[a.end:], true
		}
	}
	return "", false
}

// isContent reports whether a token of a question says what it is about.
func isContent(t token) bool { return t.role == roleNew || t.role == roleName || t.role == roleKnown }

// isBefore reports whether a word of the message precedes one of a table.
func (r *pair) isBefore(t token, table map[string]bool) bool {
	at := slices.IndexFunc(r.u.Words, func(w text.Word) bool { return w.Start == t.start })
	return at >= 0 && at+1 < len(r.u.Words) && table[r.u.Words[at+1].Key]
}

// subject returns the words of content in the message.
func (r *pair) subject() []token { return subjectWords(r.u, r.language) }

// subjectWords returns the words of content in an utterance that are not words of questions, small talk or pointing.
func subjectWords(u Utterance, language string) (all []token) {
	in, aside := dependentIn()[language], map[int]bool{}
	for _, table := range [...]text.Phrases{in.pointers, in.corrections, in.alike, politeOpenings(), fragmentOpenings()} {
		for _, f := range u.find(table) {
			for i := f.From; i < f.To; i++ {
				aside[u.Words[i].Start] = true
			}
		}
	}
	words, _ := tokens(u.Text, "")
	for _, w := range words {
		short := len(w.key) == 2 && !text.StopWords()[w.key] && !text.Prepositions()[w.key] && !articles()[w.key] // "s7", "lg"
		if (short || w.role != roleFunctionWord) && w.role != roleQuestionWord && !aside[w.start] && !reactions()[w.key] && !fillers()[w.key] && text.Pronouns()[w.key] == "" {
			all = append(all, w)
		}
	}
	return all
}

// beside separates the question from the message where both are asked.
const beside = " – "

// both returns the question and the message.
func (r *pair) both() string {
	if s, ok := r.swap(); ok {
		return s
	}
	return strings.TrimRight(r.p.Text, "?？!。.~ ") + beside + strings.TrimRight(r.u.Text, "?？!。.~ ")
}

// onlySubject returns the words of content in a question that is made of several messages, at most maxQueryWords. What may not leave must
// have been removed, since it may be a name of several words.
func onlySubject(s string) string {
	if text.Unspaced(s) {
		return strings.ReplaceAll(s, beside, " ")
	}
	u := Parse(s, nil)
	var out, keys []string
	for _, w := range subjectWords(u, text.MessageLanguage(s)) {
		if len(out) < maxQueryWords && !slices.Contains(keys, w.key) {
			out, keys = append(out, s[w.start:w.end]), append(keys, w.key)
		}
	}
	return strings.Join(out, " ")
}

// lost returns how many words of content of the message are not in a completion. A time may be worded in another way.
func (r *pair) lost(s string) (n int) {
	if r.unspaced {
		return 0
	}
	for _, w := range r.subject() {
		if w.role != roleTime && !strings.Contains(text.Fold(s), w.key) {
			n++
		}
	}
	return n
}

// withoutAnswers removes what people answered to the question right before it. What was asked says more about a follow-up.
func withoutAnswers(names []string, earlier []turn.Message) (all []turn.Message) {
	asks := func(i int) bool {
		return i < len(earlier) && (strings.ContainsAny(earlier[i].Text, "?？") || Parse(earlier[i].Text, names).Asks())
	}
	for i, m := range earlier {
		if answer := !asks(i) && asks(i+1) && strings.HasSuffix(m.Text, "."); !answer {
			all = append(all, m)
		}
	}
	return all
}

// minSubject is the length of a message that says what a conversation is about, in characters.
const minSubject = 4

// subjectBefore returns the index of the newest message that says what a conversation is about, or -1.
func subjectBefore(names []string, earlier []turn.Message) int {
	return slices.IndexFunc(earlier, func(m turn.Message) bool {
		u := Parse(m.Text, names)
		if len(u.Words) == 0 || allReactions(u) || ReadChat(m.Text, names) != NoChat || utf8.RuneCountInString(m.Text) < minSubject {
			return false
		}
		return canHelp(m.Text, names) || len(subjectWords(u, text.MessageLanguage(m.Text))) > 1
	})
}

// withoutReactions removes what people say of an answer before and after a question: "nah", "sorry".
func withoutReactions(s string) string {
	words := text.Words(s)
	isReaction := func(w text.Word) bool { return fillers()[w.Key] }
	for len(words) > 1 && isReaction(words[0]) {
		words = words[1:]
	}
	for len(words) > 1 && isReaction(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return s
	}
	return s[words[0].Start:words[len(words)-1].End] + strings.Repeat("?", min(1, strings.Count(s, "?")))
}
