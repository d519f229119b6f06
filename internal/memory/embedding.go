package memory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

const (
	maxTexts      = 64   // per request
	MaxCharacters = 8000 // per text; longer texts are cut

	questionLimit = 400 * time.Millisecond // a turn waits no longer
	batchLimit    = time.Minute
	maxVectors    = 32 << 20 // 64 vectors of 8192 numbers in decimal
	mostQuestions = 4        // concurrent questions
)

// Embedder turns texts into vectors. It asks a service that the operator chose. Any hosted or local server with OpenAI's /embeddings will do
// (https://platform.openai.com/docs/api-reference/embeddings/create). Texts with similar meaning have vectors with similar directions.
//
// Make one with [NewEmbedder]. It is safe for concurrent use.
type Embedder struct {
	Model string // the model of the vectors

	endpoint  *api.Endpoint
	key       string
	redact    func(string) string
	questions chan struct{} // one element per running question
}

// EmbedderConfig describes a service. BaseURL, Model and Client are required.
type EmbedderConfig struct {
	BaseURL string // up to and including the version: "https://api.openai.com/v1"
	Key     string // bearer key; empty for servers that want none
	Model   string // "text-embedding-3-small"
	Agent   string // User-Agent
	Client  func(origin string) *http.Client
	Redact  func(string) string // removes secrets from texts before they are sent; may be nil
}

// NewEmbedder makes one. Its error holds no key.
func NewEmbedder(c EmbedderConfig) (*Embedder, error) {
	endpoint, err := api.NewEndpoint(c.BaseURL, c.Client)
	if err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	endpoint.UserAgent, endpoint.MaxBody = c.Agent, maxVectors
	return &Embedder{Model: c.Model, endpoint: endpoint, key: c.Key, redact: c.Redact, questions: make(chan struct{}, mostQuestions)}, nil
}

// Host returns the host that receives the texts.
func (s *Embedder) Host() string { return clean.ShownHost(s.endpoint.Address()) }

// Question returns the vector of a text within a short limit. The error is an [*api.Failure].
func (s *Embedder) Question(ctx context.Context, question string) (Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, questionLimit)
	defer cancel()
	select {
	case s.questions <- struct{}{}:
		defer func() { <-s.questions }()
	case <-ctx.Done():
		return nil, &api.Failure{Code: turn.CodeTimeout, Detail: "others were asked for first"}
	}
	all, err := s.embed(ctx, []string{question})
	if err != nil {
		return nil, err
	}
	if len(all[0]) == 0 {
		return nil, &api.Failure{Code: turn.CodeEmpty, Detail: "the vector says nothing"}
	}
	return all[0], nil
}

// Batch returns the vectors of up to maxTexts texts, in order. The error is an [*api.Failure].
func (s *Embedder) Batch(ctx context.Context, texts []string) ([]Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	return s.embed(ctx, texts)
}

func (s *Embedder) embed(ctx context.Context, texts []string) ([]Vector, error) {
	if len(texts) == 0 || len(texts) > maxTexts {
		return nil, &api.Failure{Code: turn.CodeInternal, Detail: fmt.Sprintf("%d texts at once", len(texts))}
	}
	request := struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{Model: s.Model}
	for _, t := range texts {
		request.Input = append(request.Input, s.clean(t))
	}
	header := http.Header{}
	if s.key != "" {
		header.Set("Authorization", "Bearer "+s.key)
	}
	var reply struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if _, err := s.endpoint.JSON(ctx, api.Request{Path: "/embeddings", Header: header, Body: request}, &reply); err != nil {
		return nil, err
	}
	all, done := make([]Vector, len(texts)), make([]bool, len(texts))
	for _, d := range reply.Data {
		if d.Index < 0 || d.Index >= len(texts) || done[d.Index] || len(d.Embedding) == 0 {
			return nil, &api.Failure{Code: turn.CodeMalformed, Detail: "the vectors are not one for each text"}
		}
		all[d.Index], done[d.Index] = NewVector(d.Embedding), true
	}
	if slices.Contains(done, false) {
		return nil, &api.Failure{Code: turn.CodeMalformed, Detail: "there is not a vector for each text"}
	}
	return all, nil
}

// clean prepares a text for sending.
func (s *Embedder) clean(of string) string {
	of = strings.TrimSpace(strings.ToValidUTF8(of, ""))
	if s.redact != nil {
		of = s.redact(of)
	}
	if of = text.Truncate(of, MaxCharacters); of == "" {
		return "." // servers reject empty texts
	}
	return of
}

// CodeOf returns the code of an error.
func CodeOf(err error) turn.Code {
	if failed, ok := errors.AsType[*api.Failure](err); ok {
		return failed.Code
	}
	return turn.CodeInternal
}
