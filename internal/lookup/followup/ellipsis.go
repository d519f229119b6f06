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

// owned puts the owner of a fragment like "his brother" in, whom the question before names.
func owned(rest, before string) string {
	words := text.Words(rest)
	p, ok := possessives[words[0].Key]
	if !ok || len(words) < 2 {
		return rest
	}
	owner := subject(before, p.kind == "he")
	if owner == "" {
		owner = subject(before, false)
	}
	if owner == "" {
		return rest
	}
	return p.by(owner, rest[words[1].Start:])
}

// by words whose thing it is.
func (p possessive) by(owner, thing string) string {
	if p.of == "'s" {
		return owner + "'s " + thing
	}
	return text.OneLine(thing + " " + p.of + " " + owner)
}

// ownedInstead puts a fragment like "its capital" in the place of all that a question asks about: of "the population of
// Peru" the name is the owner of a thing, and "the president of Peru" is that of a person's.
func ownedInstead(before, rest string) (string, bool) {
	words := text.Words(rest)
	p, ok := possessives[words[0].Key]
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old := text.Words(before)
	from, _ := need.Lead(old)
	n, asksOf := abouts.Prefix(old[from:])
	at := from + n
	if !ok || len(words) < 2 || asksOf != "about" || at >= len(old) || old[at].Upper {
		return "", false
	}
	owner := before[old[at].Start:old[len(old)-1].End]
	if a, b := lastName(old, nil); a > at && !(p.kind == "he" && personal[old[from].Key]) {
		owner = before[old[a].Start:old[b-1].End]
	}
	return before[:old[at].Start] + p.by(owner, rest[words[1].Start:]), true
}

// personal are the words that ask for persons.
var personal = text.Set(lang.All().FollowUp.Who)

// placed replaces "there" by the place that the question before names.
func placed(s string, words []text.Word, at int, before string) (string, bool) {
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old := text.Words(before)
	when, until := timeIn(old)
	from, to := lastName(old, func(i int) bool { return when <= i && i < until })
	for i := len(old) - 2; from == to && i > 0; i-- {
		if places[old[i].Key] && timeAt(old, i+1) == 0 { // "weather in oslo"
			from, to = i+1, slotEnd(old, i+1)
		}
	}
	if from >= to {
		return "", false
	}
	in := cmp.Or(placeLinks[words[at].Key], lang.Of("en").FollowUp.PlaceLink)
	return s[:words[at].Start] + in + " " + before[old[from].Start:old[to-1].End] + s[words[at].End:], true
}

// placeLinks are the words before a place, by the word for "there" that it takes the place of.
var placeLinks = func() map[string]string {
	all := map[string]string{}
	for _, code := range lang.Codes() {
		for w := range text.Set(lang.Of(code).Grammar.Pronouns["there"]) {
			all[w] = lang.Of(code).FollowUp.PlaceLink
		}
	}
	return all
}()

// subjectless reports whether a question has its subject left out: "who won?", "¿dónde nació?".
func subjectless(s string, words []text.Word) bool {
	from, _ := need.Lead(words)
	body := words[from:]
	if len(body) < 2 || need.Opening(s, words, body) != "wh" || text.YearPattern.MatchString(s) {
		return false
	}
	content := 0
	for i, w := range body {
		if i > 0 && w.Upper || text.Pronouns[w.Key] != "" || nobody[w.Key] {
			return false
		}
		if !text.StopWords[w.Key] {
			content++
		}
	}
	dropped := lang.Of(text.Language(s, words)).FollowUp.DropsSubject
	if len(body) > 5 || !dropped && (len(body) > 2 || content != 1) {
		return false
	}
	for _, f := range need.Topics.FindAll(s, words) {
		if f.Cue != "person" && f.Cue != "sport" && f.Cue != "state" && !(dropped && f.Cue == "price") {
			return false
		}
	}
	return true
}

