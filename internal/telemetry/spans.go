package telemetry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
)

// other is the error type for lack of a better one.
const other = "_OTHER"

// tracer makes the spans of one turn.
type tracer struct {
	exporter *Exporter
	turn     *turn.Trace
	trace    [16]byte
	all      []span
}

// spans makes a trace from a record. A record knows the duration of its parts and when some of them began. The others are placed where they
// must have been.
func (e *Exporter) spans(t *turn.Trace) []span {
	tr := &tracer{exporter: e, turn: t, trace: traceID(t.Request.ID), all: make([]span, 0, 16)}
	root := tr.root()
	longest := time.Duration(0)
	for _, o := range t.Outcomes {
		longest = max(longest, o.Took)
	}
	begun := t.Began.Add(max(0, t.Timings.Prompt-longest))
	for _, o := range t.Outcomes {
		tr.provider(root, o, begun)
	}
	for _, c := range t.Asked() {
		tr.call(root, c)
	}
	return tr.all
}

// traceID returns the turn's id, which has the same number of bits. A record can thus be found by its trace.
func traceID(id string) [16]byte {
	if u, err := ulid.ParseStrict(id); err == nil {
		return u
	}
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// add adds a span and returns its id.
func (tr *tracer) add(parent, name string, kind int, from, to time.Time, attributes ...attribute) *span {
	sum := sha256.Sum256(append(tr.trace[:], strconv.Itoa(len(tr.all))...))
	if to.Before(from) {
		to = from
	}
	tr.all = append(tr.all, span{
		TraceID: hex.EncodeToString(tr.trace[:]), SpanID: hex.EncodeToString(sum[:8]), ParentID: parent, Name: name, Kind: kind,
		Start: at(from), End: at(to), Attributes: attributes,
	})
	return &tr.all[len(tr.all)-1]
}

func (s *span) set(key string, v value) { s.Attributes = append(s.Attributes, attribute{key, v}) }

func (s *span) fail(kind string) {
	s.set("error.type", text(cmp.Or(kind, other)))
	s.Status = &status{Code: statusError}
}

// content sets an attribute with somebody's words, if content is wanted.
func (tr *tracer) content(s *span, key, said string) {
	if tr.exporter.Content && said != "" {
		s.set(key, text(tr.exporter.Redact(said)))
	}
}

func (tr *tracer) root() string {
	t := tr.turn
	s := tr.add("", "invoke_agent "+t.Request.Character, internal, t.Began, t.Began.Add(t.Took),
		attribute{"gen_ai.operation.name", text("invoke_agent")}, attribute{"gen_ai.agent.name", text(t.Request.Character)},
		attribute{"familiar.turn.id", text(t.Request.ID)}, attribute{"familiar.turn.phase", text(string(t.Phase))}, attribute{"familiar.turn.mode", text(string(t.Request.Mode))})
	if n := len(t.Guarded); n > 0 {
		s.set("familiar.guard.changes", number(n))
	}
	if n := len(t.Dropped); n > 0 {
		s.set("familiar.prompt.cuts", number(n))
	}
	if t.Phase == turn.Broken {
		kind := ""
		if n := len(t.Tried); n > 0 {
			kind = t.Tried[n-1].Kind
		}
		s.fail(kind)
	}
	if tr.exporter.Content {
		s.set("gen_ai.conversation.id", text(t.Request.ChannelID))
		if t.Err != "" && s.Status != nil {
			s.Status.Message = tr.exporter.Redact(t.Err)
		}
	}
	return s.SpanID
}

// provider adds a span for each provider that contributed, with its lookups below.
func (tr *tracer) provider(parent string, o turn.Outcome, from time.Time) {
	if o.Status == turn.OK && len(o.Contributions) == 0 {
		return
	}
	s := tr.add(parent, "context "+o.Provider, internal, from, from.Add(o.Took), attribute{"familiar.provider.status", text(string(o.Status))})
	if o.Status != turn.OK {
		s.fail(string(o.Status))
	}
	id := s.SpanID
	for _, c := range o.Contributions {
		if c.Lookup != nil {
			tr.lookup(id, o.Provider, c.Lookup)
		}
	}
}

func (tr *tracer) lookup(parent, provider string, l *turn.Lookup) {
	if l.State == turn.NotNeeded || l.State == turn.Disabled {
		return
	}
	source := "web"
	if provider != "websearch" {
		source = provider
	}
	s := tr.add(parent, "retrieval "+source, internal, l.Began, l.Began.Add(l.Took),
		attribute{"gen_ai.operation.name", text("retrieval")}, attribute{"gen_ai.data_source.id", text(source)},
		attribute{"familiar.lookup.state", text(string(l.State))}, attribute{"familiar.lookup.intent", text(string(l.Intent))},
		attribute{"familiar.lookup.sources", number(len(l.Sources))}, attribute{"familiar.lookup.cached", boolean(l.Cached)})
	if l.State == turn.LookupFailed {
		s.fail(string(l.Failure))
	}
	tr.content(s, "gen_ai.retrieval.query.text", l.Query)
	tr.content(s, "gen_ai.retrieval.documents", documents(l))
	id, from := s.SpanID, l.Began
	for _, stage := range l.Stages {
		of := tr.add(id, "lookup "+stage.Name, internal, from, from.Add(stage.Took))
		switch below := of.SpanID; stage.Name {
		case "search":
			for _, a := range l.Asked {
				tr.search(below, a, from)
			}
		case "read":
			for _, p := range l.Pages {
				tr.fetch(below, p, from)
			}
		}
		from = from.Add(stage.Took)
	}
}

func (tr *tracer) search(parent string, a turn.Asked, from time.Time) {
	s := tr.add(parent, "execute_tool search", internal, from, from.Add(a.Took),
		attribute{"gen_ai.operation.name", text("execute_tool")}, attribute{"gen_ai.tool.name", text("search")}, attribute{"gen_ai.tool.type", text("datastore")},
		attribute{"familiar.search.backend", text(a.Backend)}, attribute{"familiar.search.hits", number(a.Hits)})
	if a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
		s.fail(string(a.Status))
	}
}

