package websearch

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/question"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// classifyTime is how long the side model may take to decide about a search.
const classifyTime = 1500 * time.Millisecond

const classifyOrder = `Decide whether answering a chat message well needs a look at the web: facts about the world, news, prices, weather, people, places, products, releases. Small talk, role play, opinions, jokes, code, arithmetic, orders to a device and questions about the speakers themselves need none.
Return one JSON object and nothing else: {"search":true} or {"search":false}`

// secondOpinion asks the side model about a message with an undecided score. A late or broken answer changes nothing.
func (p *Provider) secondOpinion(ctx context.Context, lane string, pl *question.Plan) (by string) {
	if p.Side == nil || pl.Order != question.NoOrder || pl.Score < question.DoubtFrom || pl.Score >= question.DoubtTo {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, classifyTime)
	defer cancel()
	nonce := clean.NewNonce()
	var got struct {
		Search *bool `json:"search"`
	}
	message := clean.Tagged("message", nonce, clean.InertLine(pl.Question, nonce))
	answer, err := p.Side.Ask(ctx, llm.Question{For: turn.ForNeed, Lane: lane, Order: classifyOrder, Text: message, Tokens: 200}, &got)
	if err != nil || got.Search == nil {
		return ""
	}
	if *got.Search {
		pl.Score = max(pl.Score, question.DoubtTo)
		pl.Cues = append([]string{"side model: search"}, pl.Cues...)
	} else {
		pl.Score = min(pl.Score, question.DoubtFrom)
		pl.Cues = append([]string{"side model: no search"}, pl.Cues...)
	}
	return answer.Model
}

// rewordTime is how long the side model may take to word a follow-up.
const rewordTime = 1500 * time.Millisecond

const rewordOrder = `You are given what people wrote before, oldest first, and a new message that leans on it. Write the new message as one question that can be understood by itself: put the names in the places of pronouns, add what is left out, change nothing else. Use only words that stand in the messages. Keep the language.
Return one JSON object and nothing else: {"question":"…"}`

// reword asks the side model to make a follow-up stand alone. [question.Plan.Reword] refuses words that people did not
// write, and private ones (P1, P10). A late or broken answer changes nothing.
func (p *Provider) reword(ctx context.Context, pl *question.Plan, req turn.Request, names []string) {
	ctx, cancel := context.WithTimeout(ctx, rewordTime)
	defer cancel()
	earlier := question.Earlier(req)
	nonce := clean.NewNonce()
	line := func(tag, s string) string {
		return clean.Tagged(tag, nonce, clean.InertLine(text.Truncate(text.OneLine(s), question.MaxQuestion), nonce))
	}
	var messages strings.Builder
	for _, m := range slices.Backward(earlier) {
		messages.WriteString(line("before", m.Text) + "\n")
	}
	message := clean.WithoutURLs(req.Message.Text)
	messages.WriteString(line("message", message))
	var got struct {
		Question string `json:"question"`
	}
	answer, err := p.Side.Ask(ctx, llm.Question{For: turn.ForReword, Lane: req.ChannelID, Order: rewordOrder, Text: messages.String(), Tokens: 300}, &got)
	if err != nil {
		return
	}
	pl.Reword(got.Question, answer.Model, append(earlier, turn.Message{Text: message}), names)
}
