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
	pool   *sync.Pool // of *chunk
	chunks []*chunk   // full but for the last
	size   int64
}

// readFrom reads once from r and returns what r does.
func (p *buffer) readFrom(r io.Reader) (int, error) {
	used := int(p.size % int64(len(chunk{})))
	if p.size == int64(len(p.chunks)*len(chunk{})) {
		p.chunks = append(p.chunks, p.pool.Get().(*chunk))
	}
	n, err := r.Read(p.chunks[len(p.chunks)-1][used:])
	p.size += int64(n)
	return n, err
}

// bytes is a copy of the first n bytes.
func (p *buffer) bytes(n int64) []byte {
	out := make([]byte, 0, n)
	for _, c := range p.chunks {
		out = append(out, c[:min(int64(len(c)), n-int64(len(out)))]...)
	}
	return out
}

func (p *buffer) free() {
	for _, c := range p.chunks {
		p.pool.Put(c)
	}
	p.chunks, p.size = nil, 0
}
