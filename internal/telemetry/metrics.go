// Package telemetry tells other programs how the bot does: Prometheus, an orchestrator, a profiler, a collector of traces.
//
// [Metrics] counts the records of turns (metrics.go). It reads the rest from a [State] and the Go runtime on each scrape. exposition.go
// holds the counts and writes the text. Labels come from closed sets or from the operator's configuration, never from people, channels or
// servers. [Health] decides whether the process is ready (health.go). [Handler] serves /metrics, /healthz, /readyz and, on a loopback
// address only, /debug/pprof/ (exposition.go). [Exporter] sends turns to a collector of OpenTelemetry (otlp.go); spans.go turns a record
// into spans. They hold what people and pages say only if the operator asked for that.
//
// Names and units follow https://prometheus.io/docs/practices/naming/ and, in traces,
// https://github.com/open-telemetry/semantic-conventions-genai.
package telemetry

import (
	"bytes"
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"familiar/internal/context/turn"
)

// Metrics counts turns. It is safe for concurrent use.
type Metrics struct {
	state   State
	started time.Time
	all     []*vector

	turns, lookups, providers, backends, pages, models, tokens, guarded, cuts *vector
	cost, uncited                                                             *vector
	turnTook, firstWord, firstPost, prompt, lookupTook                        *vector // histograms
	stages, backendTook                                                       *vector // histograms
}

// Buckets in seconds.
var (
	quick = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	slow  = []float64{.1, .25, .5, 1, 2, 3, 5, 8, 12, 20, 30, 60, 120}
)

// NewMetrics makes metrics. They read the state on each scrape.
func NewMetrics(s State) *Metrics {
	m := &Metrics{state: s, started: time.Now()}
	m.turns = m.counters("familiar_turns_total", "Turns that are over, by how they ended.", "phase")
	m.lookups = m.counters("familiar_lookups_total", "Lookups, by what came of them.", "state")
	m.providers = m.counters("familiar_provider_outcomes_total", "What the providers of context came to.", "provider", "status")
	m.backends = m.counters("familiar_search_requests_total", "Requests to search services, by what came of them.", "backend", "status")
	m.pages = m.counters("familiar_page_reads_total", "Pages that were tried, by what came of them.", "result")
	m.models = m.counters("familiar_model_failures_total", "Models that were given up, by why.", "kind", "model")
	m.tokens = m.counters("familiar_model_tokens_total", "Tokens that models used, by whether the main model or the side model did.", "model", "type")
	m.guarded = m.counters("familiar_guard_changes_total", "What the output guard changed in replies, by rule.", "rule")
	m.cuts = m.counters("familiar_prompt_cuts_total", "Contributions that the budget cut, by layer.", "layer", "reason")
	m.cost = m.counters("familiar_model_cost_dollars_total", "What models cost, in US dollars, where their servers say so.")
	m.uncited = m.counters("familiar_uncited_replies_total", "Replies that had sources and named none.")
	m.turnTook = m.histograms("familiar_turn_duration_seconds", "How long turns took.", slow)
	m.firstWord = m.histograms("familiar_turn_first_word_seconds", "From the beginning of turns to the model's first word.", slow)
	m.firstPost = m.histograms("familiar_turn_first_post_seconds", "From the beginning of turns to their first post.", slow)
	m.prompt = m.histograms("familiar_turn_prompt_seconds", "How long prompts took to build, lookups included.", slow)
	m.lookupTook = m.histograms("familiar_lookup_duration_seconds", "How long lookups took that asked somebody.", slow)
	m.stages = m.histograms("familiar_lookup_stage_duration_seconds", "How long the steps of lookups took.", quick, "stage")
	m.backendTook = m.histograms("familiar_search_request_duration_seconds", "How long search services took to answer.", quick, "backend")
	return m
}

