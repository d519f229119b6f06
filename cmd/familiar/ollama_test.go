package main

import (
	"strings"
	"testing"

	"familiar/internal/llm"
	"familiar/internal/test/llmtest"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestOllama finds a model server on this machine where nothing is configured, uses its first model, and says so.
func TestOllama(t *testing.T) {
	t.Parallel()
	ollama := llmtest.New(t)
	ollama.Offer("llama-small", "llama-large")
	c := newConversation(t, &txtar.Archive{})
	c.local = []llm.Place{{Name: "LM Studio", URL: "http://127.0.0.1:1/v1"}, {Name: "Ollama", URL: ollama.URL}}
	c.do("ollama", "start")
	c.do("ollama", "say general ana @familiar hello")
	c.do("ollama", "heard general")
	c.do("ollama", "has You said")
	c.do("ollama", "printed llama-small at Ollama on this machine")
	c.do("ollama", `recorded "model":"llama-small"`)
	c.stop()
	for _, command := range []string{"ask", "chat", "lookup"} {
		if code, _, said := c.command(strings.NewReader("hello"), command); code != exitOK || !strings.Contains(said, "the model is llama-small at Ollama on this machine (OPENAI_MODEL is not set: the first of 2 there)") {
			t.Errorf("%s: exit code %d, %q", command, code, said)
		}
	}
	c.env["OPENAI_BASE_URL"], c.env["OPENAI_MODEL"] = ollama.URL, "llama-large"
	if code, _, said := c.command(strings.NewReader("hello"), "ask"); code != exitOK || strings.Contains(said, "llama") {
		t.Errorf("exit code %d, %q", code, said)
	}
}

// TestFirstModel takes the server's first model where none is named, and says what to do where none is listed.
func TestFirstModel(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.Offer("local-model")
	c := newConversation(t, &txtar.Archive{})
	c.env["OPENAI_BASE_URL"] = server.URL
	if code, out, err := c.command(nil, "ask", "--trace", "hello"); code != exitOK || !strings.Contains(out, "local-model") {
		t.Errorf("exit code %d, errors %q:\n%s", code, err, out)
	}
	c.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
	if code, _, err := c.command(nil, "ask", "hello"); code != exitUsage || !strings.Contains(err, "OPENAI_MODEL") {
		t.Errorf("exit code %d, errors %q", code, err)
	}
}
