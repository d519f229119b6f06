package websearch

import (
	"regexp"
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
	thing := rest[words[1].start:]
	switch {
	case owner == "":
		return rest
	case p.of == "'s":
		return owner + "'s " + thing
	}
	return oneLine(thing + " " + p.of + " " + owner)
}

// placed replaces "there" by the place that the question before names.
func placed(text string, words []word, at int, before string) (string, bool) {
	old := split(before)
	from, to := lastName(old)
	if from >= to {
		return "", false
	}
	in := map[string]string{"alli": "en", "alla": "en", "там": "в"}[words[at].key]
	if in == "" {
		in = "in"
	}
	return text[:words[at].start] + in + " " + before[old[from].start:old[to-1].end] + text[words[at].end:], true
}

// subjectless completes a question whose subject is left out, "who won?", "¿dónde nació?", with that of the question
// before it.
func subjectless(text string, words []word, before string) (string, bool) {
	from, _ := lead(words)
	body := words[from:]
	if len(body) < 2 || opening(text, words, body) != "wh" || aYear.MatchString(text) {
		return "", false
	}
	content := 0
	for i, w := range body {
		if i > 0 && w.upper || pronouns[w.key] != "" || nobody[w.key] {
			return "", false
		}
		if !stopWords[w.key] {
			content++
		}
	}
	dropped := dropsSubject[language(text, words)]
	if len(body) > 5 || !dropped && (len(body) > 2 || content != 1) {
		return "", false
	}
	for _, f := range topics.in(text, words) {
		if f.cue != "person" && f.cue != "sport" && f.cue != "state" {
			return "", false
		}
	}
	name := subject(before, false)
	if name == "" {
		return "", false
	}
	return trailing.ReplaceAllString(strings.TrimSpace(text), "") + " " + name, true
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
	name := subject(before, true)
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
		return m[1] + old[2], true
	}
	if standsFor.MatchString(text) {
		return standsFor.ReplaceAllString(text, old[1]+"$1"), true
	}
	return "", false
}
