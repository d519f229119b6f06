package websearch

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/privacy"
	"familiar/internal/lookup/question"
	"familiar/internal/text"
	"familiar/internal/web/guard"
	"familiar/internal/web/seal"
)

// rewordTime is how long a side model may take to make a follow-up stand alone.
const rewordTime = 1500 * time.Millisecond

const rewordOrder = `You are given what people wrote before, oldest first, and a new message that leans on it. Write the new message as one question that can be understood by itself: put the names in the places of pronouns, add what is left out, change nothing else. Use only words that stand in the messages. Keep the language.
Return one JSON object and nothing else: {"question":"…"}`

// reword lets the side model make a follow-up stand alone, where the rules saw that it leans on what was said before. Its
// words are taken only if every one of them stands in what people wrote and nothing private was taken from there (P1,
// P10); a late or broken answer leaves what the rules made.
func (p *Provider) reword(ctx context.Context, pl *question.Plan, req turn.Request, names []string) {
	ctx, cancel := context.WithTimeout(ctx, rewordTime)
	defer cancel()
	earlier := privacy.Earlier(req)
	nonce := seal.NewNonce()
	line := func(tag, s string) string {
		return tagged(tag, nonce, seal.Line(text.Truncate(text.OneLine(s), question.MaxQuestion), nonce))
	}
	var messages strings.Builder
	for _, m := range slices.Backward(earlier) {
		messages.WriteString(line("before", m.Text) + "\n")
	}
	message := guard.WithoutURLs(req.Message.Text)
	messages.WriteString(line("message", message))
	var got struct {
		Question string `json:"question"`
	}
	answer, err := p.Side.Ask(ctx, llm.Question{Lane: req.ChannelID, Order: rewordOrder, Text: messages.String(), Tokens: 300}, &got)
	pl.Usage = pl.Usage.Plus(turn.Usage(answer.Usage))
	if err != nil {
		return
	}
	q := text.OneLine(got.Question)
	if !pl.MayAsk(q, append(earlier, turn.Message{Text: message})) {
		pl.AddStep("side model", "refused: words that nobody wrote")
		return
	}
	pl.Core, pl.Question = q, text.Truncate(q, question.MaxQuestion)
	n := need.Weigh(q, names)
	pl.Topics, pl.Times, pl.Check = n.Topics, n.Times, n.Check
	pl.AddStep("side model", q+" (by "+answer.Model+")")
}
