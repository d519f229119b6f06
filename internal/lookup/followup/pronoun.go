package followup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// replacePronoun puts the name that a pronoun stands for in its place. Where the question before has none, that is added
// whole.
func replacePronoun(u utterance.Utterance, p prior) (string, bool) {
	at := pronounAt(u)
	pronoun, kind, next := u.Words[at], text.Pronouns[u.Words[at].Key], at+1
	if kind == "there" {
		return replaceThere(u, at, p)
	}
	if pronoun.Key == "it" && next < len(u.Words) && u.Words[next].Key == "take" { // what takes time is all that was asked
		return withQuestion(u.Text, p.raw), true
	}
	name := p.antecedent(strings.HasPrefix(kind, "he"))
	if name == "" && !personPronouns[pronoun.Key] {
		name = p.antecedent(false)
	}
	if name == "" {
		return withQuestion(u.Text, p.raw), need.Weigh(p.raw, nil).Score >= need.Threshold
	}
	if at > 0 && text.SameWord(u.Words[at-1], pronoun) { // "he's" is one piece of text
		return "", false
	}
	if strings.HasSuffix(kind, "s") && next < len(u.Words) && !text.Prepositions[u.Words[next].Key] {
		name += "'s"
	}
	end := pronoun.End
	if next < len(u.Words) && u.Words[next].Key == "is" && u.Words[next].Start < end+2 {
		name, end = name+" is", u.Words[next].End
	}
	return u.Text[:pronoun.Start] + name + u.Text[end:], true
}

// replaceThere puts the place that the question before names in the place of "there".
func replaceThere(u utterance.Utterance, at int, p prior) (string, bool) {
	from, to := lastName(p.Words, p.inTime)
	for i := len(p.Words) - 2; from == to && i > 0; i-- {
		if placePrepositions[p.Words[i].Key] && timeAt(p.Words, i+1) == 0 { // "weather in oslo"
			from, to = i+1, p.slotEnd(i+1)
		}
	}
	if from >= to {
		return "", false
	}
	there := u.Words[at]
	in := cmp.Or(placeLinks[there.Key], lang.Of("en").FollowUp.PlaceLink)
	return u.Text[:there.Start] + in + " " + p.span(from, to) + u.Text[there.End:], true
}

func hasPronoun(u utterance.Utterance) bool { return pronounAt(u) >= 0 }

// pronounAt finds the pronoun of a question that names nobody itself, or -1.
func pronounAt(u utterance.Utterance) int {
	if !asks(u) {
		return -1
	}
	at := -1
	for i, w := range u.Words {
		if i > 0 && w.Upper && w.Key != "i" {
			if at >= 0 && strings.HasPrefix(text.Pronouns[u.Words[at].Key], "he") { // "did he win an Oscar?"
				return at
			}
			return -1
		}
		if w.Key == "it" && slices.ContainsFunc(u.Find(utterance.Topics), func(f text.Match) bool { return f.Cue == "weather" }) {
			continue // "will it snow there?"
		}
		if kind := text.Pronouns[w.Key]; at < 0 && kind != "" && !(kind == "there" && (i == 0 || existentials[u.Words[i-1].Key])) {
			at = i
		}
	}
	return at
}

// inversion is the pronoun behind a French verb, and impersonal a verb with one that stands for nothing.
var (
	inversion  = regexp.MustCompile(`(?i)(?:` + lexicon.InvertedPronouns.String() + `)\b`)
	impersonal = regexp.MustCompile(lexicon.ImpersonalVerbs.String())
)

func hasInvertedPronoun(u utterance.Utterance) bool { return inversion.MatchString(u.Text) }

// replaceInvertedPronoun puts a name in the place of the pronoun behind a French verb: "quel âge a-t-il ?".
func replaceInvertedPronoun(u utterance.Utterance, p prior) (string, bool) {
	at, all := inversion.FindStringIndex(u.Text), utterance.Parse(u.Text, nil)
	named := slices.ContainsFunc(all.Words[1:], func(w text.Word) bool { return w.Upper })
	if named || all.Has(utterance.Topics) && impersonal.MatchString(text.Fold(u.Text)) {
		return "", false
	}
	name := cmp.Or(p.antecedent(true), p.antecedent(false)) // "il" is a thing, too
	if name == "" {
		return "", false
	}
	return text.OneLine(u.Text[:at[0]] + " " + name + " " + u.Text[at[1]:]), true
}
