package websearch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// article makes a text of 50 KB with a vocabulary as large as an article's, of which some sentences are about bridges.
func article(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var words []string
	for range 3000 {
		var w strings.Builder
		for range 2 + r.IntN(9) {
			w.WriteByte("etaoinshrdlcumwfgypbvk"[r.IntN(22)])
		}
		words = append(words, w.String())
	}
	topic := strings.Fields("bridge opened 1932 Lorem Quill harbour 812 length Sample")
	var b strings.Builder
	for b.Len() < 50<<10 {
		b.WriteString("The")
		for range 8 + r.IntN(20) {
			w := words[int(float64(len(words))*r.Float64()*r.Float64()*r.Float64())] // few words make most of a text
			if r.IntN(30) == 0 {
				w = topic[r.IntN(len(topic))]
			}
			b.WriteString(" " + w)
		}
		b.WriteString([]string{". ", ". ", ". ", ".\n"}[r.IntN(4)])
	}
	return b.String()
}

// processor measures the processor time of what follows, which a busy machine does not stretch as it does the clock.
func processor(b *testing.B) (report func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	from := used()
	return func() {
		b.ReportMetric(float64((used()-from).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	}
}

// BenchmarkChoose chooses the evidence of five pages of 50 KB, 10 facts, and checks every one.
func BenchmarkChoose(b *testing.B) {
	var sheets []sheet
	for i := range 5 {
		sheets = append(sheets, sheetOf("Sample Bridge", article(uint64(i))))
	}
	for _, question := range []string{"when was the Sample Bridge over the Lorem opened?", "summarize what is known of the Sample Bridge"} {
		b.Run(question[:4], func(b *testing.B) {
			defer processor(b)()
			for b.Loop() {
				if s := judge(sheets, nil, &plan{question: question, language: "en"}, extended); len(s.claims) < 5 {
					b.Fatal(len(s.claims))
				}
			}
		})
	}
}

// BenchmarkLookup is a whole lookup whose search and whose five pages of 50 KB take no time: its own.
func BenchmarkLookup(b *testing.B) {
	f := &finder{}
	for i := range 5 {
		f.hits = append(f.hits, turn.Hit{Title: "Sample Bridge", URL: fmt.Sprintf("https://site%d.org/", i), Text: article(uint64(i))})
	}
	p := &Provider{Search: &search.Engine{Backends: []search.Backend{f}}}
	defer processor(b)()
	for b.Loop() {
		if l := p.Lookup(b.Context(), ask("when was the Sample Bridge over the Lorem opened?")); l.State != turn.Found {
			b.Fatal(l.State, l.Reason)
		}
	}
}
