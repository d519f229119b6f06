package fetch

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// peak counts how many handlers run at once, per host and in all ("").
type peak struct {
	mu       sync.Mutex
	now, max map[string]int
}

func (p *peak) add(host string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		p.now, p.max = make(map[string]int), make(map[string]int)
	}
	for _, k := range []string{host, ""} {
		p.now[k] += n
		p.max[k] = max(p.max[k], p.now[k])
	}
}

func (p *peak) handler(host string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.add(host, 1)
		defer p.add(host, -1)
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "hello")
	}
}

func (p *peak) most() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.max)
}

func (g *limiter) inUse() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.hosts))
}
