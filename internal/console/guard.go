package console

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy lets a page load what this server has and nothing else, run no script and use no style that stands in it, and send forms
// here alone.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded lets in who may come, in the order of what is cheapest to say.
func (k *Console) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // a form's origin is looked at
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if !k.reachedAs(r.Host) {
			http.Error(w, "This name is none of the console's. Open it as localhost, or name it in FAMILIAR_CONSOLE_HOSTS.", http.StatusMisdirectedRequest)
			return
		}
		if err := k.cross.Check(r); err != nil {
			http.Error(w, "This form was sent by another site.", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if !k.mayEnter(r) {
			k.turnAway(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// reachedAs reports whether a Host header names this console. A page of another site that has its name point here, which is DNS rebinding,
// names itself. With a token an address of the machine is a name of it, too: it can be pointed nowhere else.
func (k *Console) reachedAs(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || slices.Contains(k.Hosts, name) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (addr.IsLoopback() || k.Token != "")
}
