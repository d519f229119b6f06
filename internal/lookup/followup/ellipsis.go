package followup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/need"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
	"familiar/internal/text/lang"
)

// possessive is a word for the owner of something.
type possessive struct {
	kind string // as in pronouns
	of   string // what stands between the thing and its owner; "'s" follows the owner
}

// possessives begin fragments such as "his brother".
var possessives = func() map[string]possessive {
	all := map[string]possessive{}
	for _, code := range lang.Codes() {
		f := lang.Of(code).FollowUp
		for w, kind := range text.ByWord(f.Possessives) {
			if _, taken := all[w]; !taken {
				all[w] = possessive{kind, f.PossessiveLink}
			}
		}
	}
	return all
}()

// fillFragment puts what a fragment has into the question before it.
func fillFragment(u need.Utterance, p prior) (string, bool) {
	rest, _ := fragment(u)
	if s, ok := p.shiftTime(rest); ok {
		return s, true
	}
	words := text.Words(rest)
	if pronoun, ok := possessives[words[0].Key]; ok && len(words) > 1 {
		thing := rest[words[1].Start:]
		if at, owner := p.ownerOf(pronoun); at > 0 {
			return p.Text[:p.Words[at].Start] + pronoun.join(owner, thing), true
		}
		if owner := cmp.Or(p.antecedent(pronoun.kind == "he"), p.antecedent(false)); owner != "" {
			rest = pronoun.join(owner, thing)
		}
	}
	return p.fillSlot(rest), true
}

// ownerOf returns the owner that a question after "what is" or the like has for a fragment such as "its capital", and where
// the question's subject begins, which the fragment replaces; 0 if there is none. Of "the population of Peru" the name is
// the owner of a thing; "the president of Peru" as a whole is the owner of a person's.
func (p prior) ownerOf(pronoun possessive) (at int, owner string) {
	at, asksOf := p.behindAbout()
	if at == 0 || asksOf != "about" || p.Words[at].Upper {
		return 0, ""
	}
	if from, to := lastName(p.Words, nil); from > at && !(pronoun.kind == "he" && p.asksForPerson()) {
		return at, p.span(from, to)
	}
	return at, p.span(at, len(p.Words))
}

// join says whose a thing is.
func (p possessive) join(owner, thing string) string {
	if p.of == "'s" {
		return owner + "'s " + thing
	}
	return text.OneLine(thing + " " + p.of + " " + owner)
}

// asksForPerson reports whether the question begins with "who".
func (p prior) asksForPerson() bool { return len(p.Body) > 0 && personal[p.Body[0].Key] }

// personal are the words that ask for persons.
var personal = text.Set(lang.All().FollowUp.Who)

// lacksSubject reports whether a question has its subject left out: "who won?", "¿dónde nació?".
func lacksSubject(u need.Utterance) bool {
	if len(u.Body) < 2 || len(u.Body) > 5 || u.Form() != need.Wh || text.YearPattern.MatchString(u.Text) {
		return false
	}
	content := 0
	for i, w := range u.Body {
		if i > 0 && w.Upper || text.Pronouns[w.Key] != "" || nobody[w.Key] {
			return false
		}
		if !text.StopWords[w.Key] {
			content++
		}
	}
	drops := lang.Of(text.Language(u.Text, u.Words)).FollowUp.DropsSubject
	if !drops && (len(u.Body) > 2 || content != 1) {
		return false
	}
	return !slices.ContainsFunc(u.Find(need.Topics), func(f text.Match) bool {
		switch f.Cue {
		case "person", "sport", "state":
			return false
		}
		return !drops || f.Cue != "price"
	})
}

// lacksOwner reports whether a question asks for something that is always somebody's or something's, "who was the
// captain?", and names nobody and nothing.
func lacksOwner(u need.Utterance) bool {
	if len(u.Body) > 6 || u.Form() != need.Wh {
		return false
	}
	lacks := false
	for i, w := range u.Body {
		if i > 0 && w.Upper && !relational[w.Key] || text.Pronouns[w.Key] != "" || linksName[w.Key] && !articles[w.Key] || w.Key == "my" || w.Key == "your" {
			return false
		}
		lacks = lacks || i > 0 && relational[w.Key] && (articles[u.Body[i-1].Key] || u.Body[i-1].Key == "are")
	}
	return lacks
}

