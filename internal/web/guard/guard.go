// Package guard decides which URLs and addresses strangers may make this machine talk to.
//
// A tour, in the order a page passes it:
//
//   - [Parse] applies the URL rules and returns the one canonical URL that is then checked, logged and
//     dialled. [Resolve] does the same for the target of a redirect. [Canonical] is the form in which two
//     URLs are compared, [DedupeKey] the one in which doubles are found.
//   - [Domains] holds an operator's allow and deny lists, matched on the canonical host. [Site] keeps a visit to the
//     pages of one host below one path, and finds them by their short names.
//   - [TypedURLs] finds the URLs in what people write; [Unreadable] knows files without text by their names.
//   - [Guard] knows which addresses may be dialled: the fixed list of [CheckAddr], the operator's own
//     denials, and this machine's interfaces. Its Control method belongs in a [net.Dialer].
//   - [Dialer] joins them: it resolves a name, checks every answer, and dials only addresses that passed.
//     [Pins] holds a turn's answers so that a name cannot change its address between two looks.
//
// There is no switch that opens the list, no environment variable and no test mode: tests inject a resolver
// and a dial function, and the address rules run for real on what the resolver answers. The package opens no
// connection by itself.
package guard

import "strings"

// Codes of an [Error].
const (
	Blocked     = "blocked_url"
	Unsupported = "unsupported_scheme"
)

// Reasons of an [Error]: a closed set.
const (
	InvalidTarget = "invalid_target" // not a URL that the rules can read in exactly one way
	BadScheme     = "bad_scheme"     // neither http nor https
	DeniedHost    = "denied_host"    // a name that can only be local: localhost, internal, metadata.goog, …
	DeniedAddress = "denied_address" // the name leads to an address that may not be dialled
	DeniedPort    = "denied_port"    // neither 80 nor 443
	FakeIP        = "fake_ip_dns"    // DNS is answered by a proxy tool with made-up addresses
	DNS           = "dns"            // the name could not be resolved
	Connect       = "connect"        // no checked address accepted a connection
)

// Error is a refusal. It never carries an address, a host or any other part of the target, so it may be shown
// to anybody. A *Error is comparable by its fields.
type Error struct {
	Code   string // [Blocked] or [Unsupported]
	Reason string // finer code
}

func (e *Error) Error() string {
	if e.Reason == FakeIP {
		return e.Code + ": DNS is answered by a proxy tool in fake-IP mode: exempt this program from it"
	}
	return e.Code + ": " + strings.ReplaceAll(e.Reason, "_", " ")
}

func blocked(reason string) *Error { return &Error{Code: Blocked, Reason: reason} }
