package llm_test

import (
	"testing"

	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
)

func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string
		want    llm.Window
	}{
		"vLLM":       {map[string]string{"/v1/models": `{"data":[{"id":"other","max_model_len":9},{"id":"main","max_model_len":32768}]}`}, llm.Window{Tokens: 32768, Source: "/models"}},
		"OpenRouter": {map[string]string{"/v1/models": `{"data":[{"id":"main","context_length":200000}]}`}, llm.Window{Tokens: 200000, Source: "/models"}},
		"llama.cpp":  {map[string]string{"/props": `{"default_generation_settings":{"n_ctx":8192}}`}, llm.Window{Tokens: 8192, Source: "/props"}},
		"Ollama, loaded": {map[string]string{
			"/api/show": `{"parameters":"stop x\nnum_ctx 2048","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`,
			"/api/ps":   `{"models":[{"name":"main:latest","context_length":4096}]}`,
		}, llm.Window{Tokens: 4096, Most: 40960, Source: "/api/ps"}},
		"Ollama, not loaded": {map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":40960}}`, "/api/ps": `{"models":[]}`}, llm.Window{Most: 40960, Source: "/api/show"}},
		"LM Studio": {map[string]string{"/api/v0/models": `{"data":[{"id":"main","max_context_length":131072,"loaded_context_length":4096}]}`},
			llm.Window{Tokens: 4096, Most: 131072, Source: "/api/v0/models"}},
		"OpenAI":       {nil, llm.Window{}},
		"broken words": {map[string]string{"/v1/models": `[]`, "/props": `<html>`, "/api/show": `7`}, llm.Window{}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llmtest.New(t)
			srv.Besides = c.answers
			if got := connect(t, srv).Window(t.Context()); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
