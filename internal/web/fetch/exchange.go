package fetch

import (
	"context"
	"crypto/tls"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"

	"familiar/internal/context/turn"
)

// answer is the result of one exchange: a document, or the target of a redirect. A failure may have a retryAfter.
type answer struct {
	status     int
	doc        *Document
	location   string
	retryAfter time.Duration
}

// exchange makes one request and reads its answer. Meanwhile, it holds one of the host's places.
func (v *visit) exchange(ctx context.Context, u *url.URL) (answer, *Error) {
	release, err := v.f.limiter.acquireHost(ctx, u.Hostname())
	if err != nil {
		e := fromContext(ctx)
		if e.Reason == turn.CodeTotalTimeout {
			e = fail(turn.CodeBusy) // the site did not cause the wait
		}
		return answer{}, e
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	resp, err := v.send(ctx, u)
	if err != nil {
		return answer{}, v.headerError(ctx, err)
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case isChallenge(resp.Header):
		return answer{}, failStatus(turn.CodeChallenge, status)
	case (v.kind == kindImage || v.kind == kindFile) && 300 <= status && status < 400:
		return answer{}, failStatus(turn.CodeRedirectNotFollowed, status)
	case redirects(status):
		v.limitTTL(resp.Header)
		return answer{status: status, location: resp.Header.Get("Location")}, nil
	case status != http.StatusOK && status != http.StatusNonAuthoritativeInfo:
		return answer{retryAfter: retryAfter(resp.Header, v.f.config.Now())}, failStatus(statusReason(status), status)
	}
	doc, e := v.read(ctx, cancel, resp)
	if e != nil {
		e.Status = resp.StatusCode
		return answer{}, e
	}
	v.limitTTL(resp.Header)
	return answer{status: doc.Status, doc: doc}, nil
}

func (v *visit) limitTTL(h http.Header) {
	v.ttl = min(v.ttl, lifetime(h, v.f.config.Now(), v.f.limits.pageTTL, v.f.limits.maxTTL))
}

// headerError classifies the error of an exchange without complete headers. The HTTP/2 error for far too many headers is the same as for
// other violations. But no other violation takes so many bytes.
func (v *visit) headerError(ctx context.Context, err error) *Error {
	e := classify(ctx, err)
	if e.Reason == turn.CodeMalformed && v.conns.received.Load()-v.conns.atRequest.Load() > v.f.limits.headers/4 {
		return fail(turn.CodeHeaderFlood)
	}
	return e
}

// send makes the request and returns after all headers have arrived.
func (v *visit) send(ctx context.Context, u *url.URL) (*http.Response, error) {
	req := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{
		"User-Agent":      {v.f.config.UserAgent},
		"Accept":          {v.accept()},
		"Accept-Encoding": {"gzip"},
	}}
	// The hooks of one exchange run in sequence, but not on this goroutine.
	var handshake, sent time.Time
	trace := &httptrace.ClientTrace{
		TLSHandshakeStart: func() { v.conns.addTiming(func(*Timings) { handshake = time.Now() }) },
		TLSHandshakeDone: func(tls.ConnectionState, error) {
			v.conns.addTiming(func(t *Timings) { t.TLS += time.Since(handshake) })
		},
		GotConn: func(httptrace.GotConnInfo) { v.conns.atRequest.Store(v.conns.received.Load()) }, // before a fast answer can arrive
		WroteRequest: func(httptrace.WroteRequestInfo) {
			v.conns.addTiming(func(*Timings) { sent = time.Now() })
		},
	}
	resp, err := v.conns.transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	v.conns.addTiming(func(t *Timings) {
		if !sent.IsZero() {
			t.Header += time.Since(sent)
		}
	})
	return resp, err
}

func (v *visit) accept() string {
	switch {
	case v.kind == kindImage:
		return "image/webp,image/png,image/jpeg,image/gif"
	case v.kind == kindFile:
		return "*/*"
	case v.f.config.JSON:
		return "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.8,text/plain;q=0.8,application/json;q=0.5,*/*;q=0.1"
	}
	return "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.8,text/plain;q=0.8,*/*;q=0.1"
}

// declaredType returns the type that an answer declares.
func (v *visit) declaredType(h http.Header) (mediaType, *Error) {
	if v.kind == kindImage {
		return imageType(h)
	}
	if v.kind == kindFile {
		return fileType(h), nil
	}
	t, err := contentType(h, v.f.config.JSON, v.options.XML)
	if v.kind == kindRobots {
		return t, nil
	}
	return t, err
}

