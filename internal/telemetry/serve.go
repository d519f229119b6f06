package telemetry

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
)

// maxScrapes are answered at once.
const maxScrapes = 2

// Handler serves /metrics, /healthz and /readyz. With profiles it also serves /debug/pprof/ to this machine; set it
// only for an address of the loopback network.
func Handler(m *Metrics, h *Health, profiles bool) http.Handler {
	mux := http.NewServeMux()
	scrapes := make(chan struct{}, maxScrapes)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case scrapes <- struct{}{}:
			defer func() { <-scrapes }()
		default:
			http.Error(w, "too many scrapes at once", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", pageType)
		_, _ = w.Write(m.page())
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		now := h.Ready(r.Context())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !now.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(now)
	})
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", local(pprof.Index))
		mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound) // the command line may hold secrets
		mux.HandleFunc("GET /debug/pprof/profile", local(pprof.Profile))
		mux.HandleFunc("GET /debug/pprof/symbol", local(pprof.Symbol))
		mux.HandleFunc("GET /debug/pprof/trace", local(pprof.Trace))
	}
	return mux
}

// local serves only requests from this machine, for this machine, and without a proxy. A web page in a local browser
// would name another host.
func local(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		passed := r.Header.Get("X-Forwarded-For") + r.Header.Get("Forwarded") + r.Header.Get("Via") + r.Header.Get("X-Real-Ip")
		if passed != "" || !Loopback(r.RemoteAddr) || !Loopback(r.Host) {
			http.Error(w, "profiles are for this machine alone", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// Loopback reports whether an address, with or without a port, is on the loopback network.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
