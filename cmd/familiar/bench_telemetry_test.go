package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/test/llmtest"
)

// BenchmarkTelemetry measures what metrics, the export of traces and the console with an open page cost. It compares processor time and
// memory of processes with and without them, in turn on the same machine.
func BenchmarkTelemetry(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	metrics, console := freeAddress(b), freeAddress(b)
	s := newStage(b, 50, func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{llmtest.Say("Never better, thanks."), llmtest.Usage(1200, 5, 0)}
	})
	s.fill(100)
	binary := s.build()
	each := 10
	if once() {
		each = 1
	}
	cpu, memory := map[bool]time.Duration{}, map[bool]float64{}
	for b.Loop() {
		for _, on := range []bool{false, true} {
			s.env["FAMILIAR_METRICS"], s.env["FAMILIAR_CONSOLE"], s.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "off", "off", ""
			if on {
				s.env["FAMILIAR_METRICS"], s.env["FAMILIAR_CONSOLE"], s.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = metrics, console, collector.URL
			}
			stop := s.process(binary)
			s.burst(1)
			before, unwatched := s.cpu(), func() {}
			if on {
				unwatched = watch("http://"+metrics+"/metrics", "http://"+console+"/live")
			}
			s.burst(each)
			cpu[on] += s.cpu() - before
			unwatched()
			if !once() {
				time.Sleep(12 * time.Second) // until both have given back what they do not need
			}
			memory[on] += s.memory("VmRSS")
			stop()
		}
	}
	turns := float64(b.N * each * len(s.rooms))
	b.ReportMetric(float64(cpu[false].Microseconds())/turns, "µs/turn-off")
	b.ReportMetric(float64(cpu[true].Microseconds())/turns, "µs/turn-on")
	b.ReportMetric(100*(float64(cpu[true])/float64(cpu[false])-1), "%-more")
	b.ReportMetric((memory[true]-memory[false])/float64(b.N), "MiB-more")
	b.ReportMetric(0, "ns/op")
}

// watch asks for the metrics every five seconds, three times as often as usual. It keeps a page open on which turns appear as they run.
// Both end when the returned function is called.
func watch(metrics, page string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	read := func(address string) {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	var readers sync.WaitGroup
	readers.Go(func() { read(page) })
	readers.Go(func() {
		for ctx.Err() == nil {
			read(metrics)
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
		}
	})
	return func() { cancel(); readers.Wait() }
}

// freeAddress is an address at which nobody listens.
func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// cpu is how much time the process has had of the processors.
func (s *stage) cpu() time.Duration {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+2:])
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, ticks of 1/100 s
}
