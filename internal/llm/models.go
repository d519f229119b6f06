package llm

import (
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.BaseURL, "/")+"/models", nil)
	if err != nil {
		return nil, err
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	x := &exchange{http: c.HTTP, idle: c.idle(), giveUp: giveUp}
	defer x.stop()
	resp, r, err := x.send(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	entries, ok := modelsIn(body)
	if !ok {
		return nil, &Error{Kind: NotOpenAI, Status: resp.StatusCode, Cause: "not a list of models: " + string(body[:min(len(body), maxCause)])}
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.ID != "" {
			names = append(names, e.ID)
		}
	}
	return names, nil
}

type model struct {
	ID string `json:"id"`
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
