package telemetry

import (
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// kind is a type of metric.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
	summary   kind = "summary"
)

// page is what a scrape returns, in the text format of Prometheus:
// https://prometheus.io/docs/instrumenting/exposition_formats/
type page []byte

const pageType = "text/plain; version=0.0.4; charset=utf-8"

// family begins a metric. Its samples must follow.
func (p *page) family(name string, k kind, help string) {
	*p = append(*p, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+string(k)+"\n"...)
}

// sample writes a value. Labels are written as labels returns them.
func (p *page) sample(name, labels string, value float64) {
	b := append(*p, name...)
	if labels != "" {
		b = append(append(append(b, '{'), labels...), '}')
	}
	b = strconv.AppendFloat(append(b, ' '), value, 'g', -1, 64)
	*p = append(b, '\n')
}

// single writes a metric with one sample, which has no labels.
func (p *page) single(name string, k kind, help string, value float64) {
	p.family(name, k, help)
	p.sample(name, "", value)
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func appendLabel(b []byte, name, value string) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(append(b, name...), `="`...)
	return append(append(b, labelEscapes.Replace(value)...), '"')
}

// labels returns a label as the text format has it.
func labels(name, value string) string { return string(appendLabel(nil, name, value)) }

// vector is a counter or a histogram with a series for each combination of label values. It is safe for concurrent use.
type vector struct {
	name, help string
	kind       kind
	labels     []string
	buckets    []float64 // upper bounds of a histogram, ascending; the last bucket has none

	mu     sync.Mutex
	series map[string]*series // guarded by mu; key: labels in the text format
}

// series is a counter's value, or the observations of a histogram.
type series struct {
	sum     float64
	buckets []uint64 // observations in each bucket alone
}

// at returns the series with these label values, which it makes if necessary. v.mu is held.
func (v *vector) at(values []string) *series {
	var room [128]byte
	key := room[:0]
	for i, name := range v.labels {
		key = appendLabel(key, name, values[i])
	}
	s := v.series[string(key)]
	if s == nil {
		s = &series{}
		if v.kind == histogram {
			s.buckets = make([]uint64, len(v.buckets)+1)
		}
		v.series[string(key)] = s
	}
	return s
}

// add increases a counter.
func (v *vector) add(n float64, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at(values).sum += n
}

// observe adds an observation to a histogram.
func (v *vector) observe(value float64, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.at(values)
	s.sum += value
	bucket, _ := slices.BinarySearch(v.buckets, value) // the bound belongs to the bucket
	s.buckets[bucket]++
}

// write writes all series. A metric that has none is left out.
func (v *vector) write(p *page) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.series) == 0 {
		return
	}
	p.family(v.name, v.kind, v.help)
	for _, key := range slices.Sorted(maps.Keys(v.series)) {
		if s := v.series[key]; v.kind == histogram {
			v.writeHistogram(p, key, s)
		} else {
			p.sample(v.name, key, s.sum)
		}
	}
}

// writeHistogram writes the buckets of a series: each counts also the observations in those below it.
func (v *vector) writeHistogram(p *page, key string, s *series) {
	count := 0.0
	for i, n := range s.buckets {
		bound := "+Inf"
		if i < len(v.buckets) {
			bound = strconv.FormatFloat(v.buckets[i], 'g', -1, 64)
		}
		count += float64(n)
		p.sample(v.name+"_bucket", string(appendLabel([]byte(key), "le", bound)), count)
	}
	p.sample(v.name+"_sum", key, s.sum)
	p.sample(v.name+"_count", key, count)
}

const (
	maxScrapes   = 2         // that are answered at once
	profileEvery = 512 << 10 // bytes from one allocation in the memory profile to the next; Go's own value
)

// Handler serves /metrics, /healthz and /readyz. With profiles it also serves /debug/pprof/ to this machine; set it
// only for an address of the loopback network. A profile of memory has what was allocated since the first one
// was asked for.
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
		begin := sync.OnceFunc(func() { runtime.MemProfileRate = profileEvery })
		memory := local(func(w http.ResponseWriter, r *http.Request) {
			begin()
			pprof.Index(w, r)
		})
		mux.HandleFunc("GET /debug/pprof/heap", memory)
		mux.HandleFunc("GET /debug/pprof/allocs", memory)
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
			http.Error(w, "profiles are only served to this machine", http.StatusForbidden)
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
