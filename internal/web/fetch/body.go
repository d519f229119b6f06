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
	truncate bool       // keep the beginning of a body that is too large, as is right for robots.txt
	pool     *sync.Pool // of *chunk
}

// read returns the unpacked body. It uses cancel to end a transfer that is too slow.
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

// drain reads r to its end and compares what is unpacked with what was sent.
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

// gzipped reports whether the body is packed once with gzip; anything but that or nothing is refused.
func gzipped(h http.Header) (bool, *Error) {
	switch strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ","))) {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	}
	return false, fail(turn.CodeBadEncoding)
}

// watch cancels a transfer that, after a time of grace, is slower on average than the least rate. Where the time is up anyway, that is what
// is said of it. The returned function ends the watch.
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

// counter counts the bytes of a body as they were sent, and ends it after max.
type counter struct {
	r   io.Reader
	max int64
	n   atomic.Int64 // written by the reader, read by the watch
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n.Add(int64(n)) > c.max {
		return 0, fail(turn.CodeTooLarge)
	}
	return n, err
}
