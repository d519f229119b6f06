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

import (
	"strings"

	"familiar/internal/context/turn"
)

// Error is a refusal. It never carries an address, a host or any other part of the target, so it may be shown
// to anybody. A *Error is comparable by its fields.
type Error struct {
	Code   turn.Code // [turn.CodeBlockedURL] or [turn.CodeUnsupportedScheme]
	Reason turn.Code // finer code
}

func (e *Error) Error() string {
	if e.Reason == turn.CodeFakeIP {
		return string(e.Code) + ": DNS is answered by a proxy tool in fake-IP mode: exempt this program from it"
	}
	return string(e.Code) + ": " + strings.ReplaceAll(string(e.Reason), "_", " ")
}

func blocked(reason turn.Code) *Error { return &Error{Code: turn.CodeBlockedURL, Reason: reason} }
