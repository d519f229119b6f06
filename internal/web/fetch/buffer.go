package fetch

import (
	"io"
	"sync"
)

// piece is what bodies are read into, lent from one to the next: a body whose length nobody knows grows without being
// copied as it does, and only its exact copy is left for the collector.
type piece [64 << 10]byte

// pieces is a body that grows. It belongs to one goroutine; free returns what it borrowed.
type pieces struct {
	spare *sync.Pool // of *piece
	full  []*piece
	last  *piece // nil before the first byte
	used  int    // of last
}

// readFrom reads once from r and returns what r does.
func (p *pieces) readFrom(r io.Reader) (int, error) {
	if p.last == nil || p.used == len(p.last) {
		if p.last != nil {
			p.full = append(p.full, p.last)
		}
		p.last, p.used = p.spare.Get().(*piece), 0
	}
	n, err := r.Read(p.last[p.used:])
	p.used += n
	return n, err
}

func (p *pieces) size() int64 { return int64(len(p.full)*len(piece{}) + p.used) }

// bytes is a copy of the first n bytes.
func (p *pieces) bytes(n int64) []byte {
	out := make([]byte, 0, n)
	for _, f := range p.full {
		out = append(out, f[:min(int64(len(f)), n-int64(len(out)))]...)
	}
	if p.last != nil {
		out = append(out, p.last[:min(int64(p.used), n-int64(len(out)))]...)
	}
	return out
}

func (p *pieces) free() {
	for _, f := range p.full {
		p.spare.Put(f)
	}
	if p.last != nil {
		p.spare.Put(p.last)
	}
	p.full, p.last, p.used = nil, nil, 0
}
