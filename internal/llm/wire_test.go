package llm

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "2m59.5s", 179500 * time.Millisecond},
		{"Retry-After", "Fri, 20 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{"Retry-After", "Fri, 20 Nov 2026 11:00:00 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "-5", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After", "soon", 0},
		{"X-Other", "2", 0},
	}
	for _, tt := range tests {
		h := http.Header{}
		h.Set(tt.key, tt.value)
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%s: %s = %v, want %v", tt.key, tt.value, got, tt.want)
		}
	}
}

// Whatever a server sends, go-openai reads only whole data lines.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(": c\n\nevent: x\ndata: {\"a\":1}\r\ndata:{\"error\":\"x\"}\nerror: {\"code\":1}\n{\"error\":1}\n\ndata: [DONE]"))
	f.Add([]byte("<html>\n\n"))
	f.Add([]byte("error:\n\ndata:\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, _ := io.ReadAll(&frames{r: bufio.NewReaderSize(bytes.NewReader(in), 16), body: io.NopCloser(nil)})
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, "data: ") || !strings.HasSuffix(line, "\n") || strings.HasPrefix(line, `data: {"error"`) {
				t.Fatalf("%q passed on %q", in, line)
			}
		}
	})
}

// An error body may be anything.
func FuzzProblem(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m","code":3,"metadata":{"raw":"x"}}}`))
	f.Add([]byte(`[{"error":"x"}]`))
	f.Add([]byte(`{"detail":[{"loc":[1],"msg":"x"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, status := range []int{0, 200, 301, 400, 401, 402, 403, 404, 408, 413, 422, 429, 498, 500, 503, 504, 529} {
			if kindOf(status, problemIn(in)) == "" {
				t.Fatalf("status %d, body %q: no kind", status, in)
			}
		}
	})
}
