package main

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// The report is a Markdown table, and a list of what was broken.
func TestReport(t *testing.T) {
	s := &stage{opt: options{name: "long", channels: 500, rate: 2, span: time.Hour, seed: 7, tls: true}}
	s.note("mentions", "%d", 7200)
	s.note("first word, p50 and p99", "%v, %v", 208*time.Millisecond, 2*time.Second)
	m := mention{tag: "q1", id: "12", channel: "7", author: "person001", at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.findings = []finding{{promise: once, mention: m, what: "2 posts\nanswer it"}}
	s.complain(flat, "goroutines: %+.1f %%", 7.5)
	var out bytes.Buffer
	s.print(&out)
	want, err := os.ReadFile("testdata/report.md")
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
