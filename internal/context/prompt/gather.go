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
	// grace is how long after its deadline a provider may still hand over what it has.
	grace = 100 * time.Millisecond

	// patience is the deadline of a provider when neither the turn nor the builder sets one.
	patience = 30 * time.Second

	// maxStrays is how many given-up calls of one provider may be running before it is no longer called.
	maxStrays = 32
)

// gather runs all providers at once and returns when each has answered or was given up.
func (b *Builder) gather(ctx context.Context, req turn.Request) []turn.Outcome {
	outcomes := make([]turn.Outcome, len(b.Providers))
	var wg sync.WaitGroup
	for i, p := range slices.Backward(b.Providers) { // the one that is started last runs first
		wg.Go(func() { outcomes[i] = b.ask(ctx, p, req) })
	}
	wg.Wait()
	return outcomes
}

// ask runs one provider until it returns or has been late for too long. A call that is given up goes on in
// its goroutine, which Builder.Wait waits for; its answer is thrown away.
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
			if b.strays.giveUp(c) {
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
		d = now.Add(patience)
	}
	if own := b.Deadlines[name]; own > 0 && now.Add(own).Before(d) {
		d = now.Add(own)
	}
	return d
}

// settle writes what a provider answered into its outcome.
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

// answer is what a provider returned. panicked is empty unless it didn't.
type answer struct {
	contributions []turn.Contribution
	err           error
	panicked      string
}

// call is one running call of a provider.
type call struct {
	provider string
	done     chan answer // has room for the one answer
	over     bool        // guarded by strays.mu: the answer is in done, or about to be
	givenUp  bool        // guarded by strays.mu: nobody reads done any more
}

func (c *call) run(ctx context.Context, s *strays, p Provider, req turn.Request) {
	a := answer{panicked: "the provider ended its goroutine"} // stands if neither a return nor a panic follows
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

// stack names the few functions nearest to a panic, innermost first, without any path of this machine.
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
