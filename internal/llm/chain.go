package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// chain asks one model after another until one answers, or until words were said: those cannot be unsaid.
func (c *Client) chain(ctx context.Context, r Request, say func(string)) (Answer, error) {
	var answer Answer
	var err error
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

// final says that no other model of the same server will do better.
func (e *Error) final() bool { return e.Status == 401 || e.Kind == Unreachable }

// ask asks one model, as often as it takes to learn its habits, and once more after a failure that may pass.
// left is how many models could be asked after it.
func (c *Client) ask(ctx context.Context, r Request, model string, left int, say func(string), answer *Answer) (said bool, err error) {
	h := c.habitOf(model)
	answer.Blind = h.blind && !c.Forced && r.hasImages()
	if answer.Blind {
		r = r.withoutImages()
	}
	refused := false // pictures, in so many words or not
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
		if bent, ok := h.bend(e, req); ok {
			h = bent
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

// wrap names what the context's error interrupted. An *Error says that itself.
func wrap(err error, model string) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("ask model %s: %w", model, err)
}

// add takes an attempt into the answer. The text is the last attempt's, the usage everybody's.
func (a *Answer) add(t *attempt, model string) {
	a.Text, a.Model, a.Finish = t.answer(), model, t.finish
	a.Thoughts = t.thought + t.think.hidden
	a.Usage.Prompt += t.usage.Prompt
	a.Usage.Completion += t.usage.Completion
	a.Usage.Reasoning += t.usage.Reasoning
	a.Usage.Calls += t.usage.Calls
	a.Usage.Cost += t.usage.Cost
}

// patience is how long a model may be silent before its first word: FirstToken, but with other models left no more
// than its fair share of the time.
func (c *Client) patience(ctx context.Context, left int) time.Duration {
	patience := c.first()
	if deadline, ok := ctx.Deadline(); ok && left > 0 {
		patience = min(patience, time.Until(deadline)/time.Duration(left+1))
	}
	return patience
}

const (
	shortPause = 250 * time.Millisecond // before asking a server again that stumbled
	longPause  = time.Second            // before asking a server again that said "slower"
	// longestPause is the longest worth waiting for: another model is the better answer to more, and without
	// one a person should be told.
	longestPause = 30 * time.Second
	fallbackTime = 2 * time.Second // longest worth waiting for with another model at hand
)

// again says whether, and after which wait, asking the same model once more can help.
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
			return 0, false // it has had its time
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

// pause waits; false, at once, if the context will not last that long.
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