// lacksOwner reports whether a question asks for something that is always somebody's or something's, "who was the
// captain?", and names nobody and nothing.
func lacksOwner(s string, words []text.Word) bool {
	from, _ := need.Lead(words)
	body := words[from:]
	if len(body) > 6 || need.Opening(s, words, body) != "wh" {
		return false
	}
	lacks := false
	for i, w := range body {
		if i > 0 && w.Upper && !relational[w.Key] || text.Pronouns[w.Key] != "" || linksName[w.Key] && !articles[w.Key] || w.Key == "my" || w.Key == "your" {
			return false
		}
		lacks = lacks || i > 0 && relational[w.Key] && (articles[body[i-1].Key] || body[i-1].Key == "are")
	}
	return lacks
}

// relational are the nouns for what is always something's or somebody's.
var relational = text.Set(lang.All().FollowUp.RelationalNouns)

// completed adds the subject of the question before to one that has none.
func completed(s string, words []text.Word, before string) (string, bool) {
	owned := lacksOwner(s, words)
	if !owned && !subjectless(s, words) {
		return "", false
	}
	opens := text.Words(before)
	from, _ := need.Lead(opens)
	name := subject(before, from < len(opens) && personal[opens[from].Key] && !owned)
	bare := trailing.ReplaceAllString(strings.TrimSpace(s), "")
	switch {
	case name == "":
		return "", false
	case !owned && !lang.Of(text.Language(s, words)).FollowUp.DropsSubject && strings.Contains(name, " ") && name == strings.ToLower(name[:1])+name[1:]: // a thing that did nothing
		return strings.TrimRight(strings.TrimSpace(s), "?？ ") + ": " + before, true
	case owned:
		of := cmp.Or(lang.Of(text.Language(s, words)).FollowUp.OwnerLink, lang.Of("en").FollowUp.OwnerLink)
		return bare + " " + of + " " + name, true
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

// pronounBehind puts a name in the place of the pronoun behind a French verb: "quel âge a-t-il ?".
func pronounBehind(s, before string) (string, bool) {
	m := inversion.FindStringIndex(s)
	if m == nil || len(need.Topics.FindAll(s, text.Words(s))) > 0 && impersonal.MatchString(text.Fold(s)) {
		return "", false
	}
	for i, w := range text.Words(s) {
		if i > 0 && w.Upper {
			return "", false
		}
	}
	name := cmp.Or(subject(before, true), subject(before, false)) // "il" is a thing, too
	if name == "" {
		return "", false
	}
	return text.OneLine(s[:m[0]] + " " + name + " " + s[m[1]:]), true
}

// The shapes of Japanese follow-ups: a topic alone, and a pronoun with its particle. No spaces tell the words apart, so
// these are found by their particles.
var (
	japanese    = lang.Of("ja").FollowUp.Unspaced
	topicAlone  = regexp.MustCompile(`^(?:` + japanese.Opening.String() + `)?、?([^` + japanese.Particles + `、。？?\s]{1,12})(?:` + japanese.TopicEnd.String() + `)?[?？]$`)
	leftOfTopic = regexp.MustCompile(`^([^` + japanese.Particles + `、。？?\s]{1,12})((?:` + japanese.TopicLink.String() + `).+)$`)
	standsFor   = regexp.MustCompile(`(?:` + japanese.Pronouns.String() + `)(` + japanese.PronounLink.String() + `)`)
)

// unspacedFollowUp does for Japanese what the rest does by words.
func unspacedFollowUp(s, before string) (string, bool) {
	old := leftOfTopic.FindStringSubmatch(strings.TrimSpace(before))
	if old == nil {
		return "", false
	}
	if m := topicAlone.FindStringSubmatch(strings.TrimSpace(s)); m != nil && len(need.Openings[""].FindAll(m[1], nil)) == 0 {
		if isMoment := func(p text.Phrase) bool { return p.Words[0] == m[1] }; slices.ContainsFunc(calendar.UnspacedMoments, isMoment) {
			return m[1] + japanese.Of + timeless(old[0]), true
		}
		return m[1] + old[2], true
	}
	if standsFor.MatchString(s) {
		return standsFor.ReplaceAllString(s, old[1]+"$1"), true
	}
	return "", false
}

// timeless takes the words for times seen from now out of a text without spaces.
func timeless(s string) string {
	for _, p := range calendar.UnspacedMoments {
		s = strings.ReplaceAll(strings.ReplaceAll(s, p.Words[0]+japanese.Of, ""), p.Words[0], "")
	}
	return s
}
