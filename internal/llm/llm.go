// Package llm talks to any server, hosted or local, that speaks OpenAI's chat completions.
//
// [Client.Stream] asks a model and passes on its words as they arrive. [Client.Complete] waits for the whole answer.
// [Client.Ask] wants one JSON object. All take the same path:
//
//   - chain.go asks [Client.Model], then each of [Client.Fallbacks], and lists the failed ones in [Answer.Failed]. It
//     asks a model a second time only if that can help, and no model after words were passed on.
//   - compat.go remembers which parameters a model rejects and leaves them out from then on. It also leaves out
//     pictures for a model that takes none.
//   - The slots in attempt.go limit the concurrent requests, fairly between lanes.
//   - attempt.go is one request: go-openai writes it and splits the stream, and attempt reads the events.
//   - wire.go sits between go-openai and the network. It handles what go-openai would lose: error bodies of every
//     shape, Retry-After, HTML with status 200, silences, endless lines.
//   - stream.go decodes the events of a stream and separates a model's thoughts from its words.
//   - error.go is the closed set of failures.
//
// A stream that ends without a finish reason is an error ([Truncated]) whatever it held. The protocol has no other sign that an answer is
// complete.
//
// models.go asks a server for its models and the size of their context. [Counter] counts tokens offline.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Client asks one server. Set its fields before the first call and do not change them afterwards. Its methods are safe
// for concurrent use. A Client must not be copied after the first call.
type Client struct {
	// HTTP sends the requests; required. Its Timeout must be 0, or it would cut long answers short. The context and
	// IdleTimeout set the limits.
	HTTP *http.Client
	// BaseURL is the address up to and including the version: "https://api.openai.com/v1",
	// "http://127.0.0.1:11434/v1".
	BaseURL string
	Key     string // bearer key; empty for servers that want none
	Model   string
	// Fallbacks are models of the same server, asked in this order if Model fails.
	Fallbacks []string
	// MaxTokens limits an answer if the request sets no limit. 0: the server's limit.
	MaxTokens int
	// Temperature is from 0 to 2. 0 is not sent and means the server's default.
	Temperature float32
	// Slots limits the concurrent requests of all clients that share it; more requests wait. nil: the client has its
	// own. A request that hangs for hangLimit gives up its slot, so that it does not block others.
	Slots *Slots
	// FirstToken is the longest silence before a model's first word or thought; a keep-alive comment ends a silence. 0:
	// 20 s. While fallbacks are left, the limit is lower, so that they get a share of the context's time.
	FirstToken time.Duration
	// IdleTimeout is the longest silence after that. 0: 60 s.
	IdleTimeout time.Duration
	// Forced sends pictures every time, even after a model has rejected them.
	Forced bool
	// Extra is added to the body of every request, for a provider's own settings such as Ollama's "keep_alive".
	Extra map[string]any
	// Redact removes secrets from [Error.Cause]; may be nil. The key is removed in either case.
	Redact func(string) string

	own Slots // used if Slots is nil

	mu      sync.Mutex
	compats map[string]compat // guarded by mu; by model
	told    int               // guarded by mu; tokens of Model's context by an error of the server, 0: there was none

	asking sync.Mutex // held while the server is asked for the size, at most sizeTime
	size   int        // guarded by asking; the same as far as the server says
	asked  time.Time  // guarded by asking; when size was asked for
}

// Request is one question to a model.
type Request struct {
	For       string          // what the answer is for, in the record: "answer", "reword", …
	Messages  []turn.Rendered // one without pictures whose Text is blank is not sent, since several servers reject it
	MaxTokens int             // limit of the answer, thoughts included; 0: the client's limit
	JSON      bool            // ask for one JSON object, if the server supports that
	// Lane groups requests, for example by channel. When requests wait for a slot, lanes take turns.
	Lane string
}

// Answer is what a model said. Beside an error it holds what is known: the text so far, the usage and the failed
// models.
type Answer struct {
	// Text is the visible text: everything passed to say, without trailing white space. There is one exception. If a model closed thoughts
	// that it had not opened, Text is only the part after them.
	Text   string
	Model  string // the last model asked, as configured
	Finish string // why the model stopped: "stop", "length", "content_filter", …; "" if unknown
	// Usage sums up all requests, also failed ones if the server reports them.
	Usage turn.Usage
	// Blind says that Model was asked without the pictures because it takes none.
	Blind bool
	// Thoughts is the number of bytes of reasoning removed from Text.
	Thoughts int
	// Failed lists the models that failed before Model, in order.
	Failed []Failure
}

// Call is one request as it was answered, with all attempts at it.
type Call struct {
	Request Request
	Answer  Answer
	Err     error // nil: it was answered
	Began   time.Time
	Took    time.Duration
}

type observer struct{}

// Observed returns a context in which every call is told to tell when it ends. Calls may end in several goroutines, and after their callers
// have given them up.
func Observed(ctx context.Context, tell func(Call)) context.Context {
	return context.WithValue(ctx, observer{}, tell)
}

