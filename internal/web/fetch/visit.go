package fetch

import (
	"context"
	"net/url"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// kind is what a visit fetches.
type kind int

const (
	kindPage   kind = iota
	kindRobots      // any type, truncated, not subject to robots.txt itself
	kindImage       // redirects are not followed
	kindFile        // of any type, from a host that the caller trusts to have what it was given: neither robots.txt nor redirects
)

// visit is one walk from a URL to the page that it leads to. It is used by one goroutine.
type visit struct {
	f              *Fetcher
	options        Options
	callerDeadline time.Time // deadline of the caller; zero if there is none
	kind           kind
	most           int64         // bytes of a kindFile
	retried        bool          // the one retry has been used
	ttl            time.Duration // how long the page may be remembered: no longer than any redirect on the way to it
	conns          *connections
	hops           []Hop
}

// page visits u under the limits of one page. A panic in a parser of hostile bytes costs this page alone.
func (v *visit) page(ctx context.Context, u *url.URL) (got outcome) {
	defer func() {
		if recover() != nil {
			got = outcome{err: fail(turn.CodeInternal)}
		}
	}()
	queue, cancel := context.WithTimeoutCause(ctx, v.f.limits.queue, fail(turn.CodeBusy))
	defer cancel()
	release, err := v.f.limiter.acquire(queue)
	if err != nil {
		return outcome{err: fromContext(queue)}
	}
	defer release()
	total := v.f.limits.total
	if v.kind == kindFile {
		total = v.f.limits.file
	}
	ctx, cancel = context.WithTimeoutCause(ctx, total, fail(turn.CodeTotalTimeout))
	defer cancel()
	return v.run(ctx, u)
}

// run walks from u, with connections that are this visit's alone and end with it.
func (v *visit) run(ctx context.Context, u *url.URL) outcome {
	if v.options.Pins == nil {
		v.options.Pins = new(guard.Pins)
	}
	v.conns = newConnections(ctx, v.f, v.options.Pins)
	defer v.conns.close()
	v.ttl = v.f.limits.maxTTL
	doc, err := v.walk(ctx, u)
	if err != nil {
		return outcome{err: err, hops: v.hops}
	}
	doc.URL = u.String()
	doc.Hops = v.hops
	doc.Timings = v.conns.timings()
	return outcome{doc: doc, hops: v.hops, ttl: v.ttl}
}

func (v *visit) walk(ctx context.Context, u *url.URL) (*Document, *Error) {
	for hop := 0; ; hop++ {
		if err := v.allowed(ctx, u); err != nil {
			return nil, afterRedirect(hop, err)
		}
		a, err := v.ask(ctx, u)
		if err != nil {
			return nil, afterRedirect(hop, err)
		}
		if a.doc != nil {
			a.doc.Final = u.String()
			return a.doc, nil
		}
		if hop == v.f.limits.redirects {
			return nil, fail(turn.CodeTooManyRedirects)
		}
		if u, err = follow(u, a.location); err != nil {
			return nil, err
		}
	}
}

// allowed applies the rules that depend on who asks and on what the site wishes; those for addresses apply at the
// moment of dialling.
func (v *visit) allowed(ctx context.Context, u *url.URL) *Error {
	if !v.options.Domains.Allows(u.Hostname()) {
		return fail(turn.CodeDeniedDomain)
	}
	if !v.options.Site.Holds(u.String()) {
		return fail(turn.CodeOutsideSite)
	}
	if v.kind == kindRobots || v.kind == kindFile || v.options.Human && v.f.config.HumanSkipsRobots {
		return nil
	}
	return v.f.allowedByRobots(ctx, u, v.options)
}

// follow returns the target of a redirect, by the same rules as any URL.
func follow(from *url.URL, location string) (*url.URL, *Error) {
	if location == "" {
		return nil, fail(turn.CodeNoLocation)
	}
	to, err := guard.Resolve(from, location)
	if err != nil {
		return nil, afterRedirect(1, fromGuard(err))
	}
	if from.Scheme == "https" && to.Scheme == "http" {
		return nil, fail(turn.CodeRedirectToHTTP)
	}
	return to, nil
}

// afterRedirect names refusals of a redirect's target as that: the page that was asked for is not at fault.
func afterRedirect(hop int, err *Error) *Error {
	if hop == 0 || err.Code != turn.CodeBlockedURL || err.Reason == turn.CodeRobots || err.Reason == turn.CodeRobotsUnreachable {
		return err
	}
	return fail(turn.CodeRedirectToBlockedTarget)
}

// ask makes one exchange, and a second one if the first failed in a way that may pass and there is time.
func (v *visit) ask(ctx context.Context, u *url.URL) (answer, *Error) {
	a, err := v.try(ctx, u)
	if err == nil || v.retried || !reasons[err.Reason].retryable {
		return a, err
	}
	wait := max(a.retryAfter, v.f.limits.backoff)
	if !v.fits(ctx, wait) {
		return a, err
	}
	v.retried = true
	pause := time.NewTimer(wait)
	defer pause.Stop()
	select {
	case <-pause.C:
		return v.try(ctx, u)
	case <-ctx.Done():
		return a, fromContext(ctx)
	}
}

// try makes one exchange and keeps a record of it.
func (v *visit) try(ctx context.Context, u *url.URL) (answer, *Error) {
	began := time.Now()
	a, err := v.exchange(ctx, u)
	hop := Hop{URL: u.String(), Status: a.status, Took: time.Since(began)}
	if err != nil {
		hop.Status, hop.Reason = err.Status, err.Reason
	}
	v.hops = append(v.hops, hop)
	return a, err
}

// fits reports whether a wait ends before the deadlines.
func (v *visit) fits(ctx context.Context, wait time.Duration) bool {
	then := time.Now().Add(wait)
	deadline, ok := ctx.Deadline()
	return !(ok && then.After(deadline)) && (v.callerDeadline.IsZero() || then.Before(v.callerDeadline))
}