func (tr *tracer) fetch(parent string, p turn.Page, from time.Time) {
	if p.Took == 0 && p.Status == 0 {
		return // it was not fetched
	}
	if !p.Fetched.IsZero() && !p.Cached {
		if began := p.Fetched.Add(-p.Took); began.After(from) {
			from = began
		}
	}
	s := tr.add(parent, "execute_tool fetch", internal, from, from.Add(p.Took),
		attribute{"gen_ai.operation.name", text("execute_tool")}, attribute{"gen_ai.tool.name", text("fetch")}, attribute{"gen_ai.tool.type", text("extension")},
		attribute{"familiar.page.bytes", number(p.Bytes)}, attribute{"familiar.page.cached", boolean(p.Cached)})
	if p.Status != 0 {
		s.set("http.response.status_code", number(p.Status))
	}
	if p.Failure != "" {
		s.fail(string(cmp.Or(p.Reason, p.Failure)))
	}
	tr.content(s, "url.full", p.URL) // the address reveals the question
}

// call adds the span of a request to a model.
func (tr *tracer) call(parent string, c turn.Call) {
	t := tr.turn
	s := tr.model(parent, c.Model, c.Began, c.Began.Add(c.Took), c.Usage)
	s.set("familiar.call", text(c.For))
	if c.For != turn.ForAnswer {
		if c.Err != "" {
			s.fail("")
		}
		tr.content(s, "gen_ai.input.messages", inputOf(c.Prompt, true))
		tr.content(s, "gen_ai.output.messages", outputOf(c.Answer, ""))
		return
	}
	s.set("gen_ai.request.stream", boolean(true))
	if t.Finish != "" {
		s.set("gen_ai.response.finish_reasons", texts(t.Finish))
	} else if t.Err != "" {
		kind := ""
		if n := len(t.Tried); n > 0 {
			kind = t.Tried[n-1].Kind
		}
		s.fail(kind)
	}
	if first := t.Began.Add(t.Timings.FirstToken).Sub(c.Began); t.Timings.FirstToken > 0 && first > 0 {
		s.set("gen_ai.response.time_to_first_chunk", seconds(first))
	}
	tr.content(s, "gen_ai.system_instructions", systemOf(t))
	tr.content(s, "gen_ai.input.messages", inputOf(t.Prompt, false))
	tr.content(s, "gen_ai.output.messages", outputOf(t.Reply, t.Finish))
}

