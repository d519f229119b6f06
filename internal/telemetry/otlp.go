package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	batchSpans = 512             // per request
	mostSpans  = 2048            // in the queue
	mostBytes  = 4 << 20         // in the queue, approximately
	every      = 5 * time.Second // between requests
	patience   = 10 * time.Second
	leaving    = 3 * time.Second // for the queue at shutdown
	tries      = 4
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

// Exporter sends the traces of turns to an OpenTelemetry collector by OTLP over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp). A turn only adds its spans to a queue, and spans that do not
// fit are dropped and counted. Set the fields before the first call. Run is called once; the other methods are safe for
// concurrent use.
type Exporter struct {
	HTTP    *http.Client
	URL     string            // for traces: "http://127.0.0.1:4318/v1/traces"
	Headers map[string]string // of each request; secret
	Service string            // service.name
	Version string            // service.version
	Content bool              // include what people, pages and models say
	Redact  func(string) string
	Log     *slog.Logger

	mu      sync.Mutex
	wake    chan struct{} // guarded by mu until it is made; capacity 1
	waiting []span        // guarded by mu
	bytes   int           // guarded by mu: size of waiting, approximately
	sent    uint64        // guarded by mu
	dropped uint64        // guarded by mu
	failing bool          // used by Run only: the failure has been logged
}

// Turn adds the trace of a finished turn to the queue. It does not block.
func (e *Exporter) Turn(t *turn.Trace) { e.queue(e.spans(t)) }

// Call adds a request to a model that belongs to no turn. It is a trace of its own, without what was said. It does not block.
func (e *Exporter) Call(c turn.Call) {
	tr := &tracer{exporter: e, turn: &turn.Trace{}, trace: traceID(c.For + c.Began.String())}
	tr.call("", c.Bare())
	e.queue(tr.all)
}

func (e *Exporter) queue(spans []span) {
	size := 0
	for i := range spans {
		size += spans[i].size()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting)+len(spans) > mostSpans || e.bytes+size > mostBytes {
		e.dropped += uint64(len(spans))
		return
	}
	e.waiting, e.bytes = append(e.waiting, spans...), e.bytes+size
	if len(e.waiting) >= batchSpans {
		select {
		case e.woken() <- struct{}{}:
		default:
		}
	}
}

// Drop counts a trace that could not be read.
func (e *Exporter) Drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped++
}

// Counts returns how many spans were accepted and dropped.
func (e *Exporter) Counts() (sent, dropped uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sent, e.dropped
}

// woken returns the channel that wakes Run. e.mu is held.
func (e *Exporter) woken() chan struct{} {
	if e.wake == nil {
		e.wake = make(chan struct{}, 1)
	}
	return e.wake
}

// Run sends spans until ctx is done, and then, for a few seconds, what is left.
func (e *Exporter) Run(ctx context.Context) {
	e.mu.Lock()
	wake := e.woken()
	e.mu.Unlock()
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticks.C:
			e.flush(ctx)
		case <-wake:
			e.flush(ctx)
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	e.flush(last)
}

// flush sends the whole queue.
func (e *Exporter) flush(ctx context.Context) {
	for {
		batch := e.take()
		if len(batch) == 0 {
			return
		}
		rejected, err := e.deliver(ctx, batch)
		e.mu.Lock()
		e.sent += uint64(len(batch) - rejected)
		e.dropped += uint64(rejected)
		e.mu.Unlock()
		e.tell(err, rejected)
	}
}

func (e *Exporter) take() []span {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.waiting), batchSpans)
	batch := append([]span(nil), e.waiting[:n]...)
	e.waiting = append([]span(nil), e.waiting[n:]...)
	e.bytes = 0
	for i := range e.waiting {
		e.bytes += e.waiting[i].size()
	}
	return batch
}

// tell logs the first failure in a row, and the recovery.
func (e *Exporter) tell(err error, rejected int) {
	switch {
	case err != nil && !e.failing:
		e.Log.Warn("traces cannot be exported; spans are dropped until they can", "err", err)
	case err == nil && rejected > 0:
		e.Log.Warn("the collector rejects spans", "rejected", rejected)
	case err == nil && e.failing:
		e.Log.Info("traces are exported again")
	}
	e.failing = err != nil
}

