package llm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// chunk is one event of a stream, as any of the servers sends it, or a whole answer of one that did not stream.
// go-openai's own type drops "reasoning", drops most errors, and fails on content that is a list.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	XGroq   struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`

	// An error has one of many shapes; problemIn sorts them out.
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        words  `json:"delta"`
	Message      words  `json:"message"` // of an answer that was not streamed
	FinishReason string `json:"finish_reason"`
}

// words is a delta or a message.
type words struct {
	Content          content `json:"content"`
	Reasoning        content `json:"reasoning"`
	ReasoningContent content `json:"reasoning_content"`
	Refusal          content `json:"refusal"`
}

// thought is how much reasoning came in fields of its own. Servers that send both fields send the same in both.
func (w *words) thought() int {
	return max(len(w.Reasoning.Text)+len(w.Reasoning.Thought), len(w.ReasoningContent.Text)+len(w.ReasoningContent.Thought)) +
		len(w.Content.Thought)
}

// content is a string, null, or a list of parts, some of which may be thoughts (Mistral).
type content struct{ Text, Thought string }

func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &c.Text)
	case len(b) > 0 && b[0] == '[':
		var parts []struct {
			Type     string  `json:"type"`
			Text     string  `json:"text"`
			Thinking content `json:"thinking"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return nil // an unknown kind of part is no text
		}
		for _, p := range parts {
			if p.Type == "" || p.Type == "text" {
				c.Text += p.Text
			} else {
				c.Thought += p.Thinking.Text + p.Text
			}
		}
	}
	return nil
}

// spent reads the usage of a chunk; ok is false where there is none.
func (c *chunk) spent() (u Usage, ok bool) {
	for _, raw := range []json.RawMessage{c.Usage, c.XGroq.Usage} {
		var w struct {
			Prompt     int     `json:"prompt_tokens"`
			Completion int     `json:"completion_tokens"`
			Cost       float64 `json:"cost"`
			Details    struct {
				Reasoning int `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
			// What the server had of the prompt already: as OpenAI and most others say it, DeepSeek, and what stands before Anthropic.
			Known struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			CacheHit  int `json:"prompt_cache_hit_tokens"`
			CacheRead int `json:"cache_read_input_tokens"`
		}
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		// A field of an odd type costs that field alone.
		_ = json.Unmarshal(raw, &w)
		return Usage{Prompt: w.Prompt, Completion: w.Completion, Cached: max(w.Known.Cached, w.CacheHit, w.CacheRead), Reasoning: w.Details.Reasoning, Cost: w.Cost}, true
	}
	return Usage{}, false
}

// problem is what an error body says, whatever its shape.
type problem struct {
	Message, Code, Type, Param string
}

// status is the code, if it is an HTTP status.
func (p problem) status() int {
	if n, err := strconv.Atoi(p.Code); err == nil && n >= 400 && n < 600 {
		return n
	}
	return 0
}

// problem finds the error in a chunk.
func (c *chunk) problem(raw []byte) (problem, bool) {
	bare := len(c.Choices) == 0 && (len(c.Message) > 0 || len(c.Detail) > 0)
	if !given(c.Error) && c.Object != "error" && !bare {
		return problem{}, false
	}
	return problemIn(raw), true
}

// given says whether a JSON value is there and says something.
func given(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "false", "[]":
		return false
	}
	return true
}

// problemIn reads an error body. The shapes: {"error":{…}} with a code that is a string, a number or null;
// {"error":"text"}; the same in a list (Gemini); the fields at the top level (Mistral, old vLLM); a "detail"
// that is a string or a list of places (FastAPI); an error whose cause is in metadata.raw (OpenRouter).
// A body that is none of them is an empty problem.
func problemIn(raw []byte) problem {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var top struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(raw, &top)
	switch {
	case given(top.Error) && top.Error[0] == '{':
		return fields(top.Error)
	case given(top.Error):
		return problem{Message: text(top.Error)}
	case given(top.Detail):
		return details(top.Detail)
	}
	return fields(raw)
}

func fields(raw json.RawMessage) problem {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		return problem{}
	}
	var meta struct {
		Raw     json.RawMessage `json:"raw"`
		Reasons json.RawMessage `json:"reasons"`
	}
	_ = json.Unmarshal(f["metadata"], &meta)
	p := problem{Message: text(f["message"]), Code: text(f["code"]), Type: text(f["type"]), Param: text(f["param"])}
	if given(f["status"]) { // Gemini's name of the code
		p.Type = strings.TrimSpace(p.Type + " " + text(f["status"]))
	}
	if p.Code == "" {
		p.Code = text(f["raw_status_code"])
	}
	for _, more := range []json.RawMessage{meta.Raw, meta.Reasons} {
		if given(more) {
			p.Message += ": " + text(more)
		}
	}
	return p
}

// details reads a FastAPI "detail". Only the places and the reasons: the list may quote the whole request.
func details(raw json.RawMessage) problem {
	var places []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(raw, &places) != nil {
		return problem{Message: text(raw)}
	}
	var p problem
	for i, place := range places {
		if i > 0 {
			p.Message += "; "
		}
		p.Message += place.Msg
		if n := len(place.Loc); n > 0 {
			if last, ok := place.Loc[n-1].(string); ok && p.Param == "" {
				p.Param = last
			}
		}
	}
	return p
}

// text is a JSON value as words: a string's content, anything else as it is written.
func text(raw json.RawMessage) string {
	if !given(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
