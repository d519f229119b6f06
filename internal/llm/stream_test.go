package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
)

// Each case is one request and the stream of a server. It expects an error kind, the text passed to say, and the text
// of the answer.
func TestStream(t *testing.T) {
	// A retried request would get "again", so a case that is retried shows it.
	const again = "\nnext\nsay again"
	tests := []struct {
		name, script string
		text         string   // Answer.Text
		said         string   // handed to say; "=" is text
		kind         llm.Kind // "" for success
		calls        int      // 0 is 1
		check        func(*testing.T, llm.Answer, error)
	}{
		{name: "words and usage", script: "gap 1ms\nsay Hello there, friend.\nusage 120 30 10", text: "Hello there, friend.", said: "=",
			check: func(t *testing.T, a llm.Answer, _ error) {
				if want := (turn.Usage{Prompt: 120, Completion: 30, Reasoning: 10, Calls: 1}); a.Usage != want || a.Finish != "stop" || a.Model != "main" {
					t.Errorf("answer %+v", a)
				}
			}},
		{name: "several lines", script: "say one\nsay two", text: "one\ntwo", said: "="},
		{name: "length limit", script: "say cut he\nfinish length", text: "cut he", said: "=", check: finish("length")},
		{name: "Mistral's length", script: "say cut he\nfinish model_length", text: "cut he", said: "=", check: finish("length")},
		{name: "Groq's usage", script: `say hi` + "\n" + `raw data: {"choices":[],"x_groq":{"usage":{"prompt_tokens":7}}}` + "\nfinish stop", text: "hi", said: "="},
		{name: "cached, as OpenAI says it", script: "say hi\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\nend", text: "hi", said: "=",
			check: cached(8)},
		{name: "cached, as DeepSeek says it", script: "say hi\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"prompt_cache_hit_tokens\":7,\"prompt_cache_miss_tokens\":2}}\nend", text: "hi", said: "=",
			check: cached(7)},
		{name: "cached, as Anthropic says it", script: "say hi\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"cache_read_input_tokens\":6}}\nend", text: "hi", said: "=",
			check: cached(6)},
		{name: "cost", script: "say hi\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"cost\":0.25}}\nend", text: "hi", said: "=",
			check: func(t *testing.T, a llm.Answer, _ error) {
				if a.Usage.Cost != 0.25 {
					t.Errorf("cost %v", a.Usage.Cost)
				}
			}},

		// Bugs and limits of go-openai, in the order of the list.
		{name: "cut without [DONE]", script: "say half a\nend" + again, text: "half a", said: "=", kind: llm.Truncated, check: partial},
		{name: "connection broken", script: "say half a\nwait 1ms\ncut" + again, text: "half a", said: "=", kind: llm.Truncated, check: partial},
		{name: "cut inside a line", script: "say half a\nraw data: {\"choices\":[{\"del\nend" + again, text: "half a", said: "=", kind: llm.Truncated, check: partial},
		{name: "cut before a word", script: "comment 1\nend" + again, text: "again", said: "=", calls: 2},
		{name: "error event", script: "say half a\nraw data: {\"error\":{\"message\":\"boom\",\"code\":502}}\nend" + again, text: "half a", said: "=", kind: llm.Server, check: status(502)},
		{name: "error event, then silence", script: "say half a\nraw data: {\"error\":{\"message\":\"boom\"}}\nwait 3s" + again, text: "half a", said: "=", kind: llm.Server, check: partial},
		{name: "error event with a space", script: "say half a\nraw data: { \"error\": {\"message\":\"boom\",\"code\":429}}\nend" + again, text: "half a", said: "=", kind: llm.RateLimited},
		{name: "OpenRouter's error", script: "say half a\nraw data: {\"id\":\"x\",\"error\":{\"code\":502,\"message\":\"Provider\",\"metadata\":{\"raw\":\"why\"}},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\nraw data: [DONE]\nend" + again,
			text: "half a", said: "=", kind: llm.Server, check: cause("Provider: why")},
		{name: "Ollama's error", script: "say half a\nraw data: {\"error\":\"out of memory\"}\nraw data: [DONE]\nend" + again, text: "half a", said: "=", kind: llm.Server, check: cause("out of memory")},
		{name: "old vLLM's error", script: "say half a\nraw data: {\"object\":\"error\",\"message\":\"bad\",\"code\":400}\nend" + again, text: "half a", said: "=", kind: llm.Rejected, check: cause("bad")},
		{name: "LM Studio's error", script: "say half a\nraw data: {\"error\":{\"message\":\"Compute error.\"},\"message\":\"Compute error.\"}\nend" + again, text: "half a", said: "=", kind: llm.Server},
		{name: "llama.cpp's error line", script: "say half a\nraw error: {\"code\":500,\"message\":\"oom\"}\nend" + again, text: "half a", said: "=", kind: llm.Server, check: cause("oom")},
		{name: "Anthropic's error event", script: "say half a\nraw event: error\nraw data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\nend" + again, text: "half a", said: "=", kind: llm.Server, check: cause("Overloaded")},
		{name: "finish reason error", script: "say half a\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\nraw data: [DONE]\nend" + again, text: "half a", said: "=", kind: llm.Truncated},
		{name: "DeepSeek without resources", script: "say half a\nfinish insufficient_system_resource" + again, text: "half a", said: "=", kind: llm.Server},
		{name: "error event before a word", script: "raw data: {\"error\":{\"message\":\"boom\",\"code\":503}}\nend" + again, text: "again", said: "=", calls: 2},
		{name: "200 with a JSON error", script: `json {"error":{"message":"Incorrect API key","code":"invalid_api_key"}}`, kind: llm.Unauthorized},
		{name: "200 with a string error", script: `json {"error":"overloaded"}` + again, text: "again", said: "=", calls: 2},
		{name: "200 with other JSON", script: `json {"hello":"world"}`, kind: llm.NotOpenAI, check: cause("JSON of another kind")},
		{name: "200 with broken JSON", script: `json {"hello`, kind: llm.NotOpenAI},
		{name: "200 with HTML", script: "html", kind: llm.NotOpenAI, check: cause("an HTML page: Sign in")},
		{name: "HTML called a stream", script: "raw <!doctype html>\nraw <title>hi</title>\nend", kind: llm.NotOpenAI},
		{name: "an answer that is not streamed", script: `json {"choices":[{"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`, text: "whole", said: "="},
		{name: "reasoning", script: "thinking hm, hm\nsay Hi", text: "Hi", said: "=", check: thoughts(6)},
		{name: "reasoning_content", script: "reasoning hm, hm\nsay Hi", text: "Hi", said: "=", check: thoughts(6)},
		{name: "think tags", script: "think hm, hm\nsay Hi", text: "Hi", said: "=", check: thoughts(6)},
		{name: "think tags in pieces", script: "chunk \"<th\"\nchunk \"ink>hm\"\nchunk \"</thi\"\nchunk \"nk>\\n\\nHi\"", text: "Hi", said: "=", check: thoughts(2)},
		{name: "thoughts without an end", script: "chunk \"<think>hm\"\nfinish length\nnext\nchunk \"<think>hm\"\nfinish length", kind: llm.Empty, calls: 2, check: thoughts(2)},
		{name: "thoughts without a beginning", script: "chunk \"hm, \"\nchunk \"hm</think>Hi\"", text: "Hi", said: "hm, Hi"},
		{name: "400 keep-alives", script: "comment 400\nsay Hi", text: "Hi", said: "="},
		{name: "content as a list", script: "raw data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"Hi\"}]}}]}\nfinish stop",
			text: "Hi", said: "=", check: thoughts(2)},
		{name: "null content", script: "raw data: {\"choices\":[{\"delta\":{\"content\":null,\"refusal\":null},\"finish_reason\":null}]}\nsay Hi", text: "Hi", said: "="},
		{name: "chunks without choices", script: "raw data: {\"choices\":[],\"prompt_filter_results\":[]}\nsay Hi", text: "Hi", said: "="},
		{name: "no space after data:", script: "raw data:{\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\nraw data:[DONE]\nend", text: "Hi", said: "="},
		{name: "carriage returns", script: "raw data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\r\nend", text: "Hi", said: "="},
		{name: "a broken event", script: "say half a\nraw data: {oops\nend" + again, text: "half a", said: "=", kind: llm.Truncated},
		{name: "silence after the finish", script: "say Hi\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\nwait 20s", text: "Hi", said: "="},
		{name: "error after the finish", script: "say Hi\nraw data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\nwait 1ms\ncut", text: "Hi", said: "="},

		{name: "empty, then not", script: "finish stop" + again, text: "again", said: "=", calls: 2},
		{name: "empty twice", script: "finish stop", kind: llm.Empty, calls: 2},
		{name: "a call of a tool is empty", script: "chunk \"<|tool_call_begin|>\"\nchunk \"search:0{}<|tool_call_end|>\"\nfinish stop" + again, text: "again", said: "=", calls: 2},
		{name: "white space is empty", script: "chunk \"\\n \\n\"" + again, text: "again", said: "=", calls: 2},
		{name: "filtered", script: "finish content_filter", kind: llm.Refused},
		{name: "refusal", script: "raw data: {\"choices\":[{\"delta\":{\"refusal\":\"I can't\"}}]}\nfinish stop", kind: llm.Refused},
		{name: "503, then not", script: "error 503" + again, text: "again", said: "=", calls: 2},
		{name: "503 twice", script: "error 503", kind: llm.Server, calls: 2, check: status(503)},
		{name: "429 with a short wait", script: "header Retry-After-Ms: 20\nerror 429" + again, text: "again", said: "=", calls: 2},
		{name: "429 with a long wait", script: "header Retry-After: 3600\nerror 429" + again, kind: llm.RateLimited,
			check: func(t *testing.T, _ llm.Answer, err error) {
				var e *llm.Error
				if errors.As(err, &e); e.RetryAfter != time.Hour {
					t.Errorf("retry after %v", e.RetryAfter)
				}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := script(t, tt.script)
				c := connect(t, srv)
				c.IdleTimeout = 10 * time.Second
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				var said strings.Builder
				a, err := c.Stream(ctx, hello(), func(s string) { said.WriteString(s) })
				if kind := kindOf(err); kind != tt.kind {
					t.Errorf("error %v (%s), want kind %q", err, causeOf(err), tt.kind)
				}
				if want := strings.Replace(tt.said, "=", tt.text, 1); a.Text != tt.text || said.String() != want {
					t.Errorf("text %q, said %q; want %q, %q", a.Text, said.String(), tt.text, want)
				}
				if n := len(srv.Requests()); n != max(tt.calls, 1) || a.Usage.Calls != n {
					t.Errorf("%d requests, %d counted, want %d", n, a.Usage.Calls, max(tt.calls, 1))
				}
				if tt.check != nil {
					tt.check(t, a, err)
				}
			})
		})
	}
}

// cached checks the number of cached prompt tokens.
func cached(n int) func(*testing.T, llm.Answer, error) {
	return func(t *testing.T, a llm.Answer, _ error) {
		if a.Usage.Cached != n {
			t.Errorf("usage %+v", a.Usage)
		}
	}
}
