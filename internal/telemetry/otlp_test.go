package telemetry

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

// roundTrip is a collector without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func exporter(collector roundTrip) *Exporter {
	return &Exporter{HTTP: &http.Client{Transport: collector}, URL: "http://collector/v1/traces", Service: "familiar", Log: slog.New(slog.DiscardHandler), Redact: func(s string) string { return s }}
}

func finished(n int) *turn.Trace {
	return &turn.Trace{Request: turn.Request{ID: fmt.Sprint("T", n), Character: "sage"}, Phase: turn.Answered, Model: "main", Finish: "stop", Began: time.Now(), Took: time.Second}
}

// A collector that does not answer delays no turn and takes no more memory than the queue.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		e := exporter(func(*http.Request) (*http.Response, error) {
			<-release
			return answering(http.StatusOK, "{}"), nil
		})
		go e.Run(t.Context())
		began := time.Now()
		const turns, each = 5000, 2
		for n := range turns {
			e.Turn(finished(n))
		}
		if time.Since(began) > 0 {
			t.Errorf("turns waited %v", time.Since(began))
		}
		synctest.Wait()
		close(release)
		time.Sleep(time.Minute)
		sent, dropped := e.Counts()
		if sent < mostSpans || sent > mostSpans+batchSpans || sent+dropped != turns*each {
			t.Errorf("%d sent and %d dropped of %d", sent, dropped, turns*each)
		}
	})
}

// Temporary failures are retried, rejections are not, and partial rejections are counted.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		name          string
		answers       []*http.Response
		sent, dropped uint64
		took          time.Duration
	}{
		{"taken", []*http.Response{answering(200, "")}, 2, 0, 0},
		{"busy", []*http.Response{answering(503, ""), answering(429, ""), answering(200, "{}")}, 2, 0, 3 * time.Second},
		{"refused", []*http.Response{answering(400, "")}, 0, 2, 0},
		{"never", []*http.Response{answering(503, ""), answering(503, ""), answering(503, ""), answering(503, "")}, 0, 2, 7 * time.Second},
		{"in part", []*http.Response{answering(200, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}`)}, 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := exporter(func(*http.Request) (*http.Response, error) {
					next := c.answers[0]
					c.answers = c.answers[1:]
					return next, nil
				})
				e.Turn(finished(1))
				began := time.Now()
				e.flush(t.Context())
				if sent, dropped := e.Counts(); sent != c.sent || dropped != c.dropped || time.Since(began) != c.took || len(c.answers) > 0 {
					t.Errorf("%d sent, %d dropped, after %v, %d answers left", sent, dropped, time.Since(began), len(c.answers))
				}
			})
		})
	}
}

func TestParseHeaders(t *testing.T) {
	got, err := ParseOTLPHeaders(" api-key=a%2Cb , Authorization=Basic dXNlcjpwYXNz==,")
	if err != nil || len(got) != 2 || got["api-key"] != "a,b" || got["Authorization"] != "Basic dXNlcjpwYXNz==" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"api-key", "=x", "a b=c", "a=%0d%0aX: y", "a=%zz"} {
		if got, err := ParseOTLPHeaders(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// Records whose id is not a ULID have traces too, and each span has its own id.
func TestSpansWithoutULID(t *testing.T) {
	e := exporter(nil)
	spans := e.spans(finished(7))
	if len(spans) != 2 || spans[0].SpanID == spans[1].SpanID || spans[0].TraceID != spans[1].TraceID || len(spans[0].TraceID) != 32 || spans[1].ParentID != spans[0].SpanID {
		t.Errorf("%+v", spans)
	}
}

// TestCallsAreSpans checks that each call of a model is a span, at its own time. What was said in it is exported only if that is wanted.
func TestCallsAreSpans(t *testing.T) {
	tr := finished(1)
	tr.Calls = []turn.Call{
		{For: "reword", Model: "side", Prompt: []turn.Rendered{{Role: "system", Text: "Reword."}, {Role: "user", Text: "and him?"}}, Answer: "and Ada?", Usage: turn.Usage{Prompt: 9, Calls: 1}, Began: tr.Began, Took: time.Millisecond},
		{For: turn.ForAnswer, Model: "main", Began: tr.Began.Add(time.Millisecond), Took: time.Second},
		{For: "verify", Model: "side", Err: "timeout", Began: tr.Began.Add(time.Second), Took: time.Second},
	}
	for _, content := range []bool{false, true} {
		e := exporter(nil)
		e.Content = content
		said := ""
		for i, s := range e.spans(tr)[1:] {
			text, _ := json.Marshal(s)
			if said += string(text); !strings.Contains(string(text), fmt.Sprintf(`"familiar.call","value":{"stringValue":"%s"}`, tr.Calls[i].For)) || s.Start != at(tr.Calls[i].Began) || (s.Status != nil) != (tr.Calls[i].Err != "") {
				t.Errorf("call %d: %s", i, text)
			}
		}
		if strings.Contains(said, "and him?") != content || strings.Contains(said, "and Ada?") != content || strings.Contains(said, "Reword.") != content {
			t.Errorf("with content %t: %s", content, said)
		}
	}
	e := exporter(nil)
	e.Content = true
	e.Call(tr.Calls[0])
	if text, _ := json.Marshal(e.waiting); len(e.waiting) != 1 || strings.Contains(string(text), "Ada") || e.waiting[0].ParentID != "" {
		t.Errorf("beside turns: %s", text)
	}
}

func BenchmarkOtlpTurn(b *testing.B) {
	e := exporter(nil)
	t := finished(1)
	for _, p := range []string{"character", "history", "memory", "server", "websearch", "attachment"} {
		t.Outcomes = append(t.Outcomes, turn.Outcome{Provider: p, Status: turn.OK, Took: time.Millisecond})
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Turn(t)
		e.waiting, e.bytes = e.waiting[:0], 0
	}
}
