package fetch

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
)

// body reads one response body under limits.
type body struct {
	limits   limits
	truncate bool       // keep the beginning of a body that is too large, as for robots.txt
	pool     *sync.Pool // of *chunk
}

// read returns the decompressed body. It calls cancel to end a transfer that is too slow.
func (b *body) read(ctx context.Context, cancel context.CancelCauseFunc, resp *http.Response) ([]byte, *Error) {
	if resp.ContentLength > b.limits.body && !b.truncate {
		return nil, fail(turn.CodeTooLarge)
	}
	packed, e := gzipped(resp.Header)
	if e != nil {
		return nil, e
	}
	sent := &counter{r: resp.Body, max: b.limits.body}
	defer b.watch(ctx, cancel, sent)()
	var r io.Reader = sent
	if packed {
		z, err := gzip.NewReader(sent)
		if err != nil {
			return nil, classify(ctx, err)
		}
		defer z.Close()
		r = z
	}
	return b.drain(ctx, r, sent)
}

// drain reads r to its end and compares the decompressed size with what was sent.
func (b *body) drain(ctx context.Context, r io.Reader, sent *counter) ([]byte, *Error) {
	most := b.limits.body
	if b.truncate {
		most = b.limits.robotsBody
	}
	out := buffer{pool: b.pool}
	defer out.free()
	for {
		_, err := out.readFrom(r)
		size := out.size
		switch {
		case size > b.limits.ratioFrom && size > b.limits.ratio*sent.n.Load():
			return nil, fail(turn.CodeDecompressionBomb)
		case size >= most && b.truncate:
			return out.bytes(most), nil
		case size > most:
			return nil, fail(turn.CodeTooLarge)
		case err == io.EOF && size == 0 && !b.truncate:
			return nil, fail(turn.CodeEmpty)
		case err == io.EOF:
			return out.bytes(size), nil
		case err != nil:
			return nil, classify(ctx, err)
		}
	}
}

// gzipped reports whether the body is compressed with gzip. It fails for any other encoding except none.
func gzipped(h http.Header) (bool, *Error) {
	switch strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ","))) {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	}
	return false, fail(turn.CodeBadEncoding)
}

// watch cancels a transfer whose average rate is below the limit after the time of grace. If the deadline has passed, it
// leaves the error to the deadline. The returned function ends the watch.
func (b *body) watch(ctx context.Context, cancel context.CancelCauseFunc, sent *counter) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		began := time.Now()
		tick := time.NewTicker(b.limits.grace / 4)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			took := time.Since(began)
			if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
				return
			}
			if took >= b.limits.grace && float64(sent.n.Load()) < float64(b.limits.rate)*took.Seconds() {
				cancel(fail(turn.CodeTooSlow))
				return
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// counter counts the bytes of a body as they are sent, and fails after max.
type counter struct {
	r   io.Reader
	max int64
	n   atomic.Int64 // written by the reader, read by watch
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n.Add(int64(n)) > c.max {
		return 0, fail(turn.CodeTooLarge)
	}
	return n, err
}

// chunk is a part of a buffer. Chunks come from a pool. A body of unknown length grows without being copied, and only
// its final copy becomes garbage.
type chunk [64 << 10]byte

// buffer is a growing body. One goroutine uses it. free returns its chunks to the pool.
type buffer struct {
	pool   *sync.Pool // of *chunk
	chunks []*chunk   // all full except the last
	size   int64
}

// readFrom calls r.Read once and returns its results.
func (p *buffer) readFrom(r io.Reader) (int, error) {
	used := int(p.size % int64(len(chunk{})))
	if p.size == int64(len(p.chunks)*len(chunk{})) {
		p.chunks = append(p.chunks, p.pool.Get().(*chunk))
	}
	n, err := r.Read(p.chunks[len(p.chunks)-1][used:])
	p.size += int64(n)
	return n, err
}

// bytes returns a copy of the first n bytes.
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
