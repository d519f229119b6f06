package websearch

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// possessive is a word for the owner of something.
type possessive struct {
	kind string // as in pronouns
	of   string // what stands between the thing and its owner; "'s" follows the owner
}

// possessives begin fragments such as "his brother".
var possessives = func() map[string]possessive {
	all := map[string]possessive{}
	for _, row := range []struct{ words, kind, of string }{
		{"his her", "he", "'s"}, {"its their", "it", "'s"},
		{"sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer", "he", "von"},
		{"son sa ses leur leurs", "he", "de"}, {"su sus", "he", "de"}, {"seu sua seus suas", "he", "de"}, {"suo sua suoi sue", "he", "di"},
		{"его ее их", "he", " "},
	} {
		for w := range set(row.words) {
			if _, taken := all[w]; !taken {
				all[w] = possessive{row.kind, row.of}
			}
		}
	}
	return all
}()

// owned puts the owner of a fragment like "his brother" in, whom the question before names.
func owned(rest, before string) string {
	words := split(rest)
	p, ok := possessives[words[0].key]
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
	return p.by(owner, rest[words[1].start:])
}

// by words whose thing it is.
func (p possessive) by(owner, thing string) string {
	if p.of == "'s" {
		return owner + "'s " + thing
	}
	return oneLine(thing + " " + p.of + " " + owner)
}

// ownedInstead puts a fragment like "its capital" in the place of all that a question asks about: of "the population of
// Peru" the name is the owner of a thing, and "the president of Peru" is that of a person's.
func ownedInstead(before, rest string) (string, bool) {
	words := split(rest)
	p, ok := possessives[words[0].key]
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old := split(before)
	from, _ := lead(old)
	n, asksOf := abouts.at(old[from:])
	at := from + n
	if !ok || len(words) < 2 || asksOf != "about" || at >= len(old) || old[at].upper {
		return "", false
	}
	owner := before[old[at].start:old[len(old)-1].end]
	if a, b := lastName(old, nil); a > at && !(p.kind == "he" && personal[old[from].key]) {
		owner = before[old[a].start:old[b-1].end]
	}
	return before[:old[at].start] + p.by(owner, rest[words[1].start:]), true
}

// personal are the words that ask for persons.
var personal = set("who wer qui quien quem chi кто")

// placed replaces "there" by the place that the question before names.
func placed(text string, words []word, at int, before string) (string, bool) {
	before = strings.TrimRight(strings.TrimSpace(before), "?？!. ")
	old := split(before)
	when, until := timeIn(old)
	from, to := lastName(old, func(i int) bool { return when <= i && i < until })
	for i := len(old) - 2; from == to && i > 0; i-- {
		if places[old[i].key] && timeAt(old, i+1) == 0 { // "weather in oslo"
			from, to = i+1, slotEnd(old, i+1)
		}
	}
	if from >= to {
		return "", false
	}
	in := map[string]string{"alli": "en", "alla": "en", "там": "в"}[words[at].key]
	if in == "" {
		in = "in"
	}
	return text[:words[at].start] + in + " " + before[old[from].start:old[to-1].end] + text[words[at].end:], true
}

// subjectless reports whether a question has its subject left out: "who won?", "¿dónde nació?".
func subjectless(text string, words []word) bool {
	from, _ := lead(words)
	body := words[from:]
	if len(body) < 2 || opening(text, words, body) != "wh" || aYear.MatchString(text) {
		return false
	}
	content := 0
	for i, w := range body {
		if i > 0 && w.upper || pronouns[w.key] != "" || nobody[w.key] {
			return false
		}
		if !stopWords[w.key] {
			content++
		}
	}
	dropped := dropsSubject[language(text, words)]
	if len(body) > 5 || !dropped && (len(body) > 2 || content != 1) {
		return false
	}
	for _, f := range topics.in(text, words) {
		if f.cue != "person" && f.cue != "sport" && f.cue != "state" && !(dropped && f.cue == "price") {
			return false
		}
	}
	return true
}

// lacksOwner reports whether a question asks for something that is always somebody's or something's, "who was the
// captain?", and names nobody and nothing.
func lacksOwner(text string, words []word) bool {
	from, _ := lead(words)
	body := words[from:]
	if len(body) > 6 || opening(text, words, body) != "wh" {
		return false
	}
	lacks := false
	for i, w := range body {
		if i > 0 && w.upper && !relational[w.key] || pronouns[w.key] != "" || linksName[w.key] && !articles[w.key] || w.key == "my" || w.key == "your" {
			return false
		}
		lacks = lacks || i > 0 && relational[w.key] && (articles[body[i-1].key] || body[i-1].key == "are")
	}
	return lacks
}

