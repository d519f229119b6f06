package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Models lists what the server offers, in its order: GET {base}/models, which Ollama, llama.cpp, vLLM and LM
// Studio answer too. Errors are as in [Client.Stream].
func (c *Client) Models(ctx context.Context) ([]string, error) {
	inner, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	list, err := c.list(inner, giveUp)
	if err == nil {
		return list, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("list models: %w", ctx.Err())
	}
	return nil, c.explain(err, context.Cause(inner), "", &attempt{})
}

func (c *Client) list(ctx context.Context, giveUp context.CancelCauseFunc) ([]string, error) {
	entries, err := c.entries(ctx, giveUp)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.ID != "" {
			names = append(names, e.ID)
		}
	}
	return names, nil
}

func (c *Client) entries(ctx context.Context, giveUp context.CancelCauseFunc) ([]model, error) {
	body, status, err := c.read(ctx, giveUp, http.MethodGet, strings.TrimRight(c.BaseURL, "/")+"/models", nil)
	if err != nil {
		return nil, err
	}
	entries, ok := modelsIn(body)
	if !ok {
		return nil, &Error{Kind: NotOpenAI, Status: status, Cause: "not a list of models: " + string(body[:min(len(body), maxCause)])}
	}
	return entries, nil
}

// read returns the answer to a request of the server that is none for words.
func (c *Client) read(ctx context.Context, giveUp context.CancelCauseFunc, method, address string, question []byte) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(question))
	if err != nil {
		return nil, 0, err
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if question != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	x := &exchange{http: c.HTTP, idle: c.idle(), giveUp: giveUp}
	defer x.stop()
	resp, r, err := x.send(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(r)
	return body, resp.StatusCode, err
}

// model is an entry of a list of models. Servers name the size of the context in their own ways.
type model struct {
	ID string `json:"id"`

	MaxModelLen      int `json:"max_model_len"`      // vLLM
	ContextLength    int `json:"context_length"`     // OpenRouter, Together
	ContextWindow    int `json:"context_window"`     // Groq
	MaxContextLength int `json:"max_context_length"` // Mistral, LM Studio
	Loaded           int `json:"loaded_context_length"`
}

// window is the size of the context in tokens; 0 where the entry does not say.
func (m model) window() int {
	return cmp.Or(m.Loaded, m.MaxModelLen, m.ContextLength, m.ContextWindow, m.MaxContextLength)
}

// modelsIn reads {"data":[…]}, where Ollama without a model says null, or a bare list.
func modelsIn(body []byte) ([]model, bool) {
	var bare []model
	if json.Unmarshal(body, &bare) == nil {
		return bare, true
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object["data"] == nil {
		return nil, false
	}
	err := json.Unmarshal(object["data"], &bare)
	return bare, err == nil
}
