package otlp

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// The messages of the protocol, in the encoding of protobuf as JSON, with two exceptions: ids are hexadecimal, and enums are numbers.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

// exporting is an ExportTraceServiceRequest.
type exporting struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

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

// at is a time in nanoseconds since 1970, as a string: JSON's numbers are too small.
func at(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value is an AnyValue. One of its fields is set.
type value struct {
	String *string  `json:"stringValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"` // has 64 bits, and so is a string
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

// size is about how many bytes a span takes.
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

func (e *Exporter) request(batch []span) exporting {
	about := []attribute{{"service.name", text(e.Service)}, {"service.version", text(e.Version)}}
	return exporting{[]resourceSpans{{
		Resource:   resource{about},
		ScopeSpans: []scopeSpans{{Scope: scope{Name: "familiar", Version: e.Version}, Spans: batch}},
	}}}
}

func unescape(value string) (string, error) { return url.PathUnescape(value) }
