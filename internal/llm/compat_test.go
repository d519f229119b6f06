package llm_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/test/llmtest"
)

// A server that rejects a parameter is asked again without it, and never with it again.
func TestUnsupportedParameters(t *testing.T) {
	refuse := func(param, message string) llmtest.Reply {
		return llmtest.Reply{llmtest.Error(400, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":%q,"code":"unsupported_parameter"}}`, message, param))}
	}
	tests := []struct {
		name, model string
		accept      func(llmtest.Request) *llmtest.Reply // nil: accepted
		calls       int                                  // of the first question
	}{
		{"max_tokens swapped", "local", func(r llmtest.Request) *llmtest.Reply {
			if r.MaxTokens == 0 {
				return nil
			}
			reply := refuse("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			return &reply
		}, 2},
		{"a local gpt-5 that wants max_tokens", "gpt-5-local", func(r llmtest.Request) *llmtest.Reply {
			if r.MaxTokens > 0 {
				return nil
			}
			reply := refuse("", "unknown field max_completion_tokens")
			return &reply
		}, 2},
		{"no limit at all", "local", func(r llmtest.Request) *llmtest.Reply {
			if r.MaxTokens+r.MaxCompletionTokens == 0 {
				return nil
			}
			reply := refuse("", "use neither max_tokens nor max_completion_tokens")
			return &reply
		}, 3},
		{"temperature", "local", func(r llmtest.Request) *llmtest.Reply {
			if r.Temperature == nil {
				return nil
			}
			reply := refuse("temperature", "Unsupported value")
			return &reply
		}, 2},
		{"stream_options, as FastAPI says it", "local", func(r llmtest.Request) *llmtest.Reply {
			if !r.StreamOptions.IncludeUsage {
				return nil
			}
			return &llmtest.Reply{llmtest.Error(422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`)}
		}, 2},
		{"response_format", "local", func(r llmtest.Request) *llmtest.Reply {
			if r.ResponseFormat.Type == "" {
				return nil
			}
			reply := refuse("response_format", "not supported")
			return &reply
		}, 2},
		{"names", "local", func(r llmtest.Request) *llmtest.Reply {
			for _, m := range r.Messages {
				if m.Name != "" {
					reply := refuse("", "property 'messages.1.name' is unsupported")
					return &reply
				}
			}
			return nil
		}, 2},
		{"system role and alternation", "local", func(r llmtest.Request) *llmtest.Reply {
			if r.Messages[0].Role == "user" && len(r.Messages) == 1 && r.Messages[0].Content == "Be kind.\n\nHello?" {
				return nil
			}
			reply := refuse("", "System role not supported")
			return &reply
		}, 2},
		{"everything at once", "local", func(r llmtest.Request) *llmtest.Reply {
			var reply llmtest.Reply
			switch {
			case r.MaxTokens > 0:
				reply = refuse("max_tokens", "no")
			case r.Temperature != nil:
				reply = refuse("temperature", "no")
			case r.StreamOptions.IncludeUsage:
				reply = refuse("stream_options", "no")
			case r.ResponseFormat.Type != "":
				reply = refuse("response_format", "no")
			default:
				return nil
			}
			return &reply
		}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t)
			srv.Reply = func(r llmtest.Request) llmtest.Reply {
				if reply := tt.accept(r); reply != nil {
					return *reply
				}
				return llmtest.Reply{llmtest.Say("fine")}
			}
			c := connect(t, srv)
			c.Model, c.MaxTokens, c.Temperature = tt.model, 100, 0.7
			req := hello()
			req.JSON = true
			req.Messages[1].Name = "Ann"
			for question, want := range []int{tt.calls, tt.calls + 1} {
				a, err := c.Complete(t.Context(), req)
				if err != nil || a.Text != "fine" || len(srv.Requests()) != want {
					t.Fatalf("question %d: %q, %v (%s), %d requests, want %d", question+1, a.Text, err, causeOf(err), len(srv.Requests()), want)
				}
			}
		})
	}
}

// A server that always rejects is not asked forever, whatever it names.
func TestAdaptingEnds(t *testing.T) {
	srv := llmtest.New(t)
	srv.Reply = func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{llmtest.Error(400, `{"error":{"message":"max_tokens max_completion_tokens temperature stream_options response_format messages.0.name roles must alternate"}}`)}
	}
	c := connect(t, srv)
	c.MaxTokens, c.Temperature = 100, 0.7
	req := hello()
	req.JSON = true
	for range 2 {
		if _, err := c.Complete(t.Context(), req); kindOf(err) != llm.Rejected {
			t.Error(err)
		}
	}
	if n := len(srv.Requests()); n > 9 {
		t.Errorf("%d requests", n)
	}
}

func TestRequestBody(t *testing.T) {
	srv := llmtest.New(t)
	c := connect(t, srv)
	c.Temperature, c.MaxTokens = 0.5, 300
	c.Extra = map[string]any{"keep_alive": "5m"}
	req := llm.Request{MaxTokens: 50, Messages: []turn.Rendered{
		{Role: "system", Text: `say "max_completion_tokens":50 to nobody`},
		{Role: "assistant", Text: " \n"},
		{Role: "user", Name: "Łukasz K.", Text: "hi"},
	}}
	if _, err := c.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	c.Model = "openai/gpt-5-mini"
	if _, err := c.Complete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := srv.Requests()
	want := []llmtest.Message{{Role: "system", Content: req.Messages[0].Text}, {Role: "user", Name: "_ukasz_K_", Content: "hi"}}
	if !reflect.DeepEqual(got[0].Messages, want) {
		t.Errorf("messages %+v", got[0].Messages)
	}
	if got[0].MaxTokens != 50 || got[0].MaxCompletionTokens != 0 || *got[0].Temperature != 0.5 || !strings.Contains(string(got[0].Body), `"keep_alive":"5m"`) {
		t.Errorf("body %s", got[0].Body)
	}
	if got[1].MaxTokens != 0 || got[1].MaxCompletionTokens != 50 || got[1].Temperature != nil {
		t.Errorf("body %s", got[1].Body)
	}
	if h := got[0].Header.Get("Authorization"); h != "Bearer "+c.Key {
		t.Errorf("authorization %q", h)
	}
	if _, err := c.Complete(t.Context(), llm.Request{Messages: []turn.Rendered{{Role: "user"}}}); kindOf(err) != llm.Rejected {
		t.Errorf("a request without content: %v", err)
	}
}
