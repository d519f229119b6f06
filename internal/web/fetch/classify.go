package fetch

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// classify finds the row of the table for an error of the transport, or of reading a body. The error's own text, which names hosts and
// addresses, ends here.
func classify(ctx context.Context, err error) *Error {
	if ours, ok := errors.AsType[*Error](err); ok {
		return clone(ours)
	}
	if ctx.Err() != nil {
		return fromContext(ctx)
	}
	if refused, ok := errors.AsType[*guard.Error](err); ok {
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

// reasonFromText classifies errors of net/http that differ by their text alone.
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
		// What HTTP/2 says of headers that are far beyond the limit, and of other breaches of its rules.
		{"connection error: ", turn.CodeMalformed},
		{"1xx", turn.CodeHeaderFlood},
		{"suspiciously long trailer", turn.CodeHeaderFlood},
		{"header line too long", turn.CodeMalformed}, // of a chunk
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
