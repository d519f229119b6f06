// Package llmtest is the far end of package llm. It is a small real server on the loopback that speaks OpenAI's chat completions as hosted
// and local servers do. Their errors and accidents are included.
//
//	srv := llmtest.New(t)
//	srv.Queue(llmtest.Reply{llmtest.Say("Hello there.")})
//	// point a client at srv.URL, then look at srv.Requests()
//
// A request gets the next reply of the queue, else that of the first matching rule of the [Script]. The function
// Server.Reply follows, and last an echo, "You said: …".
//
// A [Reply] is a list of steps, played in order. At its end the server says finish reason "stop", the usage if it was asked for, and
// [DONE]. A step may end it otherwise. A reply to a request that does not ask for a stream is sent as one JSON object.
//
// # Scripts
//
// [ParseScript] reads replies from text, for tests that are files. One step a line; blank lines and lines that
// begin with "#" mean nothing. A line "when" begins a rule, and steps before the first "when" are a rule for
// every request. The first rule whose conditions all hold is used.
//
//	when "regex"            the last user message matches
//	when model "regex" prompt "regex"
//	                        the model's name, or any message at all, matches; conditions combine
//	when image "regex"      a picture's media type matches
//	next                    what follows is for the next request that matches; the last reply is for all further ones
//
//	wait 200ms              silence; before the first word it is latency
//	hold                    silence until the test calls [Server.Release]
//	gap 20ms                from here on, words one by one, this long apart
//	say Hello **there**     words, to the end of the line; "say" lines in a row are lines of one text
//	chunk "<thi"            one delta, exactly this, as a quoted Go string
//	reasoning I wonder      delta.reasoning_content (DeepSeek, llama.cpp)
//	thinking I wonder       delta.reasoning (OpenRouter, Ollama, vLLM)
//	think I wonder          <think>…</think> inside of the content
//	raw : keep-alive        this line of the stream as it is
//	comment 400             so many keep-alive comments
//	usage 120 30 10         prompt, completion and reasoning tokens (default: words counted)
//	finish length           the finish reason (default: stop)
//	header Retry-After: 2   a response header; before the first word only
//	error 429 {"error":…}   before the first word the status and body of the response (default body: OpenAI's shape),
//	                        after it an event of the stream with this body
//	cut                     the connection breaks
//	end                     the stream ends without a finish reason and without [DONE]
//	html                    status 200 and a web page
//	json {"object":…}       status 200 and this as application/json
//	alike dog puppy         words of one meaning to /embeddings; no step of a reply
//	hostile SECRET          the main model, hijacked: see [Hostile]
//	hostile-json SECRET     the side model, hijacked: see [HostileJSON]
//
// # Recordings
//
// POST /audio/transcriptions hears in a recording what follows "speech:" in its bytes. See [Server.Recordings]. POST /audio/speech makes
// such recordings. See [Server.SaidAloud].
//
// # Embeddings
//
// POST /embeddings gives texts that share words vectors that are near to each other. See [Server.Embeddings].
package llmtest

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/test/memnet"
)

// Server is a server that runs until its test ends. Set the fields before the first request.
type Server struct {
	// URL is the base for clients, with the version: "http://127.0.0.1:port/v1".
	URL string
	// Dial connects to a server of [InMemory]. It is nil for one of [New], which any client reaches.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Key, if set, is required of every request. Require changes it once there were requests.
	Key string
	// Blind refuses pictures.
	Blind bool
	// Reply answers requests that neither the queue nor the script answers. It must be safe for concurrent use.
	Reply func(Request) Reply
	// Embed, if set, returns what precedes the vectors of a request: a delay, or an error instead of them. It must be safe for concurrent
	// use.
	Embed func(Embedding) Reply
	// Forget stops recording requests, for benchmarks.
	Forget bool
	// Ended, if set, is called after each reply, for benchmarks. It must be safe for concurrent use.
	Ended func(Request)

	connections atomic.Int64

	mu         sync.Mutex
	queue      []Reply           // guarded by mu
	script     *Script           // guarded by mu
	requests   []Request         // guarded by mu
	audio      []Audio           // guarded by mu
	spoken     []Spoken          // guarded by mu
	embeddings []Embedding       // guarded by mu
	offers     []string          // the list of models; guarded by mu
	also       map[string]string // other answers, by path; guarded by mu
	running    int               // requests being answered; guarded by mu
	busiest    int               // guarded by mu

	released chan struct{} // closed by Release
	release  sync.Once
}

