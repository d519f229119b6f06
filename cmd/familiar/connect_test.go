package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"familiar/internal/test/llmtest"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestCure asks servers that do not answer, each in its way: the program says what to check.
func TestCure(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	model.Offer("qwen3:8b", "nomic-embed-text")
	model.Reply = func(r llmtest.Request) llmtest.Reply {
		if r.Model == "qwen3:8b" {
			return llmtest.Reply{llmtest.Error(400, `{"error":{"message":"maximum context length is 2048 tokens","code":"context_length_exceeded"}}`)}
		}
		return llmtest.Reply{llmtest.Error(404, `{"error":{"message":"model not found","code":"model_not_found"}}`)}
	}
	locked := llmtest.New(t)
	locked.Key = "sk-right-0123456789"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte("<html><head><title>My SearXNG</title></head></html>"))
	}))
	defer site.Close()
	c := newConversation(t, &txtar.Archive{})
	for name, test := range map[string]struct {
		base, model, key string
		want             []string
	}{
		"unknown model": {model.URL, "qwen3", "", []string{"has no model qwen3", "did you mean OPENAI_MODEL=qwen3:8b?"}},
		"other model":   {model.URL, "gpt-9000", "", []string{"has no model gpt-9000", "set OPENAI_MODEL to one of its models: qwen3:8b, nomic-embed-text"}},
		"too long":      {model.URL, "qwen3:8b", "", []string{"does not fit into the context of qwen3:8b", "OLLAMA_CONTEXT_LENGTH"}},
		"no key":        {locked.URL, "m", "", []string{"needs a key, and none is set", "set OPENAI_API_KEY"}},
		"wrong key":     {locked.URL, "m", "sk-wrong-0123456789", []string{"rejects the key (status 401)", "whether OPENAI_API_KEY is complete"}},
		"path missing":  {strings.TrimSuffix(model.URL, "/v1"), "m", "", []string{"the API is at " + model.URL + ": set OPENAI_BASE_URL=" + model.URL}},
		"path too long": {model.URL + "/chat/completions", "m", "", []string{"set OPENAI_BASE_URL=" + model.URL}},
		"a web site":    {site.URL, "m", "", []string{"is no server of models", `the web site "My SearXNG"`, "whether OPENAI_BASE_URL is right"}},
		"dead":          {"http://127.0.0.1:1/v1", "m", "", []string{"nothing listens at 127.0.0.1:1", "start the server there, or correct OPENAI_BASE_URL"}},
	} {
		c.env["OPENAI_BASE_URL"], c.env["OPENAI_MODEL"], c.env["OPENAI_API_KEY"] = test.base, test.model, test.key
		code, out, complaint := c.command(nil, "ask", "hello")
		for _, want := range test.want {
			if code != exitFailed || !strings.Contains(out, want) || !strings.Contains(complaint, want) {
				t.Errorf("%s: %q is missing; exit code %d:\n%s\n%s", name, want, code, out, complaint)
			}
		}
		code, out, _ = c.command(nil, "config", "check", "--connect")
		out = strings.Join(strings.Fields(out), " ") // lines are broken between words
		for _, want := range test.want {
			if test.want[0] == "does not fit" {
				break // nor does one word
			}
			if code != exitFailed || !strings.Contains(out, want) {
				t.Errorf("%s: config check: %q is missing; exit code %d:\n%s", name, want, code, out)
			}
		}
		if strings.Contains(out+complaint, "0123456789") {
			t.Errorf("%s: the key is shown:\n%s\n%s", name, out, complaint)
		}
	}
}

