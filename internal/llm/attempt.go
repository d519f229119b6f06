package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"

	openai "github.com/sashabaranov/go-openai"
)

const (
	defaultFirst = 20 * time.Second
	defaultIdle  = time.Minute
	hangLimit    = 5 * time.Second // silence after which a request gives up its slot
)

// attempt is one request to one model and its outcome.
type attempt struct {
	client *Client
	say    func(string)
	wire   *exchange

	text    strings.Builder
	think   thoughts
	said    bool // text was passed to say
	retract bool // text turned out to be thoughts
	thought int  // bytes of reasoning in separate fields
	refusal int  // bytes of a refusal
	finish  string
	usage   turn.Usage // as last reported
	events  int
	begun   func() // called at each word or thought
}

// try asks a model once. Its error is an *Error or the context's.
func (c *Client) try(ctx context.Context, lane, model string, h compat, req openai.ChatCompletionRequest, patient time.Duration, say func(string)) (*attempt, error) {
	a := &attempt{client: c, say: say, think: thoughts{late: h.late}}
	if err := c.slots().acquire(ctx, lane); err != nil {
		return a, err
	}
	release := sync.OnceFunc(c.slots().release)
	defer release()
	hanging := time.AfterFunc(hangLimit, release)
	defer hanging.Stop()

	inner, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	a.wire = &exchange{http: c.HTTP, extra: c.Extra, limit: h.limit, idle: patient, giveUp: giveUp}
	a.begun = sync.OnceFunc(func() {
		hanging.Stop()
		a.wire.speaks(c.idle())
	})
	defer a.wire.stop()

	a.usage.Calls = 1
	err := a.run(inner, req)
	if err == nil {
		err = a.verdict()
	}
	if err == nil {
		return a, nil
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	return a, c.explain(err, context.Cause(inner), model, a)
}

// slots returns the shared slots, or the client's own.
func (c *Client) slots() *Slots {
	if c.Slots != nil {
		return c.Slots
	}
	return &c.own
}

func (c *Client) first() time.Duration {
	if c.FirstToken > 0 {
		return min(c.FirstToken, c.idle())
	}
	return min(defaultFirst, c.idle())
}

func (c *Client) idle() time.Duration {
	if c.IdleTimeout > 0 {
		return c.IdleTimeout
	}
	return defaultIdle
}

// run sends the request and reads the stream to its end. After the model's finish reason it ignores connection errors.
func (a *attempt) run(ctx context.Context, req openai.ChatCompletionRequest) error {
	config := openai.DefaultConfig(a.client.Key)
	config.BaseURL = a.client.BaseURL
	config.HTTPClient = a.wire
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, req)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		raw, err := stream.RecvRaw()
		if err == nil {
			err = a.take(raw)
		}
		if a.finish != "" && err != nil {
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			a.flush()
			return err
		}
	}
	a.flush()
	return nil
}

// take processes one event.
func (a *attempt) take(raw []byte) error {
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return &Error{Kind: NotOpenAI, Cause: "broken event: " + string(raw[:min(len(raw), maxCause)])}
	}
	a.events++
	if u, ok := c.spent(); ok {
		u.Calls = 1
		a.usage = u
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			a.hear(&c.Choices[i])
		}
	}
	if p, ok := c.problem(raw); ok && a.finish == "" {
		return &Error{Kind: kindOf(p.status(), p), Status: p.status(), Cause: p.Message, problem: p}
	}
	return nil
}

// hear processes one choice of an event.
func (a *attempt) hear(c *choice) {
	for _, w := range []*words{&c.Delta, &c.Message} {
		if n := w.thought(); n > 0 {
			a.begun()
			a.thought += n
		}
		a.refusal += len(w.Refusal.Text)
		if w.Content.Text != "" {
			a.begun()
			visible, retract := a.think.write(w.Content.Text)
			if retract {
				a.text.Reset()
				a.retract = true
			}
			a.utter(visible)
		}
	}
	if c.FinishReason == "error" || c.FinishReason == "" {
		return
	}
	a.finish = c.FinishReason
	if a.finish == "model_length" { // Mistral
		a.finish = "length"
	}
	a.wire.finished()
}

func (a *attempt) utter(s string) {
	if s == "" {
		return
	}
	a.text.WriteString(s)
	if a.say != nil {
		a.said = true
		a.say(s)
	}
}

// flush emits text that was held back as the possible start of a tag.
func (a *attempt) flush() { a.utter(a.think.close()) }

// answer returns the visible text.
func (a *attempt) answer() string { return strings.TrimRight(a.text.String(), " \t\r\n") }

