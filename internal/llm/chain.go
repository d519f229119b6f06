package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// chain asks one model after another until one answers. It stops when one has passed words to say, since those cannot be taken back.
func (c *Client) chain(ctx context.Context, r Request, say func(string)) (answer Answer, err error) {
	began := time.Now()
	defer func() { Observer(ctx)(Call{r, answer, err, began, time.Since(began)}) }()
	models := append([]string{c.Model}, c.Fallbacks...)
	for i, model := range models {
		var said bool
		said, err = c.ask(ctx, r, model, len(models)-i-1, say, &answer)
		var e *Error
		if err == nil || said || !errors.As(err, &e) || e.final() {
			break
		}
		if i < len(models)-1 {
			answer.Failed = append(answer.Failed, Failure{Model: model, Kind: e.Kind, Status: e.Status})
		}
	}
	return answer, err
}

// final reports whether every other model of the server would fail too.
func (e *Error) final() bool { return e.Status == 401 || e.Kind == Unreachable }

// ask asks one model, repeatedly until its parameters fit, and once more after a temporary failure. left is the number
// of fallbacks after it.
func (c *Client) ask(ctx context.Context, r Request, model string, left int, say func(string), answer *Answer) (said bool, err error) {
	h := c.compatOf(model)
	answer.Blind = h.blind && !c.Forced && r.hasImages()
	if answer.Blind {
		r = r.withoutImages()
	}
	refused := false // the model may have rejected the pictures
	for again := false; ; {
		req := c.compose(r, model, h)
		if len(req.Messages) == 0 {
			return false, &Error{Kind: Rejected, Model: model, Cause: "no message has any content"}
		}
		var a *attempt
		a, err = c.try(ctx, r.Lane, model, h, req, c.patience(ctx, left), say)
		answer.add(a, model)
		if a.retract && !h.late {
			h.late = true
			c.learn(model, h)
		}
		if err == nil && refused && !c.Forced {
			h.blind = true
			c.learn(model, h)
		}
		var e *Error
		if err == nil || a.said || !errors.As(err, &e) {
			return a.said, wrap(err, model)
		}
		if adapted, ok := h.adapt(e, req); ok {
			h = adapted
			c.learn(model, h)
			continue
		}
		if r.hasImages() && e.mayRefuseImages() {
			r, answer.Blind, refused = r.withoutImages(), true, e.Kind != ContextTooLong
			continue
		}
		wait, ok := e.again(left)
		if again || !ok || !pause(ctx, wait) {
			return false, wrap(err, model)
		}
		again = true
	}
}

// wrap adds the model's name to a context's error. An *Error has it already.
func wrap(err error, model string) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("ask model %s: %w", model, err)
}

// add merges an attempt into the answer: its text replaces the text, its usage is added.
func (a *Answer) add(t *attempt, model string) {
	a.Text, a.Model, a.Finish = t.answer(), model, t.finish
	a.Thoughts = t.thought + t.think.hidden
	a.Usage = a.Usage.Plus(t.usage)
}

// patience returns how long a model may be silent before its first word. It is FirstToken, or a fair share of the remaining time if other
// models are left.
func (c *Client) patience(ctx context.Context, left int) time.Duration {
	patience := c.first()
	if deadline, ok := ctx.Deadline(); ok && left > 0 {
		patience = min(patience, time.Until(deadline)/time.Duration(left+1))
	}
	return patience
}

const (
	shortPause = 250 * time.Millisecond // before repeating a request after a server error
	longPause  = time.Second            // before repeating a request after a rate limit
	// longestPause is the longest wait before a second request. If the server asks for more, another model is better,
	// or an error.
	longestPause = 30 * time.Second
	fallbackTime = 2 * time.Second // longest wait if a fallback is left
)

// again returns whether asking the same model again can help, and after which wait.
func (e *Error) again(left int) (wait time.Duration, ok bool) {
	switch e.Kind {
	case Empty, Truncated:
		return 0, true
	case RateLimited:
		wait = longPause
	case Server, Unreachable:
		wait = shortPause
	case Timeout:
		if e.Status == 0 {
			return 0, false // it has used its time
		}
		wait = shortPause
	default:
		return 0, false
	}
	if e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	if left > 0 {
		return wait, wait <= fallbackTime
	}
	return wait, wait <= longestPause
}

// pause waits for d. It returns false at once if the context ends earlier.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
