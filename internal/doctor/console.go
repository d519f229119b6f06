package doctor

import (
	"fmt"
	"net"
	"net/netip"
)

// Console judges who can reach the console at an address. An empty one, or "off", is none; hasToken says that a token is set.
func Console(address string, hasToken bool) Finding {
	f := Finding{ID: "console", State: OK}
	if address == "" || address == "off" {
		f.Text = "It is off."
		return f
	}
	host, _, err := net.SplitHostPort(address)
	ip, bad := netip.ParseAddr(host)
	switch {
	case err != nil:
		f.State, f.Text, f.Cure = Failure, fmt.Sprintf("%s is no address.", address), "set FAMILIAR_CONSOLE to host:port, such as 127.0.0.1:8807, or to off"
	case host == "localhost" || bad == nil && ip.IsLoopback():
		f.Text = fmt.Sprintf("Only who is on this machine reaches it, at http://%s.", address)
	case !hasToken:
		f.State, f.Text = Failure, fmt.Sprintf("Other machines could reach it at %s, and no token is set.", address)
		f.Cure = "set FAMILIAR_CONSOLE_TOKEN to a long random word, or FAMILIAR_CONSOLE to 127.0.0.1:8807"
	default:
		f.State, f.Text = Warning, fmt.Sprintf("Whoever reaches %s and has the token gets in; without TLS the token can be read on the way.", address)
		f.Cure = "put a proxy with TLS before it, or reach it through a tunnel: ssh -L 8807:127.0.0.1:8807"
	}
	return f
}
