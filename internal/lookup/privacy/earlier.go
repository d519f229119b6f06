package privacy

import (
	"fmt"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/text/lazyregexp"
)

// maxEarlier is how many messages before the one at hand are read.
const maxEarlier = 4

// Earlier returns the messages of people that a question may be completed from, newest first and without mentions: the
// one that is replied to, and the chain of replies. With the message itself and the one that it replies to come what they
// forward and embed: words of others, which count only where the question is about them ("is this true?"). The words of
// bots are left out, its own too: they may come from the web.
func Earlier(req turn.Request) []turn.Message {
	all := quoted(req.Message)
	if req.Parent != nil {
		all = append(all, *req.Parent)
		if req.Parent.ByPerson() {
			all = append(all, quoted(*req.Parent)...)
		}
	}
	all = append(all, req.Chain...)
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

// quoted are a message's quotes, as messages.
func quoted(m turn.Message) (all []turn.Message) {
	for i, q := range m.Quotes {
		words := q.Text
		if words == "" {
			words = q.Title
		}
		all = append(all, turn.Message{ID: fmt.Sprintf("%s/%s/%d", m.ID, q.Kind, i+1), Text: words, At: m.At})
	}
	return all
}

// earlierMention is a mention in an earlier message. How many words its name has is not known.
var earlierMention = lazyregexp.New(`@[\pL\pN_.\-]+(?: \p{Lu}[\pL\pN_.\-'’]*)*`)
