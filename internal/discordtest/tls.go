package discordtest

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// NewTLS is New behind TLS, under the name localhost, for which config has a certificate. Like Discord it speaks HTTP/2 too, unless
// config's protocols leave it out.
func NewTLS(tb testing.TB, config *tls.Config) *Server {
	s := empty()
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.TLS, s.http.EnableHTTP2 = config, true
	s.http.StartTLS()
	s.http.URL = strings.Replace(s.http.URL, "127.0.0.1", "localhost", 1)
	s.begin(tb)
	return s
}
