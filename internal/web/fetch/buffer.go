package fetch

import (
	"io"
	"sync"
)

// chunk is a part of a buffer. Chunks come from a pool, so that a body of unknown length grows without being copied, and
// only its exact copy is garbage.
type chunk [64 << 10]byte

// buffer is a body that grows. It belongs to one goroutine; free returns its chunks.
type buffer struct {
	pool *sync.Pool // of *chunk
	full []*chunk
	last *chunk // nil before the first byte
	used int    // of last
}

// readFrom reads once from r and returns what r does.
func (p *buffer) readFrom(r io.Reader) (int, error) {
	if p.last == nil || p.used == len(p.last) {
		if p.last != nil {
			p.full = append(p.full, p.last)
		}
		p.last, p.used = p.pool.Get().(*chunk), 0
	}
	n, err := r.Read(p.last[p.used:])
	p.used += n
	return n, err
}

func (p *buffer) size() int64 { return int64(len(p.full)*len(chunk{}) + p.used) }

// bytes is a copy of the first n bytes.
func (p *buffer) bytes(n int64) []byte {
	out := make([]byte, 0, n)
	for _, f := range p.full {
		out = append(out, f[:min(int64(len(f)), n-int64(len(out)))]...)
	}
	if p.last != nil {
		out = append(out, p.last[:min(int64(p.used), n-int64(len(out)))]...)
	}
	return out
}

func (p *buffer) free() {
	for _, f := range p.full {
		p.pool.Put(f)
	}
	if p.last != nil {
		p.pool.Put(p.last)
	}
	p.full, p.last, p.used = nil, nil, 0
}
