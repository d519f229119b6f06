package prompt

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	grace           = 100 * time.Millisecond // for a provider to return after its deadline
	defaultDeadline = 30 * time.Second       // of a provider, if neither the turn nor the builder has one
	maxStrays       = 32                     // running abandoned calls at which a provider is not called
)

// gather runs all providers concurrently and returns when each has answered or was abandoned.
func (b *Builder) gather(ctx context.Context, req turn.Request) []turn.Outcome {
	outcomes := make([]turn.Outcome, len(b.Providers))
	var wg sync.WaitGroup
	for i, p := range slices.Backward(b.Providers) { // the scheduler runs the goroutine started last first
		wg.Go(func() { outcomes[i] = b.ask(ctx, p, req) })
	}
	wg.Wait()
	return outcomes
}

// ask runs a provider until it returns or is too late. An abandoned call continues in its goroutine, and its answer is discarded.
// [Builder.Wait] waits for it.
func (b *Builder) ask(ctx context.Context, p Provider, req turn.Request) turn.Outcome {
	began := time.Now()
	out := turn.Outcome{Provider: p.Name()}
	if !b.strays.mayCall(out.Provider) {
		out.Status = turn.Abandoned
		out.Err = fmt.Sprintf("not called: %d earlier calls have not returned", maxStrays)
		return out
	}
	ctx, cancel := context.WithDeadline(ctx, b.deadline(began, out.Provider, req))
	defer cancel()

	c := &call{provider: out.Provider, done: make(chan answer, 1)}
	go c.run(ctx, &b.strays, p, req)

	select {
	case a := <-c.done:
		b.settle(ctx, &out, a)
	case <-ctx.Done():
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case a := <-c.done:
			b.settle(ctx, &out, a)
		case <-late.C:
			if b.strays.abandon(c) {
				out.Status, out.Err = turn.Abandoned, "did not return: "+ctx.Err().Error()
			} else {
				b.settle(ctx, &out, <-c.done)
			}
		}
	}
	out.Took = time.Since(began)
	return out
}

func (b *Builder) deadline(now time.Time, name string, req turn.Request) time.Time {
	d := req.Deadline
	if d.IsZero() {
		d = now.Add(defaultDeadline)
	}
	if own := b.Deadlines[name]; own > 0 && now.Add(own).Before(d) {
		d = now.Add(own)
	}
	return d
}

// settle writes the answer of a provider into its outcome.
func (b *Builder) settle(ctx context.Context, out *turn.Outcome, a answer) {
	out.Contributions = a.contributions
	switch {
	case a.panicked != "":
		out.Status, out.Err = turn.Panicked, a.panicked
	case a.err == nil:
		out.Status = turn.OK
	case ctx.Err() != nil && errors.Is(a.err, ctx.Err()):
		out.Status, out.Err = turn.Timeout, a.err.Error()
	default:
		out.Status, out.Err = turn.Failed, a.err.Error()
	}
	if b.Redact != nil {
		out.Err = b.Redact(out.Err)
	}
}

// answer is what a provider returned. panicked is not empty if it did not return.
type answer struct {
	contributions []turn.Contribution
	err           error
	panicked      string
}

// call is a call of a provider.
type call struct {
	provider  string
	done      chan answer // buffered for the answer
	over      bool        // the answer is or will be in done; guarded by strays.mu
	abandoned bool        // nobody reads done; guarded by strays.mu
}

func (c *call) run(ctx context.Context, s *strays, p Provider, req turn.Request) {
	a := answer{panicked: "the provider ended its goroutine"} // remains without a return or a panic
	defer func() {
		if r := recover(); r != nil {
			a = answer{panicked: fmt.Sprintf("panic: %v (%s)", r, stack())}
		}
		if s.finish(c) {
			c.done <- a
		}
	}()
	contributions, err := p.Contribute(ctx, req)
	a = answer{contributions: contributions, err: err}
}

// stack names the functions nearest to a panic, innermost first, without directories.
func stack() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var b strings.Builder
	for n := 0; n < 5; {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			if n > 0 {
				b.WriteString(" < ")
			}
			fmt.Fprintf(&b, "%s %s:%d", path.Base(f.Function), path.Base(f.File), f.Line)
			n++
		}
		if !more {
			break
		}
	}
	return b.String()
}

// strays counts the abandoned calls that are still running. This bounds the goroutines of a provider that hangs in every turn, and lets
// shutdown wait for them.
type strays struct {
	mu    sync.Mutex
	by    map[string]int // by provider; nil until the first; guarded by mu
	total int            // guarded by mu
	none  chan struct{}  // made when total leaves 0 and closed when it falls to 0; guarded by mu
}

// mayCall reports whether the provider may be called.
func (s *strays) mayCall(provider string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[provider] < maxStrays
}

// abandon makes c a stray. It returns false if c has ended meanwhile.
func (s *strays) abandon(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.over {
		return false
	}
	c.abandoned = true
	if s.total == 0 {
		s.none = make(chan struct{})
	}
	if s.by == nil {
		s.by = make(map[string]int)
	}
	s.by[c.provider]++
	s.total++
	return true
}

// finish notes that c has ended. It returns false if c was abandoned.
func (s *strays) finish(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.over = true
	if !c.abandoned {
		return true
	}
	s.by[c.provider]--
	s.total--
	if s.total == 0 {
		close(s.none)
	}
	return false
}

func (s *strays) wait(ctx context.Context) error {
	s.mu.Lock()
	none, total := s.none, s.total
	s.mu.Unlock()
	if total == 0 {
		return nil
	}
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
