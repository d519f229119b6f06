package fetch

import (
	"context"
	"errors"
	"net/http"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// Error says why a page could not be had. It is built from a closed table: no address, host, header, body byte or hop
// of a redirect is ever part of it, so it may be shown to anybody, models included.
type Error struct {
	Code    turn.Code `json:"error"`
	Reason  turn.Code `json:"reason,omitempty"`      // finer code, see the table of reasons
	Message string    `json:"message,omitempty"`     // a sentence for people
	Status  int       `json:"status_code,omitempty"` // HTTP status, 0 if there was none
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Missing reports whether the site says that it has no such page.
func (e *Error) Missing() bool {
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// Unwrap makes errors.Is(err, context.DeadlineExceeded) and context.Canceled work; there is nothing else to unwrap.
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
	retryable bool // another try at once may help
	transient bool // says nothing about the page: never remembered
}

// reasons is the closed set of finer codes.
var reasons = map[turn.Code]reason{
	turn.CodeBadScheme:               {code: turn.CodeUnsupportedScheme, message: "only http and https pages are read"},
	turn.CodeInvalidTarget:           {code: turn.CodeBlockedURL, message: "this is not the URL of a public page"},
	turn.CodeDeniedHost:              {code: turn.CodeBlockedURL, message: "the name is not one of the public internet"},
	turn.CodeDeniedAddress:           {code: turn.CodeBlockedURL, message: "the name leads to an address that may not be visited"},
	turn.CodeDeniedPort:              {code: turn.CodeBlockedURL, message: "only ports 80 and 443 are visited"},
	turn.CodeFakeIP:                  {code: turn.CodeBlockedURL, message: "DNS is answered by a proxy tool in fake-IP mode: exempt this program from it"},
	turn.CodeDeniedDomain:            {code: turn.CodeBlockedURL, message: "the operator's lists do not allow this domain"},
	turn.CodeOutsideSite:             {code: turn.CodeBlockedURL, message: "the page is not one of the site that was asked for"},
	turn.CodeRedirectToBlockedTarget: {code: turn.CodeBlockedURL, message: "the page leads on to a target that may not be visited"},
	turn.CodeRedirectToHTTP:          {code: turn.CodeBlockedURL, message: "the page leads from https back to http"},
	turn.CodeRobots:                  {code: turn.CodeBlockedURL, message: "the site asks programs not to read this page"},
	turn.CodeRobotsUnreachable:       {code: turn.CodeBlockedURL, message: "the site's rules for programs could not be read, so nothing may be"},

	turn.CodeDNS:                 {code: turn.CodeHTTPError, message: "the name could not be resolved"},
	turn.CodeConnect:             {code: turn.CodeHTTPError, message: "the site does not accept connections", retryable: true},
	turn.CodeTLS:                 {code: turn.CodeHTTPError, message: "the site's certificate or encryption is not acceptable"},
	turn.CodeTransport:           {code: turn.CodeHTTPError, message: "the connection broke", retryable: true},
	turn.CodePeerResetStream:     {code: turn.CodeHTTPError, message: "the site broke off the answer"},
	turn.CodeMalformed:           {code: turn.CodeHTTPError, message: "the site's answer is not valid HTTP"},
	turn.CodeNoLocation:          {code: turn.CodeHTTPError, message: "the site redirects to nowhere"},
	turn.CodeRedirectNotFollowed: {code: turn.CodeHTTPError, message: "the image is not where its address says"},
	turn.CodeTooManyRedirects:    {code: turn.CodeHTTPError, message: "the site redirects too often"},
	turn.CodeUnexpectedStatus:    {code: turn.CodeHTTPError, message: "the site answered neither with a page nor with an error"},
	turn.CodeHTTP4xx:             {code: turn.CodeHTTPError, message: "the site refused the request"},
	turn.CodeRequestTimeout:      {code: turn.CodeHTTPError, message: "the site gave up waiting", retryable: true},
	turn.CodeHTTP5xx:             {code: turn.CodeHTTPError, message: "the site has a problem", retryable: true},
	turn.CodeRateLimited:         {code: turn.CodeHTTPError, message: "the site asks to come back later", retryable: true},
	turn.CodeChallenge:           {code: turn.CodeHTTPError, message: "the site wants proof that a person is reading"},

	turn.CodeDNSTimeout:    {code: turn.CodeTimeout, message: "the name was not resolved in time"},
	turn.CodeDialTimeout:   {code: turn.CodeTimeout, message: "the site did not accept the connection in time"},
	turn.CodeTLSTimeout:    {code: turn.CodeTimeout, message: "the site did not set up encryption in time"},
	turn.CodeHeaderTimeout: {code: turn.CodeTimeout, message: "the site did not answer in time"},
	turn.CodeTotalTimeout:  {code: turn.CodeTimeout, message: "the site did not deliver the page in time"},
	turn.CodeTooSlow:       {code: turn.CodeTimeout, message: "the site sends too slowly"},
	turn.CodeBusy:          {code: turn.CodeTimeout, message: "too many pages are being read already", transient: true},
	turn.CodeDeadline:      {code: turn.CodeTimeout, message: "no time was left", transient: true},
	turn.CodeCanceled:      {code: turn.CodeTimeout, message: "nobody waits for the page any more", transient: true},

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
	if !ok { // a name from elsewhere may be anything
		name, r = turn.CodeInternal, reasons[turn.CodeInternal]
	}
	return &Error{Code: r.code, Reason: name, Message: r.message, Status: status}
}

// fromGuard translates a refusal.
func fromGuard(err error) *Error {
	if g, ok := errors.AsType[*guard.Error](err); ok {
		return fail(g.Reason)
	}
	return fail(turn.CodeInvalidTarget)
}

// fromContext says why ctx ended.
func fromContext(ctx context.Context) *Error { return fromCause(context.Cause(ctx)) }

// fromCause translates the end of a context, or of the Fetcher, which cancels.
func fromCause(cause error) *Error {
	if e, ok := errors.AsType[*Error](cause); ok {
		return clone(e) // whoever gets it may add a status
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return fail(turn.CodeDeadline)
	}
	return fail(turn.CodeCanceled)
}
