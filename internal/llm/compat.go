package llm

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"

	openai "github.com/sashabaranov/go-openai"
)

// compat records which parameters a model supports. A parameter once dropped stays dropped, so that adapting to a
// server ends.
type compat struct {
	limit         string // name of the field for the length limit; "" if there is none
	swapped       bool   // limit is the second name tried
	noTemperature bool
	noUsage       bool // no stream_options
	noFormat      bool // no response_format
	noNames       bool // no names of speakers
	// plain means no system role, and alternating roles. The templates of several local models require it.
	plain bool
	late  bool // closes thoughts that it did not open
	blind bool // takes no pictures
}

const (
	maxTokens           = "max_tokens"            // accepted by all servers except for OpenAI's newest models
	maxCompletionTokens = "max_completion_tokens" // required by those
)

// reasoners are OpenAI's models that reject max_tokens and a temperature. go-openai treats any model with such a name
// in the same way.
var reasoners = text.NewLazyRegexp(`^(o[134]|gpt-[5-9])`)

// compatOf returns what has been learned about a model, or the default for its name.
func (c *Client) compatOf(model string) compat {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.compats[model]; ok {
		return h
	}
	if reasoners.MatchString(plainName(model)) {
		return compat{limit: maxCompletionTokens, noTemperature: true}
	}
	return compat{limit: maxTokens}
}

func (c *Client) learn(model string, h compat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compats == nil {
		c.compats = make(map[string]compat)
	}
	c.compats[model] = h
}

var (
	aboutNames = text.NewLazyRegexp(`messages?\b[^a-z]{0,8}name\b|name'? (is|was)? ?(not supported|unsupported)`)
	aboutRoles = text.NewLazyRegexp(`system (role|message)|role 'system'|roles must alternate|alternate user`)
)

// adapt returns the compat that a rejection asks for. ok is false if the rejection names nothing that was sent.
func (h compat) adapt(e *Error, sent openai.ChatCompletionRequest) (next compat, ok bool) {
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
func (c *Client) compose(r Request, model string, h compat) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: model, Stream: true, Messages: h.messages(r.Messages)}
	limit := r.MaxTokens
	if limit == 0 {
		limit = c.MaxTokens
	}
	if h.limit != "" {
		// Always use this field: go-openai rejects the other for any model named like one of OpenAI's newest, even
		// local ones. The exchange renames it if the server wants "max_tokens".
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

// messages converts a conversation for the model.
func (h compat) messages(in []turn.Rendered) []openai.ChatCompletionMessage {
	out := make([]openai.ChatCompletionMessage, 0, len(in))
	for _, m := range in {
		if strings.TrimSpace(m.Text) == "" && len(m.Images) == 0 {
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

// speaker returns a name that OpenAI accepts: letters, digits, "_" and "-", at most 64 characters.
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

// Sees reports whether the client's model takes pictures. It assumes so until the model has rejected one.
func (c *Client) Sees() bool { return !c.compatOf(c.Model).blind }

// message converts a message. Pictures become data URLs (RFC 2397), each after its label.
func message(m turn.Rendered) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: m.Role}
	if len(m.Images) == 0 {
		out.Content = m.Text
		return out
	}
	if strings.TrimSpace(m.Text) != "" {
		out.MultiContent = append(out.MultiContent, textPart(m.Text))
	}
	for _, i := range m.Images {
		if i.Label != "" {
			out.MultiContent = append(out.MultiContent, textPart(i.Label))
		}
		out.MultiContent = append(out.MultiContent, openai.ChatMessagePart{
			Type:     openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)},
		})
	}
	return out
}

func textPart(text string) openai.ChatMessagePart {
	return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: text}
}

// joined merges two messages of the same role.
func joined(a, b openai.ChatCompletionMessage) openai.ChatCompletionMessage {
	if a.MultiContent == nil && b.MultiContent == nil {
		a.Content += "\n\n" + b.Content
		return a
	}
	parts := func(m openai.ChatCompletionMessage) []openai.ChatMessagePart {
		if m.MultiContent == nil {
			return []openai.ChatMessagePart{textPart(m.Content)}
		}
		return m.MultiContent
	}
	a.MultiContent, a.Content = slices.Concat(parts(a), parts(b)), ""
	return a
}

// hasImages reports whether the request has a picture.
func (r Request) hasImages() bool {
	return slices.ContainsFunc(r.Messages, func(m turn.Rendered) bool { return len(m.Images) > 0 })
}

// withoutImages replaces the pictures in a request by their labels.
func (r Request) withoutImages() Request {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		m := &r.Messages[i]
		for _, image := range m.Images {
			m.Text += "\n\n(Not shown to you, since you cannot see pictures: " + image.Label + ")"
		}
		m.Images = nil
	}
	return r
}

var aboutImages = text.NewLazyRegexp(`image|vision|multi-?modal|mmproj|content.{0,40}string`)

// mayRefuseImages reports whether an error may mean that the model takes no pictures. Servers use many statuses for
// that, and some of their messages have none of these words.
func (e *Error) mayRefuseImages() bool {
	named := aboutImages.MatchString(strings.ToLower(e.problem.Param + "\n" + e.problem.Code + "\n" + e.problem.Message))
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return e.Kind == Rejected || e.Kind == ContextTooLong || named
	case http.StatusNotFound, http.StatusInternalServerError, http.StatusNotImplemented:
		return named
	}
	return false
}
