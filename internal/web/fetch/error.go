package fetch

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Error says why a page could not be read. It is built from a closed table. No address, host, header, body byte or redirect is ever part of
// it. So it may be shown to anybody, including models.
type Error struct {
	Code    turn.Code `json:"error"`
	Reason  turn.Code `json:"reason,omitempty"`      // finer code, a key of reasons
	Message string    `json:"message,omitempty"`     // a sentence for people
	Status  int       `json:"status_code,omitempty"` // HTTP status, 0 if there was none
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Missing reports whether the site says that the page does not exist.
func (e *Error) Missing() bool {
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// Unwrap makes errors.Is work with context.DeadlineExceeded and context.Canceled. No other error is wrapped.
func (e *Error) Unwrap() error {
	switch {
	case e.Reason == turn.CodeCanceled:
		return context.Canceled
	case e.Code == turn.CodeTimeout:
		return context.DeadlineExceeded
	}
	return nil
}

// reason is one row of the table.
type reason struct {
	code      turn.Code
	message   string
	retryable bool // an immediate retry may help
	transient bool // says nothing about the page, so it is never cached
}

// reasons is the closed table of finer codes.
var reasons = map[turn.Code]reason{
	turn.CodeBadScheme:               {code: turn.CodeUnsupportedScheme, message: "only http and https pages are read"},
	turn.CodeInvalidTarget:           {code: turn.CodeBlockedURL, message: "this is not the URL of a public page"},
	turn.CodeDeniedHost:              {code: turn.CodeBlockedURL, message: "the name is not a public one"},
	turn.CodeDeniedAddress:           {code: turn.CodeBlockedURL, message: "the name leads to an address that may not be visited"},
	turn.CodeDeniedPort:              {code: turn.CodeBlockedURL, message: "only ports 80 and 443 are visited"},
	turn.CodeFakeIP:                  {code: turn.CodeBlockedURL, message: "DNS is answered by a proxy tool in fake-IP mode: exempt this program from it"},
	turn.CodeDeniedDomain:            {code: turn.CodeBlockedURL, message: "the operator's lists do not allow this domain"},
	turn.CodeOutsideSite:             {code: turn.CodeBlockedURL, message: "the page is outside the site that was asked for"},
	turn.CodeRedirectToBlockedTarget: {code: turn.CodeBlockedURL, message: "the page redirects to an address that may not be visited"},
	turn.CodeRedirectToHTTP:          {code: turn.CodeBlockedURL, message: "the page leads from https back to http"},
	turn.CodeRobots:                  {code: turn.CodeBlockedURL, message: "the site asks programs not to read this page"},
	turn.CodeRobotsUnreachable:       {code: turn.CodeBlockedURL, message: "the site's robots.txt could not be read, so its pages may not be read"},

	turn.CodeDNS:                 {code: turn.CodeHTTPError, message: "the name could not be resolved"},
	turn.CodeConnect:             {code: turn.CodeHTTPError, message: "the site does not accept connections", retryable: true},
	turn.CodeTLS:                 {code: turn.CodeHTTPError, message: "the site's certificate or encryption is not acceptable"},
	turn.CodeTransport:           {code: turn.CodeHTTPError, message: "the connection broke", retryable: true},
	turn.CodePeerResetStream:     {code: turn.CodeHTTPError, message: "the site broke off the answer"},
	turn.CodeMalformed:           {code: turn.CodeHTTPError, message: "the site's answer is not valid HTTP"},
	turn.CodeNoLocation:          {code: turn.CodeHTTPError, message: "the site redirects to nowhere"},
	turn.CodeRedirectNotFollowed: {code: turn.CodeHTTPError, message: "the image's address redirects"},
	turn.CodeTooManyRedirects:    {code: turn.CodeHTTPError, message: "the site redirects too often"},
	turn.CodeUnexpectedStatus:    {code: turn.CodeHTTPError, message: "the site answered neither with a page nor with an error"},
	turn.CodeHTTP4xx:             {code: turn.CodeHTTPError, message: "the site refused the request"},
	turn.CodeRequestTimeout:      {code: turn.CodeHTTPError, message: "the site gave up waiting", retryable: true},
	turn.CodeHTTP5xx:             {code: turn.CodeHTTPError, message: "the site has a problem", retryable: true},
	turn.CodeRateLimited:         {code: turn.CodeHTTPError, message: "the site asks for fewer requests", retryable: true},
	turn.CodeChallenge:           {code: turn.CodeHTTPError, message: "the site wants proof that a person is reading"},

	turn.CodeDNSTimeout:    {code: turn.CodeTimeout, message: "the name was not resolved in time"},
	turn.CodeDialTimeout:   {code: turn.CodeTimeout, message: "the site did not accept the connection in time"},
	turn.CodeTLSTimeout:    {code: turn.CodeTimeout, message: "the site did not set up encryption in time"},
	turn.CodeHeaderTimeout: {code: turn.CodeTimeout, message: "the site did not answer in time"},
	turn.CodeTotalTimeout:  {code: turn.CodeTimeout, message: "the site did not deliver the page in time"},
	turn.CodeTooSlow:       {code: turn.CodeTimeout, message: "the site sends too slowly"},
	turn.CodeBusy:          {code: turn.CodeTimeout, message: "too many pages are being read already", transient: true},
	turn.CodeDeadline:      {code: turn.CodeTimeout, message: "no time was left", transient: true},
	turn.CodeCanceled:      {code: turn.CodeTimeout, message: "the request was canceled", transient: true},

	turn.CodeHeaderFlood:       {code: turn.CodeResponseTooLarge, message: "the site sent too many headers"},
	turn.CodeTooLarge:          {code: turn.CodeResponseTooLarge, message: "the page is too large"},
	turn.CodeDecompressionBomb: {code: turn.CodeResponseTooLarge, message: "the page unpacks to far more than was sent"},

	turn.CodeMissingType:  {code: turn.CodeUnsupportedType, message: "the site does not say what the page is"},
	turn.CodeBadType:      {code: turn.CodeUnsupportedType, message: "the page is not text that can be read"},
	turn.CodeBadImage:     {code: turn.CodeUnsupportedType, message: "this is not a PNG, JPEG, WebP or GIF image"},
	turn.CodeTypeMismatch: {code: turn.CodeUnsupportedType, message: "the page is not what the site says it is"},
	turn.CodeBadEncoding:  {code: turn.CodeUnsupportedType, message: "the page is packed in a way that is not read"},

	turn.CodeEmpty:    {code: turn.CodeExtractionFailed, message: "the page is empty"},
	turn.CodeInternal: {code: turn.CodeExtractionFailed, message: "reading the page failed"},
}

func fail(name turn.Code) *Error { return failStatus(name, 0) }

func failStatus(name turn.Code, status int) *Error {
	r, ok := reasons[name]
	if !ok { // an unknown name may contain anything
		name, r = turn.CodeInternal, reasons[turn.CodeInternal]
	}
	return &Error{Code: r.code, Reason: name, Message: r.message, Status: status}
}

// fromGuard converts a refusal of the guard.
func fromGuard(err error) *Error {
	if g, ok := errors.AsType[*clean.Refusal](err); ok {
		return fail(g.Reason)
	}
	return fail(turn.CodeInvalidTarget)
}

// fromContext returns why ctx ended.
func fromContext(ctx context.Context) *Error { return fromCause(context.Cause(ctx)) }

// fromCause converts the cause of a context's end. A closed Fetcher cancels its contexts.
func fromCause(cause error) *Error {
	if e, ok := errors.AsType[*Error](cause); ok {
		return clone(e) // callers may add a status
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return fail(turn.CodeDeadline)
	}
	return fail(turn.CodeCanceled)
}

// classify returns the table's error for an error of the transport or of reading a body. The text of err names hosts and
// addresses, so it is dropped.
func classify(ctx context.Context, err error) *Error {
	if ours, ok := errors.AsType[*Error](err); ok {
		return clone(ours)
	}
	if ctx.Err() != nil {
		return fromContext(ctx)
	}
	if refused, ok := errors.AsType[*clean.Refusal](err); ok {
		return fromGuard(refused)
	}
	switch {
	case isTLSError(err):
		return fail(turn.CodeTLS)
	case isGzipError(err):
		return fail(turn.CodeBadEncoding)
	}
	return fail(reasonFromText(err))
}

// reasonFromText classifies errors of net/http that differ only in their text.
func reasonFromText(err error) turn.Code {
	text := err.Error()
	for _, row := range [...]struct {
		words  string
		reason turn.Code
	}{
		{"GOAWAY", turn.CodePeerResetStream},
		{"headers exceeded", turn.CodeHeaderFlood},
		{"header list larger", turn.CodeHeaderFlood},
		{"stream error: ", turn.CodePeerResetStream},
		// HTTP/2 reports headers far beyond the limit like any other violation.
		{"connection error: ", turn.CodeMalformed},
		{"1xx", turn.CodeHeaderFlood},
		{"suspiciously long trailer", turn.CodeHeaderFlood},
		{"header line too long", turn.CodeMalformed}, // header of a chunk
		{"chunked ", turn.CodeMalformed},
		{"Content-Length", turn.CodeMalformed},
		{"TLS handshake timeout", turn.CodeTLSTimeout},
		{"timeout awaiting response headers", turn.CodeHeaderTimeout},
		{"server gave HTTP response to HTTPS client", turn.CodeTLS},
		{"tls: ", turn.CodeTLS},
		{"malformed", turn.CodeMalformed},
		{"invalid", turn.CodeMalformed},
		{"http2: ", turn.CodeMalformed},
	} {
		if strings.Contains(text, row.words) {
			return row.reason
		}
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return turn.CodeHeaderTimeout
	}
	return turn.CodeTransport
}

func isTLSError(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return verify || record || alert
}

// isGzipError reports whether err says that a body is not valid gzip.
func isGzipError(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}