// verdict returns an error if a complete stream holds no answer.
func (a *attempt) verdict() error {
	switch {
	case a.finish == "" && a.events == 0:
		return &Error{Kind: Truncated, Cause: "the stream held nothing"}
	case a.finish == "":
		return &Error{Kind: Truncated, Cause: "the stream ended without a finish reason"}
	case a.finish == "insufficient_system_resource": // DeepSeek
		return &Error{Kind: Server, Cause: "the server ran out of resources"}
	case a.answer() != "":
		return nil
	case a.finish == "content_filter" || a.refusal > 0:
		return &Error{Kind: Refused, Cause: "finish reason " + a.finish}
	case a.finish == "length":
		return &Error{Kind: Empty, Cause: "the length limit was used up by thoughts"}
	}
	return &Error{Kind: Empty, Cause: "finish reason " + a.finish}
}

// explain turns the error of an attempt into an *Error.
func (c *Client) explain(err, cause error, model string, a *attempt) *Error {
	var e *Error
	var slow net.Error
	switch {
	case cause == errSilent:
		e = &Error{Kind: Timeout, Cause: errSilent.Error()}
	case errors.As(err, &e):
	case errors.Is(err, openai.ErrChatCompletionInvalidModel):
		e = &Error{Kind: NoModel, Cause: err.Error()}
	case errors.Is(err, errLongLine), errors.Is(err, errTooMuch), errors.Is(err, errNotStream):
		e = &Error{Kind: NotOpenAI, Cause: err.Error()}
	case errors.As(err, &slow) && slow.Timeout():
		e = &Error{Kind: Timeout, Cause: err.Error()}
	case a.events > 0:
		e = &Error{Kind: Truncated, Cause: err.Error()}
	default:
		e = &Error{Kind: Unreachable, Cause: err.Error()}
	}
	e.Model, e.Cause, e.Partial = model, c.cause(e.Cause), a.text.Len() > 0
	if e.Partial && e.Kind == NotOpenAI {
		e.Kind = Truncated // it spoke the protocol up to here
	}
	c.learnSize(e)
	return e
}

// Slots limits the concurrent requests to one server. A free slot goes to the lane that has waited longest for a turn. It does not matter
// how many requests the other lanes have. Clients of one server share one Slots. The zero value is ready. A Slots must not be copied after
// first use.
type Slots struct {
	// Limit is the number of concurrent requests. 0: 64. It must not change after first use.
	Limit int

	mu      sync.Mutex
	running int         // guarded by mu
	lanes   []slotQueue // guarded by mu; lanes with waiting requests, the next to get a slot first
}

const defaultSlots = 64

// slotQueue holds the waiting requests of one lane, in order.
type slotQueue struct {
	lane    string
	waiting []chan struct{} // closed when the request gets its slot
}

// acquire waits for a slot. If the error is nil, the caller must release the slot.
func (s *Slots) acquire(ctx context.Context, lane string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ready := s.enter(lane)
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
	}
	if !s.leave(lane, ready) {
		s.release() // it arrived at the same moment
	}
	return ctx.Err()
}

// enter takes a free slot or joins the lane's queue. The channel is closed once the request has its slot.
func (s *Slots) enter(lane string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ready := make(chan struct{})
	limit := s.Limit
	if limit <= 0 {
		limit = defaultSlots
	}
	if s.running < limit {
		s.running++
		close(ready)
		return ready
	}
	i := slices.IndexFunc(s.lanes, func(q slotQueue) bool { return q.lane == lane })
	if i < 0 {
		i = len(s.lanes)
		s.lanes = append(s.lanes, slotQueue{lane: lane})
	}
	s.lanes[i].waiting = append(s.lanes[i].waiting, ready)
	return ready
}

// leave removes a request from its queue and reports whether it was still there.
func (s *Slots) leave(lane string, ready chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.lanes, func(q slotQueue) bool { return q.lane == lane })
	if i < 0 {
		return false
	}
	q := &s.lanes[i]
	place := slices.Index(q.waiting, ready)
	if place < 0 {
		return false
	}
	if q.waiting = slices.Delete(q.waiting, place, place+1); len(q.waiting) == 0 {
		s.lanes = slices.Delete(s.lanes, i, i+1)
	}
	return true
}

// release frees the slot or passes it to the next lane, which then goes to the end of the line.
func (s *Slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lanes) == 0 {
		s.running--
		return
	}
	q := s.lanes[0]
	s.lanes = slices.Delete(s.lanes, 0, 1)
	close(q.waiting[0])
	if q.waiting = q.waiting[1:]; len(q.waiting) > 0 {
		s.lanes = append(s.lanes, q)
	}
}
