package fetch

import (
	"bytes"
	"context"
	"net/url"

	"familiar/internal/context/turn"
)

// rules are those of a site's robots.txt for us (RFC 9309). Only yes or no leaves this room, none of its text.
type rules struct {
	RobotsRules
	err *Error // why nothing may be read, if so
}

func (r rules) weight() int64 { return 1024 + r.RobotsRules.weight() }

// allowedByRobots returns an error unless the site's robots.txt allows u to be read.
func (f *Fetcher) allowedByRobots(ctx context.Context, u *url.URL, o Options) *Error {
	r, err := f.rulesOf(ctx, u, o)
	switch {
	case err != nil:
		return err
	case r.err != nil:
		return clone(r.err)
	}
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if !r.Allows(path) {
		return fail(turn.CodeRobots)
	}
	return nil
}

// rulesOf returns the rules of u's origin, remembered or fetched; fetches of pages that need the same rules share them.
func (f *Fetcher) rulesOf(ctx context.Context, u *url.URL, o Options) (rules, *Error) {
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	key := at.String() + " " + o.Domains.Version()
	if r, ok := f.robots.get(key); ok {
		return r, nil
	}
	r, err := f.robotFlights.Do(ctx, key, func(ctx context.Context) (r rules) {
		defer func() {
			if recover() != nil {
				r = rules{err: fail(turn.CodeRobotsUnreachable)}
			}
		}()
		ctx, cancel := context.WithTimeoutCause(ctx, f.limits.robots, fail(turn.CodeTotalTimeout))
		defer cancel()
		v := visit{f: f, options: Options{Domains: o.Domains, Pins: o.Pins}, kind: kindRobots}
		got := v.run(ctx, at)
		r = f.rulesFrom(got)
		switch {
		case r.err == nil:
			f.robots.put(key, r, f.limits.robotsTTL)
		case !reasons[r.err.Reason].transient:
			f.robots.put(key, r, f.limits.robotsFailureTTL)
		}
		return r
	})
	if err != nil {
		return rules{}, fromCause(err)
	}
	return r, nil
}

// rulesFrom makes rules of the outcome of the request for robots.txt (RFC 9309 §2.3.1): a site without one allows all, a
// site with an error forbids all.
func (f *Fetcher) rulesFrom(got outcome) rules {
	if got.err == nil {
		return rules{RobotsRules: ParseRobots(f.wholeLines(got.doc.Body), productToken(f.config.UserAgent))}
	}
	switch e := got.err; {
	case 400 <= e.Status && e.Status < 500:
		return rules{}
	case reasons[e.Reason].transient, failsEveryPage(e):
		return rules{err: e}
	}
	return rules{err: fail(turn.CodeRobotsUnreachable)}
}

// failsEveryPage reports whether every page of the site would fail in the same way, so that the failure should be named
// and not the rules.
func failsEveryPage(e *Error) bool {
	switch e.Reason {
	case turn.CodeDeniedAddress, turn.CodeDeniedHost, turn.CodeFakeIP, turn.CodeDNS, turn.CodeConnect,
		turn.CodeTLS, turn.CodeDNSTimeout, turn.CodeDialTimeout, turn.CodeTLSTimeout:
		return true
	}
	return false
}

// wholeLines drops the last line of a robots.txt that was cut: half a path is another path.
func (f *Fetcher) wholeLines(text []byte) []byte {
	if int64(len(text)) < f.limits.robotsBody {
		return text
	}
	return text[:bytes.LastIndexAny(text, "\r\n")+1]
}
