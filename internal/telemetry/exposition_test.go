package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The text is as https://prometheus.io/docs/instrumenting/exposition_formats/ has it. Label values are escaped and series are in order. A
// bucket counts its bound and all smaller observations.
func TestExposition(t *testing.T) {
	m := &Metrics{}
	asked := m.counters("asked_total", "What was asked.", "by", "state")
	took := m.histograms("took_seconds", "How long it took.", []float64{.5, 1}, "stage")
	m.counters("cost_total", "What it cost.")
	m.counters("never_total", "No series, no metric.", "by")
	asked.add(2, `a "b"`, "ok")
	asked.add(1, "a", "x\\y\nz")
	asked.add(.25, `a "b"`, "ok")
	for _, seconds := range []float64{.5, .75, 1, 40} {
		took.observe(seconds, "read")
	}
	var got page
	for _, v := range m.all {
		v.write(&got)
	}
	const want = `# HELP asked_total What was asked.
# TYPE asked_total counter
asked_total{by="a \"b\"",state="ok"} 2.25
asked_total{by="a",state="x\\y\nz"} 1
# HELP took_seconds How long it took.
# TYPE took_seconds histogram
took_seconds_bucket{stage="read",le="0.5"} 1
took_seconds_bucket{stage="read",le="1"} 3
took_seconds_bucket{stage="read",le="+Inf"} 4
took_seconds_sum{stage="read"} 42.25
took_seconds_count{stage="read"} 4
# HELP cost_total What it cost.
# TYPE cost_total counter
cost_total 0
`
	if string(got) != want {
		t.Errorf("got:\n%s", got)
	}
}

// Only maxScrapes are answered at once. Turns are counted meanwhile.
func TestScrapesAtOnce(t *testing.T) {
	release, reading := make(chan struct{}), make(chan struct{})
	m := NewMetrics(State{Database: func() (int64, int64, error) { reading <- struct{}{}; <-release; return 1, 2, nil }})
	handler := Handler(m, &Health{}, false)
	scrape := func() int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Code
	}
	codes := make(chan int)
	for range maxScrapes {
		go func() { codes <- scrape() }()
		<-reading
	}
	m.Turn(recorded())
	if code := scrape(); code != http.StatusServiceUnavailable {
		t.Errorf("one scrape too many: %d", code)
	}
	close(release)
	for range maxScrapes {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("an early scrape: %d", code)
		}
	}
}
