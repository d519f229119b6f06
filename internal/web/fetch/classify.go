package fetch

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"familiar/internal/web/guard"
)

// classify finds the row of the table for an error of the transport. The error's own text, which names hosts and
// addresses, ends here.
func classify(ctx context.Context, err error) *Error {
	var (
		ours    *Error
		refused *guard.Error
	)
	switch {
	case errors.As(err, &ours):
		return clone(ours)
	case ctx.Err() != nil:
		return fromContext(ctx)
	case errors.As(err, &refused):
		return fromGuard(refused)
	case encryption(err):
		return fail("tls")
	}
	return fail(byText(err))
}

// byText reads what net/http tells by nothing but the words of its errors.
func byText(err error) string {
	text := err.Error()
	for _, row := range [...]struct{ words, reason string }{
		{"GOAWAY", "peer_reset_stream"},
		{"headers exceeded", "header_flood"},
		{"header list larger", "header_flood"},
		{"stream error: ", "peer_reset_stream"},
		// What HTTP/2 says of headers that are far beyond the limit, and of other breaches of its rules.
		{"connection error: ", "malformed"},
		{"1xx", "header_flood"},
		{"suspiciously long trailer", "header_flood"},
		{"header line too long", "malformed"}, // of a chunk
		{"chunked ", "malformed"},
		{"Content-Length", "malformed"},
		{"TLS handshake timeout", "tls_timeout"},
		{"timeout awaiting response headers", "header_timeout"},
		{"server gave HTTP response to HTTPS client", "tls"},
		{"tls: ", "tls"},
		{"malformed", "malformed"},
		{"invalid", "malformed"},
		{"http2: ", "malformed"},
	} {
		if strings.Contains(text, row.words) {
			return row.reason
		}
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return "header_timeout"
	}
	return "transport"
}

func encryption(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert)
}

// unpackable reports whether a body is not the gzip it was said to be.
func unpackable(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}
