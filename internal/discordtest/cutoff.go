package discordtest

import (
	"crypto/tls"
	"fmt"
	"net"
)

// CutOff takes the network of a server on loopback away: connections break, and new ones are refused. Sessions keep their events for
// a RESUME.
func (s *Server) CutOff() {
	s.http.Listener.Close()
	s.gateway.shut()
	s.http.CloseClientConnections()
}

// Reopen ends CutOff.
func (s *Server) Reopen() error {
	l, err := net.Listen("tcp", s.http.Listener.Addr().String())
	if err != nil {
		return fmt.Errorf("listen again: %w", err)
	}
	if s.http.TLS != nil {
		l = tls.NewListener(l, s.http.TLS)
	}
	s.http.Listener = l // Close closes it
	s.conns.Go(func() { _ = s.http.Config.Serve(l) })
	return nil
}
