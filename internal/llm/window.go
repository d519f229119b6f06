package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Window is how many tokens fit into a model's context, the answer included.
type Window struct {
	Tokens int    // in force; 0 where the server does not say
	Most   int    // what the model could have at this server; 0: unknown, or the same
	Source string // which part of the server's API says so, as "/api/ps"
}

// Window asks the server how large the context of Model is. No API for that is common to all servers, so it asks one after another: the list of
// models (vLLM, OpenRouter, Groq, Mistral), /props (llama.cpp), /api/ps and /api/show (Ollama), /api/v0/models (LM Studio). Ollama says what is
// in force only while the model is loaded. A server that says nothing is no error.
func (c *Client) Window(ctx context.Context) Window {
	inner, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	entries, err := c.entries(inner, giveUp)
	if n := windowOf(entries, c.Model); err == nil && n > 0 {
		return Window{Tokens: n, Source: "/models"}
	}
	for _, ask := range []func(context.Context) Window{c.llamaWindow, c.ollamaWindow, c.studioWindow} {
		if ctx.Err() != nil {
			break
		}
		if w := ask(ctx); w != (Window{}) {
			return w
		}
	}
	return Window{}
}

func windowOf(entries []model, name string) int {
	for _, e := range entries {
		if e.ID == name {
			return e.window()
		}
	}
	return 0
}

// llamaWindow asks llama.cpp.
// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
func (c *Client) llamaWindow(ctx context.Context) Window {
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if c.besides(ctx, http.MethodGet, "/props", nil, &props) != nil || props.Settings.Context == 0 {
		return Window{}
	}
	return Window{Tokens: props.Settings.Context, Source: "/props"}
}

// ollamaWindow asks Ollama: a model that is loaded has what it was loaded with, whatever it could have.
// https://github.com/ollama/ollama/blob/main/docs/api.md
func (c *Client) ollamaWindow(ctx context.Context) Window {
	var show struct {
		Parameters string         `json:"parameters"`
		Info       map[string]any `json:"model_info"`
	}
	question, _ := json.Marshal(map[string]string{"model": c.Model})
	if c.besides(ctx, http.MethodPost, "/api/show", question, &show) != nil {
		return Window{}
	}
	var w Window
	for key, value := range show.Info {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			w.Most, w.Source = int(n), "/api/show"
		}
	}
	for line := range strings.Lines(show.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			w.Tokens, _ = strconv.Atoi(f[1])
		}
	}
	var running struct {
		Models []struct {
			Name    string `json:"name"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	if c.besides(ctx, http.MethodGet, "/api/ps", nil, &running) == nil {
		for _, m := range running.Models {
			if m.Context > 0 && (m.Name == c.Model || m.Name == c.Model+":latest") {
				w.Tokens, w.Source = m.Context, "/api/ps"
			}
		}
	}
	return w
}

// studioWindow asks LM Studio.
// https://lmstudio.ai/docs/developer/rest
func (c *Client) studioWindow(ctx context.Context) Window {
	var raw json.RawMessage
	if c.besides(ctx, http.MethodGet, "/api/v0/models", nil, &raw) != nil {
		return Window{}
	}
	entries, _ := modelsIn(raw)
	for _, e := range entries {
		if e.ID == c.Model && e.window() > 0 {
			return Window{Tokens: e.window(), Most: e.MaxContextLength, Source: "/api/v0/models"}
		}
	}
	return Window{}
}

// besides asks for something of the server that is not below BaseURL.
func (c *Client) besides(ctx context.Context, method, path string, question []byte, v any) error {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return err
	}
	inner, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	body, _, err := c.read(inner, giveUp, method, base.Scheme+"://"+base.Host+path, question)
	if err != nil {
		return err
	}
	return json.NewDecoder(bytes.NewReader(body)).Decode(v)
}
