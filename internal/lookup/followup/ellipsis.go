package followup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// lacksSubject reports whether a question has its subject left out: "who won?", "¿dónde nació?".
func lacksSubject(u utterance.Utterance) bool {
	if len(u.Body) < 2 || len(u.Body) > 5 || u.Form() != utterance.Wh || text.YearPattern.MatchString(u.Text) {
		return false
	}
	content := 0
	for i, w := range u.Body {
		if i > 0 && w.Upper || text.Pronouns[w.Key] != "" {
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
	return !slices.ContainsFunc(u.Find(utterance.Topics), func(f text.Match) bool {
		switch f.Cue {
		case "person", "sport", "state":
			return false
		}
		return !drops || f.Cue != "price"
	})
}

// lacksOwner reports whether a question asks for something that is always somebody's or something's, "who was the
// captain?", and names nobody and nothing.
func lacksOwner(u utterance.Utterance) bool {
	if len(u.Body) > 6 || u.Form() != utterance.Wh {
		return false
	}
	lacks := false
	for i, w := range u.Body {
		if i > 0 && w.Upper && !relationalNouns[w.Key] || text.Pronouns[w.Key] != "" || nameLinks[w.Key] && !articles[w.Key] || w.Key == "my" || w.Key == "your" {
			return false
		}
		lacks = lacks || i > 0 && relationalNouns[w.Key] && (articles[u.Body[i-1].Key] || u.Body[i-1].Key == "are")
	}
	return lacks
}

// addSubject adds the subject of the question before to one that has none.
func addSubject(u utterance.Utterance, p prior) (string, bool) {
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
var trailing = regexp.MustCompile(`(?i)(?: (?:` + lexicon.StressedPronouns.String() + `))?[?？! ]*$`)
