package read

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/fetch"
)

const (
	quorum = 3 // good pages that are enough to go on
	// grace is how long the others are waited for once there is a quorum.
	grace = 250 * time.Millisecond
)

// Many reads pages at once and returns soon after ctx is done, or when enough good ones are there. The result has one
// page for each request, in their order. What comes later than that is dropped; [Reader.Wait] waits for it.
func (r *Reader) Many(ctx context.Context, requests []Request) []*Page {
	if r == nil {
		r = new(Reader)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type numbered struct {
		i int
		p *Page
	}
	in := make(chan numbered, len(requests)) // room for all: a late page must not wait for us
	for i, q := range requests {
		r.running.Go(func() { in <- numbered{i, r.Read(ctx, q)} })
	}
	out := make([]*Page, len(requests))
	var enough <-chan time.Time
	for left, good := len(requests), 0; left > 0; left-- {
		select {
		case n := <-in:
			out[n.i] = n.p
			if n.p.Good() {
				good++
			}
			if enough == nil && good >= min(quorum, len(requests)) && left > 1 {
				enough = time.After(grace)
			}
		case <-ctx.Done():
			return missed(out, requests, fetch.Error{Code: turn.CodeTimeout, Reason: turn.CodeDeadline, Message: "no time was left"})
		case <-enough:
			return missed(out, requests, fetch.Error{Code: turn.CodeSkipped, Reason: turn.CodeQuorum, Message: "enough others were read"})
		}
	}
	return out
}

// missed fills in the pages that did not come.
func missed(pages []*Page, requests []Request, why fetch.Error) []*Page {
	for i := range pages {
		if pages[i] == nil {
			e := why
			pages[i] = &Page{URL: withoutFragment(requests[i].URL), Err: &e}
		}
	}
	return pages
}

// Wait returns when no page of an earlier call is being read any more: a shutdown's last step.
func (r *Reader) Wait() { r.running.Wait() }
