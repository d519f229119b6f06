package privacy

import (
	"regexp"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Earlier returns what people have said before the message, newest first, without the mentions. The words of bots are
// left out, its own too, for they may come from the web (P7), and so is everything older than the reply chain (P10).
func Earlier(req turn.Request) []turn.Message {
	var out []turn.Message
	seen := map[string]bool{req.Message.ID: true}
	add := func(m turn.Message) {
		if m.Text = text.OneLine(mentioned.ReplaceAllString(m.Text, " ")); !m.ByPerson() || m.Text == "" || m.ID != "" && seen[m.ID] || len(out) == 4 {
			return
		}
		seen[m.ID] = true
		out = append(out, m)
	}
	if req.Parent != nil {
		add(*req.Parent)
	}
	for _, m := range req.Chain {
		add(m)
	}
	return out
}

// mentioned is a mention in an earlier message, of which nobody has kept how long the name is.
var mentioned = regexp.MustCompile(`@[\pL\pN_.\-]+(?: \p{Lu}[\pL\pN_.\-'’]*)*`)
