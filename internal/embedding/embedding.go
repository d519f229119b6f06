// Package embedding has texts turned into vectors by a service that the operator chose: any that speaks OpenAI's /embeddings
// (https://platform.openai.com/docs/api-reference/embeddings/create), hosted or local. Texts of like meaning have vectors of like direction.
//
//   - embedding.go asks the service.
//   - indexer.go has what is kept embedded in the background.
package embedding

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
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	MaxTexts      = 64   // of one request
	MaxCharacters = 8000 // of one text; what is longer is cut

	questionLimit = 400 * time.Millisecond // a turn waits no longer
	batchLimit    = time.Minute
	maxReply      = 32 << 20 // bytes: 64 vectors of 8192 numbers in digits
	mostQuestions = 4        // that are asked for at once
)

// Service makes vectors. Make one with [New]; it is safe for concurrent use.
type Service struct {
	Model string // whose vectors they are

	endpoint  *api.Endpoint
	key       string
	redact    func(string) string
	questions chan struct{} // holds one for each that is being asked for
}

// Config is where a service is. BaseURL, Model and Client are required.
type Config struct {
	BaseURL string // up to and including the version: "https://api.openai.com/v1"
	Key     string // bearer key; empty for servers that want none
	Model   string // "text-embedding-3-small"
	Agent   string // User-Agent
	Client  func(origin string) *http.Client
	Redact  func(string) string // takes secrets out of texts before they leave; nil: nothing is taken out
}

// New makes a service. The error names no key.
func New(c Config) (*Service, error) {
	endpoint, err := api.NewEndpoint(c.BaseURL, c.Client)
	if err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	endpoint.UserAgent, endpoint.MaxBody = c.Agent, maxReply
	return &Service{Model: c.Model, endpoint: endpoint, key: c.Key, redact: c.Redact, questions: make(chan struct{}, mostQuestions)}, nil
}

// Host is where texts go.
func (s *Service) Host() string { return api.Host(s.endpoint.Address()) }

// Question returns the vector of one text soon, or not at all. The error is an [*api.Failure].
func (s *Service) Question(ctx context.Context, question string) (store.Vector, error) {
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

// Batch returns the vectors of up to [MaxTexts] texts, in their order. The error is an [*api.Failure].
func (s *Service) Batch(ctx context.Context, texts []string) ([]store.Vector, error) {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	return s.embed(ctx, texts)
}

func (s *Service) embed(ctx context.Context, texts []string) ([]store.Vector, error) {
	if len(texts) == 0 || len(texts) > MaxTexts {
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
	all, done := make([]store.Vector, len(texts)), make([]bool, len(texts))
	for _, d := range reply.Data {
		if d.Index < 0 || d.Index >= len(texts) || done[d.Index] || len(d.Embedding) == 0 {
			return nil, &api.Failure{Code: turn.CodeMalformed, Detail: "the vectors are not one for each text"}
		}
		all[d.Index], done[d.Index] = store.NewVector(d.Embedding), true
	}
	if slices.Contains(done, false) {
		return nil, &api.Failure{Code: turn.CodeMalformed, Detail: "there is not a vector for each text"}
	}
	return all, nil
}

// clean is a text as it is sent.
func (s *Service) clean(of string) string {
	of = strings.TrimSpace(strings.ToValidUTF8(of, ""))
	if s.redact != nil {
		of = s.redact(of)
	}
	if of = text.Truncate(of, MaxCharacters); of == "" {
		return "." // servers refuse empty texts
	}
	return of
}

// codeOf is why a service did not answer.
func codeOf(err error) turn.Code {
	if failed, ok := errors.AsType[*api.Failure](err); ok {
		return failed.Code
	}
	return turn.CodeInternal
}
