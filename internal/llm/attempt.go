package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

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
	usage   Usage // as last reported
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
	return e
}
