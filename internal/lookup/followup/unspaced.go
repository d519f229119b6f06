package followup

import (
	"regexp"
	"strings"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text/calendar"
	"familiar/internal/text/lang"
)

// The shapes of Japanese follow-ups: a topic alone, and a pronoun with its particle. No spaces tell the words apart, so
// these are found by their particles.
var (
	japanese    = lang.Of("ja").FollowUp.Unspaced
	topicAlone  = regexp.MustCompile(`^(?:` + japanese.Opening.String() + `)?、?([^` + japanese.Particles + `、。？?\s]{1,12})(?:` + japanese.TopicEnd.String() + `)?[?？]$`)
	leftOfTopic = regexp.MustCompile(`^([^` + japanese.Particles + `、。？?\s]{1,12})((?:` + japanese.TopicLink.String() + `).+)$`)
	standsFor   = regexp.MustCompile(`(?:` + japanese.Pronouns.String() + `)(` + japanese.PronounLink.String() + `)`)
)

// rewriteUnspaced does for Japanese what the rest of the room does by words.
func rewriteUnspaced(u utterance.Utterance, p prior) (string, bool) {
	s, old := u.Text, leftOfTopic.FindStringSubmatch(strings.TrimSpace(p.raw))
	if old == nil {
		return "", false
	}
	if m := topicAlone.FindStringSubmatch(strings.TrimSpace(s)); m != nil && calendar.IsUnspaced(m[1]) {
		return m[1] + japanese.Of + calendar.CutUnspaced(old[0], japanese.Of), true
	}
	if standsFor.MatchString(s) {
		return standsFor.ReplaceAllString(s, old[1]+"$1"), true
	}
	return "", false
}
