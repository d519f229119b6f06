package fetch

import (
	"testing"

	"familiar/internal/web/guard"
)

const benchWeb = `
-- example.org/page.head --
!size 1000000
`

// BenchmarkFetch reads a page of 1 MB over HTTP/2 on loopback, name, handshake and all.
func BenchmarkFetch(b *testing.B) {
	f, _ := open(b, benchWeb, func(c *Config, l *limits) { c.CacheBytes = -1; *l = defaults() })
	b.SetBytes(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Fetch(b.Context(), "https://example.org/page", Options{Pins: new(guard.Pins)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCached is the same page from the cache.
func BenchmarkCached(b *testing.B) {
	f, _ := open(b, benchWeb, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Fetch(b.Context(), "https://example.org/page", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