// Request is a parsed request.
type Request struct {
	At      time.Time       `json:"-"`
	Header  http.Header     `json:"-"`
	Body    json.RawMessage `json:"-"` // as received
	Problem string          `json:"-"` // what is wrong with the body, if it cannot be parsed

	Model     string    `json:"model"`
	Messages  []Message `json:"messages"`
	Stream    bool      `json:"stream"`
	MaxTokens int       `json:"max_tokens"`
	// MaxCompletionTokens is the newer name of MaxTokens; a client sends one of them.
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"` // nil: not sent
	ResponseFormat      struct {
		Type string `json:"type"`
	} `json:"response_format"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Message is one message of a request.
type Message struct {
	Role    string
	Name    string
	Content string  // if there are several parts, the text of all
	Images  []Image // among the parts
}

// Image is a picture that a client sent.
type Image struct {
	Type string // media type
	Data []byte
}

// UnmarshalJSON reads a message whose content is a text or a list of parts.
func (m *Message) UnmarshalJSON(data []byte) error {
	var in struct {
		Role    string          `json:"role"`
		Name    string          `json:"name"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*m = Message{Role: in.Role, Name: in.Name}
	if len(in.Content) == 0 || in.Content[0] != '[' {
		if len(in.Content) == 0 {
			return nil
		}
		return json.Unmarshal(in.Content, &m.Content)
	}
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(in.Content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			m.Content += p.Text + "\n"
		case "image_url":
			head, body, _ := strings.Cut(p.Image.URL, ",")
			kind, isData := strings.CutPrefix(strings.TrimSuffix(head, ";base64"), "data:")
			picture, err := base64.StdEncoding.DecodeString(body)
			if err != nil || !isData {
				return fmt.Errorf("image_url is not data in base64")
			}
			m.Images = append(m.Images, Image{kind, picture})
		default:
			return fmt.Errorf("unknown part %q", p.Type)
		}
	}
	return nil
}

// Images are the pictures in all messages.
func (r Request) Images() (all []Image) {
	for _, m := range r.Messages {
		all = append(all, m.Images...)
	}
	return all
}

// Last returns the text of the last user message.
func (r Request) Last() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Content
		}
	}
	return ""
}

// Prompt returns the text of all messages, each with its role.
func (r Request) Prompt() string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Role + ": " + m.Content + "\n")
	}
	return b.String()
}

// New starts a server that stops when the test ends.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := newServer()
	srv := httptest.NewUnstartedServer(s.handler())
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	srv.Start()
	s.URL = serve(tb, srv) + "/v1"
	return s
}

// Connections returns how many connections clients have opened to a server of [New].
func (s *Server) Connections() int64 { return s.connections.Load() }

// NewTLS is New behind TLS, for the name localhost, with a certificate from config. It speaks HTTP/2 too, unless config's protocols exclude
// it.
func NewTLS(tb testing.TB, config *tls.Config) *Server {
	tb.Helper()
	s := newServer()
	srv := httptest.NewUnstartedServer(s.handler())
	srv.TLS, srv.EnableHTTP2 = config, true
	srv.StartTLS()
	s.URL = strings.Replace(serve(tb, srv), "127.0.0.1", "localhost", 1) + "/v1"
	return s
}

// serve closes a server at the end of its test, and returns its URL.
func serve(tb testing.TB, srv *httptest.Server) (url string) {
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// InMemory is New without a network: clients reach the server through [Server.Dial]. In a bubble of testing/synctest, time is virtual for
// both.
func InMemory(tb testing.TB) *Server {
	tb.Helper()
	s, l := newServer(), memnet.Listen()
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: s.handler()}}
	srv.Start()
	s.URL, s.Dial = serve(tb, srv)+"/v1", l.Dial
	return s
}