// relational are the nouns for what is always something's or somebody's.
var relational = set("captain coach manager author writer director actor actress cast villain star plot ending sequel prequel soundtrack score result winner loser capital population president minister mayor king queen leader ceo founder owner price cost ticket runtime budget height weight wife husband currency flag area length symptom cause cure dose ingredient calorie nickname " +
	"hauptstadt einwohnerzahl prasident prasidentin kanzler burgermeister burgermeisterin regisseur regisseurin autor autorin trainer kapitan preis ergebnis handlung besetzung grunder wahrung " +
	"capitale maire realisateur realisatrice auteur autrice prix resultat intrigue fondateur entraineur capitaine monnaie " +
	"poblacion presidente presidenta alcalde alcaldesa director directora autora precio resultado trama reparto fundador entrenador capitan moneda")

// completed adds the subject of the question before to one that has none.
func completed(text string, words []word, before string) (string, bool) {
	owned := lacksOwner(text, words)
	if !owned && !subjectless(text, words) {
		return "", false
	}
	opens := split(before)
	from, _ := lead(opens)
	name := subject(before, from < len(opens) && personal[opens[from].key] && !owned)
	bare := trailing.ReplaceAllString(strings.TrimSpace(text), "")
	switch {
	case name == "":
		return "", false
	case !owned && !dropsSubject[language(text, words)] && strings.Contains(name, " ") && name == strings.ToLower(name[:1])+name[1:]: // a thing that did nothing
		return strings.TrimRight(strings.TrimSpace(text), "?？ ") + ": " + before, true
	case owned:
		of := map[string]string{"de": "von", "fr": "de", "es": "de"}[language(text, words)]
		if of == "" {
			of = "of"
		}
		return bare + " " + of + " " + name, true
	}
	return bare + " " + name, true
}

// trailing is what a name takes the place of at a question's end.
var trailing = regexp.MustCompile(`(?i)(?: (?:él|ella|lui|lei))?[?？! ]*$`)

// dropsSubject are the languages whose questions need no pronoun.
var dropsSubject = map[string]bool{"es": true, "pt": true, "it": true}

// nobody are the words that make a question with no subject one for the people in the room.
var nobody = set("know known care cared else there here up it up you i we me my your going sabe sabes quieres puedo puedes tal pasa hora tempo tiempo tudo voce")

// inversion is the pronoun behind a French verb.
var inversion = regexp.MustCompile(`(?i)-(?:t-)?(ils?|elles?)\b`)

// pronounBehind puts a name in the place of the pronoun behind a French verb: "quel âge a-t-il ?".
func pronounBehind(text, before string) (string, bool) {
	m := inversion.FindStringIndex(text)
	if m == nil || len(topics.in(text, split(text))) > 0 && strings.Contains(fold(text), "fait-il") {
		return "", false
	}
	for i, w := range split(text) {
		if i > 0 && w.upper {
			return "", false
		}
	}
	name := cmp.Or(subject(before, true), subject(before, false)) // "il" is a thing, too
	if name == "" {
		return "", false
	}
	return oneLine(text[:m[0]] + " " + name + " " + text[m[1]:]), true
}

// The shapes of Japanese follow-ups: a topic alone, and a pronoun with its particle. No spaces tell the words apart, so
// these are found by their particles.
var (
	topicAlone  = regexp.MustCompile(`^(?:じゃあ|では|それでは|で、?)?、?([^はのがをにでと、。？?\s]{1,12})(?:は|って|の場合は)?[?？]$`)
	leftOfTopic = regexp.MustCompile(`^([^はのがをにでと、。？?\s]{1,12})((?:の|は|って|で|に).+)$`)
	standsFor   = regexp.MustCompile(`(?:彼女|彼|その人|この人|それ|そこ)(は|の|が|を|に|って|で)`)
)

// unspacedFollowUp does for Japanese what the rest does by words.
func unspacedFollowUp(text, before string) (string, bool) {
	old := leftOfTopic.FindStringSubmatch(strings.TrimSpace(before))
	if old == nil {
		return "", false
	}
	if m := topicAlone.FindStringSubmatch(strings.TrimSpace(text)); m != nil && len(openings[""].in(m[1], nil)) == 0 {
		if isMoment := func(p phrase) bool { return p.words[0] == m[1] }; slices.ContainsFunc(unspacedMoments, isMoment) {
			return m[1] + "の" + timeless(old[0]), true
		}
		return m[1] + old[2], true
	}
	if standsFor.MatchString(text) {
		return standsFor.ReplaceAllString(text, old[1]+"$1"), true
	}
	return "", false
}

// timeless takes the words for times seen from now out of a text without spaces.
func timeless(s string) string {
	for _, p := range unspacedMoments {
		s = strings.ReplaceAll(strings.ReplaceAll(s, p.words[0]+"の", ""), p.words[0], "")
	}
	return s
}
