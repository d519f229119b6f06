package websearch

import (
	"context"
	"errors"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
)

// askSide asks the side model for a JSON object of at most so many tokens, in the lane of the channel that the turn is in. A client that panics is one that failed.
func (p *Provider) askSide(ctx context.Context, lane string, tokens int, order, message string) (answer llm.Answer, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("ask the side model: its client panicked")
		}
	}()
	return p.Side.Complete(ctx, llm.Request{Lane: lane, JSON: true, MaxTokens: tokens, Messages: []llm.Message{
		{Role: "system", Content: order}, {Role: "user", Content: message},
	}})
}

// tagged puts a text from outside, made inert with the nonce, between two tags that it cannot hold.
func tagged(name, nonce, text string) string {
	return "<" + name + "-" + nonce + ">\n" + text + "\n</" + name + "-" + nonce + ">"
}

func usage(u llm.Usage) turn.Usage {
	return turn.Usage{Prompt: u.Prompt, Cached: u.Cached, Completion: u.Completion, Reasoning: u.Reasoning, Calls: u.Calls, Cost: u.Cost}
}

func addUsage(a, b turn.Usage) turn.Usage {
	return a.Plus(b)
}