func newServer() *Server { return &Server{released: make(chan struct{})} }

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	mux.HandleFunc("POST /v1/audio/speech", s.speak)
	mux.HandleFunc("POST /v1/embeddings", s.embed)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, body, ok := s.offered(r.URL.Path); ok {
			if s.allow(w, r) {
				writeJSON(w, http.StatusOK, body)
			}
			return
		}
		writeJSON(w, http.StatusNotFound, OpenAIError("Invalid URL", "invalid_request_error", ""))
	})
	return mux
}

// Queue adds replies for the next requests, one each, in order.
func (s *Server) Queue(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// Play makes the server follow a script from its beginning.
func (s *Server) Play(script *Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Release ends every [Hold], including later ones.
func (s *Server) Release() { s.release.Do(func() { close(s.released) }) }

// Requests returns the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Busiest returns the largest number of requests that were answered at the same time.
func (s *Server) Busiest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busiest
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.running++
	s.busiest = max(s.busiest, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	req, ok := s.read(w, r)
	if !ok {
		return
	}
	if s.Blind && len(req.Images()) > 0 {
		writeJSON(w, http.StatusBadRequest, OpenAIError("This model does not support image input.", "invalid_request_error", ""))
		return
	}
	p := &player{w: w, done: r.Context().Done(), released: s.released, req: req}
	p.play(s.choose(req))
	if s.Ended != nil {
		s.Ended(req)
	}
}

// read parses and records a request, and refuses what every server would refuse.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (Request, bool) {
	req := Request{At: time.Now(), Header: r.Header}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	req.Body = body
	switch {
	case err != nil:
		req.Problem = err.Error()
	case req.Messages == nil:
		req.Problem = "messages is missing or null"
	}
	if !s.Forget {
		s.mu.Lock()
		s.requests = append(s.requests, req)
		s.mu.Unlock()
	}
	if req.Problem != "" {
		writeJSON(w, http.StatusBadRequest, OpenAIError(req.Problem, "invalid_request_error", ""))
		return req, false
	}
	return req, s.allow(w, r)
}

// Require changes Key.
func (s *Server) Require(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Key = key
}

func (s *Server) allow(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	key := s.Key
	s.mu.Unlock()
	if key == "" || r.Header.Get("Authorization") == "Bearer "+key {
		return true
	}
	writeJSON(w, http.StatusUnauthorized, OpenAIError("Incorrect API key provided: "+r.Header.Get("Authorization"), "invalid_request_error", "invalid_api_key"))
	return false
}

func (s *Server) choose(req Request) Reply {
	s.mu.Lock()
	if len(s.queue) > 0 {
		reply := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return reply
	}
	reply, ok := s.script.reply(req)
	s.mu.Unlock()
	switch {
	case ok:
		return reply
	case s.Reply != nil:
		return s.Reply(req)
	}
	return Reply{Say("You said: " + req.Last())}
}

// Offer sets the list that GET /models returns. Without it, the list is "test-model".
func (s *Server) Offer(models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers = models
}

// AnswerAlso sets JSON answers to other requests, by path, such as "/api/show". "/v1/models" replaces the list of [Server.Offer].
func (s *Server) AnswerAlso(answers map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.also = answers
}

// offered returns the list of models, and other answers, for a path.
func (s *Server) offered(path string) (models []string, answer string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, ok = s.also[path]
	return s.offers, answer, ok
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	if !s.allow(w, r) {
		return
	}
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	names, answer, ok := s.offered(r.URL.Path)
	if ok {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	if names == nil {
		names = []string{"test-model"}
	}
	list := make([]model, len(names))
	for i, name := range names {
		list[i] = model{ID: name, Object: "model"}
	}
	body, _ := json.Marshal(map[string]any{"object": "list", "data": list})
	writeJSON(w, http.StatusOK, string(body))
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// OpenAIError returns an error body in OpenAI's format. An empty code is null.
func OpenAIError(message, kind, code string) string {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	body, _ := json.Marshal(map[string]any{"error": e})
	return string(body)
}