func (tr *tracer) model(parent, model string, from, to time.Time, u turn.Usage) *span {
	host := tr.turn.ModelHost
	s := tr.add(parent, "chat "+model, client, from, to,
		attribute{"gen_ai.operation.name", text("chat")}, attribute{"gen_ai.provider.name", text(providerAt(host))},
		attribute{"gen_ai.request.model", text(model)}, attribute{"gen_ai.response.model", text(model)}, attribute{"gen_ai.output.type", text("text")})
	if host != "" {
		name, port := host, 443
		if h, p, err := net.SplitHostPort(host); err == nil {
			name = h
			port, _ = strconv.Atoi(p)
		}
		s.set("server.address", text(name))
		s.set("server.port", number(port))
	}
	setUsage(s, u)
	return s
}

func setUsage(s *span, u turn.Usage) {
	for _, part := range [...]struct {
		key string
		n   int
	}{
		{"gen_ai.usage.input_tokens", u.Prompt}, {"gen_ai.usage.output_tokens", u.Completion},
		{"gen_ai.usage.cache_read.input_tokens", u.Cached}, {"gen_ai.usage.reasoning.output_tokens", u.Reasoning},
	} {
		if part.n > 0 {
			s.set(part.key, number(part.n))
		}
	}
}

// providerAt returns the convention's name for the provider at a host with OpenAI's API.
func providerAt(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	for _, p := range [...]struct{ suffix, name string }{
		{"anthropic.com", "anthropic"}, {"cohere.com", "cohere"}, {"cohere.ai", "cohere"}, {"deepseek.com", "deepseek"}, {"googleapis.com", "gcp.gemini"},
		{"groq.com", "groq"}, {"mistral.ai", "mistral_ai"}, {"moonshot.ai", "moonshot_ai"}, {"moonshot.cn", "moonshot_ai"},
		{"openai.azure.com", "azure.ai.openai"}, {"perplexity.ai", "perplexity"}, {"x.ai", "x_ai"},
	} {
		if host == p.suffix || strings.HasSuffix(host, "."+p.suffix) {
			return p.name
		}
	}
	return "openai"
}

// said is a message in the convention's schema.
type said struct {
	Role   string `json:"role,omitempty"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

func systemOf(t *turn.Trace) string {
	var parts []part
	for _, m := range t.Prompt {
		if m.Role == "system" && !m.Web {
			parts = append(parts, part{"text", m.Text})
		}
	}
	return asJSON(parts, len(parts))
}

// inputOf returns the messages of a prompt. Unless system is set, it has only those of the system's with words of the web.
func inputOf(prompt []turn.Rendered, system bool) string {
	var all []said
	for _, m := range prompt {
		if system || m.Role != "system" || m.Web {
			all = append(all, said{Role: m.Role, Parts: []part{{"text", m.Text}}})
		}
	}
	return asJSON(all, len(all))
}

func outputOf(answer, finish string) string {
	if answer == "" {
		return ""
	}
	return asJSON([]said{{Role: "assistant", Parts: []part{{"text", answer}}, Finish: finish}}, 1)
}

func documents(l *turn.Lookup) string {
	type document struct {
		ID    string  `json:"id"`
		Score float64 `json:"score"`
	}
	var all []document
	for _, h := range l.Hits {
		all = append(all, document{withoutSecrets(h.URL), h.Score})
	}
	return asJSON(all, len(all))
}

// withoutSecrets removes parts of an address that may be keys.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}

func asJSON(v any, n int) string {
	if n == 0 {
		return ""
	}
	b, _ := json.Marshal(v)
	return string(b)
}