// Observer returns who is told of the calls in a context; it does nothing if nobody is.
func Observer(ctx context.Context) func(Call) {
	if tell, ok := ctx.Value(observer{}).(func(Call)); ok {
		return tell
	}
	return func(Call) {}
}

// Record returns the call for a record, without what was said.
func (c Call) Record() turn.Call {
	return turn.Call{For: c.Request.For, Model: c.Answer.Model, Usage: c.Answer.Usage, Began: c.Began, Took: c.Took}
}

// Calls collects the calls of one turn. What is asked for a channel, and what outlives the turn, is told to outer.
type Calls struct {
	redact func(string) string
	outer  func(Call)

	mu     sync.Mutex
	all    []turn.Call // guarded by mu
	closed bool        // guarded by mu
}

// mostOfCall is how much is kept of each text of a call, in characters.
const mostOfCall = 12_000

// Collect returns a context whose calls are collected. redact removes secrets from errors. The caller must call Close.
func Collect(ctx context.Context, redact func(string) string) (context.Context, *Calls) {
	l := &Calls{redact: redact, outer: Observer(ctx)}
	return Observed(ctx, func(c Call) { l.Add(c) }), l
}

// Add adds a call. quoted are the ids of the messages that its prompt quotes.
func (l *Calls) Add(c Call, quoted ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || c.Request.For == "summary" {
		l.outer(c)
		return
	}
	one := c.Record()
	one.Answer, one.Quoted = text.Truncate(c.Answer.Text, mostOfCall), quoted
	if c.Err != nil {
		one.Err = l.redact(Cause(c.Err))
	}
	switch one.For {
	case turn.ForAnswer, "think", "orders": // the record has the prompt, or should not have it: the orders list memories
	default:
		for _, m := range c.Request.Messages {
			one.Prompt = append(one.Prompt, turn.Rendered{Role: m.Role, Text: text.Truncate(m.Text, mostOfCall)})
		}
	}
	l.all = append(l.all, one)
}

// Close returns the calls so far in order. Nothing is collected any more.
func (l *Calls) Close() []turn.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	slices.SortStableFunc(l.all, func(a, b turn.Call) int { return a.Began.Compare(b.Began) })
	return l.all
}

// Cause returns an error's text with the server's own message, for the operator.
func Cause(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Cause != "" {
		return e.Error() + ": " + e.Cause
	}
	return err.Error()
}

// Failure is a model that failed.
type Failure struct {
	Model  string
	Kind   Kind
	Status int // HTTP status; 0 if there was none
}

// Stream asks the model and calls say with each piece of visible text, in the caller's goroutine. say may be nil.
//
// The error is the context's if that ended first (test it with [errors.Is]). Otherwise it is the [*Error] of the last
// model asked.
func (c *Client) Stream(ctx context.Context, r Request, say func(delta string)) (Answer, error) {
	return c.chain(ctx, r, say)
}

// Complete asks the model and returns its whole answer. Unlike Stream it can start over after an answer broke off,
// because nobody has seen any of it.
func (c *Client) Complete(ctx context.Context, r Request) (Answer, error) {
	return c.chain(ctx, r, nil)
}

// Question is a question outside the conversation. Its answer is one JSON object.
type Question struct {
	For    string // as in [Request]
	Lane   string // as in [Request]
	Order  string // instructions; the system message
	Text   string // material; the user message
	Tokens int    // limit of the answer
	Loose  bool   // accept other fields, and a code fence or prose around the object
}

// ErrNoObject says that the answer is not the JSON object that was asked for.
var ErrNoObject = errors.New("the answer is not the object that was asked for")

// Ask asks a question and decodes the answer into a struct. The Answer holds the usage, beside an error too. A panic of
// the client becomes an error.
func (c *Client) Ask(ctx context.Context, q Question, into any) (a Answer, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("ask for an object: the client panicked")
		}
	}()
	a, err = c.Complete(ctx, Request{For: q.For, Lane: q.Lane, JSON: true, MaxTokens: q.Tokens, Messages: []turn.Rendered{
		{Role: "system", Text: q.Order}, {Role: "user", Text: q.Text},
	}})
	if err != nil {
		return a, fmt.Errorf("ask for an object: %w", err)
	}
	if !a.object(into, q.Loose) {
		return a, fmt.Errorf("ask for an object: %w", ErrNoObject)
	}
	return a, nil
}

// object decodes the object. Unless loose, no text may surround it, because that may be material that the model
// repeats.
func (a Answer) object(into any, loose bool) bool {
	text := a.Text
	if loose {
		text = text[max(0, strings.IndexByte(text, '{')):]
	}
	d := json.NewDecoder(strings.NewReader(text))
	if loose {
		return d.Decode(into) == nil
	}
	d.DisallowUnknownFields()
	return d.Decode(into) == nil && strings.TrimSpace(text[d.InputOffset():]) == ""
}
