package llm

import (
	"regexp"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// habit is what is known about one model: which parameters of ours it takes. A change is never taken back, so
// bending to a server ends.
type habit struct {
	limit         string // name of the length limit's field; "" if it takes none
	swapped       bool   // limit is the second name tried
	noTemperature bool
	noUsage       bool // no stream_options
	noFormat      bool // no response_format
	noNames       bool // no names of speakers
	// plain: no system role, and roles must alternate. The templates of several local models demand it.
	plain bool
	late  bool // closes thoughts that it does not open
	blind bool // takes no pictures
}

const (
	maxTokens           = "max_tokens"            // what every server but OpenAI's newest models takes
	maxCompletionTokens = "max_completion_tokens" // what those demand
)

// reasoners are OpenAI's models that refuse max_tokens and a temperature, and whatever else go-openai takes for
// one of them by its name.
var reasoners = regexp.MustCompile(`^(o[134]|gpt-[5-9])`)

// habitOf returns what is known about a model, or what its name promises.
func (c *Client) habitOf(model string) habit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.habits[model]; ok {
		return h
	}
	if reasoners.MatchString(plainName(model)) {
		return habit{limit: maxCompletionTokens, noTemperature: true}
	}
	return habit{limit: maxTokens}
}

func (c *Client) learn(model string, h habit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.habits == nil {
		c.habits = make(map[string]habit)
	}
	c.habits[model] = h
}

var (
	aboutNames = regexp.MustCompile(`messages?\b[^a-z]{0,8}name\b|name'? (is|was)? ?(not supported|unsupported)`)
	aboutRoles = regexp.MustCompile(`system (role|message)|role 'system'|roles must alternate|alternate user`)
)

// bend returns the habit that a refusal asks for. ok is false if the refusal names nothing that was sent.
func (h habit) bend(e *Error, sent openai.ChatCompletionRequest) (next habit, ok bool) {
	if e.Kind != Rejected || e.Status != 400 && e.Status != 422 {
		return h, false
	}
	words := strings.ToLower(e.problem.Param + "\n" + e.problem.Message)
	named := func(field string) bool { return strings.Contains(words, field) }
	next = h
	switch {
	case h.limit != "" && sent.MaxCompletionTokens > 0 && named(h.limit):
		next.limit, next.swapped = maxTokens, true
		if h.limit == maxTokens {
			next.limit = maxCompletionTokens
		}
		if h.swapped {
			next.limit = ""
		}
	case sent.Temperature != 0 && named("temperature"):
		next.noTemperature = true
	case sent.StreamOptions != nil && (named("stream_options") || named("include_usage")):
		next.noUsage = true
	case sent.ResponseFormat != nil && (named("response_format") || named("json_object")):
		next.noFormat = true
	case !h.noNames && aboutNames.MatchString(words) || e.problem.Param == "name":
		next.noNames = true
	case !h.plain && aboutRoles.MatchString(words):
		next.plain = true
	}
	return next, next != h
}

// compose writes the request for one model.
func (c *Client) compose(r Request, model string, h habit) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: model, Stream: true, Messages: h.messages(r.Messages)}
	limit := r.MaxTokens
	if limit == 0 {
		limit = c.MaxTokens
	}
	if h.limit != "" {
		// Always in this field: go-openai refuses the other for any model named like one of OpenAI's newest,
		// local ones too. Where the server wants "max_tokens", the exchange renames it.
		out.MaxCompletionTokens = limit
	}
	if !h.noTemperature {
		out.Temperature = c.Temperature
	}
	if !h.noUsage {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if r.JSON && !h.noFormat {
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return out
}

// messages turns a conversation into what the model takes.
func (h habit) messages(in []Message) []openai.ChatCompletionMessage {
	out := make([]openai.ChatCompletionMessage, 0, len(in))
	for _, m := range in {
		if strings.TrimSpace(m.Content) == "" && len(m.Images) == 0 {
			continue
		}
		next := message(m)
		if !h.noNames {
			next.Name = speaker(m.Name)
		}
		if h.plain && next.Role == openai.ChatMessageRoleSystem {
			next.Role = openai.ChatMessageRoleUser
		}
		if n := len(out); h.plain && n > 0 && out[n-1].Role == next.Role {
			out[n-1] = joined(out[n-1], next)
			continue
		}
		out = append(out, next)
	}
	return out
}

// speaker makes a name that OpenAI accepts: letters, digits, "_" and "-", at most 64.
func speaker(name string) string {
	if name == "" {
		return ""
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if strings.Trim(clean, "_") == "" {
		return ""
	}
	return clean[:min(len(clean), 64)]
}
