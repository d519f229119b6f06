package fetch

import (
	"bytes"
	"context"
	"familiar/internal/context/turn"
	"net/url"
)

// rules are what a site's robots.txt says to us (RFC 9309). Nothing of its text leaves but yes and no.
type rules struct {
	RobotsRules
	err *Error // why nothing may be read, if so
}

func (r rules) weight() int64 { return 1024 + r.RobotsRules.weight() }

// mayRead asks the site's robots.txt whether u may be read.
func (f *Fetcher) mayRead(ctx context.Context, u *url.URL, o Options) *Error {
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
		v := visit{f: f, options: Options{Domains: o.Domains, Pins: o.Pins}, kind: robotsTxt}
		got := v.run(ctx, at)
		r = f.understand(got)
		switch {
		case r.err == nil:
			f.robots.put(key, r, f.limits.robotsTTL)
		case !reasons[r.err.Reason].passing:
			f.robots.put(key, r, f.limits.robotsRetry)
		}
		return r
	})
	if err != nil {
		return rules{}, fromCause(err)
	}
	return r, nil
}

// understand turns what came of asking for robots.txt into rules (RFC 9309 §2.3.1): a site that has none allows all, one that
// cannot say forbids all.
func (f *Fetcher) understand(got outcome) rules {
	if got.err == nil {
		return rules{RobotsRules: ParseRobots(f.wholeLines(got.doc.Body), productToken(f.config.UserAgent))}
	}
	switch e := got.err; {
	case 400 <= e.Status && e.Status < 500:
		return rules{}
	case reasons[e.Reason].passing, samePageFate(e):
		return rules{err: e}
	}
	return rules{err: fail(turn.CodeRobotsUnreachable)}
}

// samePageFate reports whether every page of the site would fail in the same way, so that the failure should be named
// and not the rules.
func samePageFate(e *Error) bool {
	switch e.Reason {
	case turn.CodeDeniedAddress, turn.CodeDeniedHost, turn.CodeFakeIP, turn.CodeDNS, turn.CodeConnect,
		"tls", "dns_timeout", "dial_timeout", "tls_timeout":
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