// TestConnect asks all services that a configuration names.
func TestConnect(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- search --\nwhen .\nAda | https://a.example.org/ | She.\n-- model --\ngap 1ms\nsay one two three four five six seven eight nine ten\n")))
	c.env["EMBED_BASE_URL"], c.env["TRANSCRIBE_BASE_URL"], c.env["SIDE_MODEL"] = c.env["OPENAI_BASE_URL"], c.env["OPENAI_BASE_URL"], "side"
	c.env["SPEECH_BASE_URL"] = c.env["OPENAI_BASE_URL"]
	found := func(wantCode int, change string, want ...string) {
		t.Helper()
		code, out, complaint := c.command(nil, "config", "check", "--connect")
		out = strings.Join(strings.Fields(out), " ") // lines are broken between words
		for _, want := range want {
			if code != wantCode || !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing; exit code %d, %s:\n%s", change, want, code, complaint, out)
			}
		}
	}
	found(exitOK, "all answer", "ok token Discord accepts the token", "ok model: main It answers at", "first word after", "ok side model: side", "ok search: searxng 1 hit",
		"ok embeddings text-embedding-3-small at", "makes vectors, within", "ok transcription whisper-1 at", "transcribes recordings, within", "ok speech tts-1 at", "says replies aloud, within",
		"warning permissions: hall 1 channel: the bot has all needed permissions in 1. In 1 it may not say replies aloud.", "give its role Send Voice Messages there, or remove SPEECH_BASE_URL")
	shelf := &atShelf{T: t, dir: c.dir}
	shelf.put("characters/owl/persona.md", []byte("You are an owl."))
	shelf.put("characters/owl/expressions/joy.png", drawing(t, "joy.png", []byte("9x9")))
	found(exitOK, "pictures of moods", "In 1 it may not say replies aloud. In 1 it may not attach the pictures of characters' moods.",
		"remove SPEECH_BASE_URL; give its role Attach Files there, or remove the folders expressions")
	c.env["SPEECH_BASE_URL"] = c.search.server.URL
	found(exitFailed, "no speech", "failure speech tts-1 at")
	c.env["SPEECH_BASE_URL"] = ""
	c.env["DISCORD_TOKEN"] += "x"
	c.discord.Accept("401")
	found(exitFailed, "a wrong token", "failure token Discord does not accept it", "set DISCORD_TOKEN")
	c.env["DISCORD_TOKEN"] = ""
	c.env["EMBED_BASE_URL"] = "http://127.0.0.1:1/v1"
	found(exitFailed, "a dead server", "failure embeddings text-embedding-3-small at 127.0.0.1:1 does not answer: unreachable", "start the server there, or correct EMBED_BASE_URL")
	c.env["EMBED_BASE_URL"], c.env["TRANSCRIBE_BASE_URL"] = "", strings.TrimSuffix(c.env["TRANSCRIBE_BASE_URL"], "/v1")
	found(exitFailed, "a wrong path", "failure transcription whisper-1 at", "does not answer: rejected (HTTP 404)", "check whether TRANSCRIBE_BASE_URL is right, with its version at the end")
	c.env["TRANSCRIBE_BASE_URL"], c.env["SEARXNG_URL"] = "", "http://127.0.0.1:1"
	found(exitFailed, "one search service of several", "warning search: searxng It does not answer", "ok search: wikipedia")
	c.env["FAMILIAR_WEB"] = "off"
	found(exitOK, "the rest", "skipped search Lookups are off")
}

// TestModelChosen says which model answers where nobody named one.
func TestModelChosen(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.Offer("nomic-embed-text", "qwen3:8b", "llama3")
	c := newConversation(t, &txtar.Archive{})
	c.env["OPENAI_BASE_URL"] = server.URL
	_, out, _ := c.command(nil, "config", "check", "--connect")
	if want := "model: qwen3:8b It answers at " + server.URL + " (OPENAI_MODEL is not set: the first of 3 there)"; !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("not said:\n%s", out)
	}
	if code, out, complaint := c.command(nil, "ask", "--trace", "--model", "llama3", "hello"); code != exitOK || !strings.Contains(out, "model      llama3") {
		t.Errorf("exit code %d, %s:\n%s", code, complaint, out)
	}
}
