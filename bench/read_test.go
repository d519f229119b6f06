package bench

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"familiar/internal/web/page"
)

// readers are what is measured. Each gets the same bytes, and makes of them what it would hand on; html alone makes
// nothing but the tree that all others begin with.
var readers = []struct {
	name string
	read func(body []byte, base *url.URL) error
}{
	{"html", func(body []byte, _ *url.URL) error {
		_, err := html.Parse(bytes.NewReader(body))
		return err
	}},
	{"familiar", func(body []byte, base *url.URL) error {
		_, err := page.Read(body, "text/html; charset=utf-8", base)
		return err
	}},
	{"readability", func(body []byte, base *url.URL) error {
		parser := readability.NewParser()
		got, err := parser.Parse(bytes.NewReader(body), base)
		if err == nil && got.Node != nil {
			err = got.RenderText(io.Discard)
		}
		return err
	}},
	{"trafilatura", func(body []byte, base *url.URL) error {
		_, err := trafilatura.Extract(bytes.NewReader(body), trafilatura.Options{OriginalURL: base, EnableFallback: true})
		return err
	}},
}

// BenchmarkRead lets the readers take turns at every page, so that what else the machine does falls on all of them.
// It tells of each how many milliseconds of processor time, the garbage collector's included, and how many megabytes
// a page takes.
func BenchmarkRead(b *testing.B) {
	pages := realPages(b, os.Getenv("BENCH_PAGES"))
	if pages == nil {
		pages = corpus()
	}
	names := slices.Sorted(maps.Keys(pages))
	total := 0
	for _, name := range names {
		total += len(pages[name])
	}
	b.Logf("%d pages, of %d KB on average", len(pages), total/len(pages)>>10)
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/a/page"}
	took := make([]time.Duration, len(readers))
	allocated := make([]uint64, len(readers))
	read := 0
	for b.Loop() {
		for _, name := range names {
			for i, r := range readers {
				runtime.GC() // what the one before left behind is not this one's
				size, begun := allocatedSoFar(), worked()
				_ = r.read(pages[name], base) // a page may have no text, which takes time to find out
				took[i] += worked() - begun
				allocated[i] += allocatedSoFar() - size
			}
			read++
		}
	}
	for i, r := range readers {
		b.ReportMetric(took[i].Seconds()*1_000/float64(read), r.name+"-ms")
		b.ReportMetric(float64(allocated[i])/float64(read)/(1<<20), r.name+"-MB")
	}
}

// worked is the processor time of the process. On a machine that has other things to do, the clock says little.
func worked() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func allocatedSoFar() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// realPages are those files matching pattern that are of 200 to 450 KB, nil if there is no pattern.
func realPages(b *testing.B, pattern string) map[string][]byte {
	if pattern == "" {
		return nil
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		b.Fatal(err)
	}
	pages := map[string][]byte{}
	for _, name := range files {
		body, err := readFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if len(body) > 200<<10 && len(body) < 450<<10 {
			pages[name] = body
		}
	}
	if len(pages) == 0 {
		b.Fatalf("%s: there is no page of that size", pattern)
	}
	return pages
}

func readFile(name string) ([]byte, error) {
	body, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, err
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpack page: %w", err)
	}
	return io.ReadAll(z)
}
