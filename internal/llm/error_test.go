package llm_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/llm"
	"familiar/internal/test/llmtest"
)

// These are error bodies of real servers, sent before a stream begins.
func TestErrorBodies(t *testing.T) {
	html := "<html><head><title>502 Bad Gateway</title></head></html>"
	tests := []struct {
		name   string
		status int
		body   string
		kind   llm.Kind
		cause  string
	}{
		{"OpenAI key", 401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.Unauthorized, "Incorrect API key"},
		{"OpenAI country", 403, `{"error":{"message":"Country not supported","type":"request_forbidden","code":"unsupported_country"}}`, llm.Unauthorized, "Country"},
		{"OpenAI model", 404, `{"error":{"message":"The model x does not exist","code":"model_not_found"}}`, llm.NoModel, "does not exist"},
		{"OpenAI quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.Quota, "quota"},
		{"OpenAI rate", 429, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, llm.RateLimited, "Rate limit"},
		{"OpenAI context", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens","param":"messages","code":"context_length_exceeded"}}`, llm.ContextTooLong, "8192"},
		{"OpenAI filter", 400, `{"error":{"message":"Your request was rejected","code":"content_policy_violation"}}`, llm.Refused, "rejected"},
		{"OpenAI path", 404, `{"error":{"message":"Invalid URL (POST /chat/completions)","type":"invalid_request_error"}}`, llm.NotOpenAI, "Invalid URL"},
		{"OpenRouter code", 429, `{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"x","raw":"{\"slow\":1}"}},"user_id":"u"}`, llm.RateLimited, `{"slow":1}`},
		{"OpenRouter credits", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, llm.Quota, "credits"},
		{"OpenRouter moderation", 403, `{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["violence"]}}}`, llm.Refused, "violence"},
		{"OpenRouter model", 400, `{"error":{"code":400,"message":"foo/bar is not a valid model ID"}}`, llm.NoModel, "foo/bar"},
		{"Gemini list", 400, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, llm.Rejected, "API key not valid"},
		{"Gemini rate", 429, `[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}]`, llm.RateLimited, "quota"},
		{"llama.cpp loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Server, "Loading"},
		{"llama.cpp context", 400, `{"error":{"code":400,"message":"the request exceeds","type":"exceed_context_size_error","n_ctx":4096}}`, llm.ContextTooLong, "exceeds"},
		{"Mistral top level", 400, `{"object":"error","message":"Bad call","type":"invalid_function_call","param":null,"code":"3280","raw_status_code":400}`, llm.Rejected, "Bad call"},
		{"Mistral message object", 422, `{"object":"error","message":{"detail":"x"},"type":"invalid_request_error"}`, llm.Rejected, "detail"},
		{"FastAPI list", 422, `{"detail":[{"loc":["body","foo"],"msg":"extra fields not permitted","type":"value_error","input":"SECRET PROMPT"}]}`, llm.Rejected, "extra fields"},
		{"FastAPI string", 404, `{"detail":"Not Found"}`, llm.NotOpenAI, "Not Found"},
		{"Ollama native", 404, `{"error":"model 'x' not found, try pulling it first"}`, llm.NoModel, "pulling"},
		{"Anthropic overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Server, "Overloaded"},
		{"Groq size", 413, `{"error":{"message":"Request too large for model","code":"rate_limit_exceeded"}}`, llm.ContextTooLong, "too large"},
		{"Groq capacity", 498, `{"error":{"message":"Flex tier capacity exceeded"}}`, llm.Server, "capacity"},
		{"gateway time", 504, `upstream timed out`, llm.Timeout, "upstream"},
		{"proxy page", 502, html, llm.Server, "502 Bad Gateway"},
		{"firewall page", 403, html, llm.NotOpenAI, "HTML"},
		{"404 page", 404, html, llm.NotOpenAI, "HTML"},
		{"redirect", 301, ``, llm.NotOpenAI, "redirect"},
		{"nothing", 500, ``, llm.Server, ""},
		{"odd JSON", 400, `[]`, llm.Rejected, "[]"},
		{"number", 418, `7`, llm.Rejected, "7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t)
			srv.Reply = func(llmtest.Request) llmtest.Reply {
				// The long wait prevents retries, so that the case tests only the body.
				return llmtest.Reply{llmtest.Header("Retry-After", "100"), llmtest.Error(tt.status, tt.body+" ")}
			}
			c := connect(t, srv)
			c.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			_, err := c.Complete(t.Context(), hello())
			if kindOf(err) != tt.kind || !strings.Contains(causeOf(err), tt.cause) {
				t.Errorf("kind %q cause %q, want %q with %q", kindOf(err), causeOf(err), tt.kind, tt.cause)
			}
			if want := fmt.Sprintf("ask model main: %s (status %d)", tt.kind, tt.status); err == nil || err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
			if strings.Contains(causeOf(err), "SECRET PROMPT") {
				t.Errorf("the cause quotes the request: %q", causeOf(err))
			}
		})
	}
}

func TestErrorKeepsSecrets(t *testing.T) {
	srv := llmtest.New(t)
	srv.Key = "another key"
	c := connect(t, srv)
	c.Redact = func(s string) string { return strings.ReplaceAll(s, "Incorrect", "[redacted]") }
	_, err := c.Complete(t.Context(), hello())
	if kindOf(err) != llm.Unauthorized {
		t.Fatal(err)
	}
	// The server repeats the key in its message.
	if got := causeOf(err); strings.Contains(got, c.Key) || !strings.Contains(got, "Bearer ***") || strings.Contains(got, "Incorrect") {
		t.Errorf("cause %q", got)
	}
	if got, want := err.Error(), "ask model main: unauthorized (status 401)"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	srv.Queue(llmtest.Reply{llmtest.Error(400, strings.Repeat("long\n", 1000))})
	srv.Require("")
	_, err = c.Complete(t.Context(), hello())
	if got := causeOf(err); len(got) > 300 || strings.Contains(got, "\n") {
		t.Errorf("cause of %d bytes: %q", len(got), got)
	}
}
