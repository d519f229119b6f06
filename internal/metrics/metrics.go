// Package metrics says how the bot does, to programs that ask: Prometheus, an orchestrator, a profiler.
//
// [Metrics] counts what the records of turns say (metrics.go) and reads the rest from a [State] when it is asked (state.go). Labels are of
// closed sets, or of what the operator configured: never a person, a channel or a server. [Health] decides whether the process is
// ready (health.go). [Handler] serves all of it (serve.go): /metrics, /healthz, /readyz and, on a loopback address alone, /debug/pprof/.
//
// Names and units are by https://prometheus.io/docs/practices/naming/.
package metrics

import (
	"cmp"
	"time"

	"familiar/internal/context/turn"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics counts turns. Its methods may be called from many goroutines.
type Metrics struct {
	registry *prometheus.Registry

	turns, lookups, providers, backends, pages, models, tokens, guarded, cuts *prometheus.CounterVec
	cost, uncited                                                             prometheus.Counter
	turnTook, firstWord, firstPost, prompt, lookupTook                        prometheus.Histogram
	stages, backendTook                                                       *prometheus.HistogramVec
}

// The buckets are in seconds.
var (
	quick = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	slow  = []float64{.1, .25, .5, 1, 2, 3, 5, 8, 12, 20, 30, 60, 120}
)

// New makes metrics with a registry of their own. The state is read whenever they are asked for.
func New(s State) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.turns = m.counters("familiar_turns_total", "Turns that are over, by how they ended.", "phase")
	m.lookups = m.counters("familiar_lookups_total", "Lookups, by what came of them.", "state")
	m.providers = m.counters("familiar_provider_outcomes_total", "What the providers of context came to.", "provider", "status")
	m.backends = m.counters("familiar_search_requests_total", "Requests to search services, by what came of them.", "backend", "status")
	m.pages = m.counters("familiar_page_reads_total", "Pages that were tried, by what came of them.", "result")
	m.models = m.counters("familiar_model_failures_total", "Models that were given up, by why.", "model", "kind")
	m.tokens = m.counters("familiar_model_tokens_total", "Tokens that models used, by whether the main model or the side model did.", "model", "type")
	m.guarded = m.counters("familiar_guard_changes_total", "What the output guard changed in replies, by rule.", "rule")
	m.cuts = m.counters("familiar_prompt_cuts_total", "Contributions that the budget cut, by layer.", "layer", "reason")
	m.cost = m.counter("familiar_model_cost_dollars_total", "What models cost, in US dollars, where their servers say so.")
	m.uncited = m.counter("familiar_uncited_replies_total", "Replies that had sources and named none.")
	m.turnTook = m.histogram("familiar_turn_duration_seconds", "How long turns took.", slow)
	m.firstWord = m.histogram("familiar_turn_first_word_seconds", "From the beginning of turns to the model's first word.", slow)
	m.firstPost = m.histogram("familiar_turn_first_post_seconds", "From the beginning of turns to their first post.", slow)
	m.prompt = m.histogram("familiar_turn_prompt_seconds", "How long prompts took to build, lookups included.", slow)
	m.lookupTook = m.histogram("familiar_lookup_duration_seconds", "How long lookups took that asked somebody.", slow)
	m.stages = m.histograms("familiar_lookup_stage_duration_seconds", "How long the steps of lookups took.", "stage")
	m.backendTook = m.histograms("familiar_search_request_duration_seconds", "How long search services took to answer.", "backend")
	m.registry.MustRegister(collectors.NewGoCollector(), &collector{State: s, started: time.Now()})
	return m
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

func (m *Metrics) histograms(name, help, label string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: quick}, []string{label})
	m.registry.MustRegister(h)
	return h
}

// Turn counts a turn that is over.
func (m *Metrics) Turn(t *turn.Trace) {
	m.turns.WithLabelValues(string(t.Phase)).Inc()
	m.turnTook.Observe(t.Took.Seconds())
	observe(m.prompt, t.Timings.Prompt)
	observe(m.firstWord, t.Timings.FirstToken)
	observe(m.firstPost, t.Timings.FirstSeen)
	if t.Uncited {
		m.uncited.Inc()
	}
	m.used("main", t.Usage)
	for _, f := range t.Tried {
		m.models.WithLabelValues("main", f.Kind).Inc()
	}
	for _, p := range t.Processed {
		m.used("side", p.Usage)
	}
	if t.Verified != nil {
		m.used("side", t.Verified.Usage)
	}
	for _, g := range t.Guarded {
		m.guarded.WithLabelValues(g.Rule).Add(float64(g.Count))
	}
	for _, d := range t.Dropped {
		m.cuts.WithLabelValues(d.Layer.String(), d.Reason).Inc()
	}
	for _, o := range t.Outcomes {
		m.providers.WithLabelValues(o.Provider, string(o.Status)).Inc()
		for _, c := range o.Contributions {
			if c.Lookup != nil {
				m.lookup(c.Lookup)
			}
			if c.Filter != nil {
				m.used("side", c.Filter.Usage)
			}
		}
	}
}

func (m *Metrics) lookup(l *turn.Lookup) {
	m.lookups.WithLabelValues(string(l.State)).Inc()
	m.used("side", l.Usage)
	if l.State == turn.NotNeeded || l.State == turn.Disabled {
		return
	}
	m.lookupTook.Observe(l.Took.Seconds())
	for _, s := range l.Stages {
		m.stages.WithLabelValues(s.Name).Observe(s.Took.Seconds())
	}
	for _, a := range l.Asked {
		m.backends.WithLabelValues(a.Backend, string(a.Status)).Inc()
		m.backendTook.WithLabelValues(a.Backend).Observe(a.Took.Seconds())
	}
	for _, p := range l.Pages {
		m.pages.WithLabelValues(string(cmp.Or(p.Failure, turn.CodeOK))).Inc()
	}
}

// used counts what a model used.
func (m *Metrics) used(model string, u turn.Usage) {
	for _, part := range [...]struct {
		kind string
		n    int
	}{{"prompt", u.Prompt - u.Cached}, {"cached", u.Cached}, {"completion", u.Completion - u.Reasoning}, {"reasoning", u.Reasoning}} {
		if part.n > 0 {
			m.tokens.WithLabelValues(model, part.kind).Add(float64(part.n))
		}
	}
	if u.Cost > 0 {
		m.cost.Add(u.Cost)
	}
}

// observe leaves out what did not come to pass.
func observe(h prometheus.Histogram, took time.Duration) {
	if took > 0 {
		h.Observe(took.Seconds())
	}
}