func (m *Metrics) counters(name, help string, labels ...string) *vector {
	return m.add(&vector{name: name, help: help, kind: counter, labels: labels})
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *vector {
	return m.add(&vector{name: name, help: help, kind: histogram, buckets: buckets, labels: labels})
}

// add adds a metric to the page. A metric without labels is on it from the start.
func (m *Metrics) add(v *vector) *vector {
	v.series = map[string]*series{}
	if len(v.labels) == 0 {
		v.at(nil)
	}
	m.all = append(m.all, v)
	return v
}

// page returns what a scrape reads.
func (m *Metrics) page() page {
	p := make(page, 0, 24<<10)
	for _, v := range m.all {
		v.write(&p)
	}
	m.state.write(&p)
	writeProcess(&p, m.started)
	writeGo(&p)
	return p
}

// Turn counts a finished turn.
func (m *Metrics) Turn(t *turn.Trace) {
	m.turns.add(1, string(t.Phase))
	m.turnTook.observe(t.Took.Seconds())
	observe(m.prompt, t.Timings.Prompt)
	observe(m.firstWord, t.Timings.FirstToken)
	observe(m.firstPost, t.Timings.FirstSeen)
	if t.Uncited {
		m.uncited.add(1)
	}
	for _, c := range t.Asked() {
		m.used(c)
	}
	for _, f := range t.Tried {
		m.models.add(1, f.Kind, "main")
	}
	for _, g := range t.Guarded {
		m.guarded.add(float64(g.Count), g.Rule)
	}
	for _, d := range t.Dropped {
		m.cuts.add(1, d.Layer.String(), d.Reason)
	}
	for _, o := range t.Outcomes {
		m.providers.add(1, o.Provider, string(o.Status))
		for _, c := range o.Contributions {
			if c.Lookup != nil {
				m.lookup(c.Lookup)
			}
		}
	}
}

func (m *Metrics) lookup(l *turn.Lookup) {
	m.lookups.add(1, string(l.State))
	if l.State == turn.NotNeeded || l.State == turn.Disabled {
		return
	}
	m.lookupTook.observe(l.Took.Seconds())
	for _, s := range l.Stages {
		m.stages.observe(s.Took.Seconds(), s.Name)
	}
	for _, a := range l.Asked {
		m.backends.add(1, a.Backend, string(a.Status))
		m.backendTook.observe(a.Took.Seconds(), a.Backend)
	}
	for _, p := range l.Pages {
		m.pages.add(1, string(cmp.Or(p.Failure, turn.CodeOK)))
	}
}

// used counts the tokens and cost of a call.
func (m *Metrics) used(c turn.Call) {
	model, u := "side", c.Usage
	if c.For == turn.ForAnswer {
		model = "main"
	}
	for _, part := range [...]struct {
		kind string
		n    int
	}{{"prompt", u.Prompt - u.Cached}, {"cached", u.Cached}, {"completion", u.Completion - u.Reasoning}, {"reasoning", u.Reasoning}} {
		if part.n > 0 {
			m.tokens.add(float64(part.n), model, part.kind)
		}
	}
	if u.Cost > 0 {
		m.cost.add(u.Cost)
	}
}

// observe skips durations of steps that did not happen.
func observe(h *vector, took time.Duration) {
	if took > 0 {
		h.observe(took.Seconds())
	}
}

// State provides the values that are read on each scrape. Functions may be nil.
type State struct {
	Version    string
	Gateway    func() turn.Gateway
	Database   func() (used, file int64, err error) // bytes
	LastBackup func() (time.Time, error)            // an error means that there is none
	Spans      func() (sent, dropped uint64)        // of exported traces
}

// write writes the state as it is now.
func (s *State) write(p *page) {
	p.family("familiar_build_info", gauge, "1, with the version of the program.")
	p.sample("familiar_build_info", labels("version", s.Version), 1)
	if s.Gateway != nil {
		g := s.Gateway()
		p.single("familiar_gateway_connected", gauge, "Whether each session with Discord's gateway is established.", truth(g.Connected))
		p.single("familiar_gateway_latency_seconds", gauge, "How long the gateway took to answer the last heartbeat.", g.Latency.Seconds())
		p.single("familiar_servers", gauge, "Servers that the bot is in.", float64(g.Guilds))
		const sessions = "familiar_gateway_sessions_total"
		p.family(sessions, counter, "Sessions with the gateway, by how they began.")
		p.sample(sessions, labels("how", "identify"), float64(g.Identifies))
		p.sample(sessions, labels("how", "resume"), float64(g.Resumes))
		p.single("familiar_gateway_events_dropped_total", counter, "Events that were lost because the bot did not keep up.", float64(g.Dropped))
		if len(g.Shards) > 1 {
			writeShards(p, g.Shards)
		}
	}
	if s.Database != nil {
		if used, file, err := s.Database(); err == nil {
			p.single("familiar_database_used_bytes", gauge, "What is kept.", float64(used))
			p.single("familiar_database_size_bytes", gauge, "The database's file, with the space of what was deleted.", float64(file))
		}
	}
	if s.LastBackup != nil {
		if at, err := s.LastBackup(); err == nil {
			p.single("familiar_last_backup_timestamp_seconds", gauge, "When the last backup was made.", float64(at.Unix()))
		}
	}
	if s.Spans != nil {
		sent, dropped := s.Spans()
		p.single("familiar_spans_exported_total", counter, "Spans that a collector took.", float64(sent))
		p.single("familiar_spans_dropped_total", counter, "Spans that were given up, because the collector did not take them or too many waited.", float64(dropped))
	}
}

func writeShards(p *page, shards []turn.Shard) {
	for _, f := range []struct {
		name, about string
		value       func(turn.Shard) float64
	}{
		{"familiar_shard_connected", "Whether the session of a shard is established.", func(s turn.Shard) float64 { return truth(s.Connected) }},
		{"familiar_shard_latency_seconds", "How long the gateway took to answer the last heartbeat of a shard.", func(s turn.Shard) float64 { return s.Latency.Seconds() }},
		{"familiar_shard_servers", "Servers of a shard.", func(s turn.Shard) float64 { return float64(s.Guilds) }},
	} {
		p.family(f.name, gauge, f.about)
		for _, s := range shards {
			p.sample(f.name, labels("shard", strconv.Itoa(s.Number)), f.value(s))
		}
	}
}

func truth(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

func writeProcess(p *page, started time.Time) {
	p.single("process_start_time_seconds", gauge, "When the process began.", float64(started.Unix()))
	if resident, cpu, ok := process(); ok {
		p.single("process_resident_memory_bytes", gauge, "What the process has in memory.", resident)
		p.single("process_cpu_seconds_total", counter, "Time of the processors that the process has had.", cpu)
	}
}

// process reads the process's memory and CPU time on Linux; ok is false elsewhere. It
// reads one file only: allocating in an idle process keeps it from returning memory. See
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func process() (resident, cpu float64, ok bool) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third field, the state, on
	if len(fields) < 22 {
		return 0, 0, false
	}
	number := func(field int) float64 {
		n, _ := strconv.ParseFloat(string(fields[field-3]), 64)
		return n
	}
	const ticks = 100 // per second
	return number(24) * float64(os.Getpagesize()), (number(14) + number(15)) / ticks, true
}

// goMetrics are the metrics of the Go runtime that Prometheus's client library has, with its names and descriptions. The
// value of each is the sum of samples of runtime/metrics. All of these samples are integers.
var goMetrics = []struct {
	name    string
	kind    kind
	help    string
	samples []string
}{
	{"go_gc_gogc_percent", gauge, "Heap size target percentage configured by the user, otherwise 100. This value is set by the GOGC environment variable, and the runtime/debug.SetGCPercent function. Sourced from /gc/gogc:percent.", []string{"/gc/gogc:percent"}},
	{"go_gc_gomemlimit_bytes", gauge, "Go runtime memory limit configured by the user, otherwise math.MaxInt64. This value is set by the GOMEMLIMIT environment variable, and the runtime/debug.SetMemoryLimit function. Sourced from /gc/gomemlimit:bytes.", []string{"/gc/gomemlimit:bytes"}},
	{"go_memstats_alloc_bytes", gauge, "Number of bytes allocated in heap and currently in use. Equals to /memory/classes/heap/objects:bytes.", []string{"/memory/classes/heap/objects:bytes"}},
	{"go_memstats_alloc_bytes_total", counter, "Total number of bytes allocated in heap until now, even if released already. Equals to /gc/heap/allocs:bytes.", []string{"/gc/heap/allocs:bytes"}},
	{"go_memstats_buck_hash_sys_bytes", gauge, "Number of bytes used by the profiling bucket hash table. Equals to /memory/classes/profiling/buckets:bytes.", []string{"/memory/classes/profiling/buckets:bytes"}},
	{"go_memstats_frees_total", counter, "Total number of heap objects frees. Equals to /gc/heap/frees:objects + /gc/heap/tiny/allocs:objects.", []string{"/gc/heap/frees:objects", "/gc/heap/tiny/allocs:objects"}},
	{"go_memstats_gc_sys_bytes", gauge, "Number of bytes used for garbage collection system metadata. Equals to /memory/classes/metadata/other:bytes.", []string{"/memory/classes/metadata/other:bytes"}},
	{"go_memstats_heap_alloc_bytes", gauge, "Number of heap bytes allocated and currently in use, same as go_memstats_alloc_bytes. Equals to /memory/classes/heap/objects:bytes.", []string{"/memory/classes/heap/objects:bytes"}},
	{"go_memstats_heap_idle_bytes", gauge, "Number of heap bytes waiting to be used. Equals to /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", []string{"/memory/classes/heap/released:bytes", "/memory/classes/heap/free:bytes"}},
	{"go_memstats_heap_inuse_bytes", gauge, "Number of heap bytes that are in use. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes", []string{"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes"}},
	{"go_memstats_heap_objects", gauge, "Number of currently allocated objects. Equals to /gc/heap/objects:objects.", []string{"/gc/heap/objects:objects"}},
	{"go_memstats_heap_released_bytes", gauge, "Number of heap bytes released to OS. Equals to /memory/classes/heap/released:bytes.", []string{"/memory/classes/heap/released:bytes"}},
	{"go_memstats_heap_sys_bytes", gauge, "Number of heap bytes obtained from system. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes + /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", []string{"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/free:bytes"}},
	{"go_memstats_mallocs_total", counter, "Total number of heap objects allocated, both live and gc-ed. Semantically a counter version for go_memstats_heap_objects gauge. Equals to /gc/heap/allocs:objects + /gc/heap/tiny/allocs:objects.", []string{"/gc/heap/allocs:objects", "/gc/heap/tiny/allocs:objects"}},
	{"go_memstats_mcache_inuse_bytes", gauge, "Number of bytes in use by mcache structures. Equals to /memory/classes/metadata/mcache/inuse:bytes.", []string{"/memory/classes/metadata/mcache/inuse:bytes"}},
	{"go_memstats_mcache_sys_bytes", gauge, "Number of bytes used for mcache structures obtained from system. Equals to /memory/classes/metadata/mcache/inuse:bytes + /memory/classes/metadata/mcache/free:bytes.", []string{"/memory/classes/metadata/mcache/inuse:bytes", "/memory/classes/metadata/mcache/free:bytes"}},
	{"go_memstats_mspan_inuse_bytes", gauge, "Number of bytes in use by mspan structures. Equals to /memory/classes/metadata/mspan/inuse:bytes.", []string{"/memory/classes/metadata/mspan/inuse:bytes"}},
	{"go_memstats_mspan_sys_bytes", gauge, "Number of bytes used for mspan structures obtained from system. Equals to /memory/classes/metadata/mspan/inuse:bytes + /memory/classes/metadata/mspan/free:bytes.", []string{"/memory/classes/metadata/mspan/inuse:bytes", "/memory/classes/metadata/mspan/free:bytes"}},
	{"go_memstats_next_gc_bytes", gauge, "Number of heap bytes when next garbage collection will take place. Equals to /gc/heap/goal:bytes.", []string{"/gc/heap/goal:bytes"}},
	{"go_memstats_other_sys_bytes", gauge, "Number of bytes used for other system allocations. Equals to /memory/classes/other:bytes.", []string{"/memory/classes/other:bytes"}},
	{"go_memstats_stack_inuse_bytes", gauge, "Number of bytes obtained from system for stack allocator in non-CGO environments. Equals to /memory/classes/heap/stacks:bytes.", []string{"/memory/classes/heap/stacks:bytes"}},
	{"go_memstats_stack_sys_bytes", gauge, "Number of bytes obtained from system for stack allocator. Equals to /memory/classes/heap/stacks:bytes + /memory/classes/os-stacks:bytes.", []string{"/memory/classes/heap/stacks:bytes", "/memory/classes/os-stacks:bytes"}},
	{"go_memstats_sys_bytes", gauge, "Number of bytes obtained from system. Equals to /memory/classes/total:byte.", []string{"/memory/classes/total:bytes"}},
	{"go_sched_gomaxprocs_threads", gauge, "The current runtime.GOMAXPROCS setting, or the number of operating system threads that can execute user-level Go code simultaneously. Sourced from /sched/gomaxprocs:threads.", []string{"/sched/gomaxprocs:threads"}},
}

func writeGo(p *page) {
	var samples []metrics.Sample
	for _, m := range goMetrics {
		for _, name := range m.samples {
			samples = append(samples, metrics.Sample{Name: name})
		}
	}
	metrics.Read(samples)
	for _, m := range goMetrics {
		sum := uint64(0)
		for range m.samples {
			sum += samples[0].Value.Uint64()
			samples = samples[1:]
		}
		p.single(m.name, m.kind, m.help, float64(sum))
	}
	threads, _ := runtime.ThreadCreateProfile(nil)
	p.single("go_threads", gauge, "Number of OS threads created.", float64(threads))
	p.single("go_goroutines", gauge, "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	p.family("go_info", gauge, "Information about the Go environment.")
	p.sample("go_info", labels("version", runtime.Version()), 1)
	writePauses(p)
}

// writePauses writes how long garbage collection stopped the program.
func writePauses(p *page) {
	pauses := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&pauses)
	const name = "go_gc_duration_seconds"
	p.family(name, summary, "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.")
	for i, pause := range pauses.PauseQuantiles {
		p.sample(name, labels("quantile", strconv.FormatFloat(float64(i)/4, 'g', -1, 64)), pause.Seconds())
	}
	p.sample(name+"_sum", "", pauses.PauseTotal.Seconds())
	p.sample(name+"_count", "", float64(pauses.NumGC))
	p.single("go_memstats_last_gc_time_seconds", gauge, "Number of seconds since 1970 of last garbage collection.", float64(pauses.LastGC.UnixNano())/1e9)
}
