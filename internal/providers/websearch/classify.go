package websearch

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/lookup/need"
	"familiar/internal/lookup/question"
	"familiar/internal/lookup/utterance"
	"familiar/internal/web/seal"
)

// classifyTime is how long a side model may think about whether to search.
const classifyTime = 1500 * time.Millisecond

const classifyOrder = `Decide whether answering a chat message well needs a look at the web: facts about the world, news, prices, weather, people, places, products, releases. Small talk, role play, opinions, jokes, code, arithmetic, orders to a device and questions about the speakers themselves need none.
Return one JSON object and nothing else: {"search":true} or {"search":false}`

// secondOpinion asks the side model about a message whose score is undecided. A late or broken answer leaves the
// score as it is.
func (p *Provider) secondOpinion(ctx context.Context, lane string, pl *question.Plan) (by string) {
	if p.Side == nil || pl.Order != utterance.NoOrder || pl.Score < need.DoubtFrom || pl.Score >= need.DoubtTo {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, classifyTime)
	defer cancel()
	nonce := seal.NewNonce()
	var got struct {
		Search *bool `json:"search"`
	}
	message := tagged("message", nonce, seal.Line(pl.Question, nonce))
	answer, err := p.Side.Ask(ctx, llm.Question{Lane: lane, Order: classifyOrder, Text: message, Tokens: 200}, &got)
	pl.Usage = pl.Usage.Plus(turn.Usage(answer.Usage))
	if err != nil || got.Search == nil {
		return ""
	}
	if *got.Search {
		pl.Score = max(pl.Score, need.DoubtTo)
		pl.Cues = append([]string{"side model: search"}, pl.Cues...)
	} else {
		pl.Score = min(pl.Score, need.DoubtFrom)
		pl.Cues = append([]string{"side model: no search"}, pl.Cues...)
	}
	return answer.Model
}