// deliver sends a batch, repeatedly if the collector asks for that, and returns how many spans were rejected.
func (e *Exporter) deliver(ctx context.Context, batch []span) (rejected int, err error) {
	body, err := json.Marshal(e.request(batch))
	if err != nil {
		return len(batch), err
	}
	pause := firstPause
	for n := 1; ; n++ {
		var after time.Duration
		var again bool
		if rejected, after, again, err = e.post(ctx, body); err == nil {
			return min(rejected, len(batch)), nil
		}
		if !again || n == tries || ctx.Err() != nil {
			return len(batch), err
		}
		select {
		case <-ctx.Done():
			return len(batch), err
		case <-time.After(min(max(pause, after), mostPause)):
			pause *= 2
		}
	}
}

// post sends one request. again says that a repeated request may succeed, but not before after. See
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
func (e *Exporter) post(ctx context.Context, body []byte) (rejected int, after time.Duration, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return 0, 0, false, err
	}
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := e.HTTP.Do(r)
	if err != nil {
		return 0, 0, true, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return 0, 0, true, err
	case resp.StatusCode/100 == 2:
		var partial exported
		_ = json.Unmarshal(answer, &partial) // an empty body means success
		n, _ := strconv.Atoi(strings.Trim(string(partial.PartialSuccess.RejectedSpans), `"`))
		return n, 0, false, nil
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return 0, time.Duration(seconds) * time.Second, again, fmt.Errorf("the collector answered %s", resp.Status)
}

// ParseOTLPHeaders parses OTEL_EXPORTER_OTLP_HEADERS: "name=value,name=value", percent-encoded. See
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
func ParseOTLPHeaders(text string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		plain, err := url.PathUnescape(value)
		if !found || name == "" || err != nil || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(plain, "\r\n\x00") {
			return nil, fmt.Errorf("it must be name=value, several separated by commas, with values percent-encoded")
		}
		all[name] = plain
	}
	return all, nil
}

// The messages of the protocol in protobuf's JSON encoding, except that ids are hexadecimal and enums are numbers. See
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

// Kinds of spans.
const (
	internal = 1
	client   = 3
)

type status struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

const statusError = 2

// at returns nanoseconds since 1970 as a string: JSON's numbers are too small.
func at(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value is an AnyValue. Exactly one field is set.
type value struct {
	String *string  `json:"stringValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"` // an int64, which JSON writes as a string
	Double *float64 `json:"doubleValue,omitempty"`
	Array  *array   `json:"arrayValue,omitempty"`
}

type array struct {
	Values []value `json:"values"`
}

func text(s string) value           { return value{String: &s} }
func number(n int) value            { s := strconv.Itoa(n); return value{Int: &s} }
func boolean(b bool) value          { return value{Bool: &b} }
func seconds(d time.Duration) value { f := d.Seconds(); return value{Double: &f} }

func texts(all ...string) value {
	list := array{Values: []value{}}
	for _, s := range all {
		list.Values = append(list.Values, text(s))
	}
	return value{Array: &list}
}

// exported is an ExportTraceServiceResponse.
type exported struct {
	PartialSuccess struct {
		RejectedSpans json.RawMessage `json:"rejectedSpans"` // a string or a number
	} `json:"partialSuccess"`
}

// size returns the approximate size of a span in bytes.
func (s *span) size() int {
	n := 200 + len(s.Name)
	for _, a := range s.Attributes {
		n += 48 + len(a.Key)
		if a.Value.String != nil {
			n += len(*a.Value.String)
		}
	}
	return n
}

// request returns an ExportTraceServiceRequest.
func (e *Exporter) request(batch []span) any {
	type object map[string]any
	scope := object{"scope": object{"name": "familiar", "version": e.Version}, "spans": batch}
	about := object{"attributes": []attribute{{"service.name", text(e.Service)}, {"service.version", text(e.Version)}}}
	return object{"resourceSpans": []object{{"resource": about, "scopeSpans": []object{scope}}}}
}
