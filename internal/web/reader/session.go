package reader

import (
	"context"
	"errors"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
)

// How long a service that asked for fewer requests gets none: if it does not say for how long, and at most.
const (
	defaultCooldown = time.Minute
	maxCooldown     = time.Hour
)

// maxReply bounds a service's reply, in bytes. A long article or thread has a quarter of it.
const maxReply = 8 << 20

// session is one request's use of its service's endpoint. Its calls may run at the same time.
type session struct {
	readers  *Readers
	request  *request
	endpoint *api.Endpoint
	final    string // where the service says that the page is, if that is elsewhere on the same host
}

// newSession fails during the cooldown of the service.
func (r *Readers) newSession(req *request) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.config.Now().Before(r.cooldowns[req.origin]) {
		return nil, &Error{req.reader, turn.CodeRateLimited, "the service asked for fewer requests a while ago and is left alone"}
	}
	endpoint := r.endpoints[req.origin]
	if endpoint == nil {
		var err error
		if endpoint, err = api.NewEndpoint(req.origin, r.config.Client); err != nil {
			return nil, &Error{req.reader, turn.CodeRejected, err.Error()}
		}
		endpoint.UserAgent, endpoint.MaxBody, endpoint.Explain = r.config.UserAgent, maxReply, req.explain
		r.endpoints[req.origin] = endpoint
	}
	return &session{readers: r, request: req, endpoint: endpoint}, nil
}

// explainMissing recognises the statuses of a page that does not exist.
func explainMissing(r api.Reply) api.Failure {
	if r.Status == 404 || r.Status == 410 {
		return *missing()
	}
	return api.Failure{}
}

// extrasTimeout bounds the wait for parts that a page can be read without: comments, answers, transcripts. A caller
// with little time gets the page without them.
const extrasTimeout = 1200 * time.Millisecond

// json sends a request and decodes the reply. Fields of other types than expected are left out if the rest can be read.
func (s *session) json(ctx context.Context, r api.Request, v any) error {
	_, err := s.endpoint.JSON(ctx, r, v)
	return s.noteLimit(err)
}

// text sends a request whose reply is not JSON.
func (s *session) text(ctx context.Context, r api.Request) (string, error) {
	body, err := s.endpoint.Text(ctx, r)
	return string(body), s.noteLimit(err)
}

// noteLimit begins a cooldown if err says that the service wants fewer requests. It returns err.
func (s *session) noteLimit(err error) error {
	f, ok := errors.AsType[*api.Failure](err)
	if !ok {
		return err
	}
	switch {
	case f.RetryAfter > 0:
		s.coolDown(f.RetryAfter)
	case f.Code == turn.CodeRateLimited || f.Code == turn.CodeQuota || f.Code == turn.CodeBlocked:
		s.coolDown(defaultCooldown)
	}
	return err
}

// coolDown sends no request to the service for a while.
func (s *session) coolDown(wait time.Duration) {
	until := s.readers.config.Now().Add(min(wait, maxCooldown))
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	if until.After(s.readers.cooldowns[s.request.origin]) {
		s.readers.cooldowns[s.request.origin] = until
	}
}

// malformed is the failure of a reply that is not as documented.
func malformed(detail string) error { return &api.Failure{Code: turn.CodeMalformed, Detail: detail} }

func missing() *api.Failure {
	return &api.Failure{Code: turn.CodeMissing, Detail: "the service knows no such page"}
}
