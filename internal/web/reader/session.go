package reader

import (
	"context"
	"errors"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
)

// How long a service is left alone that says it has had enough of us: if it does not say for how long, and at most.
const (
	rest     = time.Minute
	longRest = time.Hour
)

// maxReply is how much of a service's answer is read: a long article or thread has a quarter of it.
const maxReply = 8 << 20

// desk is where one errand is done. It belongs to one errand, whose requests may run at the same time.
type desk struct {
	readers *Readers
	errand  *errand
	far     *api.Endpoint
	final   string // where the service says that the page is, if that is elsewhere on the same host
}

// desk opens one, unless the service asked to be left alone.
func (r *Readers) desk(e *errand) (*desk, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.config.Now().Before(r.closed[e.origin]) {
		return nil, &Error{e.reader, turn.CodeRateLimited, "the service asked for fewer requests a while ago and is left alone"}
	}
	far := r.far[e.origin]
	if far == nil {
		var err error
		if far, err = api.NewEndpoint(e.origin, r.config.Client); err != nil {
			return nil, &Error{e.reader, turn.CodeRejected, err.Error()}
		}
		far.UserAgent, far.MaxBody, far.Explain = r.config.UserAgent, maxReply, e.explain
		r.far[e.origin] = far
	}
	return &desk{readers: r, errand: e, far: far}, nil
}

// explainMissing knows the statuses that say of a page that there is none.
func explainMissing(r api.Reply) api.Failure {
	if r.Status == 404 || r.Status == 410 {
		return *missing()
	}
	return api.Failure{}
}

// extra is how long is waited for what a page is worth reading without: its comments, its answers, its words. A caller
// who has little time is to get the rest.
const extra = 1200 * time.Millisecond

func briefly(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, extra)
}

// json asks the service and decodes its answer. Fields of odd types are left out, if the rest can be read.
func (d *desk) json(ctx context.Context, r api.Request, v any) error {
	_, err := d.far.JSON(ctx, r, v)
	return d.heed(err)
}

// text asks the service for something that is no JSON.
func (d *desk) text(ctx context.Context, r api.Request) (string, error) {
	body, err := d.far.Text(ctx, r)
	return string(body), d.heed(err)
}

// heed leaves a service alone that has had enough.
func (d *desk) heed(err error) error {
	f, ok := errors.AsType[*api.Failure](err)
	if !ok {
		return err
	}
	switch {
	case f.RetryAfter > 0:
		d.leave(f.RetryAfter)
	case f.Code == turn.CodeRateLimited || f.Code == turn.CodeQuota || f.Code == turn.CodeBlocked:
		d.leave(rest)
	}
	return err
}

// leave stays away from the service for a while.
func (d *desk) leave(wait time.Duration) {
	until := d.readers.config.Now().Add(min(wait, longRest))
	d.readers.mu.Lock()
	defer d.readers.mu.Unlock()
	if until.After(d.readers.closed[d.errand.origin]) {
		d.readers.closed[d.errand.origin] = until
	}
}

// malformed is an answer that is not the one agreed on.
func malformed(detail string) error { return &api.Failure{Code: turn.CodeMalformed, Detail: detail} }

func missing() *api.Failure {
	return &api.Failure{Code: turn.CodeMissing, Detail: "the service knows no such page"}
}
