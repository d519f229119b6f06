package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// kind is the kind of resource that a visit fetches.
type kind int

const (
	kindPage   kind = iota
	kindRobots      // of any type, truncated, itself not subject to robots.txt
	kindImage       // without redirects
	kindFile        // of any type, from a trusted host: without robots.txt and redirects
)

// visit follows one URL to its page. It is used by one goroutine.
type visit struct {
	f              *Fetcher
	options        Options
	callerDeadline time.Time // deadline of the caller; zero if there is none
	kind           kind
	most           int64         // limit of a kindFile
	retried        bool          // the one retry has been used
	ttl            time.Duration // how long the page may be cached: at most as long as each redirect to it
	conns          *connections
	hops           []Hop
}

// page visits u under the limits of one page. If a parser of hostile bytes panics, only this page is lost.
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

// run follows u with connections that only this visit uses. It closes them at the end.
func (v *visit) run(ctx context.Context, u *url.URL) outcome {
	if v.options.Pins == nil {
		v.options.Pins = new(Pins)
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

// allowed applies the rules that depend on the options and on the site's robots.txt. The rules for addresses apply when
// a connection is dialled.
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

// follow returns the target of a redirect, under the same rules as any URL.
func follow(from *url.URL, location string) (*url.URL, *Error) {
	if location == "" {
		return nil, fail(turn.CodeNoLocation)
	}
	to, err := clean.ResolveURL(from, location)
	if err != nil {
		return nil, afterRedirect(1, fromGuard(err))
	}
	if from.Scheme == "https" && to.Scheme == "http" {
		return nil, fail(turn.CodeRedirectToHTTP)
	}
	return to, nil
}

// afterRedirect marks a refusal of a redirect's target, because the requested page itself was not refused.
func afterRedirect(hop int, err *Error) *Error {
	if hop == 0 || err.Code != turn.CodeBlockedURL || err.Reason == turn.CodeRobots || err.Reason == turn.CodeRobotsUnreachable {
		return err
	}
	return fail(turn.CodeRedirectToBlockedTarget)
}

// ask makes one exchange. If it fails in a way that may be temporary, and there is time, ask makes a second one.
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

// try makes one exchange and records it.
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

// FetchImage reads the image at rawURL, such as the thumbnail of a search result. It follows the rules and limits of [Fetcher.Fetch]. The
// image must be a PNG, JPEG, WebP or GIF by its declared type and by its first bytes. SVG is refused because it is a program. Redirects are
// refused too, because an image's address comes from a list and has no reason to lead elsewhere. Nothing is cached. Concurrent callers for
// the same image share one request. The error is always an [*Error].
func (f *Fetcher) FetchImage(ctx context.Context, rawURL string, o Options) (*Document, error) {
	return f.fetchUncached(ctx, "image ", rawURL, visit{f: f, options: o, kind: kindImage})
}

// fetchUncached makes the visit v to rawURL, or joins one for the same URL and kind.
func (f *Fetcher) fetchUncached(ctx context.Context, kind, rawURL string, v visit) (*Document, error) {
	began := time.Now()
	u, e := admit(ctx, rawURL, v.options)
	if e != nil {
		return nil, e
	}
	v.callerDeadline, _ = ctx.Deadline()
	got, err := f.flights.Do(ctx, kind+pageKey(u, v.options), func(ctx context.Context) outcome { return v.page(ctx, u) })
	if err != nil {
		return nil, fromCause(err)
	}
	return got.document(began)
}

// imageType returns the declared type of an image, or an error if it is not accepted.
func imageType(h http.Header) (mediaType, *Error) {
	name, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "":
		return mediaType{}, fail(turn.CodeMissingType)
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return mediaType{name: name}, nil
	case "image/jpg": // a common mistake
		return mediaType{name: "image/jpeg"}, nil
	}
	return mediaType{}, fail(turn.CodeBadImage)
}

// FetchFile reads the file at rawURL, of at most most bytes, under the rules and limits of [Fetcher.Fetch]. It is for
// hosts that store what people upload for this program, such as Discord's. o.Domains must allow no others. So any type
// is accepted, robots.txt is not read, and a redirect is a failure. Nothing is cached. Concurrent callers for the same
// file share one request. The error is always an [*Error].
func (f *Fetcher) FetchFile(ctx context.Context, rawURL string, most int64, o Options) (*Document, error) {
	return f.fetchUncached(ctx, "file ", rawURL, visit{f: f, options: o, kind: kindFile, most: most})
}

// fileType returns the declared type of a file, which is only a hint.
func fileType(h http.Header) mediaType {
	name, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return mediaType{name: strings.ToLower(strings.TrimSpace(name))}
}

// Trial is the result of [Fetcher.Try].
type Trial struct {
	Reason turn.Code // why the page was refused; [turn.CodeConnect] if it was not
	Dialed []string  // the addresses that would have been connected to
}

// Try reads a page up to the point of connecting: it sends nothing and looks up no name. It uses f's guard, with the
// operator's denied addresses and this machine's own. Each lookup of the page's name returns the next of answers, and
// then the last one again. robots.txt is not read, and nothing is kept.
func (f *Fetcher) Try(ctx context.Context, rawURL string, answers ...[]netip.Addr) (Trial, error) {
	names := &script{answers: answers}
	wire := &dry{fetcher: f}
	c := Config{UserAgent: f.config.UserAgent, Resolver: names, Dial: wire.dial, HumanSkipsRobots: true, CacheBytes: -1, Now: f.config.Now}
	trial, err := newFetcher(c, f.limits)
	if err != nil {
		return Trial{}, err
	}
	defer trial.Close()
	trial.guard = f.guard
	_, err = trial.Fetch(ctx, rawURL, Options{Human: true})
	var refused *Error
	if !errors.As(err, &refused) {
		return Trial{}, errors.New("try page: a page was read without a connection")
	}
	return Trial{Reason: refused.Reason, Dialed: wire.dialed()}, ctx.Err()
}

// Resolve looks up a name as for a page. The addresses are not checked.
func (f *Fetcher) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return f.config.Resolver.LookupNetIP(ctx, "ip", host+".")
}

// script is a resolver with prepared answers.
type script struct {
	mu      sync.Mutex
	answers [][]netip.Addr // guarded by mu
}

func (s *script) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return nil, errors.New("name not found")
	}
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer, nil
}

// dry is a dialer that asks the guard, as [net.Dialer] does, but never connects.
type dry struct {
	fetcher *Fetcher
	mu      sync.Mutex
	passed  []string // guarded by mu
}

func (d *dry) dial(_ context.Context, _, address string) (net.Conn, error) {
	network := "tcp4"
	if ap, err := netip.ParseAddrPort(address); err == nil && ap.Addr().Is6() {
		network = "tcp6"
	}
	if err := d.fetcher.guard.Control(network, address, nil); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passed = append(d.passed, address)
	return nil, errors.New("this dialer never connects")
}

func (d *dry) dialed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}
