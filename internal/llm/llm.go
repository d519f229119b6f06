// Package llm talks to any server that speaks OpenAI's chat completions: hosted or local.
//
// A tour, from the outside in. [Client.Stream] asks a model and hands out its words as they come;
// [Client.Complete] waits for all of them. Both walk the same path:
//
//   - chain.go asks [Client.Model], then each of [Client.Fallbacks], and says in [Answer.Failed] who failed;
//     a model is asked a second time only where that can help, and nobody after words were said.
//   - habit.go remembers which parameters a model does not take. Servers differ, so a refusal that names a
//     parameter is answered by leaving it out, once, for good.
//   - image.go writes pictures, and leaves them out for a model that takes none.
//   - slots.go limits the requests that run at once, fairly between those who ask.
//   - attempt.go is one request: go-openai writes it and splits the stream, attempt reads it.
//   - wire.go stands between go-openai and the network. It reads what go-openai would lose: error bodies of
//     every shape, Retry-After, a page of HTML with status 200, a silence, a line without end.
//   - chunk.go decodes one event of a stream; think.go keeps a model's thoughts out of its words.
//   - error.go holds the closed set of what can go wrong.
//
// A stream that ends without a finish reason is an error ([Truncated]), whatever was said until then: the
// protocol has no other sign that a text is whole.
//
// [Counter] counts tokens, offline.
package llm

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Client asks one server. Set the fields before the first call and leave them alone; the methods may then be
// called from any number of goroutines. A Client must not be copied after the first call.
type Client struct {
	// HTTP carries the requests; required. Its Timeout must be 0, or it cuts long answers short: the context and
	// IdleTimeout are the limits.
	HTTP *http.Client
	// BaseURL is the address up to and including the version: "https://api.openai.com/v1",
	// "http://127.0.0.1:11434/v1".
	BaseURL string
	Key     string // bearer key; empty for servers that want none
	Model   string
	// Fallbacks are models of the same server, asked in this order when Model fails.
	Fallbacks []string
	// MaxTokens limits an answer where the request has no limit of its own. 0: the server's limit.
	MaxTokens int
	// Temperature is from 0 to 2. 0 is not sent, so it means the server's own, and so do models that take none.
	Temperature float32
	// Slots limits the requests that run at once, together with other clients that have the same; more wait their turn.
	// nil: the client has its own. A request that hangs loses its slot after hangLimit, and holds nobody else up.
	Slots *Slots
	// FirstToken is the longest silence before a model's first word or thought; a keep-alive comment breaks a silence.
	// 0: 20 s. While there are fallbacks left, a silent model is given up earlier, so that they have a share of the
	// context's time too.
	FirstToken time.Duration
	// IdleTimeout is the longest silence after that. 0: 60 s.
	IdleTimeout time.Duration
	// Forced sends pictures each time: that a model has refused them is not remembered.
	Forced bool
	// Extra is added to the body of every request: a provider's own settings, as Ollama's "keep_alive".
	Extra map[string]any
	// Redact cleans [Error.Cause]; nil leaves it. The key is taken out in either case.
	Redact func(string) string

	own Slots // where Slots is nil

	mu     sync.Mutex
	habits map[string]habit // by model; guarded by mu
}

// Message is one message of a conversation. One whose Content is blank is not sent: several servers refuse it.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Name    string // who speaks, if it matters; characters that servers refuse become "_"
	Content string
	Images  []Image // behind Content
}

// Image is a picture in a message.
type Image struct {
	Label string // what the model is told of it, also where it cannot see it
	Type  string // media type
	Data  []byte
}

// Request is one question to a model.
type Request struct {
	Messages  []Message
	MaxTokens int  // limit of the answer, thoughts included; 0: the client's
	JSON      bool // ask for one JSON object, where the server can promise that
	// Lane is whom the request is for, as a channel. When more requests wait than may run, lanes take turns.
	Lane string
}

// Answer is what a model said. With an error it holds what is known all the same: the part that was said, the
// usage, the models that failed.
type Answer struct {
	// Text is what may be shown. It is what say was given, put together, without white space at its end; except
	// after a model that closed thoughts it had not opened: then it is the part after them, and stands in place
	// of what was said.
	Text   string
	Model  string // the model that was asked last, as configured
	Finish string // why the model stopped: "stop", "length", "content_filter", …; "" if it did not say
	Usage  Usage
	// Blind says that there were pictures, and that Model was asked without them, because it takes none.
	Blind bool
	// Thoughts is how many bytes of reasoning were kept out of Text.
	Thoughts int
	// Failed lists the models that were given up before Model, in order.
	Failed []Failure
}

// Usage is what the requests behind an answer used, failed ones included where the server says. Its fields are those of turn.Usage, into which
// it converts.
type Usage struct {
	Prompt     int // tokens, Cached included
	Cached     int // that the server had from an earlier request; 0 where it does not say
	Completion int // tokens, Reasoning included
	Reasoning  int
	Calls      int     // requests sent
	Cost       float64 // US dollars; 0 where the server does not say
}

// Failure is a model that was given up.
type Failure struct {
	Model  string
	Kind   Kind
	Status int // HTTP status; 0 if there was none
}

// Stream asks the model and calls say, in the caller's goroutine, with each piece of visible text as it comes.
// say may be nil.
//
// The error is the context's if that ended first (test it with [errors.Is]), and an [*Error] otherwise: the one
// of the model asked last.
func (c *Client) Stream(ctx context.Context, r Request, say func(delta string)) (Answer, error) {
	return c.chain(ctx, r, say)
}

// Complete asks the model and returns its whole answer. As nobody has seen any of it before the end, it also
// starts over after an answer that broke off.
func (c *Client) Complete(ctx context.Context, r Request) (Answer, error) {
	return c.chain(ctx, r, nil)
}
