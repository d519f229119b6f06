package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Question is what a model is asked beside the conversation: its answer is one JSON object.
type Question struct {
	Lane   string // as in [Request]
	Order  string // what it is to do; the system's message
	Text   string // what it is to do it with; the user's message
	Tokens int    // most of the answer
	Loose  bool   // the object may stand in a code fence or among prose, and have more fields
}

// ErrNoObject is the failure of a model whose answer is not the object that was asked for.
var ErrNoObject = errors.New("the answer is not the object that was asked for")

// Ask asks a question and reads the answer into a struct. The Answer says what it cost, also beside an error. A client that panics is one
// that failed.
func (c *Client) Ask(ctx context.Context, q Question, into any) (a Answer, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("ask for an object: the client panicked")
		}
	}()
	a, err = c.Complete(ctx, Request{Lane: q.Lane, JSON: true, MaxTokens: q.Tokens, Messages: []Message{
		{Role: "system", Content: q.Order}, {Role: "user", Content: q.Text},
	}})
	if err != nil {
		return a, fmt.Errorf("ask for an object: %w", err)
	}
	if !a.object(into, q.Loose) {
		return a, fmt.Errorf("ask for an object: %w", ErrNoObject)
	}
	return a, nil
}

// object reads the object. Unless loose, nothing may stand around it: that may be material which the model repeats.
func (a Answer) object(into any, loose bool) bool {
	text := a.Text
	if loose {
		text = text[max(0, strings.IndexByte(text, '{')):]
	}
	d := json.NewDecoder(strings.NewReader(text))
	if loose {
		return d.Decode(into) == nil
	}
	d.DisallowUnknownFields()
	return d.Decode(into) == nil && strings.TrimSpace(text[d.InputOffset():]) == ""
}
