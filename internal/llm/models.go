package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"familiar/internal/text"
)

// Defaults for an operator who names no server or model.
const (
	OpenAI      = "https://api.openai.com/v1"
	OpenAIModel = "gpt-5-mini"
	ollama      = "http://127.0.0.1:11434/v1" // on this machine
)

// Place is where a server of models may listen on this machine, under the name of its program.
type Place struct{ Name, URL string }

// LocalServers names the programs of [Places], for people.
const LocalServers = "Ollama, LM Studio, llama.cpp or vLLM"

// Places returns the addresses at which servers of models usually listen on this machine, the first choice first. ollamaHost is the value of
// OLLAMA_HOST, Ollama's own variable; it may be empty.
func Places(ollamaHost string) []Place {
	return []Place{
		{"Ollama", ollamaAt(ollamaHost)},
		{"LM Studio", "http://127.0.0.1:1234/v1"},
		{"llama.cpp", "http://127.0.0.1:8080/v1"},
		{"vLLM", "http://127.0.0.1:8000/v1"},
	}
}

// ollamaAt returns the address that OLLAMA_HOST means: a host, host:port or a URL. All addresses mean this machine.
func ollamaAt(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" {
		return ollama
	}
	name := u.Hostname()
	if name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return u.Scheme + "://" + name + ":" + cmp.Or(u.Port(), "11434") + "/v1"
}

// ListTime is the time limit for listing models if the caller can go on without the list.
const ListTime = 5 * time.Second

// Models lists the server's models in its order: GET {base}/models, which Ollama, llama.cpp, vLLM and LM Studio support
// too. Errors are as for [Client.Stream].
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

// read sends a request other than a chat completion and returns the body.
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

// model is an entry in a list of models. Servers use different names for the context's size.
type model struct {
	ID string `json:"id"`

	MaxModelLen      int `json:"max_model_len"`      // vLLM
	ContextLength    int `json:"context_length"`     // OpenRouter, Together
	ContextWindow    int `json:"context_window"`     // Groq
	MaxContextLength int `json:"max_context_length"` // Mistral, LM Studio
	Loaded           int `json:"loaded_context_length"`
}

// window returns the context's size in tokens, or 0 if the entry does not say.
func (m model) window() int {
	return cmp.Or(m.Loaded, m.MaxModelLen, m.ContextLength, m.ContextWindow, m.MaxContextLength)
}

// modelsIn reads {"data":[…]} or a bare list. Ollama without a model sends null as data.
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

// Window is the size of a model's context in tokens, including the answer.
type Window struct {
	Tokens int    // in force; 0 if unknown
	Most   int    // the largest size that the server could use; 0: unknown or the same
	Source string // the part of the server's API that said so, such as "/api/ps"
}

// Window asks the server for the size of Model's context. There is no common API for that, so it tries several. They are the list of models
// (vLLM, OpenRouter, Groq, Mistral), /props (llama.cpp), /api/ps and /api/show (Ollama), and /api/v0/models (LM Studio). Ollama reports the
// size in force only while the model is loaded. If no API reports a size, Window returns the zero value.
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

const (
	sizeTime    = 2 * time.Second  // to ask for a window
	sizeAge     = 10 * time.Minute // after which it is asked for again
	ollamaSize  = 4096             // tokens with which Ollama loads a model by default
	leastWindow = 512              // tokens; less is too little for a window
)

// Size returns the size of Model's context in tokens, including the answer, or 0 if it is unknown. It asks the server first and every ten
// minutes, and each time while Ollama has not loaded the model.
func (c *Client) Size(ctx context.Context) int {
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.asked.IsZero() || time.Since(c.asked) > sizeAge {
		limited, cancel := context.WithTimeout(ctx, sizeTime)
		defer cancel()
		w := c.Window(limited)
		c.size = w.Tokens
		switch {
		case w.Tokens == 0 && w.Most > 0:
			c.size = min(w.Most, ollamaSize)
		case ctx.Err() == nil:
			c.asked = time.Now()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told > 0 && (c.size == 0 || c.told < c.size) {
		return c.told
	}
	return c.size
}

// sizeInWords matches the size of a context in the errors of OpenAI, vLLM, LM Studio, TGI and Anthropic.
var sizeInWords = text.NewLazyRegexp(`(?i)(?:context (?:length|window|size)(?: is| of)?(?: only)?|must be <=|tokens >) ?([0-9]{3,7})\b`)

// learnSize takes the size of Model's context from an error.
func (c *Client) learnSize(e *Error) {
	if e.Kind != ContextTooLong || e.Model != c.Model {
		return
	}
	words := e.problem.Window
	if m := sizeInWords.FindStringSubmatch(e.problem.Message); m != nil {
		words = m[1]
	}
	if n, err := strconv.Atoi(words); err == nil && n >= leastWindow {
		c.mu.Lock()
		c.told = n
		c.mu.Unlock()
	}
}

func windowOf(entries []model, name string) int {
	for _, e := range entries {
		if e.ID == name {
			return e.window()
		}
	}
	return 0
}

// llamaWindow asks llama.cpp:
// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
func (c *Client) llamaWindow(ctx context.Context) Window {
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if c.readOutside(ctx, http.MethodGet, "/props", nil, &props) != nil || props.Settings.Context == 0 {
		return Window{}
	}
	return Window{Tokens: props.Settings.Context, Source: "/props"}
}

// ollamaWindow asks Ollama. A loaded model keeps the size with which it was loaded.
// https://github.com/ollama/ollama/blob/main/docs/api.md
func (c *Client) ollamaWindow(ctx context.Context) Window {
	var show struct {
		Parameters string         `json:"parameters"`
		Info       map[string]any `json:"model_info"`
	}
	question, _ := json.Marshal(map[string]string{"model": c.Model})
	if c.readOutside(ctx, http.MethodPost, "/api/show", question, &show) != nil {
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
	if c.readOutside(ctx, http.MethodGet, "/api/ps", nil, &running) == nil {
		for _, m := range running.Models {
			if m.Context > 0 && (m.Name == c.Model || m.Name == c.Model+":latest") {
				w.Tokens, w.Source = m.Context, "/api/ps"
			}
		}
	}
	return w
}

// studioWindow asks LM Studio:
// https://lmstudio.ai/docs/developer/rest
func (c *Client) studioWindow(ctx context.Context) Window {
	var raw json.RawMessage
	if c.readOutside(ctx, http.MethodGet, "/api/v0/models", nil, &raw) != nil {
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

// readOutside sends a request to a path of the server that is not below BaseURL. It decodes the reply into v.
func (c *Client) readOutside(ctx context.Context, method, path string, question []byte, v any) error {
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
