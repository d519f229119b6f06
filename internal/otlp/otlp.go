// Package otlp hands records of turns to a collector of OpenTelemetry, as traces, by OTLP over HTTP with JSON:
// https://opentelemetry.io/docs/specs/otlp/#otlphttp.
//
// spans.go makes a trace of a record, with the names of https://github.com/open-telemetry/semantic-conventions-genai; what people and
// pages say is in it only where that is asked for. [Exporter] sends spans in batches and beside the turns (here): a turn only puts
// them into a queue, and what does not fit there is dropped and counted. wire.go has the protocol's messages, which are few.
package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	batchSpans = 512             // in one request
	mostSpans  = 2048            // that wait
	mostBytes  = 4 << 20         // of what waits, about
	every      = 5 * time.Second // after which what waits is sent
	patience   = 10 * time.Second
	leaving    = 3 * time.Second // for what waits at the end
	tries      = 4
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

// Exporter sends traces. Set its fields before the first call. Turn may be called from many goroutines, and Run once.
type Exporter struct {
	HTTP    *http.Client
	URL     string            // of traces: "http://127.0.0.1:4318/v1/traces"
	Headers map[string]string // of each request; secret
	Service string            // service.name
	Version string            // service.version
	Content bool              // also what people, pages and models say
	Redact  func(string) string
	Log     *slog.Logger

	mu      sync.Mutex
	wake    chan struct{} // guarded by mu until it is made; capacity 1
	waiting []span        // guarded by mu
	bytes   int           // guarded by mu: of waiting, about
	sent    uint64        // guarded by mu
	dropped uint64        // guarded by mu
	failing bool          // of Run alone: the log was told
}

// Turn puts the trace of a turn that is over into the queue. It does not wait.
func (e *Exporter) Turn(t *turn.Trace) {
	spans := e.spans(t)
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

// Drop counts a trace that could not be had.
func (e *Exporter) Drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped++
}

// Counts returns how many spans a collector took, and how many were dropped.
func (e *Exporter) Counts() (sent, dropped uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sent, e.dropped
}

// woken is the channel that wakes Run. e.mu is held.
func (e *Exporter) woken() chan struct{} {
	if e.wake == nil {
		e.wake = make(chan struct{}, 1)
	}
	return e.wake
}

// Run sends what is in the queue until ctx is done, and then, within a few seconds, what is left.
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

// flush sends all that waits.
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

// tell logs that nothing arrives any more, once, and that it does again.
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

// deliver sends a batch, again and again where the collector asks for that, and returns how many spans were rejected.
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

// post makes one request. Again says that another may succeed, not before after.
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
		_ = json.Unmarshal(answer, &partial) // an empty answer is whole success
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

// ParseHeaders reads headers as OTEL_EXPORTER_OTLP_HEADERS has them: "name=value,name=value", percent-encoded.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
func ParseHeaders(text string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		plain, err := unescape(value)
		if !found || name == "" || err != nil || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(plain, "\r\n\x00") {
			return nil, fmt.Errorf("it must be name=value, several separated by commas, with values percent-encoded")
		}
		all[name] = plain
	}
	return all, nil
}