// agrees compares the declared type with the beginning of the body.
func (v *visit) agrees(t mediaType, body []byte) *Error {
	switch v.kind {
	case kindImage:
		if http.DetectContentType(body) != t.name {
			return fail(turn.CodeTypeMismatch)
		}
		return nil
	case kindRobots, kindFile:
		return nil
	}
	return t.agrees(body)
}

// read reads the body of a successful answer into a document.
func (v *visit) read(ctx context.Context, cancel context.CancelCauseFunc, resp *http.Response) (*Document, *Error) {
	declared, err := v.declaredType(resp.Header)
	if err != nil {
		return nil, err
	}
	limits := v.f.limits
	if v.kind == kindFile {
		limits.body = v.most
	}
	b := body{limits: limits, truncate: v.kind == kindRobots, pool: &v.f.chunks}
	began := time.Now()
	bytes, err := b.read(ctx, cancel, resp)
	v.conns.addTiming(func(t *Timings) { t.Body += time.Since(began) })
	if err != nil {
		return nil, err
	}
	if err := v.agrees(declared, bytes); err != nil {
		return nil, err
	}
	modified, _ := http.ParseTime(resp.Header.Get("Last-Modified")) // zero if invalid
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

// isChallenge reports whether a firewall answered instead of the site, by the headers of Cloudflare, AWS WAF and Vercel.
func isChallenge(h http.Header) bool {
	for _, name := range []string{"Cf-Mitigated", "X-Amzn-Waf-Action", "X-Vercel-Mitigated"} {
		if v := h.Get(name); v == "challenge" || v == "captcha" || v == "block" || v == "deny" {
			return true
		}
	}
	return false
}

// retryAfter parses a Retry-After header in either of its forms (RFC 9110 §10.2.3). It returns 0 if there is none.
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

// sniffLength is the number of bytes from which the type of a page is detected.
const sniffLength = 512

// mediaType is the declared type of a body.
type mediaType struct {
	name    string // lower case: "text/html"
	charset string // as declared; may be empty
}

func (t mediaType) String() string {
	if t.charset == "" {
		return t.name
	}
	return t.name + "; charset=" + t.charset
}

// isCharset reports whether a name may be that of a character set. It has at most 40 letters, digits and a few marks.
func isCharset(name string) bool {
	alphanumeric := func(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }
	return name != "" && len(name) <= 40 && alphanumeric(rune(name[0])) &&
		!strings.ContainsFunc(name, func(c rune) bool { return !alphanumeric(c) && !strings.ContainsRune("._:+-", c) })
}

// contentType returns the declared type, or an error if it is not accepted. It never guesses: a page without a declared
// type is refused.
func contentType(h http.Header, allowJSON, allowXML bool) (mediaType, *Error) {
	value := h.Get("Content-Type")
	name, _, _ := strings.Cut(value, ";")
	t := mediaType{name: strings.ToLower(strings.TrimSpace(name))}
	if t.name == "" {
		return mediaType{}, fail(turn.CodeMissingType)
	}
	if !readableType(t.name) && !(allowJSON && isJSON(t.name)) && !(allowXML && isXML(t.name)) {
		return mediaType{}, fail(turn.CodeBadType)
	}
	// If the parameters are invalid, only the charset is lost. The page may declare it too.
	if _, params, err := mime.ParseMediaType(value); err == nil && isCharset(params["charset"]) {
		t.charset = params["charset"]
	}
	return t, nil
}

func readableType(name string) bool {
	switch name {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown":
		return true
	}
	return false
}

func isXML(name string) bool { return name == "application/xml" || name == "text/xml" }

func isJSON(name string) bool {
	return name == "application/json" || name == "text/json" || strings.HasSuffix(name, "+json") && strings.HasPrefix(name, "application/")
}

// agrees checks the first bytes of a page against its declared type.
//
// Content without a signature is plain text, which may be any of the types. HTML may be any of them except JSON.
// Markdown often begins with tags, and a site that serves its source as text/plain means it.
func (t mediaType) agrees(page []byte) *Error {
	found := mimetype.Detect(page[:min(len(page), sniffLength)])
	structured := found.Is("application/json") || found.Is("image/svg+xml") || found.Is("text/rtf") || found.Is("application/rtf")
	switch {
	case isJSON(t.name):
		if found.Is("application/json") || found.Is("text/plain") || found.Is("application/x-ndjson") {
			return nil
		}
	case !structured && isText(found):
		return nil
	}
	return fail(turn.CodeTypeMismatch)
}

// isText reports whether m descends from plain text in mimetype's tree. Then no byte is binary.
func isText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}
