package fetch

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestBufferSizes reads bodies of all lengths around the size of a chunk, in reads of all sizes. The pooled chunks still hold another body.
func TestBufferSizes(t *testing.T) {
	spare := sync.Pool{New: func() any { return new(chunk) }}
	rapid.Check(t, func(t *rapid.T) {
		size := len(chunk{})*rapid.IntRange(0, 3).Draw(t, "pieces") + rapid.IntRange(0, 3).Draw(t, "more")
		body := bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, size)
		if size > 0 {
			body[rapid.IntRange(0, size-1).Draw(t, "mark at")] ^= 0xff
		}
		step := rapid.IntRange(1, 200_000).Draw(t, "step")
		r, p := bytes.NewReader(body), buffer{pool: &spare}
		defer p.free()
		for {
			if _, err := p.readFrom(io.LimitReader(r, int64(step))); err == io.EOF && r.Len() == 0 {
				break
			}
		}
		if p.size != int64(size) || !bytes.Equal(p.bytes(p.size), body) {
			t.Fatalf("%d bytes became %d", size, p.size)
		}
		cut := rapid.IntRange(0, size).Draw(t, "cut")
		if got := p.bytes(int64(cut)); !bytes.Equal(got, body[:cut]) || cap(got) != cut {
			t.Fatalf("cut at %d: %d bytes, room for %d", cut, len(got), cap(got))
		}
	})
}
