package privacy

import (
	"regexp"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// maxEarlier is how many messages before the one at hand are read.
const maxEarlier = 4

// Earlier returns the messages of people that a question may be completed from, newest first and without mentions: the
// one that is replied to, and the chain of replies. The words of bots are left out, its own too: they may come from the
// web.
func Earlier(req turn.Request) []turn.Message {
	all := req.Chain
	if req.Parent != nil {
		all = append([]turn.Message{*req.Parent}, all...)
	}
	var out []turn.Message
	seen := map[string]bool{req.Message.ID: true}
	for _, m := range all {
		m.Text = text.OneLine(earlierMention.ReplaceAllString(m.Text, " "))
		if m.ByPerson() && m.Text != "" && (m.ID == "" || !seen[m.ID]) && len(out) < maxEarlier {
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	return out
}

// earlierMention is a mention in an earlier message. How many words its name has is not known.
var earlierMention = regexp.MustCompile(`@[\pL\pN_.\-]+(?: \p{Lu}[\pL\pN_.\-'’]*)*`)