// relational are the nouns for what is always something's or somebody's.
var relational = text.Set(lang.All().FollowUp.RelationalNouns)

// addSubject adds the subject of the question before to one that has none.
func addSubject(u need.Utterance, p prior) (string, bool) {
	owned := lacksOwner(u)
	name := p.antecedent(p.asksForPerson() && !owned)
	if name == "" {
		return "", false
	}
	grammar := lang.Of(text.Language(u.Text, u.Words)).FollowUp
	bare := trailing.ReplaceAllString(strings.TrimSpace(u.Text), "")
	switch {
	case owned:
		return bare + " " + cmp.Or(grammar.OwnerLink, lang.Of("en").FollowUp.OwnerLink) + " " + name, true
	case !grammar.DropsSubject && strings.Contains(name, " ") && name[:1] == strings.ToLower(name[:1]): // a thing that did nothing
		return withQuestion(u.Text, p.raw), true
	}
	return bare + " " + name, true
}

// trailing is what a name takes the place of at a question's end.
var trailing = regexp.MustCompile(`(?i)(?: (?:` + lang.All().FollowUp.StressedPronouns.String() + `))?[?？! ]*$`)

// nobody are the words that make a question with no subject one for the people in the room.
var nobody = text.Set(lang.All().FollowUp.RoomWords)

// inversion is the pronoun behind a French verb, and impersonal a verb with one that stands for nothing.
var (
	inversion  = regexp.MustCompile(`(?i)(?:` + lang.All().FollowUp.InvertedPronouns.String() + `)\b`)
	impersonal = regexp.MustCompile(lang.All().FollowUp.ImpersonalVerbs.String())
)

func hasInvertedPronoun(u need.Utterance) bool { return inversion.MatchString(u.Text) }

// replaceInvertedPronoun puts a name in the place of the pronoun behind a French verb: "quel âge a-t-il ?".
func replaceInvertedPronoun(u need.Utterance, p prior) (string, bool) {
	at, all := inversion.FindStringIndex(u.Text), need.Parse(u.Text, nil)
	named := slices.ContainsFunc(all.Words[1:], func(w text.Word) bool { return w.Upper })
	if named || all.Has(need.Topics) && impersonal.MatchString(text.Fold(u.Text)) {
		return "", false
	}
	name := cmp.Or(p.antecedent(true), p.antecedent(false)) // "il" is a thing, too
	if name == "" {
		return "", false
	}
	return text.OneLine(u.Text[:at[0]] + " " + name + " " + u.Text[at[1]:]), true
}

// The shapes of Japanese follow-ups: a topic alone, and a pronoun with its particle. No spaces tell the words apart, so
// these are found by their particles.
var (
	japanese    = lang.Of("ja").FollowUp.Unspaced
	topicAlone  = regexp.MustCompile(`^(?:` + japanese.Opening.String() + `)?、?([^` + japanese.Particles + `、。？?\s]{1,12})(?:` + japanese.TopicEnd.String() + `)?[?？]$`)
	leftOfTopic = regexp.MustCompile(`^([^` + japanese.Particles + `、。？?\s]{1,12})((?:` + japanese.TopicLink.String() + `).+)$`)
	standsFor   = regexp.MustCompile(`(?:` + japanese.Pronouns.String() + `)(` + japanese.PronounLink.String() + `)`)
)

// rewriteUnspaced does for Japanese what the rest of the room does by words.
func rewriteUnspaced(u need.Utterance, p prior) (string, bool) {
	s, old := u.Text, leftOfTopic.FindStringSubmatch(strings.TrimSpace(p.raw))
	if old == nil {
		return "", false
	}
	if m := topicAlone.FindStringSubmatch(strings.TrimSpace(s)); m != nil && len(need.Openings[""].FindAll(m[1], nil)) == 0 {
		if calendar.IsUnspaced(m[1]) {
			return m[1] + japanese.Of + calendar.CutUnspaced(old[0], japanese.Of), true
		}
		return m[1] + old[2], true
	}
	if standsFor.MatchString(s) {
		return standsFor.ReplaceAllString(s, old[1]+"$1"), true
	}
	return "", false
}
