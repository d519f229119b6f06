package fetch

import (
	"context"
	"errors"
	"net/http"

	"familiar/internal/web/guard"
)

// Codes of an [Error]: a closed set, shared by everybody who reads pages.
const (
	CodeBlocked     = guard.Blocked
	CodeScheme      = guard.Unsupported
	CodeType        = "unsupported_content_type"
	CodeTooLarge    = "response_too_large"
	CodeTimeout     = "timeout"
	CodeHTTP        = "http_error"
	CodeExtraction  = "extraction_failed"
	CodeNeedsScript = "javascript_required" // made by whoever reads the page, never by this package
)

// Error says why a page could not be had. It is built from a closed table: no address, host, header, body byte or hop
// of a redirect is ever part of it, so it may be shown to anybody, models included.
type Error struct {
	Code    string `json:"error"`
	Reason  string `json:"reason,omitempty"`      // finer code, see the table of reasons
	Message string `json:"message,omitempty"`     // a sentence for people
	Status  int    `json:"status_code,omitempty"` // HTTP status, 0 if there was none
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Missing reports whether the site says that it has no such page.
func (e *Error) Missing() bool {
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// Unwrap makes errors.Is(err, context.DeadlineExceeded) and context.Canceled work; there is nothing else to unwrap.
func (e *Error) Unwrap() error {
	switch {
	case e.Reason == "canceled":
		return context.Canceled
	case e.Code == CodeTimeout:
		return context.DeadlineExceeded
	}
	return nil
}

// reason is one row of the table.
type reason struct {
	code, message string
	again         bool // another try at once may help
	passing       bool // says nothing about the page: never remembered
}

// reasons is the closed set of finer codes.
var reasons = map[string]reason{
	guard.BadScheme:              {code: CodeScheme, message: "only http and https pages are read"},
	guard.InvalidTarget:          {code: CodeBlocked, message: "this is not the URL of a public page"},
	guard.DeniedHost:             {code: CodeBlocked, message: "the name is not one of the public internet"},
	guard.DeniedAddress:          {code: CodeBlocked, message: "the name leads to an address that may not be visited"},
	guard.DeniedPort:             {code: CodeBlocked, message: "only ports 80 and 443 are visited"},
	guard.FakeIP:                 {code: CodeBlocked, message: "DNS is answered by a proxy tool in fake-IP mode: exempt this program from it"},
	"denied_domain":              {code: CodeBlocked, message: "the operator's lists do not allow this domain"},
	guard.OutsideSite:            {code: CodeBlocked, message: "the page is not one of the site that was asked for"},
	"redirect_to_blocked_target": {code: CodeBlocked, message: "the page leads on to a target that may not be visited"},
	"redirect_to_http":           {code: CodeBlocked, message: "the page leads from https back to http"},
	"robots":                     {code: CodeBlocked, message: "the site asks programs not to read this page"},
	"robots_unreachable":         {code: CodeBlocked, message: "the site's rules for programs could not be read, so nothing may be"},

	guard.DNS:               {code: CodeHTTP, message: "the name could not be resolved"},
	guard.Connect:           {code: CodeHTTP, message: "the site does not accept connections", again: true},
	"tls":                   {code: CodeHTTP, message: "the site's certificate or encryption is not acceptable"},
	"transport":             {code: CodeHTTP, message: "the connection broke", again: true},
	"peer_reset_stream":     {code: CodeHTTP, message: "the site broke off the answer"},
	"malformed":             {code: CodeHTTP, message: "the site's answer is not valid HTTP"},
	"no_location":           {code: CodeHTTP, message: "the site redirects to nowhere"},
	"redirect_not_followed": {code: CodeHTTP, message: "the image is not where its address says"},
	"too_many_redirects":    {code: CodeHTTP, message: "the site redirects too often"},
	"unexpected_status":     {code: CodeHTTP, message: "the site answered neither with a page nor with an error"},
	"http_4xx":              {code: CodeHTTP, message: "the site refused the request"},
	"request_timeout":       {code: CodeHTTP, message: "the site gave up waiting", again: true},
	"http_5xx":              {code: CodeHTTP, message: "the site has a problem", again: true},
	"rate_limited":          {code: CodeHTTP, message: "the site asks to come back later", again: true},
	"challenge":             {code: CodeHTTP, message: "the site wants proof that a person is reading"},

	"dns_timeout":    {code: CodeTimeout, message: "the name was not resolved in time"},
	"dial_timeout":   {code: CodeTimeout, message: "the site did not accept the connection in time"},
	"tls_timeout":    {code: CodeTimeout, message: "the site did not set up encryption in time"},
	"header_timeout": {code: CodeTimeout, message: "the site did not answer in time"},
	"total_timeout":  {code: CodeTimeout, message: "the site did not deliver the page in time"},
	"too_slow":       {code: CodeTimeout, message: "the site sends too slowly"},
	"busy":           {code: CodeTimeout, message: "too many pages are being read already", passing: true},
	"deadline":       {code: CodeTimeout, message: "no time was left", passing: true},
	"canceled":       {code: CodeTimeout, message: "nobody waits for the page any more", passing: true},

	"header_flood":       {code: CodeTooLarge, message: "the site sent too many headers"},
	"too_large":          {code: CodeTooLarge, message: "the page is too large"},
	"decompression_bomb": {code: CodeTooLarge, message: "the page unpacks to far more than was sent"},

	"missing_type":  {code: CodeType, message: "the site does not say what the page is"},
	"bad_type":      {code: CodeType, message: "the page is not text that can be read"},
	"bad_image":     {code: CodeType, message: "this is not a PNG, JPEG, WebP or GIF image"},
	"type_mismatch": {code: CodeType, message: "the page is not what the site says it is"},
	"bad_encoding":  {code: CodeType, message: "the page is packed in a way that is not read"},

	"empty":    {code: CodeExtraction, message: "the page is empty"},
	"internal": {code: CodeExtraction, message: "reading the page failed"},
}

func fail(name string) *Error { return failStatus(name, 0) }

func failStatus(name string, status int) *Error {
	r, ok := reasons[name]
	if !ok { // a name from elsewhere may be anything
		name, r = "internal", reasons["internal"]
	}
	return &Error{Code: r.code, Reason: name, Message: r.message, Status: status}
}

// fromGuard translates a refusal.
func fromGuard(err error) *Error {
	var g *guard.Error
	if !errors.As(err, &g) {
		return fail(guard.InvalidTarget)
	}
	return fail(g.Reason)
}

// fromContext says why ctx ended.
func fromContext(ctx context.Context) *Error {
	var e *Error
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &e):
		return clone(e) // whoever gets it may add a status
	case errors.Is(cause, context.DeadlineExceeded):
		return fail("deadline")
	}
	return fail("canceled")
}
