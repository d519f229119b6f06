package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/test/webtest"
)

const benchWeb = `
-- example.org/page.head --
!size 1000000
`

func BenchmarkFetch(b *testing.B) {
	f, _ := openSockets(b, benchWeb, func(c *Config, l *limits) { c.CacheBytes = -1; *l = defaults() })
	b.SetBytes(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Fetch(b.Context(), "https://example.org/page", Options{Pins: new(Pins)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCached(b *testing.B) {
	f, _ := openSockets(b, benchWeb, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Fetch(b.Context(), "https://example.org/page", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHundred reads two pages of 1 MB from each of 50 sites at once, alternating with a plain client. It reports how many times longer
// it takes. Both begin without connections. robots.txt is cached, because a plain client reads none. One variant reads it each time.
func BenchmarkHundred(b *testing.B) {
	var sites strings.Builder
	for i := range 50 {
		fmt.Fprintf(&sites, "-- site%d.example.org/page.head --\n!size 1000000\n", i)
	}
	for _, scheme := range []string{"https", "http"} {
		for _, cold := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/robots=%v", scheme, cold), func(b *testing.B) {
				w := webtest.New(b, []byte(sites.String()))
				change := func(c *Config, l *limits) { c.CacheBytes = -1; l.total, l.queue = time.Minute, time.Minute }
				f := on(b, w, change)
				ours := func(url string) error {
					_, err := f.Fetch(b.Context(), url, Options{})
					return err
				}
				hundred(b, scheme, ours)
				var bare, guarded time.Duration
				for b.Loop() {
					get, end := bareClient(w)
					bare += hundred(b, scheme, get)
					end()
					if cold {
						f = on(b, w, change)
					}
					guarded += hundred(b, scheme, ours)
				}
				b.ReportMetric(bare.Seconds()*1000/float64(b.N), "bare-ms")
				b.ReportMetric(guarded.Seconds()*1000/float64(b.N), "ours-ms")
				b.ReportMetric(guarded.Seconds()/bare.Seconds(), "×bare")
			})
		}
	}
}

// BenchmarkMemory reads a hundred pages of nearly the largest size at once and reports the greatest size of the heap.
// That includes garbage and the sites' own memory. It fails above three bodies for each fetch that may run.
func BenchmarkMemory(b *testing.B) {
	var sites strings.Builder
	for i := range 50 {
		fmt.Fprintf(&sites, "-- site%d.example.org/page.head --\n!size 4900000\n", i)
	}
	for _, scheme := range []string{"https", "http"} {
		b.Run(scheme, func(b *testing.B) {
			w := webtest.New(b, []byte(sites.String()))
			f := on(b, w, func(c *Config, l *limits) { c.CacheBytes = -1; l.total, l.queue = time.Minute, time.Minute })
			runtime.GC()
			most, before := int64(0), heap()
			for b.Loop() {
				done := make(chan struct{})
				var watching sync.WaitGroup
				watching.Go(func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(time.Millisecond):
							most = max(most, heap()-before)
						}
					}
				})
				hundred(b, scheme, func(url string) error {
					_, err := f.Fetch(b.Context(), url, Options{})
					return err
				})
				close(done)
				watching.Wait()
			}
			bound := int64(f.limits.global) * 3 * f.limits.body
			b.ReportMetric(float64(most)/1e6, "peak-MB")
			b.ReportMetric(float64(bound)/1e6, "bound-MB")
			if most > bound {
				b.Errorf("%d bytes at the worst moment, at most %d are allowed", most, bound)
			}
		})
	}
}

// heap returns the size of the objects on the heap in bytes, with garbage.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// hundred reads all pages with get and returns how long that took.
func hundred(b *testing.B, scheme string, get func(url string) error) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			if err := get(fmt.Sprintf("%s://site%d.example.org/page?%d", scheme, i%50, i)); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// bareClient returns net/http's client, changed only to connect to w.
func bareClient(w *webtest.Web) (get func(url string) error, end func()) {
	tr := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: w.RootCAs()},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			addrs, err := w.LookupNetIP(ctx, "ip", host)
			if err != nil {
				return nil, err
			}
			return w.Dial(ctx, network, net.JoinHostPort(addrs[0].String(), port))
		},
	}
	client := &http.Client{Transport: tr}
	return func(url string) error {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	}, tr.CloseIdleConnections
}
