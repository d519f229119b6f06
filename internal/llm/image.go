package llm

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// Sees reports whether the client's model takes pictures, as far as is known: until it has refused them.
func (c *Client) Sees() bool { return !c.habitOf(c.Model).blind }

// message is a message with its pictures in the URLs of data (RFC 2397), each behind what is said of it.
func message(m Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: m.Role}
	if len(m.Images) == 0 {
		out.Content = m.Content
		return out
	}
	if strings.TrimSpace(m.Content) != "" {
		out.MultiContent = append(out.MultiContent, textPart(m.Content))
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

// joined makes one message of two of the same role.
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

// hasImages reports whether there is a picture in a request.
func (r Request) hasImages() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

// withoutImages is the request with no more of its pictures than what is said of them.
func (r Request) withoutImages() Request {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		m := &r.Messages[i]
		for _, image := range m.Images {
			m.Content += "\n\n(Not shown to you, since you cannot see pictures: " + image.Label + ")"
		}
		m.Images = nil
	}
	return r
}

var aboutImages = regexp.MustCompile(`image|vision|multi-?modal|mmproj|content.{0,40}string`)

// mayRefuseImages reports whether an error may mean that the model takes no pictures. Servers say so with many statuses, and some
// with none of these words.
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
