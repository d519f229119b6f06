package fetch

import (
	"context"
	"crypto/tls"
	"familiar/internal/context/turn"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"time"
)

// answer is what one exchange brought: a document, or where to go on. retryAfter may come with a failure.
type answer struct {
	status     int
	doc        *Document
	location   string
	retryAfter time.Duration
}

// exchange makes one request and reads its answer. The host's place is held no longer than that.
func (v *visit) exchange(ctx context.Context, u *url.URL) (answer, *Error) {
	leave, err := v.f.gate.enterHost(ctx, u.Hostname())
	if err != nil {
		return answer{}, waited(fromContext(ctx))
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	resp, err := v.send(ctx, u)
	if err != nil {
		return answer{}, v.unanswered(ctx, err)
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case challenged(resp.Header):
		return answer{}, failStatus(turn.CodeChallenge, status)
	case v.kind == anImage && 300 <= status && status < 400:
		return answer{}, failStatus(turn.CodeRedirectNotFollowed, status)
	case redirects(status):
		v.mayKeep(resp.Header)
		return answer{status: status, location: resp.Header.Get("Location")}, nil
	case status != http.StatusOK && status != http.StatusNonAuthoritativeInfo:
		return answer{retryAfter: retryAfter(resp.Header, v.f.config.Now())}, failStatus(statusReason(status), status)
	}
	doc, e := v.read(ctx, cancel, resp)
	if e != nil {
		e.Status = resp.StatusCode
		return answer{}, e
	}
	v.mayKeep(resp.Header)
	return answer{status: doc.Status, doc: doc}, nil
}

func (v *visit) mayKeep(h http.Header) {
	v.keep = min(v.keep, lifetime(h, v.f.config.Now(), v.f.limits.positive, v.f.limits.longest))
}

// waited names the end of a wait at the gate: the site is not to blame for it.
func waited(e *Error) *Error {
	if e.Reason == "total_timeout" {
		return fail(turn.CodeBusy)
	}
	return e
}

// unanswered classifies the error of an exchange that came to no headers. HTTP/2 tells headers far beyond the limit from
// no other breach of its rules; but they alone take so many bytes.
func (v *visit) unanswered(ctx context.Context, err error) *Error {
	e := classify(ctx, err)
	if e.Reason == "malformed" && v.line.sinceRequest() > v.f.limits.headers/4 {
		return fail(turn.CodeHeaderFlood)
	}
	return e
}

// send makes the request and returns when all headers are there.
func (v *visit) send(ctx context.Context, u *url.URL) (*http.Response, error) {
	req := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{
		"User-Agent":      {v.f.config.UserAgent},
		"Accept":          {v.accept()},
		"Accept-Encoding": {"gzip"},
	}}
	// The hooks of one exchange run one after the other, but not on this goroutine.
	var handshake, wrote time.Time
	trace := &httptrace.ClientTrace{
		TLSHandshakeStart: func() { v.line.spend(func(*Timings) { handshake = time.Now() }) },
		TLSHandshakeDone: func(tls.ConnectionState, error) {
			v.line.spend(func(t *Timings) { t.TLS += time.Since(handshake) })
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			v.line.asked()
			v.line.spend(func(*Timings) { wrote = time.Now() })
		},
	}
	resp, err := v.line.transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	v.line.spend(func(t *Timings) {
		if !wrote.IsZero() {
			t.Header += time.Since(wrote)
		}
	})
	return resp, err
}

func (v *visit) accept() string {
	switch {
	case v.kind == anImage:
		return "image/webp,image/png,image/jpeg,image/gif"
	case v.f.config.JSON:
		return "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.8,text/plain;q=0.8,application/json;q=0.5,*/*;q=0.1"
	}
	return "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.8,text/plain;q=0.8,*/*;q=0.1"
}

// declared reads the type that an answer is said to have.
func (v *visit) declared(h http.Header) (mediaType, *Error) {
	if v.kind == anImage {
		return imageType(h)
	}
	t, err := contentType(h, v.f.config.JSON, v.options.XML)
	if v.kind == robotsTxt {
		return t, nil
	}
	return t, err
}

// agrees compares the type that an answer is said to have with how its body begins.
func (v *visit) agrees(t mediaType, body []byte) *Error {
	switch v.kind {
	case anImage:
		return t.depicts(body)
	case robotsTxt:
		return nil
	}
	return t.agrees(body)
}

// read turns an answer with a good status into a document.
func (v *visit) read(ctx context.Context, cancel context.CancelCauseFunc, resp *http.Response) (*Document, *Error) {
	declared, err := v.declared(resp.Header)
	if err != nil {
		return nil, err
	}
	b := body{limits: v.f.limits, cut: v.kind == robotsTxt, spare: &v.f.pieces}
	began := time.Now()
	bytes, err := b.read(ctx, cancel, resp)
	v.line.spend(func(t *Timings) { t.Body += time.Since(began) })
	if err != nil {
		return nil, err
	}
	if err := v.agrees(declared, bytes); err != nil {
		return nil, err
	}
	modified, _ := http.ParseTime(resp.Header.Get("Last-Modified")) // zero if it cannot be read
	return &Document{
		Status:       resp.StatusCode,
		ContentType:  declared.String(),
		Body:         bytes,
		LastModified: modified,
		Fetched:      v.f.config.Now(),
	}, nil
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func statusReason(status int) turn.Code {
	switch {
	case status == http.StatusTooManyRequests:
		return turn.CodeRateLimited
	case status == http.StatusRequestTimeout:
		return turn.CodeRequestTimeout
	case 400 <= status && status < 500:
		return turn.CodeHTTP4xx
	case 500 <= status && status < 600:
		return turn.CodeHTTP5xx
	}
	return turn.CodeUnexpectedStatus
}

// challenged reports whether a firewall answered in place of the site, by the headers that say so: Cloudflare's, AWS
// WAF's and Vercel's.
func challenged(h http.Header) bool {
	for _, name := range []string{"Cf-Mitigated", "X-Amzn-Waf-Action", "X-Vercel-Mitigated"} {
		if v := h.Get(name); v == "challenge" || v == "captcha" || v == "block" || v == "deny" {
			return true
		}
	}
	return false
}

// retryAfter reads a Retry-After header in either of its forms (RFC 9110 §10.2.3), 0 if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
